package search

import (
	"slices"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// TestTangledLines: of two lines that are both stated and both fail, the one
// that fewer cases ask for goes; a line that passes anywhere obstructs none.
func TestTangledLines(t *testing.T) {
	doc, err := skill.Parse([]byte("---\nname: s\ndescription: d\n---\n\n# S\n\n- Plot quasars in violet.\n- Plot lanterns in copper.\n- Plot tundra in saffron.\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	says := map[string]string{"quasar": "quasars belong in violet", "lantern": "lanterns belong in copper", "tundra": "tundra belongs in saffron"}
	ask := func(topics ...string) (c eval.Case) {
		for _, x := range topics {
			c.Checks = append(c.Checks, eval.Check{Type: eval.Contains, Value: x, Feedback: says[x]})
		}
		return c
	}
	train := []eval.Case{ask("quasar"), ask("quasar", "tundra"), ask("lantern", "tundra"), ask("tundra")}
	s := &State{Cases: Cases{Train: train}, lessons: newLessons(train)}
	outcome := func(passed ...string) *Member {
		m := &Member{Variant: eval.Variant{Doc: doc}, train: make([]attempts, len(train))}
		for i, c := range train {
			r := &eval.Rollout{Status: eval.Done}
			for _, k := range c.Checks {
				score := 0.0
				if slices.Contains(passed, k.Value) {
					score = 1
				}
				r.Checks = append(r.Checks, eval.CheckResult{Score: score})
			}
			m.train[i].add(r)
		}
		return m
	}
	lines := func(idx []int) (out []string) {
		index, text := mutate.Deletable(mutate.Input{Parent: doc})
		for k, i := range index {
			if slices.Contains(idx, i) {
				out = append(out, text[k])
			}
		}
		return out
	}
	all := all(len(train))

	drop, stay, lost := s.tangled(outcome("lantern"), outcome("tundra"), all)
	if got := lines(drop); !slices.Equal(got, []string{"- Plot lanterns in copper."}) {
		t.Errorf("took out %q, want the line on lanterns", got)
	}
	if !slices.Equal(stay, []int{0, 1}) || !slices.Equal(lost, []int{2}) {
		t.Errorf("cases %v and %v, want [0 1] for what stays and [2] for what the parent passed", stay, lost)
	}
	if _, _, lost = s.tangled(outcome(), outcome("tundra"), all); len(lost) != 0 {
		t.Errorf("nobody passed what goes, and yet %v are to be tried again", lost)
	}
	for name, child := range map[string]*Member{"one line fails": outcome("tundra", "quasar"), "all pass": outcome("tundra", "quasar", "lantern")} {
		if drop, _, _ := s.tangled(outcome(), child, all); drop != nil {
			t.Errorf("%s: took out %q", name, lines(drop))
		}
	}
	// Of what was not tried nothing is known.
	if drop, _, _ := s.tangled(outcome(), outcome("tundra"), []int{0, 3}); drop != nil {
		t.Errorf("took out %q on the word of cases that nobody tried", lines(drop))
	}
}

func TestKnotsAreGivenUp(t *testing.T) {
	if k := (knots{tries: 1}); !k.promising() {
		t.Error("one failure is bad luck")
	}
	if k := (knots{tries: 2}); k.promising() {
		t.Error("two failures and no success")
	}
	if k := (knots{tries: 5, wins: 2}); !k.promising() {
		t.Error("two of five help")
	}
}
