package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/harvesttest"
	"github.com/skill-evolve/evolve/harvest/jsonl"
	"pgregory.net/rapid"
)

// folder is a folder with transcripts, read through a cursor. A transcript's
// turns are its lines.
type folder struct {
	t     *testing.T
	dir   string
	c     harvest.Cursor
	files []string
}

func newFolder(t *testing.T, names ...string) *folder {
	f := &folder{t: t, dir: t.TempDir(), c: new(harvesttest.Cursor)}
	for _, n := range names {
		f.files = append(f.files, filepath.Join(f.dir, n))
	}
	return f
}

func (f *folder) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// harvest returns the sessions that are new, as "name: turn,turn".
func (f *folder) harvest() []string {
	f.t.Helper()
	var got []string
	_, err := harvest.ReadFiles(context.Background(), f.files, harvest.Options{}, f.c, lineSession, func(s *harvest.Session) error {
		got = append(got, s.ID+": "+prompts(s))
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return got
}

func lineSession(_ context.Context, r io.Reader, file string) (*harvest.Session, []harvest.Problem, error) {
	s := &harvest.Session{ID: filepath.Base(file), Path: file}
	lines := jsonl.NewLines(r)
	for {
		line, err := lines.Next()
		if err != nil {
			return s, nil, nil
		}
		if lines.Whole() {
			s.Turns = append(s.Turns, harvest.Turn{Prompt: string(line)})
		}
	}
}

func prompts(s *harvest.Session) string {
	var out []string
	for _, t := range s.Turns {
		out = append(out, t.Prompt)
	}
	return strings.Join(out, ",")
}

func (f *folder) want(what string, want ...string) {
	f.t.Helper()
	if got := f.harvest(); fmt.Sprint(got) != fmt.Sprint(want) {
		f.t.Errorf("%s: harvested %q, want %q", what, got, want)
	}
}

// What becomes of a transcript between two harvests, and what the second one
// makes of it. Every case ends with nothing new.
func TestFileChanges(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 123456789, time.UTC)
	// still gives a file the time that it had.
	still := func(f *folder) {
		if err := os.Chtimes(f.files[0], at, at); err != nil {
			f.t.Fatal(err)
		}
	}
	must := func(f *folder, err error) {
		if err != nil {
			f.t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		change func(f *folder)
		want   []string
	}{
		"nothing":          {func(*folder) {}, nil},
		"appended":         {func(f *folder) { f.write("a", "one\ntwo\nthree\n") }, []string{"a: one,two,three"}},
		"half a line":      {func(f *folder) { f.write("a", "one\ntwo\nthr") }, []string{"a: one,two"}},
		"truncated":        {func(f *folder) { f.write("a", "one\n"); still(f) }, []string{"a: one"}},
		"emptied":          {func(f *folder) { f.write("a", ""); still(f) }, []string{"a: "}},
		"rewritten":        {func(f *folder) { f.write("a", "one\nowt\n"); still(f) }, []string{"a: one,owt"}},
		"touched":          {func(f *folder) { must(f, os.Chtimes(f.files[0], at, at.Add(time.Second))) }, []string{"a: one,two"}},
		"mode":             {func(f *folder) { must(f, os.Chmod(f.files[0], 0o640)) }, nil},
		"same bytes again": {func(f *folder) { f.write("a", "one\ntwo\n"); still(f) }, nil},
		"rotated": {func(f *folder) {
			must(f, os.Rename(f.files[0], f.files[0]+".1"))
			f.write("a", "one\ntwo\n")
			still(f)
		}, []string{"a: one,two"}},
		"deleted": {func(f *folder) { must(f, os.Remove(f.files[0])) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t, "a")
			f.write("a", "one\ntwo\n")
			still(f)
			f.want("first", "a: one,two")
			c.change(f)
			f.want("after", c.want...)
			f.want("again")
		})
	}
}

// Where the system does not tell when a file was changed, its last line does.
func TestFileChangesWithoutTheSystem(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	f := newFolder(t, "a")
	for text, want := range map[string]bool{"one\ntwo\n": true, "one\nowt\n": false, "one\ntwo ": false} {
		f.write("a", "one\ntwo\n")
		if err := os.Chtimes(f.files[0], at, at); err != nil {
			t.Fatal(err)
		}
		f.harvest()
		c := f.c.(*harvesttest.Cursor)
		state, ok := c.File(f.files[0])
		if !ok || state.Last == "" || state.End != 8 {
			t.Fatalf("%+v", state)
		}
		state.Changed = time.Time{}
		c.MarkFile(f.files[0], state)
		f.write("a", text)
		if err := os.Chtimes(f.files[0], at, at); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(f.files[0])
		if err != nil {
			t.Fatal(err)
		}
		if got := harvest.Seen(c, f.files[0], f.files[0], info); got != want {
			t.Errorf("%q: seen %v", text, got)
		}
	}
}

// Half a line that became a whole one, in a file of the same size and time, is new.
func TestHalfALineIsEnded(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	f := newFolder(t, "a")
	for _, step := range []struct{ text, want string }{{"one\ntwo\nthr", "a: one,two"}, {"one\ntwo\nth\n", "a: one,two,th"}} {
		f.write("a", step.text)
		if err := os.Chtimes(f.files[0], at, at); err != nil {
			t.Fatal(err)
		}
		f.want(step.text, step.want)
	}
	f.want("again")
}

// A turn that is still being written is read when it is whole, once.
func TestGrowingFile(t *testing.T) {
	f := newFolder(t, "a")
	f.write("a", "one\ntw")
	f.want("half", "a: one")
	f.write("a", "one\ntwo\n")
	f.want("whole", "a: one,two")
	f.want("again")
}

// A harvest that ends early has passed no file whose session was not taken.
func TestStoppedHarvest(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f"}
	f := newFolder(t, names...)
	for _, n := range names {
		f.write(n, n+"\n")
	}
	full := errors.New("disk full")
	var taken []string
	_, err := harvest.ReadFiles(t.Context(), f.files, harvest.Options{}, f.c, lineSession, func(s *harvest.Session) error {
		if s.ID == "d" {
			return full
		}
		taken = append(taken, s.ID)
		return nil
	})
	if !errors.Is(err, full) || fmt.Sprint(taken) != "[a b c]" {
		t.Fatalf("%v, %v", taken, err)
	}
	f.want("after", "d: d", "e: e", "f: f")
	f.want("again")
}

// Whatever happens to the files and to the harvest, after a harvest that ends the store
// holds their content: no turn is skipped or doubled.
func TestHarvestProperty(t *testing.T) {
	names := []string{"a", "b"}
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			r.Fatal(err)
		}
		at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
		var files []string
		text := map[string]string{}
		for _, n := range names {
			files = append(files, filepath.Join(dir, n))
		}
		c, stored := new(harvesttest.Cursor), map[string]string{}
		crash := errors.New("crash")
		read := func(stopAfter int) {
			_, err := harvest.ReadFiles(context.Background(), files, harvest.Options{}, c, lineSession, func(s *harvest.Session) error {
				if stopAfter == 0 {
					return crash
				}
				stopAfter--
				stored[s.ID] = prompts(s)
				return nil
			})
			if err != nil && !errors.Is(err, crash) {
				r.Fatal(err)
			}
		}
		for range rapid.IntRange(1, 20).Draw(r, "steps") {
			n := rapid.SampledFrom(names).Draw(r, "file")
			file := filepath.Join(dir, n)
			switch rapid.SampledFrom([]string{"append", "rewrite", "rotate", "stop", "kill", "harvest"}).Draw(r, "step") {
			case "append":
				text[n] += rapid.StringMatching(`[xy]{1,3}\n?`).Draw(r, "text")
			case "rewrite": // the same length and time, perhaps, and another last line
				text[n] = rapid.StringMatching(`([xy]\n){0,2}`).Draw(r, "text")
			case "rotate":
				if err := os.Rename(file, file+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
					r.Fatal(err)
				}
			case "stop":
				read(rapid.IntRange(0, 2).Draw(r, "after"))
				continue
			case "kill": // before the marks reach the disk
				kept := c.Clone()
				read(rapid.IntRange(0, 3).Draw(r, "after"))
				c = kept
				continue
			case "harvest":
				read(-1)
				continue
			}
			if was, ok := c.File(file); ok && was.Size == int64(len(text[n])) && fmt.Sprint(was.End, was.Last) == lastOf(text[n]) {
				// Nobody can tell from the last line; such a change shows in the time.
				at = at.Add(time.Second)
			}
			if err := os.WriteFile(file, []byte(text[n]), 0o600); err != nil {
				r.Fatal(err)
			}
			if err := os.Chtimes(file, at, at); err != nil {
				r.Fatal(err)
			}
		}
		read(-1)
		for n, want := range text {
			s, _, _ := lineSession(context.Background(), strings.NewReader(want), n)
			if stored[n] != prompts(s) {
				r.Fatalf("%s holds %q, stored is %q", n, want, stored[n])
			}
		}
	})
}

// lastOf is the last whole line of a text, and its end.
func lastOf(text string) string {
	f := harvest.FileState{Size: int64(len(text))}
	if err := harvest.Sign(&f, strings.NewReader(text)); err != nil {
		return err.Error()
	}
	return fmt.Sprint(f.End, f.Last)
}

// BenchmarkIdle is a harvest of 2,000 files of which none has changed. They are
// young, so that their last lines are read too: the worse case.
func BenchmarkIdle(b *testing.B) {
	dir := b.TempDir()
	var files []string
	for i := range 2000 {
		name := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(name, []byte("one\n"), 0o600); err != nil {
			b.Fatal(err)
		}
		files = append(files, name)
	}
	var c harvesttest.Cursor
	n := 0
	read := func() {
		if _, err := harvest.ReadFiles(context.Background(), files, harvest.Options{}, &c, lineSession, func(*harvest.Session) error { n++; return nil }); err != nil {
			b.Fatal(err)
		}
	}
	read()
	for b.Loop() {
		read()
	}
	if n != len(files) {
		b.Fatalf("%d files were read", n)
	}
}

// A replay is not harvested, and its file not looked at again.
func TestReplaysAreNotHarvested(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(file, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := 0
	var c harvesttest.Cursor
	for range 2 {
		_, err := harvest.ReadFiles(t.Context(), []string{file}, harvest.Options{}, &c,
			func(context.Context, io.Reader, string) (*harvest.Session, []harvest.Problem, error) {
				read++
				return &harvest.Session{ID: "s", CWD: "/tmp/evolve-case-42"}, nil, nil
			},
			func(*harvest.Session) error { t.Error("a replay was harvested"); return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	if read != 1 {
		t.Errorf("read %d times", read)
	}
}
