package sleep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// Warnings are sentences for the owner that qualify this night: the warnings
// of its runs, each sentence once with the skills that it is about, and the
// amounts by which all of them together exceeded a cap. They are part of a
// night's result and must be shown.
func (n *Night) Warnings() []string {
	out := n.exceeded()
	type said struct {
		text   string
		skills []string
	}
	var all []said
	for _, k := range n.Steps {
		for _, w := range k.Warnings {
			i := slices.IndexFunc(all, func(s said) bool { return s.text == w })
			if i < 0 {
				i, all = len(all), append(all, said{text: w})
			}
			if !slices.Contains(all[i].skills, k.Skill) {
				all[i].skills = append(all[i].skills, k.Skill)
			}
		}
	}
	for _, s := range all {
		out = append(out, strings.Join(s.skills, ", ")+": "+s.text)
	}
	return out
}

// exceeded reports which caps of the night were not held. If one step alone
// has cost something, without kernel probes, its own warning reports it instead.
func (n *Night) exceeded() []string {
	out := []string{}
	steps := 0
	for _, k := range n.Steps {
		if k.paid() && k.Spent != (eval.Spent{}) || !k.paid() && !k.Spent.Nothing() {
			steps++
		}
		if k.paid() && k.Result != nil && !k.Result.Probed.Nothing() {
			steps++
		}
	}
	if steps < 2 {
		return out
	}
	s, a := n.Spent().Plus(n.Probed()), n.assumed()
	if tokens := s.TokensIn + s.TokensOut + a.Tokens; n.Caps.Tokens > 0 && tokens > n.Caps.Tokens {
		out = append(out, fmt.Sprintf("the night's --max-tokens %d was exceeded by %d", n.Caps.Tokens, tokens-n.Caps.Tokens))
	}
	if usd := s.CostUSD + a.USD; n.Caps.CostUSD > 0 && usd > n.Caps.CostUSD {
		out = append(out, fmt.Sprintf("the night's --max-cost-usd %s was exceeded by %s", eval.FormatUSD(n.Caps.CostUSD), eval.FormatUSD(usd-n.Caps.CostUSD)))
	}
	return out
}
