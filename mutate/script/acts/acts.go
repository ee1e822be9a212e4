// Package acts holds what is known of a script, whatever its language: what it does, what
// it may not lose, and how a candidate compares with its parent in that.
package acts

import (
	"cmp"
	"slices"
)

// A Kind is what can be done about a finding.
type Kind uint8

const (
	Refused Kind = iota // the candidate cannot be used
	Held                // it may be used if the owner approves of it
)

// A Finding is one thing in a candidate that its parent does not do or that is not
// allowed at all.
type Finding struct {
	Kind   Kind
	Rule   string // stable: "syntax", "kernel", "call", "import", …
	Line   int    // 1-based, of the candidate; 0 if it is no line's. Approximate in JavaScript
	Phrase string // the code at fault, on one line; may be ""
	Text   string // one sentence for the owner
}

// A Fact is one thing that a script does.
type Fact struct {
	Rule string
	Key  string // what is compared: equal keys are the same act
	Line int
	Code string // the code as it is written
	Text string // the sentence for the owner
	// Counted: each one beyond the parent's number of them is a finding
	Counted bool
	// Of is a name that the parent has to bind, or else the fact is about the candidate's
	// own value.
	Of      string
	Refused bool // no owner can allow it
}

// A Reading is what a walk collected of one text.
type Reading struct {
	Syntax *Finding // the text cannot be parsed; nothing else is set
	Facts  []Fact
	// Keeps are the things that a candidate may not lose (a blocking exit, `set -e`),
	// with how often they can be reached.
	Keeps map[string]int
	// Probes are the places of the kernels' edges in the tree, in order.
	Probes []string

	Uses      map[string]bool     // names of the language, of modules and of programs
	Binds     map[string]int      // names that are given to something else, with the line
	Functions map[string]Function // local functions
	Sets      map[string]int      // how often a name is given a value, or something in its value changes
	Defs      map[string]int      // how often a name is given a value
	Filled    map[string]bool     // top-level lists by name: false for an empty one
}

// A Function is what is known of a local function beside its body.
type Function struct {
	Varied bool // its result depends on something
	Used   bool
	Input  bool // a call gives it something that depends on something
	Line   int
}

// NewReading makes an empty one.
func NewReading() *Reading {
	return &Reading{Keeps: map[string]int{}, Uses: map[string]bool{}, Binds: map[string]int{}, Functions: map[string]Function{}, Sets: map[string]int{}, Defs: map[string]int{}, Filled: map[string]bool{}}
}

// Add notes a fact.
func (r *Reading) Add(f Fact) { r.Facts = append(r.Facts, f) }

// Beyond lists what the candidate does and the parent does not, and what it lost. The
// same act is reported once.
func Beyond(parent, candidate *Reading) (out []Finding) {
	had, seen := map[string]int{}, map[string]int{}
	for _, f := range parent.Facts {
		had[f.Rule+"\x00"+f.Key]++
	}
	for _, f := range candidate.Facts {
		if _, bound := parent.Binds[f.Of]; f.Of != "" && !bound {
			continue
		}
		k := f.Rule + "\x00" + f.Key
		seen[k]++
		if over := seen[k] - had[k]; over == 1 && (f.Counted || had[k] == 0) {
			kind := Held
			if f.Refused {
				kind = Refused
			}
			out = append(out, Finding{kind, f.Rule, f.Line, f.Code, f.Text})
		}
	}
	var lost []string
	for k, n := range parent.Keeps {
		if candidate.Keeps[k] < n {
			lost = append(lost, k)
		}
	}
	slices.Sort(lost)
	for _, k := range lost {
		out = append(out, Finding{Kind: Held, Rule: "lost", Phrase: k, Text: "The parent has this at more places, or where it can be reached: " + k + "."})
	}
	out = append(out, weakened(parent, candidate)...)
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
	return out
}

// weakened compares what the two texts give names to.
func weakened(parent, candidate *Reading) (out []Finding) {
	for name, line := range candidate.Binds {
		if _, had := parent.Binds[name]; !had && parent.Uses[name] {
			out = append(out, Finding{Held, "shadow", line, name, "The parent uses " + name + " as a part of the language, a module or a program; here it is something else."})
		}
	}
	for name, f := range candidate.Functions {
		was, had := parent.Functions[name]
		if had && was.Varied && !f.Varied {
			out = append(out, Finding{Held, "constant-result", f.Line, name, "The function " + name + " now returns the same whatever it is given."})
		}
		if had && was.Used && !f.Used {
			out = append(out, Finding{Held, "lost", f.Line, name, "The function " + name + " is no longer called."})
		}
	}
	for name, f := range candidate.Functions {
		if was, had := parent.Functions[name]; had && was.Input && f.Used && !f.Input {
			out = append(out, Finding{Held, "constant-argument", f.Line, name, "The function " + name + " is now always given the same."})
		}
	}
	for name, filled := range candidate.Filled {
		if !filled && parent.Filled[name] {
			out = append(out, Finding{Held, "lost", 0, name, "The list " + name + " is now empty."})
		} else if n := parent.Defs[name]; parent.Filled[name] && n > 0 && candidate.Defs[name] > n {
			out = append(out, Finding{Held, "overwritten", candidate.Binds[name], name, "The list " + name + " is replaced at one more place."})
		}
	}
	slices.SortFunc(out, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Phrase, b.Phrase)) })
	return out
}
