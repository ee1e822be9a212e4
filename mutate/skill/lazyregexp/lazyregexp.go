// Package lazyregexp has regular expressions that are compiled when they are
// first used, like the Go project's own package of that name: agents wait for
// evolve's hooks at every event, too long if hundreds of patterns in package
// variables were compiled first.
package lazyregexp

import (
	"os"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A Regexp is a regexp.Regexp that is compiled on first use. It is safe for
// concurrent use.
type Regexp struct {
	expr             string
	compiled, hinted sync.Once // two of sync.OnceValue would take 300 bytes more, of each pattern
	re               *regexp.Regexp
	known            *hints
	asked            atomic.Int32
}

func (r *Regexp) get() *regexp.Regexp {
	r.compiled.Do(func() { r.re = regexp.MustCompile(r.expr) })
	return r.re
}

func (r *Regexp) hints() *hints {
	r.hinted.Do(func() { r.known = hintsOf(r.expr) })
	return r.known
}

// hints are what is known of each text that holds a match.
type hints struct {
	first    *bytes         // it begins with one of these; nil: with any
	required [][]string     // it holds one of each of these
	lower    *regexp.Regexp // which finds the same in its lower case, if it is ASCII; nil if none does
}

func hintsOf(expr string) *hints {
	h := new(hints)
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return h
	}
	h.first = first(re)
	if low, tree := lower(expr, re); tree != nil {
		h.lower, re = regexp.MustCompile(low), tree
	}
	h.required = required(re)
	return h
}

// often is the number of texts after which it pays to compute what each match
// holds.
const often = 32

// in returns what finds in text what r finds in s: nil if there is no match.
func (r *Regexp) in(s string) (re *regexp.Regexp, text string) {
	if r.asked.Load() < often {
		r.asked.Add(1)
		return r.get(), s
	}
	h := r.hints()
	if h.first != nil && (s == "" || !h.first[s[0]]) {
		return nil, ""
	}
	if h.lower != nil {
		if !ascii(s) {
			return r.get(), s
		}
		re, s = h.lower, strings.ToLower(s)
	} else {
		re = r.get()
	}
	for _, need := range h.required {
		if !slices.ContainsFunc(need, func(text string) bool { return strings.Contains(s, text) }) {
			return nil, ""
		}
	}
	return re, s
}

// may reports whether s can hold a match.
func (r *Regexp) may(s string) bool {
	re, _ := r.in(s)
	return re != nil
}

// inTest is false in a test binary that plays the program: it is started
// without the flags of a test.
var inTest = strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test") &&
	len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "-test.")

// New returns the pattern of expr. An invalid expr panics at the first use,
// but in a test at once, so that every test of a package checks all its
// patterns.
func New(expr string) *Regexp {
	r := &Regexp{expr: expr}
	if inTest {
		r.get()
	}
	return r
}

// The methods are those of regexp.Regexp.

func (r *Regexp) Match(b []byte) bool { return r.get().Match(b) }
func (r *Regexp) MatchString(s string) bool {
	re, s := r.in(s)
	return re != nil && re.MatchString(s)
}
func (r *Regexp) FindAllString(s string, n int) []string {
	if !r.may(s) {
		return nil
	}
	return r.get().FindAllString(s, n)
}
func (r *Regexp) FindAll(b []byte, n int) [][]byte     { return r.get().FindAll(b, n) }
func (r *Regexp) FindAllIndex(b []byte, n int) [][]int { return r.get().FindAllIndex(b, n) }
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	re, s := r.in(s)
	if re == nil {
		return nil
	}
	return re.FindAllStringIndex(s, n)
}
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	if !r.may(s) {
		return nil
	}
	return r.get().FindAllStringSubmatch(s, n)
}
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	re, s := r.in(s)
	if re == nil {
		return nil
	}
	return re.FindAllStringSubmatchIndex(s, n)
}
func (r *Regexp) FindAllSubmatchIndex(b []byte, n int) [][]int {
	return r.get().FindAllSubmatchIndex(b, n)
}
func (r *Regexp) FindIndex(b []byte) []int { return r.get().FindIndex(b) }
func (r *Regexp) Find(b []byte) []byte     { return r.get().Find(b) }
func (r *Regexp) FindString(s string) string {
	if !r.may(s) {
		return ""
	}
	return r.get().FindString(s)
}
func (r *Regexp) FindStringIndex(s string) []int {
	re, s := r.in(s)
	if re == nil {
		return nil
	}
	return re.FindStringIndex(s)
}
func (r *Regexp) FindStringSubmatch(s string) []string {
	if !r.may(s) {
		return nil
	}
	return r.get().FindStringSubmatch(s)
}
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	re, s := r.in(s)
	if re == nil {
		return nil
	}
	return re.FindStringSubmatchIndex(s)
}
func (r *Regexp) FindSubmatch(b []byte) [][]byte     { return r.get().FindSubmatch(b) }
func (r *Regexp) FindSubmatchIndex(b []byte) []int   { return r.get().FindSubmatchIndex(b) }
func (r *Regexp) ReplaceAll(src, repl []byte) []byte { return r.get().ReplaceAll(src, repl) }
func (r *Regexp) ReplaceAllFunc(src []byte, repl func([]byte) []byte) []byte {
	return r.get().ReplaceAllFunc(src, repl)
}
func (r *Regexp) ReplaceAllString(src, repl string) string {
	return r.get().ReplaceAllString(src, repl)
}
func (r *Regexp) ReplaceAllStringFunc(src string, repl func(string) string) string {
	return r.get().ReplaceAllStringFunc(src, repl)
}
func (r *Regexp) ReplaceAllLiteralString(src, repl string) string {
	return r.get().ReplaceAllLiteralString(src, repl)
}
func (r *Regexp) Split(s string, n int) []string { return r.get().Split(s, n) }
func (r *Regexp) SubexpIndex(name string) int    { return r.get().SubexpIndex(name) }
func (r *Regexp) SubexpNames() []string          { return r.get().SubexpNames() }
func (r *Regexp) String() string                 { return r.get().String() }
