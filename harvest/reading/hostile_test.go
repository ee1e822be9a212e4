package reading

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/work"
)

// TestCopiedSession reads a session that is in two files.
func TestCopiedSession(t *testing.T) {
	a, b := german("s1"), german("s1")
	b.Path = "copy.jsonl"
	m := &model{reply: about(`{"id":"%s","label":"corrected","words":"bitte logarithmisch","replayable":"yes","rule":"","concerns":"neither"}`)}
	r := Reader{Model: m, Memory: new(notes)}
	stats, err := r.Uses(t.Context(), []*harvest.Session{a, b}, "plot")
	if err != nil || a.Turns[0].Reading == nil || b.Turns[0].Reading == nil {
		t.Errorf("%+v, %v", stats, err)
	}
}

// TestLongNames has a transcript name tools at length.
func TestLongNames(t *testing.T) {
	s := said("s1", "plot it => done", "no")
	for i := range 30 {
		s.Turns[0].Tools = append(s.Turns[0].Tools, harvest.Tool{Name: fmt.Sprint(i, strings.Repeat("T", 50000))})
	}
	m := &model{reply: func([]string) string { return "" }}
	r := Reader{Model: m}
	if _, err := r.Read(t.Context(), []*harvest.Session{s}); err != nil || len(m.seen) != 1 || len(m.seen[0].User) > 3000 {
		t.Errorf("%d prompts, %v", len(m.seen), err)
	}
}

// TestPraiseAndMemory has the user praise the work and ask for a note of something else.
func TestPraiseAndMemory(t *testing.T) {
	for _, c := range [][2]string{
		{"Perfect, thanks! Now add a line to AGENTS.md on how to build the docs.", "AGENTS.md"},
		{"Great, that works. Next: add the install step to SKILL.md", "skills/plot/SKILL.md"},
	} {
		s := said("s1", "plot it => done", c[0]+" => noted")
		s.Turns[1].Work = []work.Act{{Kind: work.Changed, File: c[1], Added: "Build the docs with make docs."}}
		r := Reader{}
		if _, err := r.Read(t.Context(), []*harvest.Session{s}); err != nil {
			t.Fatal(err)
		}
		if x := s.Turns[0].Reading; x != nil && x.Label == harvest.Corrected {
			t.Errorf("%s: %+v", c[0], *x)
		}
	}
	s := said("s1", "plot it => done", "no, that's wrong: never a pie, remember that => noted")
	s.CWD = "/home/a/skills/plot"
	s.Turns[1].Work = []work.Act{{Kind: work.Changed, File: "SKILL.md", Added: "Never draw a pie chart."}}
	r := Reader{}
	if _, err := r.Read(t.Context(), []*harvest.Session{s}); err != nil {
		t.Fatal(err)
	}
	if x := s.Turns[0].Reading; x == nil || x.Concerns != "skill:plot" {
		t.Errorf("%+v", x)
	}
}
