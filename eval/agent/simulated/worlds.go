package simulated

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
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
func base(name string, seed int64, noise float64) World {
	w := World{
		Name: name, Skill: "tagger", Opening: "Tags:", RandomSeed: seed,
		Asks: []string{
			"Request %d: please deal with %s.",
			"Number %d is waiting. It concerns %s.",
			"Can you take request %d, about %s, and tag it?",
		},
		Noise: noise, PerBloat: 0.015, PerToken: 0.0002, FreeTokens: 500, Break: 0.85,
		Mutator: Mutator{Defect: 0.20},
		Task:    Rates{InputUSD: 0.15e-6, OutputUSD: 0.60e-6, Base: 400e6, PerInput: 50e3, PerOutput: 8e6, Jitter: 0.2},
		Text:    Rates{InputUSD: 2.5e-6, OutputUSD: 10e-6, Base: 900e6, PerInput: 50e3, PerOutput: 12e6, Jitter: 0.2},
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
func rule(d *draw, n int, word string) Lesson {
	const letters = "BCDFGHJKLMNPQRSTVWXZ"
	tag := fmt.Sprintf("%c%c-%04d", letters[d.below(len(letters))], letters[d.below(len(letters))], 1000+d.below(9000))
	return Lesson{
		ID: fmt.Sprintf("R%02d", n+1), Topic: []string{word},
		Phrase:  fmt.Sprintf("for %s requests, tag the reply %s", word, tag),
		Outcome: fmt.Sprintf("%s=%s", word, tag),
		Says:    fmt.Sprintf("missing rule R%02d: %s must be tagged %s", n+1, word, tag),
	}
}

// rules are n lessons in an order of topics that the seed decides.
func rules(seed int64, n int) []Lesson {
	d := newDraw(uint64(seed), 'w')
	topics := append([]string(nil), words...)
	shuffle(&d, topics)
	var ls []Lesson
	for i := range n {
		t := topics[i%len(topics)]
		if i >= len(topics) {
			t = fmt.Sprintf("%s%d", t, i/len(topics)+1)
		}
		ls = append(ls, rule(&d, i, t))
	}
	return ls
}

func ids(ls []Lesson) (out []string) {
	for _, l := range ls {
		out = append(out, l.ID)
	}
	return out
}

// exception is the line that contradicts a rule.
func exception(l Lesson) Harm {
	return Harm{Line: fmt.Sprintf("Exception: never tag %s requests, leave them blank.", l.Topic[0]), Breaks: []string{l.ID}}
}

// Additive is a world of n independent rules, none of which the seed skill
// holds: every rule helps whatever else is there. Cases ask for 1 to 4 of them.
func Additive(seed int64, n int, noise float64) World {
	w := base("additive", seed, noise)
	w.Lessons = rules(seed, n)
	for _, l := range w.Lessons {
		w.Harmful = append(w.Harmful, exception(l))
	}
	w.Families = []Family{{Lessons: ids(w.Lessons), Max: 4}}
	return w
}

// Conflicting is a world of 16 rules in 8 pairs, of which only one can stand:
// each breaks the other. One of each pair is asked for three times as often, so
// the best skill holds 8 rules, and a merge of two good skills may be worse
// than either.
func Conflicting(seed int64, noise float64) World {
	w := base("conflicting", seed, noise)
	w.Lessons = rules(seed, 16)
	var often, seldom []string
	for i := 0; i < len(w.Lessons); i += 2 {
		a, b := &w.Lessons[i], &w.Lessons[i+1]
		a.Conflicts, b.Conflicts = []string{b.ID}, []string{a.ID}
		often, seldom = append(often, a.ID), append(seldom, b.ID)
	}
	w.Families = []Family{{Lessons: often, Share: 3, Max: 3}, {Lessons: seldom, Share: 1, Max: 3}}
	return w
}

// Deceptive is a world with a local optimum. Four easy rules each help at once.
// Eight deep rules help only in groups of two, and each breaks one easy rule,
// so that adding any one rule to the skill of all easy rules makes it worse;
// yet the deep rules alone are worth twice as much as the easy ones.
func Deceptive(seed int64, noise float64) World {
	w := base("deceptive", seed, noise)
	w.Lessons = rules(seed, 12)
	easy, deep := w.Lessons[:4], w.Lessons[4:]
	for i := range deep {
		deep[i].Requires = []string{deep[i^1].ID}
		easy[i/2].Conflicts = append(easy[i/2].Conflicts, deep[i].ID)
	}
	w.Families = []Family{{Lessons: ids(easy), Share: 2, Max: 2}}
	for i := 0; i < len(deep); i += 2 {
		w.Families = append(w.Families, Family{Lessons: ids(deep[i : i+2]), Min: 2})
	}
	return w
}

// Interacting is a world of 5 sections of 3 rules that only work together: a
// rule alone changes nothing. Candidates that hold different sections are worth
// merging.
func Interacting(seed int64, noise float64) World {
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
		w.Families = append(w.Families, Family{Lessons: ids(w.Lessons[i : i+3]), Min: 2})
	}
	return w
}

// Rewrite is a world of 12 rules, 6 of which a line of the seed skill spoils.
// For those, adding the rule does nothing while the line stands, and deleting
// the line does nothing while the rule is missing: only both at once, a
// rewrite, solves their cases.
func Rewrite(seed int64, noise float64) World {
	w := base("rewrite", seed, noise)
	w.Break = 1
	w.Lessons = rules(seed, 12)
	plain, spoiled := w.Lessons[:6], w.Lessons[6:]
	var lines []string
	for _, l := range spoiled {
		h := Harm{Line: fmt.Sprintf("Tag %s requests GEN-0000, whatever else is said about them.", l.Topic[0]), Breaks: []string{l.ID}}
		w.Harmful = append(w.Harmful, h)
		lines = append(lines, h.Line)
	}
	w.Seeding = seeding(lines...)
	w.Families = []Family{{Lessons: ids(plain), Max: 3}, {Lessons: ids(spoiled), Max: 3}}
	return w
}

// HarmfulSeed is a world whose seed skill holds 8 of its 16 rules, lines that
// contradict 6 of those, and 6 lines of bloat: the first gain is in deleting.
func HarmfulSeed(seed int64, noise float64) World {
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
	w.Families = []Family{{Lessons: ids(w.Lessons), Max: 4}}
	return w
}

// Cases deals cases of the world into the three splits. Each case is a cluster
// of its own; families take turns by their shares, and their lessons come up
// evenly.
func (w World) Cases(train, val, test int) []eval.Case {
	families := w.Families
	if len(families) == 0 {
		families = []Family{{Lessons: ids(w.Lessons)}}
	}
	byID := map[string]Lesson{}
	for _, l := range w.Lessons {
		byID[l.ID] = l
	}
	var out []eval.Case
	for _, s := range []struct {
		split eval.Split
		n     int
	}{{eval.Train, train}, {eval.Val, val}, {eval.Test, test}} {
		d := newDraw(uint64(w.RandomSeed), 'c', digest([]byte(s.split)))
		var turns deck[int]
		for i, f := range families {
			for range max(1, f.Share) {
				turns.all = append(turns.all, i)
			}
		}
		decks := make([]deck[string], len(families))
		for i := range s.n {
			f := turns.deal(&d, 1)[0]
			fam := families[f]
			decks[f].all = fam.Lessons
			least, most := max(1, fam.Min), fam.Max
			if most == 0 || most > len(fam.Lessons) {
				most = len(fam.Lessons)
			}
			least = min(least, most)
			c := eval.Case{ID: fmt.Sprintf("%s-%03d", s.split, i+1), Skill: w.Skill, Split: s.split}
			c.Cluster = c.ID
			var topics []string
			for _, id := range decks[f].deal(&d, least+d.below(most-least+1)) {
				l := byID[id]
				if len(l.Topic) > 0 {
					topics = append(topics, l.Topic[0])
				}
				c.Checks = append(c.Checks, eval.Check{Type: "contains", Value: l.Outcome, Feedback: l.Says})
			}
			c.Prompt = w.ask(&d, i+1, topics)
			out = append(out, c)
		}
	}
	return out
}

// ask words a prompt.
func (w World) ask(d *draw, n int, topics []string) string {
	list := strings.Join(topics, " and ")
	if len(w.Asks) == 0 {
		return list
	}
	ask := w.Asks[d.below(len(w.Asks))]
	return strings.NewReplacer("%d", fmt.Sprint(n), "%s", list).Replace(ask)
}

// A deck deals its cards in random order and reshuffles when it runs out, so
// that all come up evenly.
type deck[T comparable] struct {
	all, left []T
}

// deal returns n different cards, or all of them if there are fewer.
func (k *deck[T]) deal(d *draw, n int) (out []T) {
	n = min(n, len(k.all))
	seen := map[T]bool{}
	for len(out) < n {
		if len(k.left) == 0 {
			k.left = append(k.left, k.all...)
			shuffle(d, k.left)
		}
		// Cards that the hand holds already go back under the deck.
		c := k.left[0]
		k.left = k.left[1:]
		if seen[c] {
			k.left = append(k.left, c)
			if len(k.left) <= len(seen) {
				k.left = nil
			}
			continue
		}
		seen[c] = true
		out = append(out, c)
	}
	return out
}
