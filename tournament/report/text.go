package report

import (
	"unicode"

	"github.com/skill-evolve/evolve/eval"
)

// Capital begins a sentence with s; a version keeps its name.
func Capital(s string) string {
	r := []rune(s)
	if len(r) < 2 || !unicode.IsLetter(r[1]) {
		return s
	}
	r[0] = unicode.ToUpper(r[0])
	return string(r)
}

// USD is dollars in words, "unknown" for nil.
func USD(x *float64) string {
	if x == nil {
		return "unknown"
	}
	return eval.FormatUSD(*x)
}
