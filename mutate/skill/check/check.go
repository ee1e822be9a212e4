// Package check compares a candidate with its parent: specification, kernel,
// structure and firewall.
package check

import (
	"slices"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// A Profile is a set of rules that a SKILL.md is validated against.
type Profile string

const (
	ClaudeCode Profile = "claude"   // the default; stored runs may have "claude-code"
	Portable   Profile = "portable" // the six keys of the open specification
)

// Known reports whether there is a profile of that name.
func (p Profile) Known() bool { return p == ClaudeCode || p == Portable || p == "claude-code" }

// Severity is how a finding affects a candidate.
type Severity int

const (
	Warn       Severity = iota // shown
	Quarantine                 // recorded, never evaluated without a person's approval
	Reject                     // dropped
)

// A Finding is one thing that a check found.
type Finding struct {
	Rule     string // stable kebab-case identifier, "new-host"
	Severity Severity
	Line     int    // 1-based in the child, 0 if none applies
	Reason   string // one sentence for the owner
	// Phrase is the part of the child (of the parent, if it is gone) that the firewall
	// found, in its own words and at most 60 characters; "" of the other checks.
	Phrase string
}

// DropsGuard reports whether the finding is that a sentence which restrains the agent is gone.
func (f Finding) DropsGuard() bool { return f.Rule == removedCheck }

func (f Finding) String() string { return f.Rule + ": " + f.Reason }

// Check compares a candidate with the document it was made from: specification,
// kernel bytes, structure, firewall. No finding above Warn means that it may be
// evaluated.
func Check(parent, child *skill.Document, p Profile) []Finding {
	fs := Validate(child, p, "")
	if child.Err() != nil {
		return fs
	}
	if child.Options().Script != "" {
		return append(fs, code(parent, child)...)
	}
	if parent.Err() != nil {
		return append(fs, Finding{Rule: "parent-syntax", Severity: Reject, Reason: "the document it was made from does not parse: " + parent.Err().Error()})
	}
	if parent.KernelHash() != child.KernelHash() {
		fs = append(fs, Finding{Rule: "kernel-changed", Severity: Reject, Reason: "the locked lines are not what they were: " + skill.SameKernel(parent, child)})
	}
	was, is := read(parent), read(child)
	fs = append(fs, checkStructure(was, is)...)
	fs = append(fs, checkSight(was, is)...)
	return append(fs, checkFirewall(was, is)...)
}

// Descendant is Check of a text that a search has made of parent, which
// descends from root, the owner's text. The kernel's distance from the top is
// measured from root too, or many small steps would add up. A lost guard
// counts only if root had it: a later candidate may allow what an earlier one
// forbade.
func Descendant(root, parent, child *skill.Document, p Profile) []Finding {
	fs := Check(parent, child, p)
	if root.Err() != nil || child.Err() != nil || root.Hash() == parent.Hash() {
		return fs
	}
	owners := read(root)
	if Worst(fs) < Reject {
		fs = append(fs, checkSight(owners, read(child))...)
	}
	if !slices.ContainsFunc(fs, Finding.DropsGuard) {
		return fs
	}
	before := lostGuards(owners.harness(), read(parent).harness())
	for _, m := range lostGuards(owners.harness(), read(child).harness()) {
		if !slices.Contains(before, m) {
			return fs
		}
	}
	return slices.DeleteFunc(fs, Finding.DropsGuard)
}

// Worst is the highest severity among fs, Warn for none.
func Worst(fs []Finding) Severity {
	worst := Warn
	for _, f := range fs {
		worst = max(worst, f.Severity)
	}
	return worst
}

// Kernel refuses a text whose kernel differs from the live one's in bytes or
// in structure, whatever was recorded about it. If the description evolved,
// it is no kernel.
func Kernel(live, next *skill.Document, part string) error {
	opts := live.Options().Evolving(part)
	live, err := skill.Parse(live.Render(), opts)
	if err == nil {
		next, err = skill.Parse(next.Render(), opts)
	}
	if err != nil {
		return problem.Refusef("nothing was installed", "%v", err)
	}
	if live.KernelHash() != next.KernelHash() {
		return problem.Refusef("nothing was installed", "the locked lines differ from the live skill's")
	}
	for _, f := range Check(live, next, ClaudeCode) {
		if f.Severity == Reject {
			return problem.Refusef("nothing was installed", "line %d: %s (%s)", f.Line, f.Reason, f.Rule)
		}
	}
	return nil
}
