package acts

import (
	"crypto/sha256"
	"encoding/hex"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval/plain"
)

// Probe is a name that no script has: it stands for a statement at a kernel's edge.
const Probe = "kernel_probe_5b0c"

// An Ending is how a statement ends its block, if it always does.
type Ending uint8

const (
	GoesOn Ending = iota
	Leaves        // the block: return, break, continue
	Exits         // the script, or by an exception
)

// Set makes a set of the words of lists.
func Set(lists ...string) map[string]bool {
	out := map[string]bool{}
	for _, l := range lists {
		for _, w := range strings.Fields(l) {
			out[w] = true
		}
	}
	return out
}

// Short keeps keys small: equal texts stay equal, and others differ.
func Short(s string) string {
	if len(s) <= 200 {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return s[:60] + "…" + hex.EncodeToString(sum[:12])
}

// Union is a key for any one of several.
func Union(keys []string) string {
	slices.Sort(keys)
	return Short("{" + strings.Join(slices.Compact(keys), " | ") + "}")
}

// Clip makes code short enough for a sentence.
func Clip(s string) string { return plain.Head(plain.Line(s), 120) }

// SyntaxError is the finding for a text that is not its language.
func SyntaxError(line int, text string) *Finding {
	return &Finding{Rule: "syntax", Line: line, Text: "The script cannot be parsed: " + text + "."}
}

// Grants are the words with which a hook's answer allows or changes something: a new one
// is a finding. A refusal may not go away.
var (
	Grants = Set("allow approve approved bypassPermissions acceptEdits dontAsk updatedInput updatedPermissions updatedMCPToolOutput",
		"additionalContext suppressOutput systemMessage hookSpecificOutput permissionDecision decision behavior stopReason ask continue hookEventName addRules setMode addDirectories")
	refusals = Set("deny block")
)

// Answer notes the words of a hook's answer that are a whole text or quoted in it. A
// refusal counts where it is printed, if it can be reached (live).
func (r *Reading) Answer(text string, line int, code string, live bool, to string) {
	for _, word := range answers(text) {
		if Grants[word] {
			r.Add(Fact{Rule: "decision", Key: word, Line: line, Code: code, Text: "It has a word of a hook's answer that its parent does not have: " + word + "."})
		}
		if refusals[word] && live {
			r.Keeps[strings.TrimSpace("the answer "+word+" "+to)]++
		}
	}
}

func answers(text string) (out []string) {
	if t := strings.TrimSpace(text); Grants[t] || refusals[t] {
		return []string{t}
	}
	if !strings.ContainsAny(text, "\"'`") {
		return nil
	}
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\"'\\`", r) }) {
		if Grants[f] || refusals[f] {
			out = append(out, f)
		}
	}
	return out
}

// ASCII reports whether a name can be told from every other by looking at it. Python
// takes full-width letters for plain ones, and JavaScript reads \u0065 as e.
func ASCII(name string) bool {
	for i := range len(name) {
		if c := name[i]; c >= utf8.RuneSelf || c == '\\' {
			return false
		}
	}
	return true
}

var (
	anything  = []string{"zq", "7", "~", "/", "-", "_"}
	lookahead = lazyregexp.New(`\(\?<?=`)
	negative  = lazyregexp.New(`\(\?<?![^()]*\)`)
)

// MatchesAll reports whether a pattern matches whatever it is given. What it looks ahead
// for is taken as a part of it, because Go's patterns have no such thing.
func MatchesAll(pattern string) bool {
	re, err := regexp.Compile(lookahead.ReplaceAllString(negative.ReplaceAllString(pattern, ""), "(?:"))
	return err == nil && !slices.ContainsFunc(anything, func(s string) bool { return !re.MatchString(s) })
}
