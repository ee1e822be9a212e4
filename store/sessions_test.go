package store

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
)

func session(id, path string, uses ...harvest.Invocation) *harvest.Session {
	return &harvest.Session{
		ID: id, Agent: "claude-code", Path: path, CWD: "/shop", Started: day, Ended: day.Add(time.Minute),
		Turns:       []harvest.Turn{{Prompt: "plot it", Answer: "done", Tools: []harvest.Tool{{Name: "Bash", Failed: true}}, Usage: &eval.Usage{Input: 3}}},
		Invocations: uses,
		Problems:    []harvest.Problem{{Path: path, Line: 3, Reason: "cut off"}},
	}
}

func use(id, skill string, label harvest.Label, at time.Time) harvest.Invocation {
	return harvest.Invocation{ID: id, Skill: skill, Signal: harvest.SkillToolUse, Explicit: true, Time: at,
		Feedback: harvest.Feedback{Label: label, Confidence: 0.9, Evidence: "no, in USD"}}
}

func TestSessions(t *testing.T) {
	s := open(t)
	want := session("s1", "/a.jsonl", use("u1", "dataviz", harvest.Corrected, day))
	must(t, s.SaveSession(t.Context(), session("s1", "/a.jsonl", use("u0", "gone", harvest.Accepted, day))))
	must(t, s.SaveSession(t.Context(), want)) // the file has grown
	sub := session("s1", "/a/sub.jsonl")
	sub.Headless, sub.Started = true, day.Add(time.Hour)
	must(t, s.SaveSession(t.Context(), sub))

	for _, c := range []struct {
		name  string
		f     SessionFilter
		paths []string
	}{
		{"all", SessionFilter{}, []string{"/a/sub.jsonl", "/a.jsonl"}},
		{"skill", SessionFilter{Skill: "dataviz"}, []string{"/a.jsonl"}},
		{"replaced", SessionFilter{Skill: "gone"}, nil},
		{"people", SessionFilter{People: true}, []string{"/a.jsonl"}},
		{"since", SessionFilter{Since: day.Add(time.Minute)}, []string{"/a/sub.jsonl"}},
		{"limit", SessionFilter{ID: "s1", Agent: "claude-code", Limit: 1}, []string{"/a/sub.jsonl"}},
		{"agent", SessionFilter{Agent: "codex"}, nil},
	} {
		list, err := s.Sessions(t.Context(), c.f)
		must(t, err)
		var paths []string
		for _, x := range list {
			paths = append(paths, x.Path)
		}
		if !reflect.DeepEqual(paths, c.paths) {
			t.Errorf("%s: %v, want %v", c.name, paths, c.paths)
		}
	}
	list, err := s.Sessions(t.Context(), SessionFilter{Skill: "dataviz"})
	must(t, err)
	if !reflect.DeepEqual(&list[0], want) {
		t.Errorf("got %+v\nwant %+v", list[0], *want)
	}
	list, err = s.Sessions(t.Context(), SessionFilter{Bare: true, Skill: "dataviz"})
	must(t, err)
	if list[0].Turns != nil || len(list[0].Invocations) != 1 {
		t.Errorf("bare session is %+v", list[0])
	}
	if id, err := s.SessionID(t.Context(), "s"); id != "s1" || err != nil {
		t.Errorf("session s is %q, %v", id, err)
	}
}

func TestSkillUses(t *testing.T) {
	s := open(t)
	later := day.Add(time.Hour)
	refused := use("u4", "typo", harvest.Unknown, day)
	refused.Failed = true
	plan := use("u6", "typo", harvest.Unknown, day)
	plan.Signal, plan.Explicit = harvest.DollarMention, false
	one := session("s1", "/1", use("u5", "dataviz", harvest.Abandoned, day), use("u1", "dataviz", harvest.Corrected, day), use("line-7", "dataviz", harvest.Accepted, later), refused, plan)
	// A resumed session begins with the lines of the first one; line-7 of it is
	// another use at another time.
	two := session("s2", "/2", use("u1", "dataviz", harvest.Corrected, day), use("line-7", "dataviz", harvest.Repeated, day.Add(time.Minute)),
		use("", "review", harvest.Rejected, time.Time{}), use("", "review", harvest.Rejected, time.Time{}))
	must(t, s.SaveSession(t.Context(), one))
	must(t, s.SaveSession(t.Context(), two))
	got, err := s.SkillUses(t.Context())
	must(t, err)
	want := []SkillUse{
		{Skill: "dataviz", Uses: 4, Accepted: 1, Corrected: 1, Repeated: 1, Abandoned: 1, Last: later.Truncate(time.Microsecond)},
		{Skill: "review", Uses: 2, Rejected: 2},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	uses, err := s.Invocations(t.Context(), "dataviz")
	must(t, err)
	if len(uses) != 4 || uses[1].ID != "u1" || uses[1].Path != "/1" || uses[1].Session != "s1" ||
		uses[1].Agent != "claude-code" || uses[1].Feedback.Evidence != "no, in USD" || uses[2].Path != "/2" {
		t.Errorf("uses are %+v", uses)
	}
}

func TestCursor(t *testing.T) {
	s := open(t)
	c, err := s.Cursor(t.Context(), "claude")
	must(t, err)
	if c.Seen("/a", 10, day) {
		t.Error("a new cursor has seen something")
	}
	c.Mark("/a", 10, day)
	if !c.Seen("/a", 10, day) || c.Seen("/a", 11, day) || c.Seen("/a", 10, day.Add(time.Nanosecond)) {
		t.Error("a mark is not exactly what was marked")
	}
	if fresh, err := s.Cursor(t.Context(), "claude"); err != nil || fresh.Seen("/a", 10, day) {
		t.Errorf("a mark was kept before Flush (%v)", err)
	}
	must(t, c.Flush(t.Context()))
	c.Mark("/a", 12, day)
	must(t, c.Flush(t.Context()))
	fresh, err := s.Cursor(t.Context(), "claude")
	must(t, err)
	if !fresh.Seen("/a", 12, day) || fresh.Seen("/a", 10, day) {
		t.Error("the last mark was not kept")
	}
	other, err := s.Cursor(t.Context(), "codex")
	must(t, err)
	if other.Seen("/a", 12, day) {
		t.Error("sources share a cursor")
	}
}

// All that is known of a file comes back as it was.
func TestCursorOfFiles(t *testing.T) {
	s := open(t)
	c, err := s.Cursor(t.Context(), "claude")
	must(t, err)
	want := harvest.FileState{Device: 1 << 63, Inode: 1<<64 - 1, Size: 10, Modified: day, Changed: day.Add(time.Nanosecond), End: 8, Last: "ab", Refused: true}
	c.MarkFile("/a", want)
	c.MarkFile("/b", harvest.FileState{Size: 1, Modified: day})
	c.Mark("repo#entire", 77, day)
	must(t, c.Flush(t.Context()))
	fresh, err := s.Cursor(t.Context(), "claude")
	must(t, err)
	got, ok := fresh.File("/a")
	if !ok || !got.Modified.Equal(want.Modified) || !got.Changed.Equal(want.Changed) {
		t.Errorf("got %+v", got)
	}
	if got.Modified, got.Changed = want.Modified, want.Changed; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if b, ok := fresh.File("/b"); !ok || !b.Changed.IsZero() || b.Last != "" {
		t.Errorf("got %+v", b)
	}
	if _, ok := fresh.File("/c"); ok || !fresh.Seen("repo#entire", 77, day) {
		t.Error("the cursor knows a file that was not marked, or not what was")
	}
}

func TestReadings(t *testing.T) {
	s := open(t)
	if got, err := s.Recall(t.Context(), "k"); got != nil || err != nil {
		t.Errorf("%q, %v of nothing", got, err)
	}
	must(t, s.SaveSession(t.Context(), session("s1", "/1")))
	must(t, s.Remember(t.Context(), "s1", "k", []byte("a")))
	must(t, s.Remember(t.Context(), "s1", "k", []byte("b")))
	must(t, s.Remember(t.Context(), "s2", "l", []byte("c")))
	if got, err := s.Recall(t.Context(), "k"); string(got) != "b" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	_, err := s.PurgeSessions(t.Context(), []string{"s1"})
	must(t, err)
	must(t, s.Remember(t.Context(), "s1", "m", []byte("d")))
	for key, want := range map[string]string{"k": "", "l": "c", "m": ""} {
		if got, err := s.Recall(t.Context(), key); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v after the purge, want %q", key, got, err, want)
		}
	}
}

func TestCursorFlushAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evolve.db")
	s := openAt(t, path)
	c, err := s.Cursor(t.Context(), "claude")
	must(t, err)
	c.Mark("/a", 1, day)
	must(t, s.Close())
	if err := c.Flush(t.Context()); !errors.Is(err, ErrClosed) {
		t.Fatalf("flush into a closed store: %v", err)
	}
	c.store = openAt(t, path)
	must(t, c.Flush(t.Context()))
	again, err := c.store.Cursor(t.Context(), "claude")
	must(t, err)
	if !again.Seen("/a", 1, day) {
		t.Error("a mark was lost with the flush that failed")
	}
}

// What was refused is forgotten if it is decided otherwise, and nothing else; a purged
// session's file stays read.
func TestCursorRefuse(t *testing.T) {
	s := open(t)
	cursor := func() *Cursor {
		c, err := s.Cursor(t.Context(), "claude")
		must(t, err)
		return c
	}
	state := harvest.FileState{Size: 10, Modified: day, End: 8}
	c := cursor()
	for _, path := range []string{"/read", "/refused", hashedPath("/purged")} {
		c.MarkFile(path, state)
	}
	c.Mark("repo#entire/s", 77, day)
	c.Refuse("/refused")
	c.Refuse("repo#entire/s")
	c.Refuse("/unknown")
	must(t, c.Flush(t.Context()))
	knows := func(want ...string) {
		t.Helper()
		c := cursor()
		for _, path := range []string{"/read", "/refused", "/purged", "repo#entire/s", "/unknown"} {
			f, ok := c.File(path)
			if ok != slices.Contains(want, path) || ok && f.End != state.End && f.Size == state.Size {
				t.Errorf("%s: %+v, %v", path, f, ok)
			}
		}
	}
	knows("/read", "/refused", "/purged", "repo#entire/s")
	must(t, s.Reconsider(t.Context(), false))
	knows("/read", "/purged")
	c = cursor()
	c.MarkFile("/refused", state)
	c.Refuse("/refused")
	c.MarkFile("/refused", state) // it was allowed
	must(t, c.Flush(t.Context()))
	must(t, s.Reconsider(t.Context(), false))
	knows("/read", "/refused", "/purged")
	must(t, s.Reconsider(t.Context(), true))
	knows("/purged")
}
