package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/harvested"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/tournament/status"
)

// A mixed home has everything that a count of uses could get wrong: every label, a
// copy of a session, one that a program drove, a subagent's, a call that the agent
// refused, a skill that it only spoke of, and uses by another name of the file.
func mixedHome(t *testing.T) *bedroom {
	dir := t.TempDir()
	b := &bedroom{t: t, now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC),
		env: map[string]string{"EVOLVE_HOME": filepath.Join(dir, "evolve"), "CLAUDE_CONFIG_DIR": filepath.Join(dir, ".claude")}}
	allowEverything(t, b.env["EVOLVE_HOME"])
	skills := filepath.Join(dir, ".claude", "skills")
	path := filepath.Join(skills, "tables", "SKILL.md")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(tablesText), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("tables", filepath.Join(skills, "grids")); err != nil {
		t.Fatal(err)
	}
	db := b.store()
	defer db.Close()
	var cases []eval.Case
	for i := range 9 {
		cases = append(cases, eval.Case{ID: fmt.Sprint("c", i), Skill: "tables", Prompt: fmt.Sprintf("Case %d", i), Split: []eval.Split{eval.Train, eval.Val, eval.Test}[i%3],
			Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}})
	}
	if _, _, err := db.SaveCases(t.Context(), cases); err != nil {
		t.Fatal(err)
	}
	n := 0
	add := func(change func(*harvest.Session), uses ...harvest.Invocation) {
		n++
		s := &harvest.Session{ID: fmt.Sprint("s", n), Path: fmt.Sprintf("/%d.jsonl", n), Agent: "claude-code", Started: b.now.Add(-48 * time.Hour)}
		for i := range uses {
			u := &uses[i]
			u.ID, u.Turn, u.Time = fmt.Sprintf("u%d-%d", n, i), i, s.Started.Add(time.Duration(n*60+i)*time.Minute)
			if u.Signal == "" {
				u.Signal, u.Explicit = harvest.SkillToolUse, true
			}
			s.Turns = append(s.Turns, harvest.Turn{Prompt: fmt.Sprintf("Make table %d of file %d", i, n), Answer: "done"})
		}
		if s.Invocations = uses; change != nil {
			change(s)
		}
		if err := db.SaveSession(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	use := func(skill string, label harvest.Label) harvest.Invocation {
		return harvest.Invocation{Skill: skill, Feedback: harvest.Feedback{Label: label, Confidence: 0.9, Evidence: "no", Unread: true}}
	}
	for range 4 {
		add(nil, use("tables", harvest.Corrected), use("tables", harvest.Accepted))
	}
	add(nil, use("tables", harvest.Rejected), use("tables", harvest.Repeated), use("tables", harvest.Abandoned), use("tables", harvest.Unknown))
	add(nil, use("grids", harvest.Corrected)) // by the other name
	add(func(s *harvest.Session) { s.Headless = true }, use("tables", harvest.Corrected), use("tables", harvest.Corrected))
	add(func(s *harvest.Session) { s.Headless, s.Subagent = true, "a1" }, use("tables", harvest.Unknown))
	refused, planned := use("tables", harvest.Corrected), use("tables", harvest.Corrected)
	refused.Failed, planned.Signal = true, harvest.DollarMention
	add(nil, refused, planned)
	add(func(s *harvest.Session) { // a resumed session begins with the lines of the first
		s.Invocations[0].ID, s.Invocations[0].Time = "u1-0", b.now.Add(-48*time.Hour+60*time.Minute)
	}, use("tables", harvest.Corrected))
	return b
}

// TestCountsAgree: after a harvest every command gives the same counts of the uses of
// a skill, in its text and in its JSON, under the same words.
func TestCountsAgree(t *testing.T) {
	const uses, corrected, accepted, failed = 13, 5, 4, 7
	b := mixedHome(t)

	var h harvested.Report
	if err := json.Unmarshal([]byte(b.run(exitDone, "harvest", "--json")), &h); err != nil {
		t.Fatal(err)
	}
	if len(h.Skills) != 1 || h.Skills[0].Uses != uses || h.Skills[0].Corrected != corrected || h.Skills[0].Accepted != accepted {
		t.Errorf("harvest --json: %+v", h.Skills)
	} else if s := h.Skills[0]; s.Corrected+s.Rejected+s.Repeated != failed {
		t.Errorf("harvest --json: %d failed", s.Corrected+s.Rejected+s.Repeated)
	}
	var s status.Report
	if err := json.Unmarshal([]byte(b.run(exitDone, "status", "--json")), &s); err != nil {
		t.Fatal(err)
	}
	if k := s.Skills[0]; k.Uses != uses || k.Corrected != corrected || k.Accepted != accepted ||
		k.CorrectionRate == nil || *k.CorrectionRate != float64(corrected)/uses {
		t.Errorf("status --json: %+v", k)
	}
	says := func(what, text, pattern string) {
		t.Helper()
		if !regexp.MustCompile(`(?m)` + pattern).MatchString(text) {
			t.Errorf("%s: no %q in\n%s", what, pattern, text)
		}
	}
	says("harvest", b.run(exitDone, "harvest"), fmt.Sprintf(`^SKILL +USES +CORRECTED +ACCEPTED .*\ntables +%d +%d +%d `, uses, corrected, accepted))
	says("status", b.run(exitDone, "status"), fmt.Sprintf(`^SKILL +USES +CORRECTED .*\ntables +%d +%d +38 %% `, uses, corrected))
	b.run(exitDone, "--skill", "tables", "--dry-run", "--agent", "simulated")
	says("--dry-run", b.stderr.String(), fmt.Sprintf(`^harvest: 0 new sessions, %d uses of tables \(%d corrected, %d accepted\), `, uses, corrected, accepted))
	says("sleep run --dry-run", b.run(exitDone, "sleep", "run", "--dry-run", "--agent", "simulated"),
		fmt.Sprintf(`%d of %d uses in 60 days failed \(corrected, rejected or repeated\)`, failed, uses))
	// Uses in sessions that a program drove are counted separately.
	if got := h.Skills[0].Headless; got != 3 {
		t.Errorf("%d uses without a person, want 3", got)
	}
}
