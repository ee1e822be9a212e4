package hookcases

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/store"
)

var day = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"

func input(t testing.TB, command string) json.RawMessage {
	t.Helper()
	out, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": map[string]string{"command": command}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func stop(t testing.TB, call, command string, at time.Time) Case {
	return Case{Call: call, Event: "PreToolUse", Tool: "Bash", Time: at, Input: input(t, command), Label: guard.Stop, Rule: "Never reset", Words: "never", Source: Refusal}
}

func allowed(t testing.TB, call, command string, at time.Time) Case {
	return Case{Call: call, Event: "PreToolUse", Tool: "Bash", Time: at, Input: input(t, command), Label: guard.Go}
}

func of(id string, from time.Time, cases ...Case) Session {
	return Session{Agent: "claude-code", ID: id, Project: "/w", Folders: []string{"/w", "/w/sub"}, First: from, Last: from.Add(time.Hour), Cases: cases}
}

// harvested is a store with the sessions of some ids.
func harvested(t *testing.T, ids ...string) *store.Store {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, id := range ids {
		if err := db.SaveSession(t.Context(), &harvest.Session{ID: id, Agent: "claude-code", Path: "/p/" + id, CWD: "/w", Started: day, Turns: []harvest.Turn{{Prompt: "x"}}}); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func keep(t *testing.T, db *store.Store, want int, sessions ...Session) {
	t.Helper()
	if n, err := Keep(t.Context(), db, redact.Detector{}, sessions); err != nil || n != want {
		t.Fatalf("kept %d, %v; want %d", n, err, want)
	}
}

func list(t *testing.T, db *store.Store, f Filter, unusable int) []Session {
	t.Helper()
	out, err := Of(t.Context(), db, f)
	n := 0
	for _, s := range out {
		n += len(s.Unusable)
	}
	if err != nil || n != unusable {
		t.Fatalf("%d are unusable, %v; want %d", n, err, unusable)
	}
	return out
}

// Cases come back by session in the order of time, as they were; nothing is kept twice.
func TestKeep(t *testing.T) {
	db := harvested(t, "a", "b")
	later := of("b", day.Add(24*time.Hour), stop(t, "t3", "git reset --hard", day.Add(25*time.Hour)))
	early := of("a", day, stop(t, "t2", "make", day.Add(2*time.Minute)), allowed(t, "t1", `echo "<a>" & ls`, day.Add(time.Minute)))
	keep(t, db, 3, later, early)
	keep(t, db, 0, later, early)
	all := list(t, db, Filter{}, 0)
	if len(all) != 2 || all[0].ID != "a" || len(all[0].Cases) != 2 || all[0].Cases[0].Call != "t1" || all[1].Cases[0].Call != "t3" {
		t.Fatalf("%+v", all)
	}
	if got, want := all[0].Cases[0], early.Cases[1]; !bytes.Equal(got.Input, want.Input) || got.Label != guard.Go || got.Rule != "" || !got.Time.Equal(want.Time) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := all[1].Cases[0]; got.Rule != "Never reset" || got.Words != "never" || got.Source != Refusal || got.Label != guard.Stop {
		t.Errorf("%+v", got)
	}
	if s := all[0]; s.Project != "/w" || len(s.Folders) != 2 || !s.First.Equal(day) || !s.Last.Equal(day.Add(time.Hour)) {
		t.Errorf("%+v", s)
	}
	for f, want := range map[Filter]int{{Since: day.Add(2 * time.Minute)}: 2, {Tool: "Edit"}: 0, {Event: "Stop"}: 0, {Event: "PreToolUse", Tool: "Bash", Since: day.Add(24 * time.Hour)}: 1} {
		n := 0
		for _, s := range list(t, db, f, 0) {
			n += len(s.Cases)
		}
		if n != want {
			t.Errorf("%+v: %d cases, want %d", f, n, want)
		}
	}
}

// A session that went on has a later end; a call that its user corrected afterwards is one to
// stop, and stays one; a fork's copy of a call is none of its own.
func TestKeepAnew(t *testing.T) {
	db := harvested(t, "a", "fork")
	s := of("a", day, allowed(t, "t1", "npm i", day))
	keep(t, db, 1, s)
	s.Last = day.Add(9 * time.Hour)
	s.Cases[0] = stop(t, "t1", "npm i", day)
	s.Cases[0].Source = Correction
	keep(t, db, 1, s)
	keep(t, db, 0, of("a", day, allowed(t, "t1", "npm i", day)), of("fork", day, stop(t, "t1", "npm i", day)))
	keep(t, db, 0, s)
	all := list(t, db, Filter{}, 0)
	if len(all) != 1 || len(all[0].Cases) != 1 || all[0].Cases[0].Label != guard.Stop || all[0].Cases[0].Source != Correction || !all[0].Last.Equal(s.Last) {
		t.Errorf("%+v", all)
	}
}

// Nothing is kept of a session that evolve does not have, or no longer has the text of.
func TestNotKept(t *testing.T) {
	ctx := t.Context()
	db := harvested(t, "expired", "purged", "named")
	if err := db.Exec(ctx, `UPDATE sessions SET expired = 1 WHERE id = 'expired'`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.PurgeSessions(ctx, []string{"purged"}); err != nil {
		t.Fatal(err)
	}
	named := of("named", day, stop(t, "t4", "x", day))
	named.Folders = []string{"/w/" + secret}
	was := of("named", day, stop(t, "t5", "x", day))
	was.Project = "/w/[redacted:github-token]"
	keep(t, db, 0, was, of("expired", day, stop(t, "t1", "x", day)), of("purged", day, stop(t, "t2", "x", day)), of("unknown", day, stop(t, "t3", "x", day)), named)
	if all := list(t, db, Filter{}, 0); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// Who drops a case takes back what was known by its check.
func TestDropped(t *testing.T) {
	ctx := t.Context()
	db := harvested(t, "a")
	checked := stop(t, "t1", "npm i", day)
	checked.Source, checked.From = Correction, "mined-1"
	keep(t, db, 1, of("a", day, checked))
	if all := list(t, db, Filter{}, 0); len(all) != 0 {
		t.Errorf("without its case: %+v", all)
	}
	c := eval.Case{ID: "mined-1", Skill: "s", Prompt: "x", Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}}
	if _, _, err := db.SaveCases(ctx, []eval.Case{c}); err != nil {
		t.Fatal(err)
	}
	if all := list(t, db, Filter{}, 0); len(all) != 1 || all[0].Cases[0].From != "mined-1" {
		t.Errorf("%+v", all)
	}
	if err := db.DropCase(ctx, "s", "mined-1"); err != nil {
		t.Fatal(err)
	}
	if all := list(t, db, Filter{}, 0); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// A case stays when the text of its session expires, and goes with a later purge.
func TestExpired(t *testing.T) {
	ctx := t.Context()
	db := harvested(t, "a")
	keep(t, db, 1, of("a", day, stop(t, "t1", "git reset", day)))
	x, err := db.Due(ctx, func(string) time.Time { return day.AddDate(1, 0, 0) }, func(string) bool { return false })
	if err != nil || len(x.Sessions) != 1 {
		t.Fatalf("%+v, %v", x, err)
	}
	keeping := store.Keeping{Case: func(*harvest.Session, eval.Case) (r harvest.Recording) { return r }, File: func(string) string { return "" }}
	if err := db.Expire(ctx, x, keeping); err != nil {
		t.Fatal(err)
	}
	keep(t, db, 0, of("a", day, stop(t, "t1", "git reset", day), stop(t, "t2", "git reset", day)))
	if all := list(t, db, Filter{}, 0); len(all) != 1 || len(all[0].Cases) != 1 || all[0].Cases[0].Words != "never" {
		t.Errorf("%+v", all)
	}
	if report, err := db.PurgeSessions(ctx, []string{"a"}); err != nil || report.HookCases != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

// A purge removes the cases of its session with every byte of them, and no others.
func TestPurge(t *testing.T) {
	ctx := t.Context()
	db := harvested(t, "a", "b")
	keep(t, db, 3, of("a", day, stop(t, "t1", "XYZZYplugh --one", day), allowed(t, "t2", "XYZZYplugh --two", day)), of("b", day, stop(t, "t3", "kept", day)))
	report, err := db.PurgeSessions(ctx, []string{"a"})
	if err != nil || report.HookCases != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	if all := list(t, db, Filter{}, 0); len(all) != 1 || all[0].ID != "b" {
		t.Errorf("%+v", all)
	}
	for _, name := range []string{db.Path(), db.Path() + "-wal"} {
		text, err := os.ReadFile(name)
		if err == nil && bytes.Contains(text, []byte("XYZZYplugh")) {
			t.Errorf("%s has the purged words", name)
		}
	}
}

// A secret is gone before anything is stored; what it was in decides nothing.
func TestSecrets(t *testing.T) {
	db := harvested(t, "a")
	quoted := stop(t, "t2", "git reset", day)
	quoted.Words = "never with " + secret
	long := stop(t, "t3", strings.Repeat("x", MaxInput), day)
	file := stop(t, "t4", "git reset", day)
	file.Input = json.RawMessage(`{"tool_input":{"command":"git reset"},"transcript_path":"/p/` + secret + `"}`)
	broken := stop(t, "t5", "", day)
	broken.Input = json.RawMessage(`[7]`)
	keep(t, db, 5, of("a", day, stop(t, "t1", "deploy --token="+secret, day), quoted, long, file, broken))
	all := list(t, db, Filter{}, 3)
	if len(all) != 1 || len(all[0].Cases) != 2 || all[0].Cases[0].Call != "t2" || !strings.HasPrefix(all[0].Cases[0].Words, "never with [redacted:") || all[0].Cases[1].Call != "t4" {
		t.Errorf("%+v", all)
	}
	for _, name := range []string{db.Path(), db.Path() + "-wal"} {
		if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s has the secret", name)
		}
	}
}

// Whatever an input is, what is kept of it is a JSON object within the limit, without secrets;
// and as it was, if there is no fault.
func TestFit(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{secret, "token", "a\x00b", strings.Repeat("é", MaxInput/3), strings.Repeat("x", 3*MaxInput)}))
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return text.AsAny()
		}
		return rapid.OneOf(text.AsAny(), rapid.Int().AsAny(), rapid.SliceOfN(value(depth-1), 0, 3).AsAny(), rapid.MapOfN(text, value(depth-1), 0, 3).AsAny())
	}
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(map[string]any{"tool_input": value(3).Draw(t, "input"), "transcript_path": text.Draw(t, "path")})
		if err != nil {
			t.Fatal(err)
		}
		out, fault := fit(raw, redact.Detector{})
		var fields map[string]any
		if json.Unmarshal(out, &fields) != nil || len(out) > MaxInput || bytes.Contains(out, []byte(secret)) {
			t.Fatalf("%d bytes: %.200s", len(out), out)
		}
		if fault == "" && !bytes.Contains(raw, []byte(secret)) && !bytes.Equal(out, raw) {
			t.Fatalf("%.200s became %.200s", raw, out)
		}
	})
}

func TestFitMany(t *testing.T) {
	raw := []byte(`{"tool_input":{"n":[` + strings.TrimSuffix(strings.Repeat("1,", MaxInput), ",") + `]}}`)
	if out, fault := fit(raw, redact.Detector{}); string(out) != "{}" || fault != cut {
		t.Errorf("%q: %.100s", fault, out)
	}
}
