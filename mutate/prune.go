package mutate

import (
	"context"
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// Prune lets the model remove text that gains nothing. A reply that adds or
// rewords is reduced to its deletions: pruning must not add text.
type Prune struct{ Model eval.Model }

// Name implements Operator.
func (*Prune) Name() string { return "prune" }

// Propose implements Operator.
func (p *Prune) Propose(ctx context.Context, in Input) (Proposal, error) {
	parent := in.Parent.View()
	if len(blocksOf(parent)) < 3 {
		return Proposal{}, &NotApplicableError{"too little text to delete from"}
	}
	in.Evidence = nil
	view, err := rewrite(ctx, p.Model, "prune.txt", in)
	if err != nil {
		return Proposal{}, err
	}
	return propose(in.Parent, deletionsOnly(parent, view), nil)
}

// deletionsOnly returns parent with child's deletions only.
func deletionsOnly(parent, child string) string {
	a, b := blocksOf(parent), blocksOf(child)
	var out strings.Builder
	i := 0
	for _, h := range hunks(a, b) {
		out.WriteString(strings.Join(a[i:h.A0], ""))
		for _, e := range edits(a[h.A0:h.A1], b[h.B0:h.B1]) {
			if e.add != "" {
				out.WriteString(e.del)
			}
		}
		i = h.A1
	}
	out.WriteString(strings.Join(a[i:], ""))
	return out.String()
}

// Ablate deletes chosen blocks without asking a model.
type Ablate struct {
	// Blocks are indexes into the parent's blocks, see Deletable.
	Blocks []int
}

// Name implements Operator.
func (*Ablate) Name() string { return "ablate" }

// Propose implements Operator.
func (a *Ablate) Propose(_ context.Context, in Input) (Proposal, error) {
	drop := map[int]bool{}
	for _, i := range a.Blocks {
		drop[i] = true
	}
	var out strings.Builder
	for i, s := range blocksOf(in.Parent.View()) {
		if !drop[i] {
			out.WriteString(s)
		}
	}
	return propose(in.Parent, out.String(), nil)
}

// Deletable lists the blocks of a text that may be deleted: their index and
// text. Headings and kernel stay.
func Deletable(in Input) (index []int, text []string) {
	kernel := in.Parent.KernelText()
	for i, s := range blocksOf(in.Parent.View()) {
		t := strings.TrimSpace(s)
		if t == "" || strings.HasPrefix(t, "#") {
			continue
		}
		fixed := false
		for _, k := range kernel {
			fixed = fixed || strings.Contains(s, k.Token)
		}
		if !fixed {
			index, text = append(index, i), append(text, t)
		}
	}
	return index, text
}
