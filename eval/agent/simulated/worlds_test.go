package simulated_test

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
)

const delta = 1e-9

// with is the world's seed skill plus the phrases of the given lessons.
func with(w simulated.World, ls ...simulated.Lesson) string {
	var b strings.Builder
	b.WriteString(w.Seed())
	for _, l := range ls {
		b.WriteString("- " + l.Phrase + "\n")
	}
	return b.String()
}

// without is text without the lines that contain any of parts.
func without(text string, parts ...string) string {
	var keep []string
	for _, l := range strings.Split(text, "\n") {
		drop := false
		for _, p := range parts {
			drop = drop || strings.Contains(l, p)
		}
		if !drop {
			keep = append(keep, l)
		}
	}
	return strings.Join(keep, "\n")
}

func pick(ls []simulated.Lesson, from, step int) (out []simulated.Lesson) {
	for i := from; i < len(ls); i += step {
		out = append(out, ls[i])
	}
	return out
}

func lines(hs []simulated.Harm) (out []string) {
	for _, h := range hs {
		out = append(out, h.Line)
	}
	return out
}

func TestAdditiveEveryRuleHelpsAlone(t *testing.T) {
	w := worldstest.Additive(1, 24, 0.05)
	cases := w.Cases(30, 30, 60)
	if q := w.Oracle(w.Seed(), cases); q != 0 {
		t.Errorf("seed quality = %v, want 0", q)
	}
	if q := w.Oracle(with(w, w.Lessons...), cases); q < 0.85 {
		t.Errorf("quality with all rules = %.3f, want at least 0.85", q)
	}
	for i := range w.Lessons {
		before, after := with(w, w.Lessons[:i]...), with(w, w.Lessons[:i+1]...)
		if a, b := w.Oracle(before, cases), w.Oracle(after, cases); b <= a {
			t.Errorf("rule %d: %.3f → %.3f, want a gain", i, a, b)
		}
	}
}

func TestConflictingPairsMustBeChosenFrom(t *testing.T) {
	w := worldstest.Conflicting(1, 0)
	cases := w.Cases(0, 0, 200)
	often, seldom := with(w, pick(w.Lessons, 0, 2)...), with(w, pick(w.Lessons, 1, 2)...)
	all := with(w, w.Lessons...)
	qo, qs, qa := w.Oracle(often, cases), w.Oracle(seldom, cases), w.Oracle(all, cases)
	if !(qo > qs && qs > qa) {
		t.Errorf("often %.3f, seldom %.3f, all %.3f: want them in falling order", qo, qs, qa)
	}
}

func TestDeceptiveSingleAdditionsStall(t *testing.T) {
	w := worldstest.Deceptive(1, 0)
	cases := w.Cases(0, 0, 120)
	// Greedy: add the rule that gains most, as long as one gains.
	var held []simulated.Lesson
	best := w.Oracle(with(w), cases)
	for {
		gain, which := 0.0, -1
		for i, l := range w.Lessons {
			if q := w.Oracle(with(w, append(held[:len(held):len(held)], l)...), cases); q-best > gain+delta {
				gain, which = q-best, i
			}
		}
		if which < 0 {
			break
		}
		held = append(held, w.Lessons[which])
		best += gain
	}
	deep := w.Oracle(with(w, w.Lessons[4:]...), cases)
	if len(held) != 4 {
		t.Errorf("greedy holds %d rules, want the 4 easy ones", len(held))
	}
	if best > deep-0.25 {
		t.Errorf("greedy reaches %.3f, the deep rules alone %.3f: want a gap of at least 0.25", best, deep)
	}
	// The way out is there: two rules at once.
	two := w.Oracle(with(w, append(held[:len(held):len(held)], w.Lessons[4:6]...)...), cases)
	if two <= best {
		t.Errorf("a deep pair takes greedy's %.3f to %.3f, want a gain", best, two)
	}
}

func TestInteractingNeedsWholeSections(t *testing.T) {
	w := worldstest.Interacting(1, 0)
	cases := w.Cases(0, 0, 60)
	if q := w.Oracle(with(w, w.Lessons[:2]...), cases); q != 0 {
		t.Errorf("two rules of a section: %.3f, want 0", q)
	}
	one := w.Oracle(with(w, w.Lessons[:3]...), cases)
	two := w.Oracle(with(w, w.Lessons[:6]...), cases)
	if one <= 0 || two < 2*one-0.1 {
		t.Errorf("one section %.3f, two %.3f: want them to add up", one, two)
	}
}

func TestRewriteNeedsBothEdits(t *testing.T) {
	w := worldstest.Rewrite(1, 0)
	all := w.Cases(0, 0, 80)
	var family []eval.Case // the cases that hold spoiled rules
	for _, c := range all {
		for _, l := range w.Lessons[6:] {
			if strings.Contains(c.Prompt, l.Topic[0]) {
				family = append(family, c)
				break
			}
		}
	}
	if len(family) < 30 {
		t.Fatalf("only %d of %d cases are of the spoiled family", len(family), len(all))
	}
	added := with(w, w.Lessons...)
	if q := w.Oracle(added, family); q != 0 {
		t.Errorf("only adding: %.3f, want 0", q)
	}
	if q := w.Oracle(without(w.Seed(), lines(w.Harmful)...), family); q != 0 {
		t.Errorf("only deleting: %.3f, want 0", q)
	}
	if q := w.Oracle(without(added, lines(w.Harmful)...), family); q < 1-delta {
		t.Errorf("rewriting: %.3f, want 1", q)
	}
}

func TestHarmfulSeedGainsByDeleting(t *testing.T) {
	w := worldstest.HarmfulSeed(1, 0.05)
	cases := w.Cases(0, 0, 60)
	seed := w.Oracle(w.Seed(), cases)
	clean := w.Oracle(without(w.Seed(), append(lines(w.Harmful), w.Bloat...)...), cases)
	if clean < seed+0.2 {
		t.Errorf("seed %.3f, without harm and bloat %.3f: want a gain of at least 0.2", seed, clean)
	}
}

func TestCasesAreWhatTheWorldAsks(t *testing.T) {
	for _, w := range []simulated.World{worldstest.Additive(3, 24, 0.05), worldstest.Conflicting(3, 0), worldstest.Deceptive(3, 0), worldstest.Interacting(3, 0), worldstest.Rewrite(3, 0), worldstest.HarmfulSeed(3, 0)} {
		c := simulated.Compile(w)
		cases := w.Cases(20, 20, 30)
		if len(cases) != 70 {
			t.Errorf("%s: %d cases, want 70", w.Name, len(cases))
		}
		seen := map[string]bool{}
		for i := range cases {
			k := &cases[i]
			if seen[k.ID] || seen[k.Prompt+string(k.Split)] {
				t.Errorf("%s: case %s is there twice", w.Name, k.ID)
			}
			seen[k.ID], seen[k.Prompt+string(k.Split)] = true, true
			if got := c.Lessons(k); got != len(k.Checks) || got == 0 {
				t.Errorf("%s: %q makes %d lessons apply, has %d checks", w.Name, k.Prompt, got, len(k.Checks))
			}
		}
	}
}
