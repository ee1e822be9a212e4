package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// TestEveryAddedLineCitesACase: of what the demo installs, each line that v0 has
// not names a case, and the user's words share one with it.
func TestEveryAddedLineCitesACase(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	if _, stderr, code := read(t, "demo", "--keep", dir, "-q"); code != exitDone {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	t.Setenv("EVOLVE_HOME", filepath.Join(dir, "evolve"))
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(dir, ".claude"))
	got, stderr, code := read(t, "show", "dataviz@v1", "--why", "--json")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var r showResult
	if err := json.Unmarshal([]byte(got), &r); err != nil {
		t.Fatal(err)
	}
	v0, _, _ := read(t, "show", "dataviz@v0")
	added := 0
	for line := range strings.SplitSeq(r.Text, "\n") {
		if strings.TrimSpace(line) == "" || strings.Contains(v0, line) {
			continue
		}
		added++
		if c := citing(r.Changes, line); c == nil {
			t.Errorf("no change is about %q", line)
		} else if words := firstWordsOf(c); words == "" || !c.Steps[0].Matched {
			t.Errorf("%q cites no case whose words it answers: %+v", line, c)
		}
	}
	if added < 5 {
		t.Errorf("only %d lines were added: this test shows little", added)
	}
	for _, c := range r.Changes {
		if c.Kind == "removed" && c.Because == "" {
			t.Errorf("nothing is said of why %q went", c.Text)
		}
	}
}

func citing(all []candidate.Change, line string) *candidate.Change {
	for i := range all {
		if strings.Contains(line, all[i].Text) {
			return &all[i]
		}
	}
	return nil
}

func firstWordsOf(c *candidate.Change) string {
	for _, s := range c.Steps {
		for _, k := range s.Cases {
			if k.Words != "" {
				return k.Words
			}
		}
	}
	return ""
}

const baseText = `---
name: tagger
description: Tags release notes.
---

# Tagger

- Use at most three tags.
- Notes have a long history.
- Always be polite to readers.
- Prefer nouns over verbs.

<!-- kernel -->
Print one line of JSON.
<!-- /kernel -->
`

// TestWhyLineage walks two runs: a line that a reflection brought, that a later
// step reworded and a merge took over; lines that a deletion, a pruning and an
// untangling took out; what a rewrite brought with no case. The first run's
// winner is the second one's incumbent.
func TestWhyLineage(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("EVOLVE_HOME", filepath.Join(dir, "evolve"))
	t.Setenv("CLAUDE_CONFIG_DIR", dir)
	path := filepath.Join(dir, "skills", "tagger", skill.FileName)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Dir(path), 0o700))
	must(os.WriteFile(path, []byte(baseText), 0o600))
	change := func(text string, pairs ...string) string {
		t.Helper()
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Fatalf("no %q in %q", pairs[i], text)
			}
		}
		return strings.NewReplacer(pairs...).Replace(text)
	}
	sorted := change(baseText, "- Use", "- Sort the tags by name.\n- Use")
	shorter := change(sorted, "- Notes have a long history.\n", "")
	other := change(baseText, "- Use", "- Write tags in lower case.\n- Use")
	merged := change(shorter, "- Use", "- Write tags in lower case.\n- Use")
	pruned := change(merged, "- Always be polite to readers.\n", "")
	final := change(pruned, "Sort the tags by name.", "Sort all tags by their name, ascending.",
		"- Prefer nouns over verbs.\n", "- Prefer nouns over all verbs.\n", "Write tags", "Sing loudly.\n- Write tags")
	second := change(final, "- Sing loudly.\n", "", "- Use", "- Separate tags with commas.\n- Use")

	ctx := context.Background()
	db, err := store.Open(ctx, filepath.Join(dir, "evolve", "evolve.db"))
	must(err)
	var cases []eval.Case
	for id, words := range map[string]string{"sort": "please sort the tags by name", "lower": "tags in lower case!", "comma": "commas to separate them",
		"w": "wider margins", "x": "cite the source", "y": "add a legend", "z": "no pie", "u": "use green"} {
		cases = append(cases, eval.Case{ID: id, Skill: "tagger", Prompt: "tag " + id, Split: eval.Train, Checks: []eval.Check{{Type: eval.Judge, Rubric: words}}})
	}
	_, _, err = db.SaveCases(ctx, cases)
	must(err)
	hash := func(text string) string { return skill.HashText([]byte(text)) }
	type step struct {
		text, op string
		from     []string
		taught   []string
	}
	runs := []struct {
		id    string
		steps []step
	}{
		{"r1", []step{
			{text: baseText, op: "found"},
			{sorted, "reflect", []string{baseText}, []string{"sort", "w", "x"}},
			{shorter, "ablate", []string{sorted}, nil},
			{other, "reflect", []string{baseText}, []string{"lower", "gone"}},
			{merged, "merge", []string{shorter, other}, nil},
			{pruned, "prune", []string{merged}, nil},
			{final, "rephrase", []string{pruned}, nil},
		}},
		{"r2", []step{
			{text: final, op: "found"},
			{second, "reflect", []string{final}, []string{"comma"}},
		}},
	}
	for n, r := range runs {
		j := db.Journal(r.id)
		start := time.Date(2026, 4, n+1, 0, 0, 0, 0, time.UTC)
		must(j.SaveRun(ctx, &record.Run{ID: r.id, Skill: "tagger", Status: record.Finished, Incumbent: hash(r.steps[0].text), Started: start}))
		for i, s := range r.steps {
			c := record.Candidate{SHA: hash(s.text), Run: r.id, Seq: i, Operator: s.op, State: record.Pooled, Taught: s.taught, Text: []byte(s.text)}
			if i == 0 {
				c.State = record.Seed
			}
			for _, p := range s.from {
				c.Parents = append(c.Parents, hash(p))
			}
			must(j.SaveCandidate(ctx, &c))
			kind, data := "accepted", map[string]any{"sha256": c.SHA, "gain": 0.25, "cases": 8}
			if s.op == "prune" {
				data["on"] = []string{"sort", "lower", "comma"}
			}
			if s.text == second {
				kind = "untangled"
			}
			raw, err := json.Marshal(data)
			must(err)
			must(j.AppendEvent(ctx, record.Event{Run: r.id, Seq: i, Kind: kind, Data: raw, Time: start}))
		}
	}
	for _, v := range []record.Version{{SHA: hash(baseText), Author: "you", Text: []byte(baseText)},
		{SHA: hash(final), Parent: hash(baseText), Author: "evolve", Run: "r1", Text: []byte(final)}} {
		v.Skill = "tagger"
		_, err := db.SaveVersion(ctx, v)
		must(err)
	}
	must(db.Close())

	why := func(at string) string {
		t.Helper()
		got, stderr, code := read(t, "show", "tagger@"+at, "--why", "--json")
		if code != exitDone {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		var r showResult
		must(json.Unmarshal([]byte(got), &r))
		var b strings.Builder
		for _, c := range r.Changes {
			fmt.Fprintf(&b, "%s %d %s", c.Kind, c.Line, c.Text)
			if c.Was != "" {
				fmt.Fprintf(&b, " (was %s)", c.Was)
			}
			for _, s := range c.Steps {
				fmt.Fprintf(&b, "; %s", s.Operator)
				if len(s.TriedOn) > 0 {
					fmt.Fprintf(&b, " on %s", strings.Join(s.TriedOn, "+"))
				}
				for _, k := range s.Cases {
					fmt.Fprintf(&b, " %s", k.Case)
				}
			}
			fmt.Fprintf(&b, "; %s\n", c.Because)
		}
		return b.String()
	}
	// v1 is the incumbent of the second run; its lineage in the first is
	// shown all the same.
	const wantV1 = `added 8 Sort all tags by their name, ascending.; reflect sort; rephrase; it answers what was said on these cases
added 9 Sing loudly.; rephrase; no case taught it: rephrase rewrites without one
added 10 Write tags in lower case.; reflect lower; it answers what was said on these cases
reworded 12 Prefer nouns over all verbs. (was Prefer nouns over verbs.); rephrase; no case taught it: rephrase rewrites without one
removed 0 Notes have a long history.; ablate; no training case speaks of it (+0.25 on 8 training cases without it)
removed 0 Always be polite to readers.; prune on sort+lower+comma; the mutator found that it earns nothing (+0.25 on 8 training cases without it)
`
	if got := why("v1"); got != wantV1 {
		t.Errorf("v1: got\n%s\nwant\n%s", got, wantV1)
	}
	const wantR2 = `added 10 Separate tags with commas.; reflect comma; it answers what was said on these cases
removed 0 Sing loudly.; reflect comma; it and other lines were in each other's way (tried on validation)
`
	if got := why(hash(second)[:12]); got != wantR2 {
		t.Errorf("r2: got\n%s\nwant\n%s", got, wantR2)
	}
}
