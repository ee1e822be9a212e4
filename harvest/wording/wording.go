// Package wording tells checks that hang on the words of one answer, and rubrics that name
// nothing.
package wording

import (
	"path"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/skill-evolve/evolve/eval/check"
)

// Words are the words of a moment: of what was asked for, of how the user corrected what was
// made of it, and of the conversation before, the answer and the work that were corrected.
type Words struct{ Request, Corrections, Before Set }

// Why a check is of no use.
const (
	TooNarrow  = "too narrow"
	TooGeneral = "too general"
)

// Fault is TooNarrow for a check of the work that only passes with a word which nobody had
// used, because a good solution need not have it: it is a name that one solution chose. It is
// TooGeneral for a rubric that says no more than the request does. Else it is "".
func (w *Words) Fault(k *check.Check) string {
	known := func(word string) bool {
		return w.Request.has(word) || w.Corrections.has(word) || w.Before.has(word) || keywords()[word]
	}
	switch {
	case k.Type == check.Changed && !named(k.Path, known), k.Type == check.Added && !(meetable(k.Value, known) && named(k.Path, known)):
		return TooNarrow
	case k.Type == check.Judge && !slices.ContainsFunc(split(k.Rubric), func(word string) bool {
		return !grading()[word] && (w.Corrections.has(word) || !w.Request.has(word))
	}):
		return TooGeneral
	}
	return ""
}

// keywords are in code, and in the names of files, whatever they are about.
var keywords = sync.OnceValue(func() Set {
	return Of("func function def class struct type interface import return const var let new public private static void async await if else for while switch case nil null none true false test tests spec assert src docs doc readme changelog")
})

// grading are words of rubrics whatever they are about, and of sentences.
var grading = sync.OnceValue(func() Set {
	return Of(`answer response reply request user asker person agent assistant work task solution result change changes code
	does do done did make makes made give gives given meet meets satisfy satisfies fulfil fulfils fulfill fulfills address addresses
	follow follows handle handles provide provides contain contains include includes implement implements
	asks asked ask wants wanted want needs needed need expects expected instructions requirements requirement criteria correction corrected
	correct correctly right properly well good fully complete completely full all every everything exactly accurate accurately
	appropriate appropriately quality useful helpful mistake mistakes error errors problem problems issue issues bug bugs fault faults
	the that this these those what which who and but not with without from for its his her their they was were been are has have had
	must should can could will would also only any no nor or as in of to by on at it is be if so then than how why when where while`)
})

// A Set has words.
type Set map[string]bool

// Of are the words of some texts. A name has those that it is made of: dryRun has dry and run.
func Of(texts ...string) Set {
	s := Set{}
	for _, text := range texts {
		s.Add(text)
	}
	return s
}

// Add adds the words of a text.
func (s Set) Add(text string) {
	for _, word := range split(text) {
		s[word] = true
	}
}

// has reports whether a word is in s, or one of the same stem: one begins with the other.
func (s Set) has(word string) bool {
	if s[word] {
		return true
	}
	for w := range s {
		if min(len(w), len(word)) >= stem && (strings.HasPrefix(w, word) || strings.HasPrefix(word, w)) {
			return true
		}
	}
	return false
}

// In bytes: shorter words are parts of patterns, and shorter beginnings no stems.
const least, stem = 3, 4

// split are the words of a text, in small letters: runs of letters, and parts of names.
func split(text string) (words []string) {
	var word []rune
	end := func() {
		if s := strings.ToLower(string(word)); len(s) >= least {
			words = append(words, s)
		}
		word = word[:0]
	}
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end()
		}
		word = append(word, r)
	}
	end()
	return words
}

// named reports whether a glob is of files with known names. Their ending is the language.
func named(glob string, known func(word string) bool) bool {
	return sayable(strings.TrimSuffix(glob, path.Ext(glob)), known)
}

func sayable(text string, known func(word string) bool) bool {
	return !slices.ContainsFunc(split(text), func(word string) bool { return !known(word) })
}

// meetable reports whether a pattern matches some text of known words, or so many texts that
// it is not narrow.
func meetable(pattern string, known func(word string) bool) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return true
	}
	texts, few := spelled(re)
	return !few || slices.ContainsFunc(texts, func(text string) bool { return sayable(text, known) })
}

const (
	gap      = "\x00" // stands for what is no fixed text
	maxTexts = 500
	maxClass = 4 // runes of a class that is spelled out: [ _-]
)

// spelled are the shortest texts that an expression matches, with a gap for what is not
// fixed. few is false if there are too many.
func spelled(re *syntax.Regexp) (texts []string, few bool) {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 {
			text = strings.ToLower(text)
		}
		return []string{text}, true
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpCharClass:
		return class(re.Rune), true
	case syntax.OpCapture, syntax.OpPlus:
		return spelled(re.Sub[0])
	case syntax.OpQuest, syntax.OpStar:
		return optional(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min == 0 {
			return optional(re.Sub[0])
		}
		return spelled(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			more, few := spelled(sub)
			if texts = append(texts, more...); !few || len(texts) > maxTexts {
				return nil, false
			}
		}
		return texts, true
	case syntax.OpConcat:
		texts = []string{""}
		for _, sub := range re.Sub {
			more, few := spelled(sub)
			if !few || len(texts)*len(more) > maxTexts {
				return nil, false
			}
			var longer []string
			for _, text := range texts {
				for _, end := range more {
					longer = append(longer, text+end)
				}
			}
			texts = longer
		}
		return texts, true
	}
	return []string{gap}, true
}

// optional are the texts of what may be left out.
func optional(re *syntax.Regexp) ([]string, bool) {
	texts, few := spelled(re)
	return append(texts, ""), few
}

// class are the characters of a small class.
func class(pairs []rune) (texts []string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		for r := pairs[i]; r <= pairs[i+1]; r++ {
			if len(texts) == maxClass {
				return []string{gap}
			}
			texts = append(texts, string(r))
		}
	}
	return texts
}
