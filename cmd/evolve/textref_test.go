package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// found is the result for a name of a command that shows a text.
func (r *roaming) found(at string) error {
	s, err := openTexts(r.t.Context(), r.a, "tagger")
	if err == nil {
		_, err = s.Find(r.t.Context(), at)
	}
	return err
}

// TestOneResolverOfNames: every command that takes a candidate refuses an
// ambiguous beginning, and accepts "challenger".
func TestOneResolverOfNames(t *testing.T) {
	r := newRoaming(t)
	live := skill.HashText(r.v0)
	var texts [2][]byte // whose names begin with the same digit
	for i, by := 0, map[string][]byte{}; texts[0] == nil; i++ {
		text := append(r.v0[:len(r.v0):len(r.v0)], fmt.Sprintf("\nAt most %d tags.\n", i)...)
		first := skill.HashText(text)[:1]
		if by[first] != nil && first != live[:1] {
			texts = [2][]byte{by[first], text}
		}
		by[first] = text
	}
	at := r.proved(texts[0], r.v0)
	r.proved(texts[1], r.v0, func(t *record.TrialRecord) {
		t.Decision, t.Updated = pareto.Undecided, day1.Add(-time.Hour)
	})
	commands := func(at string) map[string]error {
		return map[string]error{
			"promote": promoteSkill(t.Context(), r.a, "tagger@"+at, promoteFlags{yes: true}),
			"reject":  runDecision(t.Context(), r.a, "tagger@"+at, "rejected", true),
			"show":    r.found(at),
		}
	}
	for command, err := range commands(at[:1]) {
		if code, hint := codeOf(err); err == nil || code != exitUsage || !strings.Contains(err.Error(), "names several candidates") || !strings.Contains(hint, at) {
			t.Errorf("%s @%s: exit code %d, %v (%s)", command, at[:1], code, err, hint)
		}
	}
	r.holds("claude", r.v0)
	for command, err := range commands("ffffffffffff") {
		if code, _ := codeOf(err); err == nil || code != exitUsage {
			t.Errorf("%s of a name that is nobody's: exit code %d, %v", command, code, err)
		}
	}
	r.holds("claude", r.v0)
	for _, at := range []string{"challenger", strings.ToUpper(at)} {
		if err := r.found(at); err != nil {
			t.Errorf("show @%s: %v", at, err)
		}
		if err := r.promote("@" + at); err != nil {
			t.Errorf("promote @%s: %v", at, err)
		}
		r.holds("claude", texts[0])
		if err := rollbackLive(t.Context(), r.a, "tagger"); err != nil {
			t.Fatal(err)
		}
	}
}
