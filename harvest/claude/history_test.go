package claude

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest"
)

func TestWords(t *testing.T) {
	for display, want := range map[string]string{
		"no pie charts":               "no pie charts",
		" /dataviz the weeks ":        "/dataviz the weeks",
		"/tmp/a is empty":             "/tmp/a is empty",
		"/clear":                      "",
		"/model opus":                 "",
		"!ls -l":                      "",
		"":                            "",
		"[Pasted text #1 +5 lines]":   "",
		"[Image #2] [Pasted text #1]": "",
		"still red: [Pasted text #12 +5 lines] fix it":    "still red: […] fix it",
		"see [...Truncated text #3 +1200 lines...] above": "see […] above",
		"[x] is done":                   "[x] is done",
		"[Request interrupted by user]": "",
	} {
		if got := words(display); got != want {
			t.Errorf("%q: %q, want %q", display, got, want)
		}
	}
}

// seen is a cursor in memory.
type seen map[string]string

func stamp(size int64, at time.Time) string { return fmt.Sprint(size, at.UnixMilli()) }

func (s seen) Seen(path string, size int64, at time.Time) bool { return s[path] == stamp(size, at) }
func (s seen) Mark(path string, size int64, at time.Time)      { s[path] = stamp(size, at) }

// TestHistory: prompts of sessions without a transcript become sessions, once.
func TestHistory(t *testing.T) {
	home := t.TempDir()
	now := time.Now()
	line := func(session, project, text string, ago time.Duration) string {
		return fmt.Sprintf(`{"display":%q,"pastedContents":{"1":{"id":1,"type":"text","content":"PASTED"}},"timestamp":%d,"project":%q,"sessionId":%q}`+"\n", text, now.Add(-ago).UnixMilli(), project, session)
	}
	const day = 24 * time.Hour
	secret := "the password is " + "hunter" + "42x"
	text := line("gone", "/shop", "draw the weeks", 40*day) + line("kept", "/shop", "on disk", 40*day) +
		line("gone", "/shop", "no pie charts, [Pasted text #1 +5 lines]", 40*day-time.Minute) + line("gone", "/shop", "/clear", 39*day) +
		line("gone", "/shop/sub", secret, 38*day) +
		line("client", "/client", "secret plans", 30*day) + line("new", "/shop", "today", time.Hour) + line("stored", "/shop", "known", 40*day) +
		line("commands", "/shop", "/clear", 40*day) + line("../up", "/shop", "x", 40*day) +
		`{"display":"an older version","timestamp":1,"project":"/shop"}` + "\n" + `{"display":1}` + "\n" + line("none", "", "no folder", 20*day) + `{"display":"cut`
	dir := filepath.Join(home, "projects", "-shop")
	err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "kept.jsonl"), nil, 0o600),
		os.WriteFile(filepath.Join(home, HistoryFile), []byte(text), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	c := seen{}
	read := func(o harvest.Options) (out []*harvest.Session) {
		t.Helper()
		src := History(home, o, func(_ context.Context, id string) (bool, error) { return id == "stored", nil })
		if _, err := src.Sessions(t.Context(), c, func(s *harvest.Session) error { out = append(out, s); return nil }); err != nil {
			t.Fatal(err)
		}
		return out
	}
	all := read(harvest.Options{Exclude: []string{"/client"}, Exists: func(string) bool { return true }})
	if len(all) != 1 {
		t.Fatalf("%d sessions, want 1 (none without a folder, if some are excluded): %+v", len(all), all[1])
	}
	s := all[0]
	var prompts []string
	for _, turn := range s.Turns {
		prompts = append(prompts, turn.Prompt)
		if turn.Answer != "" || turn.Time.IsZero() {
			t.Errorf("%+v", turn)
		}
	}
	if len(prompts) != 3 || prompts[1] != "no pie charts, […]" || strings.Contains(strings.Join(prompts, ""), "hunter") || s.Redactions == 0 {
		t.Errorf("prompts %q, %d redactions", prompts, s.Redactions)
	}
	if s.ID != "gone" || s.Agent != HistoryAgent || s.Headless || s.Vendor != harvest.UnknownVendor || s.CWD != "/shop" || len(s.Invocations) != 0 ||
		!slices.Equal(s.Folders, []string{"/shop", "/shop/sub"}) || s.Path != filepath.Join(home, HistoryFile)+"#gone" || s.Started.IsZero() {
		t.Errorf("%+v", s)
	}
	if again := read(harvest.Options{}); len(again) != 0 {
		t.Errorf("%s was read twice, or though it was refused", again[0].ID)
	}
	c = seen{}
	var asked [][]string
	allowed := read(harvest.Options{Since: now.Add(-35 * day), Allowed: func(f []string) bool { asked = append(asked, f); return len(f) > 0 && f[0] == "/client" }})
	if len(allowed) != 1 || allowed[0].ID != "client" || len(asked) != 2 {
		t.Errorf("read %d, asked for %q", len(allowed), asked)
	}
	c = seen{}
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if _, err := os.ReadDir(dir); err != nil { // not as root
		if some := read(harvest.Options{}); len(some) > 0 {
			t.Errorf("%s was read, though its transcript may be there", some[0].ID)
		}
	}
}
