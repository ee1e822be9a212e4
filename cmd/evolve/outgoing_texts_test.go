package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// learned stores a candidate of the skill that a case taught, through a text in between,
// and returns its hash.
func (b *border) learned(words, taught string) string {
	b.t.Helper()
	name := b.cases[0].Skill
	live, err := os.ReadFile(filepath.Join(b.skills, name, "SKILL.md"))
	if err != nil {
		b.t.Fatal(err)
	}
	base, between, text := skill.HashText(live), string(live)+"\n- "+words+".\n", string(live)+"\n- "+words+".\n- Be brief.\n"
	sha := skill.HashText([]byte(text))
	db := b.open(b.home)
	defer db.Close()
	j := db.Journal("earlier-" + sha[:6])
	check := func(err error) {
		if err != nil {
			b.t.Fatal(err)
		}
	}
	check(j.SaveRun(b.t.Context(), &record.Run{ID: "earlier-" + sha[:6], Skill: name, Status: record.Finished, Incumbent: base, Challenger: sha, Started: time.Now().Add(-time.Hour)}))
	check(j.SaveCandidate(b.t.Context(), &record.Candidate{SHA: skill.HashText([]byte(between)), Run: "earlier-" + sha[:6], Seq: 1, Parents: []string{base}, Operator: "reflect",
		State: record.Pooled, Taught: []string{taught}, Text: []byte(between)}))
	check(j.SaveCandidate(b.t.Context(), &record.Candidate{SHA: sha, Run: "earlier-" + sha[:6], Seq: 2, Parents: []string{skill.HashText([]byte(between))}, Operator: "reflect",
		State: record.Pooled, Text: []byte(text)}))
	return sha
}

// undecided puts a text on trial against the live one.
func (b *border) undecided(sha string) {
	b.t.Helper()
	live, err := os.ReadFile(filepath.Join(b.skills, b.cases[0].Skill, "SKILL.md"))
	if err != nil {
		b.t.Fatal(err)
	}
	tr := pareto.NewTrial(pareto.DefaultConfig())
	state, err := json.Marshal(map[string]any{"version": 1, "start": tr, "trial": tr, "clusters": []string{}})
	if err != nil {
		b.t.Fatal(err)
	}
	db := b.open(b.home)
	defer db.Close()
	err = db.Journal("earlier-"+sha[:6]).SaveTrial(b.t.Context(), &record.TrialRecord{Skill: b.cases[0].Skill, Incumbent: skill.HashText(live), Challenger: sha,
		Run: "earlier-" + sha[:6], Decision: pareto.Undecided, State: state, Updated: time.Now().Add(-time.Hour)})
	if err != nil {
		b.t.Fatal(err)
	}
}

// A text that no version is yet may repeat what taught it: it is sent only to whom all of
// that may go, in every role. A dropped case is remembered for it.
func TestTextsAreOfWhatTaughtThem(t *testing.T) {
	t.Parallel()
	b := newBorder(t)
	b.decide(b.shop)
	name := b.cases[0].Skill
	of := func(project string, n int) string {
		for _, c := range b.cases {
			if c.Source.Session == project {
				if n--; n < 0 {
					return c.ID
				}
			}
		}
		return ""
	}
	theirs, ours := b.learned("Mention the "+ofClient, of("client", 1)), b.learned("Mention the "+inShop, of("shop", 0))
	db := b.open(b.home)
	if err := db.DropCase(t.Context(), name, of("client", 1)); err != nil {
		t.Fatal(err)
	}
	for _, sha := range []string{theirs, ours} {
		if _, err := db.Decide(t.Context(), store.Decision{Skill: name, SHA: sha, Word: store.Approved, By: "you"}); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	line := []string{"--skill", name, "--max-rollouts", "60", "--no-gate", "--max-retries", "1", "--seed", "7", "--yes", "--no-harvest"}
	_, stderr, sent := b.evolve(ended, line...)
	b.forbid("a run beside an approved text", sent)
	said := strings.Join(strings.Fields(stderr), " ")
	if !strings.Contains(said, "approved candidate "+theirs[:12]+" is left out, because it learned from some: 1 case of "+outgoing.Short(b.client)+" stays out") || !strings.Contains(said, "approved candidate "+ours[:12]+" starts beside") {
		t.Error(said)
	}
	if !slices.ContainsFunc(sent, func(r request) bool { return strings.Contains(r.body, "Mention the "+inShop) }) {
		t.Error("the other approved text was not tried")
	}
	// The one on trial, carried on, sought to be beaten, or compared.
	b.undecided(theirs)
	for _, line := range [][]string{{"--skill", name, "--yes", "--no-harvest"}, {"--skill", name, "--anew", "--yes", "--no-harvest"},
		{"compare", name, "v0", "challenger", "--yes"}, {"compare", name, "none", theirs[:12], "--split", "train", "--yes"}} {
		_, stderr, sent := b.evolve(exitUsage, line...)
		if said := strings.Join(strings.Fields(stderr), " "); len(sent) > 0 || !strings.Contains(said, "learned from text that may not be sent: 1 case of "+outgoing.Short(b.client)) || !strings.Contains(said, "evolve projects allow "+outgoing.Short(b.client)+" --to "+elsewhere) {
			t.Errorf("evolve %s: %d requests, %s", strings.Join(line, " "), len(sent), said)
		}
	}
	// The owner's own text holds no project's.
	db = b.open(b.home)
	c, err := db.Candidate(t.Context(), theirs)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.SaveVersion(t.Context(), record.Version{Skill: name, SHA: theirs, Text: c.Text, Author: "evolve"}); err != nil {
		t.Fatal(err)
	}
	db.Close()
	if _, _, sent := b.evolve(ended, "compare", name, "none", theirs[:12], "--split", "train", "--yes"); len(sent) == 0 {
		t.Error("a version was not compared")
	}
}
