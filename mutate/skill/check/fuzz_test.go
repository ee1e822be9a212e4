package check

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// FuzzCheck compares any two texts: no panic, and nothing that it does not
// reject has another kernel, or moved it down by more than a text may grow.
func FuzzCheck(f *testing.F) {
	f.Add(house, house)
	f.Add(house, house+"\n<details>\n")
	f.Add("---\nname: x\ndescription: d\n---\n<!-- kernel -->\n[a]\n<!-- /kernel -->\n", "---\nname: x\ndescription: d\n---\n<!-- kernel -->\n[a]\n<!-- /kernel -->\n[a]: b\n")
	f.Add(sighted, strings.Replace(sighted, "Make", strings.Repeat("- a\n", 160)+"\nMake", 1))
	f.Add("---\nname: x\n---\n- a\n  ## Must\n", "---\nname: x\n---\n[^1]: <s>\n")
	f.Fuzz(func(t *testing.T, was, is string) {
		for _, o := range []skill.Options{{}, {EvolveDescription: true}} {
			parent, _ := skill.Parse([]byte(was), o)
			child, _ := skill.Parse([]byte(is), o)
			for _, p := range []Profile{ClaudeCode, Portable} {
				fs := Check(parent, child, p)
				for _, x := range fs {
					if x.Rule == "" || x.Reason == "" || x.Line < 0 || x.Line > 1+bytes.Count([]byte(is), []byte("\n")) {
						t.Fatalf("finding %+v", x)
					}
					if utf8.RuneCountInString(x.Phrase) > phraseLength || x.Severity == Quarantine && x.Phrase == "" {
						t.Fatalf("phrase %q of %+v", x.Phrase, x)
					}
				}
				if Worst(fs) < Reject && child.KernelHash() != parent.KernelHash() {
					t.Fatalf("not rejected: %q became %q", was, is)
				}
				if Worst(fs) < Reject {
					lines, size := movedBy(t, parent, child)
					if most := skill.Growth(skill.Tokens(string(parent.Body()))); lines > most/tokensPerLine || size > 4*most {
						t.Fatalf("not rejected: the kernel of %q moved by %d lines and %d bytes in %q", was, lines, size, is)
					}
				}
			}
		}
	})
}
