package ending

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/store/datadir"
)

// end has the hook of a session's end write into the queue.
func end(t *testing.T, dir datadir.Dir, transcript string) {
	t.Helper()
	var errs bytes.Buffer
	h := &hook.Host{Home: string(dir), Now: time.Now}
	if code := h.Run(hook.SessionEnd, strings.NewReader(fmt.Sprintf(`{"session_id":"s","transcript_path":%q}`, transcript)), io.Discard, &errs); code != 0 {
		t.Fatal(code, errs.String())
	}
}

// TestRun: the harvest begins when the hook that started it is long gone, and the sessions
// that end meanwhile are its own.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := datadir.Dir(t.TempDir())
		var began time.Duration
		var read []string
		from := time.Now()
		d := &Desk{Terminal: &term.Terminal{Stderr: io.Discard, Now: time.Now}, Home: func() (datadir.Dir, error) { return dir, nil },
			Harvest: func(_ context.Context, transcript string) error {
				if read = append(read, filepath.Base(transcript)); len(read) == 1 {
					began = time.Since(from)
					end(t, dir, "/third.jsonl") // while the second is still to be read
				}
				return hook.Took(string(dir), transcript, time.Now().Add(time.Second))
			}}
		if Underway(dir) {
			t.Error("a harvest is underway before one began")
		}
		end(t, dir, "/first.jsonl")
		ended := make(chan error)
		go func() { ended <- d.Run(t.Context()) }()
		time.Sleep(time.Second)
		if !Underway(dir) {
			t.Error("a harvest that waits is not underway")
		}
		if err := d.Run(t.Context()); err != nil || len(read) > 0 {
			t.Errorf("a second harvest beside the first: %q, %v", read, err)
		}
		end(t, dir, "/second.jsonl")
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if began < time.Second {
			t.Errorf("the harvest began after %v", began)
		}
		if !slices.Equal(read, []string{"first.jsonl", "second.jsonl", "third.jsonl"}) {
			t.Errorf("read %q", read)
		}
		if Underway(dir) {
			t.Error("a harvest is underway after it ended")
		}
	})
}

// TestRunEnds: a harvest that is to end does not wait first.
func TestRunEnds(t *testing.T) {
	dir := datadir.Dir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := &Desk{Terminal: &term.Terminal{Stderr: io.Discard, Now: time.Now}, Home: func() (datadir.Dir, error) { return dir, nil },
		Harvest: func(context.Context, string) error { t.Error("a session was read"); return nil }}
	end(t, dir, "/first.jsonl")
	if err := d.Run(ctx); err == nil {
		t.Error("no error")
	}
}

// TestTimed: each line of the log begins with its time, however it is written.
func TestTimed(t *testing.T) {
	var b bytes.Buffer
	second := -1
	w := Timed(&b, func() time.Time { second++; return time.Date(2026, 11, 23, 10, 0, second, 0, time.FixedZone("", 3600)) })
	for _, text := range []string{"one\ntwo\n", "th", "", "ree", "\n\nfour"} {
		if n, err := io.WriteString(w, text); n != len(text) || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	want := "2026-11-23T09:00:00Z one\n2026-11-23T09:00:01Z two\n2026-11-23T09:00:02Z three\n2026-11-23T09:00:03Z \n2026-11-23T09:00:04Z four"
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}
