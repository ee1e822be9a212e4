// Package attribute decides which of the skills that were loaded in one turn a correction of
// that turn is about, so that it becomes a case of one of them.
package attribute

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/harvest"
)

// A Finder finds the skill that a correction is about.
type Finder struct {
	// Text is the text of a skill as it is now, "" if it cannot be read.
	Text func(name string) string
	// Own is the skill's own name of a name that its file is also found under; nil: all
	// names are own.
	Own func(name string) string
	// Has reports whether the case of a correction is stored; nil: none is. What was decided
	// once is not decided again when the texts have changed.
	Has func(skill, id string) (bool, error)
}

// A load is one of the skills that were loaded in a turn.
type load struct {
	name string
	line int // of the transcript: where it was loaded last
	use  harvest.Invocation
}

// Of decides about the correction of a use, in these turns of its session. ok is false if
// no other skill was loaded in the turn.
func (f *Finder) Of(s *harvest.Session, v harvest.Invocation, corrections []int) (a harvest.Attribution, ok bool, err error) {
	loads := f.loads(s, v.Turn)
	this := f.own(v.Skill)
	for _, l := range loads {
		if l.name != this {
			a.Beside = append(a.Beside, l.name)
		}
	}
	if len(a.Beside) == 0 {
		return a, false, nil
	}
	var of string
	of, a.Because, err = f.decide(s, loads, said(s, v, corrections))
	a.This, a.Other = of == this, of != "" && of != this
	return a, true, err
}

func (f *Finder) own(name string) string {
	if f.Own == nil {
		return name
	}
	return cmp.Or(f.Own(name), name)
}

// loads are the skills that were in force in a turn, each once, by name.
func (f *Finder) loads(s *harvest.Session, turn int) (out []load) {
	for _, v := range s.Invocations {
		if v.Turn != turn || !v.Used() {
			continue
		}
		name := f.own(v.Skill)
		if i := slices.IndexFunc(out, func(l load) bool { return l.name == name }); i >= 0 {
			out[i].line = max(out[i].line, v.Line)
			continue
		}
		out = append(out, load{name, v.Line, v})
	}
	slices.SortFunc(out, func(a, b load) int { return strings.Compare(a.name, b.name) })
	return out
}

// A correction is what was said of a turn.
type correction struct {
	own      []string // what the person wrote
	rule     string   // that prevents it, in a model's words; "" if no model has read it
	concerns string   // the skill whose text the reader found it to be about; "" for none
}

func said(s *harvest.Session, v harvest.Invocation, corrections []int) (c correction) {
	for _, t := range corrections {
		if t > v.Turn && t < len(s.Turns) {
			c.own = append(c.own, s.Own(t))
		}
	}
	if r := s.Turns[v.Turn].Reading; r != nil && r.Label == harvest.Corrected {
		c.rule = r.Rule
		c.own = append(c.own, r.Words)
		c.concerns, _ = strings.CutPrefix(r.Concerns, "skill:")
	}
	return c
}

// decide returns the skill's name, "" for none, and why. The evidence is taken in the
// order of how directly it is about this correction.
func (f *Finder) decide(s *harvest.Session, loads []load, c correction) (of, because string, err error) {
	for _, l := range loads {
		id, _ := harvest.CaseOf(s, l.use)
		if id == "" || f.Has == nil {
			continue
		}
		if has, err := f.Has(l.name, id); has || err != nil {
			return l.name, "it is a case of it already", err
		}
	}
	var named []string
	for _, l := range loads {
		if slices.ContainsFunc(c.own, func(text string) bool { return Names(text, l.name) }) {
			named = append(named, l.name)
		}
	}
	if len(named) == 1 {
		return named[0], "the correction names it", nil
	}
	if c.concerns != "" && slices.ContainsFunc(loads, func(l load) bool { return l.name == f.own(c.concerns) }) {
		return f.own(c.concerns), "the correction was read as one of its text", nil
	}
	texts := make([]string, len(loads))
	for i, l := range loads {
		texts[i] = f.Text(l.name)
	}
	if i, n := ByWords(strings.Join(append(slices.Clone(c.own), c.rule), "\n"), texts); i >= 0 {
		return loads[i].name, fmt.Sprintf("%d words of the correction are in its text alone", n), nil
	}
	slices.SortStableFunc(loads, func(a, b load) int { return cmp.Compare(b.line, a.line) })
	// Calls of one step are on one line, or on lines that follow each other; between those of
	// two steps is the result of the first.
	if loads[0].line-loads[1].line < 2 {
		return "", "", nil
	}
	return loads[0].name, "it was loaded last", nil
}

// Names reports whether a text names a skill. A name of one word may be any word: it is the
// skill's only beside "skill", or written as a command or as code.
func Names(text, skill string) bool {
	if i := strings.LastIndexByte(skill, ':'); i >= 0 {
		skill = skill[i+1:]
	}
	parts := fields(skill)
	if len(parts) == 0 {
		return false
	}
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	name := strings.Join(parts, `[\s_-]+`)
	pattern := `(?:[/$]` + name + "|`/?" + name + "`|" + name + `[\s_-]+skill|skill\s+["'“„«]?` + name + ")"
	if len(parts) > 1 {
		pattern = name
	}
	re, err := regexp.Compile(`(?:^|[^\pL\pN])` + pattern + `(?:$|[^\pL\pN])`)
	return err == nil && re.MatchString(strings.ToLower(text))
}

// chance is how probable it may be that words which have nothing to do with any of the texts
// fall on one of them like that: three of three, or four of five, where the texts are equally
// long, and more where this one is the longer.
const chance = 1. / 5

// ByWords returns the index of the text that has the specific words of a correction much more
// than the others, and how many of them stand in it alone; -1 if none has, or one of the texts is not
// known. A word is specific if it has at least four characters and only one of the texts has
// it.
func ByWords(correction string, texts []string) (best, n int) {
	in := map[string][]int{}
	for i, text := range texts {
		if text == "" {
			return -1, 0
		}
		for _, w := range longer(text) {
			in[w] = append(in[w], i)
		}
	}
	specific, of := make([]int, len(texts)), 0
	for _, where := range in {
		if len(where) == 1 {
			specific[where[0]]++
			of++
		}
	}
	hits, all := make([]int, len(texts)), 0
	for _, w := range longer(correction) {
		if where := in[w]; len(where) == 1 {
			hits[where[0]]++
			all++
		}
	}
	best = slices.Index(hits, slices.Max(hits))
	if n = hits[best]; n < 2 || atLeast(n, all, float64(specific[best])/float64(of)) > chance {
		return -1, 0
	}
	return best, n
}

// atLeast is how probable k or more of n are, each of probability p.
func atLeast(k, n int, p float64) (sum float64) {
	for i := k; i <= n; i++ {
		ways, _ := math.Lgamma(float64(n + 1))
		in, _ := math.Lgamma(float64(i + 1))
		out, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(ways-in-out) * math.Pow(p, float64(i)) * math.Pow(1-p, float64(n-i))
	}
	return sum
}

// fields are the words of a text, in lower case.
func fields(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// longer are the different words of a text with at least four characters.
func longer(text string) []string {
	words := slices.DeleteFunc(fields(text), func(w string) bool { return len([]rune(w)) < 4 })
	slices.Sort(words)
	return slices.Compact(words)
}
