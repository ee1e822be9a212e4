package mutate

import (
	"context"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// Prune lets the model remove text that gains nothing: lines, and sentences or
// clauses of lines. A reply that adds or rewords is reduced to its deletions:
// pruning must not add text.
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
		old, adds := a[h.A0:h.A1], slices.Clone(b[h.B0:h.B1])
		for _, block := range old {
			if k := slices.IndexFunc(adds, func(add string) bool { return cutFrom(block, add) }); k >= 0 {
				out.WriteString(adds[k])
				adds = slices.Delete(adds, k, k+1)
			} else if slices.ContainsFunc(adds, func(add string) bool { return similarity(block, add) >= 0.5 }) {
				out.WriteString(block) // reworded
			}
		}
		i = h.A1
	}
	out.WriteString(strings.Join(a[i:], ""))
	return out.String()
}

// cutFrom reports whether child is the block without some of its sentences, or of
// one sentence without clauses that punctuation sets apart.
func cutFrom(block, child string) bool {
	was, now := statementsOf(block), statementsOf(child)
	if len(now) == 0 || slices.ContainsFunc(append(slices.Clone(was), now...), func(s statement) bool { return s.fixed }) {
		return false
	}
	for _, s := range was {
		if len(now) > 0 && (now[0].norm == s.norm || shortened(s.text, now[0].text)) {
			now = now[1:]
		}
	}
	return len(now) == 0
}

// clauseMarks set a clause apart from the rest of its sentence.
const clauseMarks = ",;:()–—"

// shortened reports whether text is the sentence without some of its clauses.
func shortened(sentence, text string) bool {
	left := clauses(text)
	if len(left) == 0 {
		return false
	}
	for _, c := range clauses(sentence) {
		if len(left) > 0 && c == left[0] {
			left = left[1:]
		}
	}
	return len(left) == 0
}

// clauses cuts a sentence at its marks, code in backticks excepted.
func clauses(sentence string) (out []string) {
	var cur strings.Builder
	add := func() {
		if c := strings.ToLower(strings.Trim(strings.Join(strings.Fields(cur.String()), " "), " .!?")); c != "" {
			out = append(out, c)
		}
		cur.Reset()
	}
	code := false
	for _, r := range sentence {
		if r == '`' {
			code = !code
		}
		if !code && strings.ContainsRune(clauseMarks, r) {
			add()
			continue
		}
		cur.WriteRune(r)
	}
	add()
	return out
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
