// Package worldstest generates simulated worlds in which each kind of search succeeds or fails.
package worldstest

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval/agent/simulated"
)

// words name the topics of the generated worlds. None is part of another.
var words = strings.Fields(`quasar lantern walnut harbor cobalt meadow tundra saffron pelican granite velvet
orchid copper falcon juniper marble nebula otter paprika quill raven sable thistle umber violet willow xenon
yarrow zephyr anchor basil cedar dahlia ember fjord garnet hazel indigo jasper kelp lotus mango nutmeg opal
plum quartz rosemary sequoia`)

// trades name the bloat lines.
var trades = strings.Fields(`ledger shipping archive museum textile railway vineyard observatory lighthouse
bakery theatre canal orchestra printing glass pottery mining bridge market garden`)

// base is what the generated worlds share: a desk that tags requests.
func base(name string, seed int64, noise float64) simulated.World {
	w := simulated.World{
		Name: name, Skill: "tagger", Opening: "Tags:", RandomSeed: seed,
		Asks: []string{
			"Request %d: please deal with %s.",
			"Number %d is waiting. It concerns %s.",
			"Can you take request %d, about %s, and tag it?",
		},
		Noise: noise, PerBloat: 0.015, PerToken: 0.0002, FreeTokens: 500, Break: 0.85,
		Mutator: simulated.Mutator{Defect: 0.20},
		Task:    simulated.Rates{InputUSD: 0.15e-6, OutputUSD: 0.60e-6, Base: 400e6, PerInput: 50e3, PerOutput: 8e6, Jitter: 0.2},
		Text:    simulated.Rates{InputUSD: 2.5e-6, OutputUSD: 10e-6, Base: 900e6, PerInput: 50e3, PerOutput: 12e6, Jitter: 0.2},
	}
	for i, t := range trades {
		w.Bloat = append(w.Bloat, fmt.Sprintf("Background note B%02d: %s history is often relevant, "+
			"so weigh the wider %s context before you answer.", i+1, t, t))
	}
	w.Seeding = seeding()
	return w
}

// seeding is a skill with the given lines under its rules.
func seeding(lines ...string) string {
	var b strings.Builder
	b.WriteString("---\nname: tagger\ndescription: Tags incoming requests. Use for every request that needs a tag.\n---\n\n" +
		"# Tagger\n\nRead the request and tag each part of it.\n\n## Rules\n\n- Answer with one tag for each topic.\n")
	for _, l := range lines {
		b.WriteString("- " + l + "\n")
	}
	return b.String()
}

// rule is the n-th lesson of a generated world.
func rule(d *simulated.Draw, n int, word string) simulated.Lesson {
	const letters = "BCDFGHJKLMNPQRSTVWXZ"
	tag := fmt.Sprintf("%c%c-%04d", letters[d.Below(len(letters))], letters[d.Below(len(letters))], 1000+d.Below(9000))
	return simulated.Lesson{
		ID: fmt.Sprintf("R%02d", n+1), Topic: []string{word},
		Phrase:  fmt.Sprintf("for %s requests, tag the reply %s", word, tag),
		Outcome: fmt.Sprintf("%s=%s", word, tag),
		Says:    fmt.Sprintf("missing rule R%02d: %s must be tagged %s", n+1, word, tag),
	}
}

// rules are n lessons in an order of topics that the seed decides.
func rules(seed int64, n int) []simulated.Lesson {
	d := simulated.NewDraw(uint64(seed), 'w')
	topics := append([]string(nil), words...)
	simulated.Shuffle(&d, topics)
	var ls []simulated.Lesson
	for i := range n {
		t := topics[i%len(topics)]
		if i >= len(topics) {
			t = fmt.Sprintf("%s%d", t, i/len(topics)+1)
		}
		ls = append(ls, rule(&d, i, t))
	}
	return ls
}

func ids(ls []simulated.Lesson) (out []string) {
	for _, l := range ls {
		out = append(out, l.ID)
	}
	return out
}

// exception is the line that contradicts a rule.
func exception(l simulated.Lesson) simulated.Harm {
	return simulated.Harm{Line: fmt.Sprintf("Exception: never tag %s requests, leave them blank.", l.Topic[0]), Breaks: []string{l.ID}}
}

// Additive is a world of n independent rules, none of which the seed skill
// holds: every rule helps whatever else is there. Cases ask for 1 to 4 of them.
func Additive(seed int64, n int, noise float64) simulated.World {
	w := base("additive", seed, noise)
	w.Lessons = rules(seed, n)
	for _, l := range w.Lessons {
		w.Harmful = append(w.Harmful, exception(l))
	}
	w.Families = []simulated.Family{{Lessons: ids(w.Lessons), Max: 4}}
	return w
}

// Conflicting is a world of 16 rules in 8 pairs, of which only one can stand:
// each breaks the other. One of each pair is asked for three times as often, so
// the best skill holds 8 rules, and a merge of two good skills may be worse
// than either.
func Conflicting(seed int64, noise float64) simulated.World {
	w := base("conflicting", seed, noise)
	w.Lessons = rules(seed, 16)
	var often, seldom []string
	for i := 0; i < len(w.Lessons); i += 2 {
		a, b := &w.Lessons[i], &w.Lessons[i+1]
		a.Conflicts, b.Conflicts = []string{b.ID}, []string{a.ID}
		often, seldom = append(often, a.ID), append(seldom, b.ID)
	}
	w.Families = []simulated.Family{{Lessons: often, Share: 3, Max: 3}, {Lessons: seldom, Share: 1, Max: 3}}
	return w
}

// Deceptive is a world with a local optimum. Four easy rules each help at once.
// Eight deep rules help only in groups of two, and each breaks one easy rule,
// so that adding any one rule to the skill of all easy rules makes it worse;
// yet the deep rules alone are worth twice as much as the easy ones.
func Deceptive(seed int64, noise float64) simulated.World {
	w := base("deceptive", seed, noise)
	w.Lessons = rules(seed, 12)
	easy, deep := w.Lessons[:4], w.Lessons[4:]
	for i := range deep {
		deep[i].Requires = []string{deep[i^1].ID}
		easy[i/2].Conflicts = append(easy[i/2].Conflicts, deep[i].ID)
	}
	w.Families = []simulated.Family{{Lessons: ids(easy), Share: 2, Max: 2}}
	for i := 0; i < len(deep); i += 2 {
		w.Families = append(w.Families, simulated.Family{Lessons: ids(deep[i : i+2]), Min: 2})
	}
	return w
}

// Interacting is a world of 5 sections of 3 rules that only work together: a
// rule alone changes nothing. Candidates that hold different sections are worth
// merging.
func Interacting(seed int64, noise float64) simulated.World {
	w := base("interacting", seed, noise)
	w.Lessons = rules(seed, 15)
	for i := range w.Lessons {
		for j := i - i%3; j < i-i%3+3; j++ {
			if j != i {
				w.Lessons[i].Requires = append(w.Lessons[i].Requires, w.Lessons[j].ID)
			}
		}
	}
	for i := 0; i < len(w.Lessons); i += 3 {
		w.Families = append(w.Families, simulated.Family{Lessons: ids(w.Lessons[i : i+3]), Min: 2})
	}
	return w
}

// Rewrite is a world of 12 rules, 6 of which a line of the seed skill spoils.
// For those, adding the rule does nothing while the line stands, and deleting
// the line does nothing while the rule is missing: only both at once, a
// rewrite, solves their cases.
func Rewrite(seed int64, noise float64) simulated.World {
	w := base("rewrite", seed, noise)
	w.Break = 1
	w.Lessons = rules(seed, 12)
	plain, spoiled := w.Lessons[:6], w.Lessons[6:]
	var lines []string
	for _, l := range spoiled {
		h := simulated.Harm{Line: fmt.Sprintf("Tag %s requests GEN-0000, whatever else is said about them.", l.Topic[0]), Breaks: []string{l.ID}}
		w.Harmful = append(w.Harmful, h)
		lines = append(lines, h.Line)
	}
	w.Seeding = seeding(lines...)
	w.Families = []simulated.Family{{Lessons: ids(plain), Max: 3}, {Lessons: ids(spoiled), Max: 3}}
	return w
}

// HarmfulSeed is a world whose seed skill holds 8 of its 16 rules, lines that
// contradict 6 of those, and 6 lines of bloat: the first gain is in deleting.
func HarmfulSeed(seed int64, noise float64) simulated.World {
	w := base("harmful-seed", seed, noise)
	w.Lessons = rules(seed, 16)
	var lines []string
	for _, l := range w.Lessons[:8] {
		lines = append(lines, l.Phrase)
	}
	for _, l := range w.Lessons[:6] {
		h := exception(l)
		w.Harmful = append(w.Harmful, h)
		lines = append(lines, h.Line)
	}
	lines = append(lines, w.Bloat[:6]...)
	w.Seeding = seeding(lines...)
	w.Families = []simulated.Family{{Lessons: ids(w.Lessons), Max: 4}}
	return w
}
