package harvest

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A counting redactor counts the texts that it gets, and says so to whoever asks.
type countingRedactor struct{ texts int }

func (c *countingRedactor) Redact(text string) (string, int) {
	c.texts++
	return text, 0
}

// TestSlowTranscripts: of a transcript that takes too long nothing is kept and no more text is
// looked at. It is named, the others are read, and the next harvest tries it again.
func TestSlowTranscripts(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for _, name := range []string{"a", "slow", "slow-part", "z"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte("Chart it.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	red, after := map[string]*countingRedactor{}, map[string]int{}
	slow := true
	kind := Kind{
		Family: func(file string, _ func() []byte) (id, parent string) {
			id, part := strings.CutSuffix(filepath.Base(file), "-part")
			if part {
				return id + "-part", id
			}
			return id, ""
		},
		Read: func(ctx context.Context, r io.Reader, file string, o Options) (*Session, []Problem, error) {
			name := filepath.Base(file)
			red := red[name]
			o.Redactor = red
			d := NewDraft("a", name, file, o)
			for i := range 100 {
				if name == "slow" && slow && i == 3 {
					<-ctx.Done() // which is what takes long
					after[name] = red.texts
				}
				d.Turns = append(d.Turns, Turn{Prompt: d.Typed("Chart zq7Kp2Lw9Xv4 " + strings.Repeat("x", i)), Answer: d.Said("Done.")})
			}
			return d.Finish(nil, nil), nil, nil
		},
	}
	c := cursorOf{}
	harvest := func() (got []string, told []string) {
		for _, f := range files {
			red[filepath.Base(f)] = new(countingRedactor)
		}
		problems, err := ReadFiles(t.Context(), files, Options{family: kind.Family}, c, func(ctx context.Context, r io.Reader, file string) (*Session, []Problem, error) {
			o := Options{}
			if slow && filepath.Base(file) == "slow" {
				o.MaxReading = 1
			}
			return kind.Transcript(ctx, r, file, o)
		}, func(s *Session) error {
			got = append(got, s.ID)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			if p.Reason == ErrSlow.Error() {
				told = append(told, filepath.Base(p.Path))
			}
		}
		return got, told
	}
	if got, told := harvest(); !slices.Equal(got, []string{"a", "z"}) || !slices.Equal(told, []string{"slow"}) {
		t.Errorf("sessions %q, slow %q", got, told)
	}
	if n := red["slow"].texts; n != after["slow"] || red["a"].texts < 200 {
		t.Errorf("%d texts of the slow one and %d later, %d of another", after["slow"], n-after["slow"], red["a"].texts)
	}
	slow = false
	if got, told := harvest(); !slices.Equal(got, []string{"slow", "slow-part"}) || len(told) > 0 {
		t.Errorf("again: sessions %q, slow %q", got, told)
	}
}

// TestNoTime: what has no time left reads no line and looks at no text; who asked for the end
// is told so, and not that a file is slow.
func TestNoTime(t *testing.T) {
	red := new(countingRedactor)
	lines := 0
	kind := Kind{Read: func(ctx context.Context, r io.Reader, file string, o Options) (*Session, []Problem, error) {
		d := NewDraft("a", "s", file, o)
		return Scan(ctx, r, file, func([]byte) bool { lines++; return true }, func(_ int, line []byte) bool {
			d.Turns = append(d.Turns, Turn{Prompt: d.Typed(string(line))})
			return true
		}, func(p []Problem) *Session { return d.Finish(p, nil) })
	}}
	read := func(ctx context.Context, o Options) error {
		o.Redactor = red
		s, _, err := kind.Transcript(ctx, strings.NewReader(strings.Repeat("{}\n", 1000)), "f", o)
		if err != nil && s != nil {
			t.Error("a session that was left out is returned")
		}
		return err
	}
	if err := read(t.Context(), Options{MaxReading: -1}); !errors.Is(err, ErrSlow) || lines+red.texts > 0 {
		t.Errorf("%v; %d lines and %d texts", err, lines, red.texts)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := read(ended, Options{}); !errors.Is(err, context.Canceled) || lines+red.texts > 0 {
		t.Errorf("%v; %d lines and %d texts", err, lines, red.texts)
	}
	if err := read(t.Context(), Options{}); err != nil || lines != 1000 || red.texts != 1000 {
		t.Errorf("%v; %d lines and %d texts", err, lines, red.texts)
	}
}

// TestEndedWithin: of a transcript during which the harvest was ended nothing is returned, even if
// its reader did not notice: the texts after that are missing.
func TestEndedWithin(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	kind := Kind{Read: func(_ context.Context, _ io.Reader, file string, o Options) (*Session, []Problem, error) {
		o.Redactor = new(countingRedactor)
		d := NewDraft("a", "s", file, o)
		first := d.Typed("Chart it.")
		end()
		return &Session{Turns: []Turn{{Prompt: first, Answer: d.Said("Done.")}}}, nil, nil
	}}
	if s, _, err := kind.Transcript(ctx, nil, "f", Options{}); s != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestLookEnds: the search for words in a transcript, which goes through all of it for each
// word, ends with the time.
func TestLookEnds(t *testing.T) {
	over, asked := 0, 0
	d := NewDraft("a", "s", "f", Options{})
	d.opts.late = func() bool {
		if asked++; asked > 5 {
			over++
		}
		return over > 0
	}
	d.look(strings.NewReader(strings.Repeat("one two three\n", 1000)), map[string]*finding{"one": {}, "two": {}, "three": {}})
	if asked != 6 || over != 1 {
		t.Errorf("asked %d times, %d of them in vain", asked, over)
	}
}
