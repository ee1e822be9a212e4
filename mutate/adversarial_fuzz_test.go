package mutate

import (
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
)

// FuzzHostileReply sends any reply through the operators that take the most of
// it: the one that adopts it as it is, and the one that rewrites the
// description.
func FuzzHostileReply(f *testing.F) {
	for i, s := range shapes {
		d, err := skill.Parse([]byte(s.text), skill.Options{})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), "````\n"+d.View()+"\n````\n")
		f.Add(uint8(i), "```\n<details>\n\n"+d.View()+"\n```\n")
	}
	f.Fuzz(func(t *testing.T, n uint8, text string) {
		s := shapes[int(n)%len(shapes)]
		parent, err := skill.Parse([]byte(s.text), skill.Options{EvolveDescription: true})
		if err != nil {
			t.Fatal(err)
		}
		m := &saying{text: text}
		in := Input{Parent: parent, Evidence: hostileEvidence("Label the axis")}
		for _, op := range []Operator{&Reflect{Model: m, Plain: true}, &Description{Model: m}, &Prune{Model: m}} {
			p, err := op.Propose(t.Context(), in)
			if err != nil || check.Worst(check.Check(parent, p.Doc, check.ClaudeCode)) == check.Reject {
				continue
			}
			if msg := intact(s, p.Doc.Render(), true); msg != "" {
				t.Fatalf("%s: %s: %s\n%q", s.name, op.Name(), msg, p.Doc.Render())
			}
		}
	})
}

// FuzzHostileView puts arbitrary text around the kernel of every shape: before,
// between and behind its placeholders.
func FuzzHostileView(f *testing.F) {
	for i := range shapes {
		f.Add(uint8(i), "# A\n\n", "\n\ntext\n", "\n")
		f.Add(uint8(i), "> a\n[b]: <\n", "\n</del>\n", "\n-->\n")
		f.Add(uint8(i), "# \n", "# a > b\n", "\n")
		f.Add(uint8(i), "- a\n\n  ", "\n===\n", "\n    more")
	}
	f.Fuzz(func(t *testing.T, n uint8, before, between, behind string) {
		s := shapes[int(n)%len(shapes)]
		parent, err := skill.Parse([]byte(s.text), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		view := before
		for i, k := range parent.KernelText() {
			if i > 0 {
				view += between
			}
			view += k.Token
		}
		child, err := parent.WithView(view + behind)
		if err != nil || check.Worst(check.Check(parent, child, check.ClaudeCode)) == check.Reject {
			return
		}
		if msg := intact(s, child.Render(), false); msg != "" {
			t.Fatalf("%s: %s\n%q", s.name, msg, child.Render())
		}
	})
}
