package simulated

import "github.com/skill-evolve/evolve/eval"

var Compile = compile

func (c *compiled) Attempt(text []byte, t eval.Task) eval.Attempt { return c.attempt(text, t) }

func (c *compiled) Analyse(text []byte) (bloat int, taught []bool) {
	a := c.analyse(text)
	return a.bloat, a.taught
}

// Lessons is how many lessons a case's request makes apply.
func (c *compiled) Lessons(k *eval.Case) int { return len(c.request(k).lessons) }

func Blocks(reply string) (texts []string) {
	for _, b := range blocks(reply) {
		texts = append(texts, b.text)
	}
	return texts
}
