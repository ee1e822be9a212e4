package mutate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/mutate/skill/install"
)

// long reports whether the tests that take minutes run in full.
func long() bool { return os.Getenv("EVOLVE_LONG") == "1" }

// An adversary drives replies of one hostile model through every operator, the
// check and the installation, for one shape.
type adversary struct {
	shape  shape
	r      *rand.Rand
	root   *skill.Document
	pool   []*skill.Document // texts that passed, to go on from
	dir    string
	counts map[string]int
}

func newAdversary(t *testing.T, s shape, seed uint64) *adversary {
	t.Helper()
	root, err := skill.Parse([]byte(s.text), skill.Options{EvolveDescription: true})
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	if n := len(root.KernelText()); n != len(s.kernel) {
		t.Fatalf("%s: %d kernel blocks in the body, want %d", s.name, n, len(s.kernel))
	}
	if msg := intact(s, []byte(s.text), false); msg != "" {
		t.Fatalf("%s: the oracle does not accept the shape itself: %s", s.name, msg)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &adversary{shape: s, r: rand.New(rand.NewPCG(seed, 6)), root: root, pool: []*skill.Document{root}, dir: dir, counts: map[string]int{}}
}

// hostileEvidence is one failure with words of the attacks, so that they
// count as answers to it.
func hostileEvidence(feedback string) []Evidence {
	return []Evidence{{Case: &eval.Case{ID: "c1", Prompt: "Plot revenue", Reference: "A chart."}, Rollout: &eval.Rollout{Answer: "?", Feedback: []string{feedback}}}}
}

var hostileFeedback = []string{"Label the axis", "the old rules are obsolete", "details hidden", "example, do not apply", "text more lazy"}

// next makes one proposal of a hostile reply. name is the operator.
func (a *adversary) next(parent *skill.Document) (name string, p Proposal, err error) {
	view := parent.View()
	for range 1 + a.r.IntN(3) {
		view = attack(a.r, view, a.shape.kernel)
	}
	text := reply(a.r, view)
	m := &saying{text: text}
	in := Input{Parent: parent, Evidence: hostileEvidence(pick(a.r, hostileFeedback)), MaxTokens: 5000}
	switch a.r.IntN(11) {
	case 0:
		name, in.Other, in.Ancestor = "merge", pick(a.r, a.pool), a.root
		p, err = (&Merge{Model: m}).Propose(context.Background(), in)
	case 1:
		name = "combine"
		p, err = combine(a.root, []Proposal{{Doc: parent}, {Doc: pick(a.r, a.pool)}, {Doc: pick(a.r, a.pool)}})
	case 2:
		name = "join"
		joined, _ := Join(a.root.View(), view, pick(a.r, a.pool).View())
		p, err = propose(parent, joined, nil)
	case 3:
		name = "description"
		m.text = reply(a.r, pick(a.r, descriptions)+pick(a.r, []string{"", " Use for charts.", "\n"})+pick(a.r, descriptions))
		p, err = (&Description{Model: m}).Propose(context.Background(), in)
	case 4:
		name = "prune"
		p, err = (&Prune{Model: m}).Propose(context.Background(), in)
	case 5:
		name = "rephrase"
		p, err = (&Rephrase{Model: m}).Propose(context.Background(), in)
	case 6:
		name = "examples"
		p, err = (&Examples{Model: m}).Propose(context.Background(), in)
	case 7:
		name = "reflect"
		p, err = (&Reflect{Model: m}).Propose(context.Background(), in)
	case 8:
		name = "ablate"
		n := len(blocksOf(parent.View()))
		p, err = (&Ablate{Blocks: []int{a.r.IntN(n), a.r.IntN(n)}}).Propose(context.Background(), in)
	default:
		name = "plain"
		p, err = (&Reflect{Model: m, Plain: true}).Propose(context.Background(), in)
	}
	return name, p, err
}

// step takes one reply all the way and returns how it changed the kernel.
func (a *adversary) step() string {
	parent := pick(a.r, a.pool)
	name, p, err := a.next(parent)
	a.counts["replies"]++
	if err != nil {
		var unusable *ReplyError
		var nothing *NotApplicableError
		if !errors.As(err, &unusable) && !errors.As(err, &nothing) {
			return fmt.Sprintf("%s: %v", name, err)
		}
		a.counts["unusable"]++
		return ""
	}
	findings := check.Check(parent, p.Doc, check.ClaudeCode)
	switch check.Worst(findings) {
	case check.Reject:
		a.counts["rejected"]++
		return ""
	case check.Quarantine:
		a.counts["quarantined"]++
	default:
		a.counts["passed"]++
	}
	if msg := intact(a.shape, p.Doc.Render(), true); msg != "" {
		return fmt.Sprintf("%s: %s\nparent %q\nchild %q", name, msg, parent.Render(), p.Doc.Render())
	}
	if len(p.Doc.Render()) > 3*len(a.shape.text) {
		return "" // grown text only makes the rest slower
	}
	if len(a.pool) < 40 {
		a.pool = append(a.pool, p.Doc)
	} else {
		a.pool[1+a.r.IntN(len(a.pool)-1)] = p.Doc
	}
	if a.r.IntN(40) == 0 {
		return a.install(p.Doc)
	}
	return ""
}

// install puts a text that passed in place and reads it back.
func (a *adversary) install(d *skill.Document) string {
	path := filepath.Join(a.dir, skill.FileName)
	was := ""
	if live, err := os.ReadFile(path); err == nil {
		was = skill.HashText(live)
	}
	if err := install.Install(path, was, d.Render()); err != nil {
		return err.Error()
	}
	live, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(live, d.Render()) {
		return fmt.Sprintf("installed %q, read %q, %v", d.Render(), live, err)
	}
	again, err := skill.Parse(live, d.Options())
	if err != nil || again.KernelHash() != d.KernelHash() {
		return fmt.Sprintf("the installed file reads differently: %v", err)
	}
	a.counts["installed"]++
	return intact(a.shape, live, true)
}

// TestHostileReplies is the promise that the kernel survives any reply of a
// mutator: EVOLVE_LONG=1 tries 100,000 of them.
func TestHostileReplies(t *testing.T) {
	replies := 3000
	if long() {
		replies = 100_000
	}
	total := map[string]int{}
	for i, s := range shapes {
		a := newAdversary(t, s, uint64(i))
		bad := 0
		for range (replies + len(shapes) - 1) / len(shapes) {
			if msg := a.step(); msg != "" {
				t.Errorf("%s: %s", s.name, msg)
				if bad++; bad == 3 {
					break
				}
			}
		}
		for k, n := range a.counts {
			total[k] += n
		}
		if long() {
			t.Logf("%s: %v", s.name, a.counts)
		}
	}
	t.Logf("%v", total)
	// An adversary that nothing lets through tests nothing.
	if total["passed"]+total["quarantined"] < total["replies"]/20 || total["installed"] == 0 {
		t.Errorf("too few replies came through to prove anything: %v", total)
	}
}

// TestHugeAndEmptyReplies: a reply of 10 MB is refused or taken, in bounded
// time, and an empty one is no text.
func TestHugeAndEmptyReplies(t *testing.T) {
	s := shapes[0]
	root, err := skill.Parse([]byte(s.text), skill.Options{EvolveDescription: true})
	if err != nil {
		t.Fatal(err)
	}
	sizes := []int{1 << 10, 4 << 20} // the small ones pass the limits, and have to be read
	if long() {
		sizes = []int{1 << 10, 8 << 10, 10 << 20}
	}
	var bodies []string
	for _, size := range sizes {
		for _, unit := range []string{"- Label.\n", "x", "```\n", "> ", "\n", "<!--", "<<KERNEL", "[", "# a\n", "*a", "![a](", "\x00", "!`", "    - ", "<details>\n", "&amp;", "| a |\n", "`", "<a ", "\\"} {
			bodies = append(bodies, strings.Repeat(unit, size/len(unit)))
		}
	}
	for _, b := range bodies {
		for _, view := range []string{root.View() + b, b + root.View(), b} {
			if _, err := root.WithView(view); err == nil && len(view) > 1<<20 {
				t.Errorf("a view of %d bytes was taken", len(view))
			}
			fence := fenceFor(view)
			m := &saying{text: "Done.\n" + fence + "\n" + view + "\n" + fence + "\n"}
			for _, op := range []Operator{&Reflect{Model: m, Plain: true}, &Reflect{Model: m}, &Prune{Model: m}, &Rephrase{Model: m}, &Description{Model: m}} {
				p, err := op.Propose(t.Context(), Input{Parent: root, Evidence: hostileEvidence("Label the axis"), MaxTokens: 5000})
				if err != nil {
					continue
				}
				if check.Worst(check.Check(root, p.Doc, check.ClaudeCode)) == check.Reject {
					continue
				}
				if msg := intact(s, p.Doc.Render(), true); msg != "" {
					t.Errorf("%s of %.20q…: %.2000s", op.Name(), b, msg)
				}
			}
		}
	}
	for _, empty := range []string{"", " ", "\n", "```\n```", "```\n\n```", "\x00", "```\n\u200b\n```"} {
		p, err := (&Reflect{Model: &saying{text: empty}, Plain: true}).Propose(t.Context(), Input{Parent: root, Evidence: make([]Evidence, 0)})
		if err == nil {
			t.Errorf("%q became %q", empty, p.Doc.Render())
		}
	}
}
