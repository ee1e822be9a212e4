package skill

import "slices"

// A Profile is a set of rules that a SKILL.md is validated against.
type Profile string

const (
	ClaudeCode Profile = "claude-code" // the default
	Portable   Profile = "portable"    // the six keys of the open specification
)

// Severity says what a finding does to a candidate.
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
	Line     int    // 1-based in the child, 0 where none applies
	Message  string // one sentence for the owner
}

// Check compares a candidate with the document it was made from: specification,
// kernel bytes, structure, firewall. No finding above Warn means that it may be
// evaluated.
func Check(parent, child *Document, p Profile) []Finding {
	fs := Validate(child, p, "")
	if child.err != nil {
		return fs
	}
	if parent.err != nil {
		return append(fs, Finding{"parent-syntax", Reject, 0, "the document it was made from does not parse: " + parent.err.Error()})
	}
	if parent.KernelHash() != child.KernelHash() {
		fs = append(fs, Finding{"kernel-changed", Reject, 0, "the kernel is not what it was: " + sameKernel(parent, child)})
	}
	fs = append(fs, checkStructure(parent, child)...)
	fs = append(fs, checkSight(parent, child)...)
	return append(fs, checkFirewall(parent, child)...)
}

// CheckDescendant is Check of a text that a search has made of parent, which
// descends from root, the owner's text. How far the kernel has moved is measured
// from root too, or many small steps would add up. A guard that is gone counts
// only where it was root's: what an earlier candidate has forbidden of its own, a
// later one may allow again.
func CheckDescendant(root, parent, child *Document, p Profile) []Finding {
	fs := Check(parent, child, p)
	removed := func(f Finding) bool { return f.Rule == removedCheck }
	if root.err != nil || child.err != nil || root.Hash() == parent.Hash() {
		return fs
	}
	if Worst(fs) < Reject {
		fs = append(fs, checkSight(root, child)...)
	}
	if !slices.ContainsFunc(fs, removed) {
		return fs
	}
	before := lostGuards(root, sentences(parent.harness()))
	for _, m := range lostGuards(root, sentences(child.harness())) {
		if !slices.Contains(before, m) {
			return fs
		}
	}
	return slices.DeleteFunc(fs, removed)
}

// Worst is the highest severity among fs, Warn for none.
func Worst(fs []Finding) Severity {
	worst := Warn
	for _, f := range fs {
		worst = max(worst, f.Severity)
	}
	return worst
}

// Tokens estimates how many tokens a model makes of s: a quarter of its bytes,
// rounded up. It is meant for limits, not for bills: tokenizers differ by a
// fifth among themselves on English, and text of other scripts costs about as
// much per byte.
func Tokens(s string) int { return (len(s) + 3) / 4 }
