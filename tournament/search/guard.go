package search

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// A guard refuses candidates before anything is paid for them: texts that
// grew too long, and texts that hold words of the validation or held-out
// cases that training cannot have taught (Goodhart's law: a skill that has
// seen the exam is not better).
type guard struct {
	maxTokens int
	secret    map[string]string // n-gram of a val or test case → case id
	literal   map[string]string // short check value of one → case id
	known     map[string]bool   // n-grams that train cases teach
	taught    string            // what train cases teach, in lower case
	asked     string            // what their owner asks for in them, see check.Finding.AskedFor
}

// gram is the number of consecutive words that count as copied.
const gram = 5

// minLiteral is the shortest check value that is searched for verbatim.
const minLiteral = 8

func newGuard(incumbent *skill.Document, train, hidden []eval.Case) *guard {
	g := &guard{maxTokens: skill.GrowthLimit(skill.Tokens(string(incumbent.Body()))), secret: map[string]string{}, literal: map[string]string{}, known: map[string]bool{},
		asked: mutate.OwnersWords(train)}
	var taught strings.Builder
	for _, c := range train {
		for _, s := range append(texts(c), feedbacks(c)...) {
			taught.WriteString(strings.ToLower(s) + "\n")
			for _, w := range grams(s) {
				g.known[w] = true
			}
		}
	}
	g.taught = taught.String()
	for _, c := range hidden {
		g.hide(&c)
	}
	return g
}

// hide adds what a case asks to what a candidate must not hold.
func (g *guard) hide(c *eval.Case) {
	for _, s := range texts(*c) {
		for _, w := range grams(s) {
			if !g.known[w] {
				g.secret[w] = c.ID
			}
		}
		if v := strings.ToLower(s); len(v) >= minLiteral && len(grams(v)) == 0 && !strings.Contains(g.taught, v) {
			g.literal[v] = c.ID
		}
	}
}

// Quoted are those of the hidden cases of which child has words that parent does not have,
// and no train case teaches: whoever wrote it has read them.
func Quoted(parent, child *skill.Document, train, hidden []eval.Case) (out []*eval.Case) {
	g := newGuard(parent, train, nil)
	for i := range hidden {
		clear(g.secret)
		clear(g.literal)
		if g.hide(&hidden[i]); g.quotes(parent, child) != "" {
			out = append(out, &hidden[i])
		}
	}
	return out
}

// texts are the parts of a case that a candidate must not have memorised.
func texts(c eval.Case) []string {
	out := []string{c.Prompt, c.Reference}
	for _, k := range c.Checks {
		if len(k.Value) >= minLiteral {
			out = append(out, k.Value)
		}
	}
	return out
}

// feedbacks are what train cases may teach.
func feedbacks(c eval.Case) (out []string) {
	for _, k := range c.Checks {
		out = append(out, k.Feedback, k.Rubric)
	}
	for _, m := range c.Context {
		out = append(out, m.Text)
	}
	return out
}

// refuse returns why child may not be tried, "" if it may.
func (g *guard) refuse(parent, child *skill.Document) string {
	return cmp.Or(g.grown(parent, child), g.quotes(parent, child))
}

// grown says that child is too long, "" if it may have its length.
func (g *guard) grown(parent, child *skill.Document) string {
	if n := skill.Tokens(string(child.Body())); n > g.maxTokens && n > skill.Tokens(string(parent.Body())) {
		return fmt.Sprintf("grew to about %d tokens, the limit is %d", n, g.maxTokens)
	}
	return ""
}

// quotes says what child has of a hidden case, "" for nothing.
func (g *guard) quotes(parent, child *skill.Document) string {
	before, after := readable(parent), readable(child)
	had := map[string]bool{}
	for _, w := range grams(before) {
		had[w] = true
	}
	for _, w := range grams(after) {
		if id, ok := g.secret[w]; ok && !had[w] {
			return fmt.Sprintf("holds words of the held-back case %s that no train case teaches: «%s»", id, w)
		}
	}
	low, was := strings.ToLower(after), strings.ToLower(before)
	// In a fixed order: the mutator reads the reason, and a resumed run must
	// give it the same one.
	for _, v := range slices.Sorted(maps.Keys(g.literal)) {
		if strings.Contains(low, v) && !strings.Contains(was, v) {
			return fmt.Sprintf("holds a value of the held-back case %s that no train case teaches: «%s»", g.literal[v], v)
		}
	}
	return ""
}

// readable is what an agent reads of a skill: its description and its body.
func readable(d *skill.Document) string { return d.Description() + "\n" + string(d.Body()) }

// grams lists the n-grams of words of s, in lower case; none for a shorter
// text.
func grams(s string) []string {
	ws := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	if len(ws) < gram {
		return nil
	}
	out := make([]string, 0, len(ws)-gram+1)
	for i := 0; i+gram <= len(ws); i++ {
		out = append(out, strings.Join(ws[i:i+gram], " "))
	}
	return out
}
