package simulated

import "github.com/skill-evolve/evolve/eval"

// Person is the made-up user of a world, who knows what each request asks for.
type Person struct{ *compiled }

// Person returns the user of w.
func (w World) Person() Person { return Person{compile(w)} }

// Prefers is positive if the first of two answers does more of what the request asks for,
// negative if the second does.
func (p Person) Prefers(c *eval.Case, first, second string) int {
	does := func(answer string) (met int) {
		n := normalise(answer)
		for _, i := range p.request(c).lessons {
			if stands(n, p.lessons[i].outcome) {
				met++
			}
		}
		return met
	}
	return does(first) - does(second)
}
