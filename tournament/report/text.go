package report

import (
	"fmt"
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

// Duration writes milliseconds for people.
func Duration(ms int64) string {
	switch {
	case ms < 1000:
		return fmt.Sprintf("%d ms", ms)
	case ms < 90_000:
		return fmt.Sprintf("%.1f s", float64(ms)/1000)
	}
	return fmt.Sprintf("%d min", ms/60_000)
}

// USD is dollars in words, "unknown" for nil.
func USD(x *float64) string {
	if x == nil {
		return "unknown"
	}
	return eval.FormatUSD(*x)
}
