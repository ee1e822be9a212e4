package simulated

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// Cases deals cases of the world into the three splits. Each case is a cluster
// of its own; families take turns by their shares, and their lessons come up
// evenly.
func (w World) Cases(train, val, test int) []eval.Case {
	families, every, byID := w.Families, Family{}, map[string]Lesson{}
	for _, l := range w.Lessons {
		byID[l.ID] = l
		every.Lessons = append(every.Lessons, l.ID)
	}
	if len(families) == 0 {
		families = []Family{every}
	}
	var out []eval.Case
	for _, s := range []struct {
		split eval.Split
		n     int
	}{{eval.Train, train}, {eval.Val, val}, {eval.Test, test}} {
		d := NewDraw(uint64(w.RandomSeed), 'c', digest([]byte(s.split)))
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
			for _, id := range decks[f].deal(&d, least+d.Below(most-least+1)) {
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
func (w World) ask(d *Draw, n int, topics []string) string {
	list := strings.Join(topics, " and ")
	if len(w.Asks) == 0 {
		return list
	}
	ask := w.Asks[d.Below(len(w.Asks))]
	return strings.NewReplacer("%d", fmt.Sprint(n), "%s", list).Replace(ask)
}

// A deck deals its cards in random order and reshuffles when it runs out, so
// that all come up evenly.
type deck[T comparable] struct {
	all, left []T
}

// deal returns n different cards, or all of them if there are fewer.
func (k *deck[T]) deal(d *Draw, n int) (out []T) {
	n = min(n, len(k.all))
	seen := map[T]bool{}
	for len(out) < n {
		if len(k.left) == 0 {
			k.left = append(k.left, k.all...)
			Shuffle(d, k.left)
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
