package script

import (
	"cmp"
	"slices"
)

// A fact is one thing that a script does.
type fact struct {
	rule string
	key  string // what is compared: equal keys are the same act
	line int
	code string // the code as it is written
	text string // the sentence for the owner
	// counted: each one beyond the parent's number of them is a finding
	counted bool
	refused bool // no owner can allow it
}

// A reading is what a walk collected of one text.
type reading struct {
	syntax *Finding // the text cannot be parsed; nothing else is set
	facts  []fact
	// keeps are the things that a candidate may not lose (a blocking exit, `set -e`),
	// with how often they can be reached.
	keeps map[string]int
	// probes are the places of the kernels' edges in the tree, in order.
	probes []string

	uses   map[string]bool     // names of the language, of modules and of programs
	binds  map[string]int      // names that are given to something else, with the line
	fns    map[string]function // local functions
	sets   map[string]int      // how often a name is given a value, or something in its value changes
	defs   map[string]int      // how often a name is given a value
	filled map[string]bool     // top-level lists by name: false for an empty one
}

// A function is what is known of a local function beside its body.
type function struct {
	varied bool // its result depends on something
	used   bool
	input  bool // a call gives it something that depends on something
	line   int
}

func newReading() *reading {
	return &reading{keeps: map[string]int{}, uses: map[string]bool{}, binds: map[string]int{}, fns: map[string]function{}, sets: map[string]int{}, defs: map[string]int{}, filled: map[string]bool{}}
}

func (r *reading) add(f fact) { r.facts = append(r.facts, f) }

// beyond lists what the candidate does and the parent does not, and what it lost. The
// same act is reported once.
func beyond(parent, candidate *reading) (out []Finding) {
	had, seen := map[string]int{}, map[string]int{}
	for _, f := range parent.facts {
		had[f.rule+"\x00"+f.key]++
	}
	for _, f := range candidate.facts {
		k := f.rule + "\x00" + f.key
		seen[k]++
		if over := seen[k] - had[k]; over == 1 && (f.counted || had[k] == 0) {
			kind := Held
			if f.refused {
				kind = Refused
			}
			out = append(out, Finding{kind, f.rule, f.line, f.code, f.text})
		}
	}
	var lost []string
	for k, n := range parent.keeps {
		if candidate.keeps[k] < n {
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
func weakened(parent, candidate *reading) (out []Finding) {
	for name, line := range candidate.binds {
		if _, had := parent.binds[name]; !had && parent.uses[name] {
			out = append(out, Finding{Held, "shadow", line, name, "The parent uses " + name + " as a part of the language, a module or a program; here it is something else."})
		}
	}
	for name, f := range candidate.fns {
		was, had := parent.fns[name]
		if had && was.varied && !f.varied {
			out = append(out, Finding{Held, "constant-result", f.line, name, "The function " + name + " now returns the same whatever it is given."})
		}
		if had && was.used && !f.used {
			out = append(out, Finding{Held, "lost", f.line, name, "The function " + name + " is no longer called."})
		}
	}
	for name, f := range candidate.fns {
		if was, had := parent.fns[name]; had && was.input && f.used && !f.input {
			out = append(out, Finding{Held, "constant-argument", f.line, name, "The function " + name + " is now always given the same."})
		}
	}
	for name, filled := range candidate.filled {
		if !filled && parent.filled[name] {
			out = append(out, Finding{Held, "lost", 0, name, "The list " + name + " is now empty."})
		} else if n := parent.defs[name]; parent.filled[name] && n > 0 && candidate.defs[name] > n {
			out = append(out, Finding{Held, "overwritten", candidate.binds[name], name, "The list " + name + " is replaced at one more place."})
		}
	}
	slices.SortFunc(out, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Phrase, b.Phrase)) })
	return out
}
