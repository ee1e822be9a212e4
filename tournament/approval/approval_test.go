package approval

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/hook/settings"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
)

const live = `---
name: tables
description: Makes tables.
---

# Tables

- Name every column.

<!-- kernel -->
Print Markdown.
<!-- /kernel -->
`

// office is a desk over a skill of one text, with an empty store.
func office(t *testing.T) (*Desk, *store.Store, string) {
	t.Helper()
	home := t.TempDir()
	path := filepath.Join(home, "skills", "tables", skill.FileName)
	mustHold(t, os.MkdirAll(filepath.Dir(path), 0o700))
	mustHold(t, os.WriteFile(path, []byte(live), 0o600))
	dir := datadir.Dir(filepath.Join(home, "evolve"))
	mustHold(t, os.MkdirAll(string(dir), 0o700))
	db, err := store.Open(t.Context(), dir.Database())
	mustHold(t, err)
	t.Cleanup(func() { mustHold(t, db.Close()) })
	layout := &skill.Layout{Getenv: func(string) string { return "" }, ClaudeHome: home, Configured: func() ([]string, error) { return nil, nil }}
	say := func(string, ...any) {}
	out := &settings.Outbox{Dir: dir, Now: time.Now, Say: say}
	return &Desk{Layout: layout, By: "owner",
		Release: &release.Installer{Store: db, Dir: dir, Layout: layout, Now: time.Now, Say: say, Note: out.Leave},
		Outbox:  out}, db, path
}

func mustHold(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// held saves a candidate of the live text that the firewall holds, and returns its name.
func held(t *testing.T, db *store.Store, text string) string {
	t.Helper()
	sha := skill.HashText([]byte(text))
	j := db.Journal("20261120-000000-" + sha[:6])
	mustHold(t, j.SaveRun(t.Context(), &record.Run{ID: "20261120-000000-" + sha[:6], Skill: "tables", Status: record.Finished, Incumbent: skill.HashText([]byte(live))}))
	mustHold(t, j.SaveCandidate(t.Context(), &record.Candidate{SHA: sha, Run: "20261120-000000-" + sha[:6], Seq: 1, Parents: []string{skill.HashText([]byte(live))},
		Operator: "reflect", State: record.Quarantined, Reason: "new-host: it says https://tables.example", Text: []byte(text)}))
	return sha
}

// TestDecision: an approved text may be tried and is no longer blocked by the
// hooks; a repeated decision changes nothing; a rejection revokes an
// approval.
func TestDecision(t *testing.T) {
	ctx := t.Context()
	k, db, path := office(t)
	sha := held(t, db, strings.Replace(live, "column.", "column, with its unit.", 1))
	mustHold(t, k.Outbox.Guard(ctx, db, "tables"))
	guarded := func() bool {
		t.Helper()
		list, err := os.ReadDir(k.Outbox.Dir.Quarantine())
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return len(list) > 0
	}
	if !guarded() {
		t.Fatal("the firewall's find is not held: this test shows little")
	}
	for _, step := range []struct {
		word  store.Word
		done  bool
		state candidate.Standing
		held  bool
	}{
		{store.Approved, false, candidate.Approved, false},
		{store.Approved, true, candidate.Approved, false},
		{store.Rejected, false, candidate.Rejected, true},
		{store.Approved, false, candidate.Approved, false},
	} {
		d, err := k.Find(ctx, "tables@"+sha[:12], step.word)
		mustHold(t, err)
		if d.Done != step.done || len(d.Result.Findings) != 1 || d.Result.Findings[0].Rule != "new-host" || d.Result.Diff == nil {
			t.Errorf("%s: done %v, %+v", step.word, d.Done, d.Result)
		}
		mustHold(t, k.Keep(ctx, d))
		if d.Result.State != step.state || d.Result.By != "owner" || d.Result.Next == "" || guarded() != step.held {
			t.Errorf("%s: %+v, held by hooks %v", step.word, d.Result, guarded())
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != live {
		t.Errorf("a decision has changed the live text: %v", err)
	}
}

// TestNothingToDecide: a name that is no candidate of the skill, or needs no
// decision, is refused with what to type; nothing is recorded.
func TestNothingToDecide(t *testing.T) {
	ctx := t.Context()
	k, db, _ := office(t)
	sha := held(t, db, strings.Replace(live, "Print Markdown.", "Print HTML.", 1)) // another kernel
	for arg, want := range map[string]string{
		"tables":              "name a candidate",
		"tables@ffffffff":     "that you may decide on begins with",
		"tables@" + sha[:12]:  "cannot be tried any more",
		"nobody@" + sha[:12]:  "no skill is named",
		"tables@" + sha + "0": "that you may decide on begins with",
	} {
		d, err := k.Find(ctx, arg, store.Approved)
		kind, _ := problem.Of(err)
		if err == nil || !strings.Contains(err.Error(), want) || strings.HasPrefix(arg, "tables") && kind == problem.Failed {
			t.Errorf("%s: %+v, %v; want %q", arg, d, err, want)
		}
	}
	if words, err := db.Decisions(ctx, "tables"); err != nil || len(words) > 0 {
		t.Errorf("kept %v, %v", words, err)
	}
}
