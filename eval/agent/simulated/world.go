// Package simulated is a small deterministic world in which a skill's text decides how
// well cases are answered: agent, mutator, judge and miner without a network, a key or
// a model. It drives the demo, the search's benchmarks and the tests of everything that
// needs an agent. Its measurements say nothing about a real model, which is why its
// Identity is marked simulated.
package simulated

import (
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// A World is a simulated domain as plain data. Its agent's answers follow from the
// skill's text alone, up to noise that the request's own content and seed decide: the
// same request always has the same answer, whatever the order or the concurrency.
type World struct {
	Name    string   // names the world; the Identity's Model
	Skill   string   // the skill's name
	Seeding string   // the SKILL.md that a search starts from; see Seed
	Lessons []Lesson // what there is to learn
	Harmful []Harm   // lines that break lessons while they are in the skill
	Bloat   []string // lines that teach nothing; each raises the chance to miss
	Opening string   // how every answer begins

	// Asks are the prompts of Cases, in which "%s" is replaced by the topics of the
	// case, "%d" (if any) by its number. Families are the sets of lessons that cases
	// draw from; without any, all lessons are one family.
	Asks     []string
	Families []Family

	RandomSeed int64 // names the world's noise; another seed is another draw of it

	// The chance to miss a lesson that is taught is Noise + PerBloat for each
	// bloat or harmful line + PerToken for each token of skill above
	// FreeTokens, at most MaxMiss (0: 0.6).
	Noise      float64
	PerBloat   float64
	PerToken   float64
	FreeTokens int
	MaxMiss    float64
	// Break is the chance that a conflict or a harmful line spoils a lesson
	// that would have been followed.
	Break float64

	// Hesitation is how many output tokens the agent spends on each lesson that applies
	// and that it was not taught.
	Hesitation int

	Mutator Mutator
	Task    Rates // of the agent
	Text    Rates // of the model
	// Pace makes calls really take Pace × their modelled duration. 0, the
	// default, answers at once and only reports the duration.
	Pace float64
}

// A Lesson is one thing that the skill can teach.
type Lesson struct {
	ID string
	// Topic lists words or phrases; any one of them in the case makes the
	// lesson apply. An empty list applies always.
	Topic   []string
	Phrase  string // must be in the skill for the agent to follow the lesson; compared by words alone
	Outcome string // in the answer if the lesson was followed
	Says    string // the user's correction, in words; feedback quotes it
	// Known is the chance that the agent follows the lesson untaught.
	Known     float64
	Requires  []string // lessons that must be taught too, or this one does nothing
	Conflicts []string // lessons that break this one when both are taught
}

// A Harm is a line that spoils lessons while it is in the skill.
type Harm struct {
	Line   string
	Breaks []string // lesson IDs
}

// A Family is a set of lessons that belong to the same kind of case.
type Family struct {
	Lessons []string
	Share   int // of the cases, relative to the other families; 0 means 1
	Min     int // lessons in a case; 0 means 1
	Max     int // 0 means all of them
}

// A Mutator holds the error rates of the simulated mutator. The zero value never adds a
// defect and never misbehaves.
type Mutator struct {
	Defect float64 // chance that a revision also drops a line or adds a bad one
	Adds   int     // lessons that one reflection adds at most; 0 means 2
	// Misbehave is the chance of a reply that cannot be used: cut off, empty,
	// or with two blocks.
	Misbehave float64
}

// Rates are the cost and the reported duration of a call. The dollars are simulated.
type Rates struct {
	Overhead  int           // input tokens of every call besides the texts: system prompt, tools
	InputUSD  float64       // per token
	OutputUSD float64       // per token
	Base      time.Duration // per call
	PerInput  time.Duration // per token
	PerOutput time.Duration // per token
	Jitter    float64       // standard deviation of the logarithm of the duration
}

// Seed is the text that a search in this world starts from.
func (w World) Seed() string { return w.Seeding }

// Asked lists the lessons that apply to a prompt, in the world's order.
func (w World) Asked(prompt string) []Lesson {
	var ls []Lesson
	for _, i := range compile(w).request(&eval.Case{Prompt: prompt}).lessons {
		ls = append(ls, w.Lessons[i])
	}
	return ls
}

// Oracle is the expected quality of a skill's text over cases: the limit of the mean
// over infinitely many rollouts. Checks that it cannot relate to a lesson are left out;
// no cases give 0.
func (w World) Oracle(text string, cases []eval.Case) float64 {
	var sum float64
	for _, q := range w.Oracles(text, cases) {
		sum += q
	}
	if len(cases) == 0 {
		return 0
	}
	return sum / float64(len(cases))
}

// Oracles is Oracle of each case by itself.
func (w World) Oracles(text string, cases []eval.Case) []float64 {
	c := compile(w)
	a := c.analyse([]byte(text))
	each := make([]float64, len(cases))
	for i := range cases {
		each[i] = c.expect(a, &cases[i])
	}
	return each
}

// expect is the expected quality of one case: lessons fail independently, so
// the mean of the checks' chances is exact.
func (c *compiled) expect(a *analysis, k *eval.Case) float64 {
	applies := c.request(k)
	var sum, weight float64
	for _, ck := range k.Checks {
		p, ok := c.chance(a, applies, ck, k.Reference)
		if !ok {
			continue
		}
		w := ck.Weight
		if w == 0 {
			w = 1
		}
		sum += w * p
		weight += w
	}
	if weight == 0 {
		return 0
	}
	return sum / weight
}

// chance is the probability that the check passes; ok is false if the check is
// unrelated to any lesson.
func (c *compiled) chance(a *analysis, r *request, ck eval.Check, reference string) (p float64, ok bool) {
	var holds func(l *lesson) bool
	switch ck.Type {
	case eval.Contains, eval.NotContains:
		holds = func(l *lesson) bool { return contains(l.Outcome, ck.Value) }
	case eval.Regex, eval.NotRegex:
		re, err := compilePattern(ck.Value)
		if err != nil {
			return 0, false
		}
		holds = func(l *lesson) bool { return re.MatchString(l.Outcome) }
	case eval.Judge:
		criteria := c.criteria(ck.Rubric, reference)
		if len(criteria) == 0 {
			return 1, true
		}
		for _, i := range criteria {
			if r.applies(i) {
				p += a.follow[i]
			}
		}
		return p / float64(len(criteria)), true
	default:
		return 0, false
	}
	none := 1.0 // chance that no matching lesson is followed
	for i := range c.lessons {
		if !holds(&c.lessons[i]) {
			continue
		}
		ok = true
		if r.applies(i) {
			none *= 1 - a.follow[i]
		}
	}
	if ck.Type == eval.NotContains || ck.Type == eval.NotRegex {
		return none, ok
	}
	return 1 - none, ok
}
