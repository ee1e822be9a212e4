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

// known has the session "stored", and turns.
type known []harvest.Turn

func (known) Stored(_ context.Context, id string) (bool, error) { return id == "stored", nil }

func (k known) Turns(_ context.Context, agent string, from, to time.Time) (turns []harvest.Turn, _ error) {
	for _, turn := range k {
		if agent == Agent && !turn.Time.Before(from) && !turn.Time.After(to) {
			turns = append(turns, turn)
		}
	}
	return turns, nil
}

// TestHistoryOfResumed: a prompt that a resumed session has in its copy is not read from the
// file again.
func TestHistoryOfResumed(t *testing.T) {
	home := t.TempDir()
	from := time.Date(2026, 10, 1, 8, 0, 0, 0, time.UTC)
	prompts := []string{"draw the weeks", "no, [Pasted text #1 +5 lines] is the log", "continue", "thanks", "continue"}
	var text string
	for i, prompt := range prompts {
		text += fmt.Sprintf(`{"display":%q,"timestamp":%d,"project":"/shop","sessionId":"gone"}`+"\n", prompt, from.Add(time.Duration(i)*time.Hour).UnixMilli())
	}
	if err := os.WriteFile(filepath.Join(home, HistoryFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	turn := func(hour int, after time.Duration, prompt string) harvest.Turn {
		return harvest.Turn{Time: from.Add(time.Duration(hour)*time.Hour + after), Prompt: prompt}
	}
	read := func(k Known) (prompts []string) {
		t.Helper()
		_, err := History(home, harvest.Options{}, k).Sessions(t.Context(), nil, func(s *harvest.Session) error {
			for _, turn := range s.Turns {
				prompts = append(prompts, turn.Prompt)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return prompts
	}
	for name, test := range map[string]struct {
		known Known
		want  []string
	}{
		"nothing":    {nil, []string{"draw the weeks", "no, […] is the log", "continue", "thanks", "continue"}},
		"not copied": {known{}, []string{"draw the weeks", "no, […] is the log", "continue", "thanks", "continue"}},
		"copied":     {known{turn(0, 4*time.Millisecond, "draw the weeks"), turn(1, 0, "no, FAIL x is the log"), turn(2, 30*time.Second, "continue")}, []string{"thanks", "continue"}},
		"all copied": {known{turn(0, 0, "draw the weeks"), turn(1, 0, "no, a"), turn(2, 0, "continue"), turn(3, 0, ""), turn(4, 0, "continue")}, nil},
		"the same by chance": {known{turn(2, 20*time.Minute, "continue"), turn(3, 10*time.Second, ""), turn(1, time.Minute, "no, that was something else")},
			[]string{"draw the weeks", "no, […] is the log", "continue", "thanks", "continue"}},
		"others": {known{turn(0, time.Second, "look at the shop")}, []string{"draw the weeks", "no, […] is the log", "continue", "thanks", "continue"}},
	} {
		if got := read(test.known); !slices.Equal(got, test.want) {
			t.Errorf("%s: read %q, want %q", name, got, test.want)
		}
	}
}

// TestHistoryLimits: a file that no person can have typed is not read; prompts that take too
// long are named, and read by the next harvest.
func TestHistoryLimits(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, HistoryFile)
	text := fmt.Sprintf(`{"display":"draw it","timestamp":%d,"project":"/shop","sessionId":"gone"}`+"\n", time.Now().Add(-9*24*time.Hour).UnixMilli())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := seen{}
	read := func(o harvest.Options, want int, reason string) {
		t.Helper()
		n, told := 0, ""
		problems, err := History(home, o, nil).Sessions(t.Context(), c, func(*harvest.Session) error { n++; return nil })
		for _, p := range problems {
			told += p.Reason
		}
		if err != nil || n != want || told != reason {
			t.Errorf("%d sessions, %q, %v", n, told, err)
		}
	}
	read(harvest.Options{MaxReading: -1}, 0, harvest.ErrSlow.Error())
	read(harvest.Options{}, 1, "")
	if err := os.Truncate(file, maxFile+1); err != nil {
		t.Fatal(err)
	}
	read(harvest.Options{}, 0, "larger than 256 MiB")
}

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
		src := History(home, o, known{})
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
