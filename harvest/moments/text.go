package moments

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
)

// Text says in at most three lines what the draw has made of the population.
func (d *Draw) Text() string {
	c := d.Counts
	if c == nil {
		return ""
	}
	text := fmt.Sprintf("loaded in %s of %s; a coin draws %s: %d drawn, %s (%d corrected, %d accepted, %d silent)\n",
		plain.Counted(c.Turns, "request"), plain.Counted(c.Sessions, "session"), d.Percent(), c.Drawn, plain.Counted(c.Cases(), "case"), c.Corrected, c.Accepted, c.Silent)
	not := []string{}
	for _, why := range slices.SortedFunc(maps.Keys(c.Hanging), func(a, b string) int { return cmp.Or(c.Hanging[b]-c.Hanging[a], cmp.Compare(a, b)) }) {
		not = append(not, fmt.Sprintf("%d %s", c.Hanging[why], words[why]))
	}
	if c.Unread > 0 {
		not = append(not, fmt.Sprintf("%d wait for a model to read what was said to them (`evolve corrections --read`)", c.Unread))
	}
	if len(not) > 0 {
		text += "of the other drawn ones " + strings.Join(not, ", ") + "\n"
	}
	if c.Taught > 0 {
		teach := "teach the search and are never in a trial"
		if c.Taught == 1 {
			teach = "teaches the search and is never in a trial"
		}
		text += fmt.Sprintf("%s of other sessions %s\n", plain.Counted(c.Taught, "correction"), teach)
	}
	return text
}

// Percent is d.Share for people.
func (d *Draw) Percent() string { return percent(d.Share) }

func percent(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }
