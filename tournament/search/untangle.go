package search

import (
	"context"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate"
)

// untangle looks for lines of a tried child that obstruct each other: each
// states what some train case asks for, and none of those cases passes.
// Several reflections tried together hide such pairs, since their union still
// wins on the rest. If there are at least two such lines, the half that fewer
// train cases ask for is removed, and the rest is tried on the cases that ask
// for any of them. It returns that text as a move's child if it does better
// than the first, nil if there is nothing to remove or it does not help.
//
// Lines that depend on a third one look the same and are not helped by this,
// so a run in which it does not help stops trying it.
func (s *State) untangle(ctx context.Context, mv *Change, child *Member, batch []int) (*Member, mutate.Proposal, error) {
	none := func(err error) (*Member, mutate.Proposal, error) { return nil, mutate.Proposal{}, err }
	if mv.Slack > 0 || mv.Untested || !s.knots.promising() {
		return none(nil)
	}
	drop, cases, lost := s.tangled(mv.Parent, child, batch)
	if rest := s.rest(); len(drop) == 0 || rest > 0 && rest < int64(len(cases)+2*len(s.Cases.Val)) {
		return none(nil)
	}
	p, err := (&mutate.Ablate{Blocks: drop}).Propose(ctx, mutate.Input{Parent: child.Variant.Doc})
	if err != nil || s.tried[p.Doc.Hash()] || p.Doc.Hash() == mv.Parent.SHA {
		return none(nil) // what is left is nothing new, or no skill
	}
	if ok, err := s.allowed(ctx, mv.op, mv.Parent, p); err != nil || !ok {
		return none(err)
	}
	s.tried[p.Doc.Hash()] = true
	if ok, err := s.readSecond(ctx, mv.op, []*Member{mv.Parent}, p); err != nil || !ok {
		return none(err)
	}
	v := child.Variant
	v.Doc = p.Doc
	m := &Member{Variant: v, train: make([]attempts, len(s.Cases.Train))}
	if err := s.measureTrain(ctx, m, cases, 0); err != nil {
		return none(err)
	}
	delta := gain(qualities(m.train, cases), qualities(child.train, cases))
	s.knots.tries++
	if err := s.emit(ctx, "untangled", map[string]any{"sha256": p.Doc.Hash(), "from": child.SHA, "lines": len(drop), "gain": delta, "cases": len(cases)}); err != nil {
		return none(err)
	}
	if delta <= 1e-9 {
		return none(nil)
	}
	// One failure may have been chance: the line goes only if it fails again.
	if err := s.measureTrain(ctx, child, lost, 1); err != nil {
		return none(err)
	}
	if again, _, _ := s.tangled(mv.Parent, child, batch); !contains(again, drop) {
		return none(nil)
	}
	s.knots.wins++
	s.rejected = append(s.rejected, mutate.Attempt{Operator: mv.op, Change: p.Summary, Result: "taken out again: in the way of other lines"})
	return m, p, nil
}

// knots counts the results of taking lines apart.
type knots struct{ tries, wins int }

// promising reports whether taking apart is worth another try: it starts at
// even odds, and every try counts.
func (k knots) promising() bool { return 3*(k.wins+1) >= k.tries+2 }

func contains(all, some []int) bool {
	return !slices.ContainsFunc(some, func(x int) bool { return !slices.Contains(all, x) })
}

// tangled lists the blocks of child to remove; of the cases at idx those that
// ask for a tangled line that stays; and those that ask for a removed one
// although the parent passed them.
func (s *State) tangled(parent, child *Member, idx []int) (drop, stay, lost []int) {
	index, text := mutate.Deletable(mutate.Input{Parent: child.Variant.Doc})
	type line struct {
		block, demand int
		cases         []int // of idx that ask for it
		alive         bool  // the parent passed it
	}
	var dead []line
	for b := range index {
		l := line{block: index[b]}
		said := s.lessons.support.Said(text[b])
		passed := false
		for _, k := range said {
			l.demand += s.lessons.demand[k]
		}
		for _, i := range idx {
			ok, tried := s.passes(child, i, said)
			if tried {
				l.cases = append(l.cases, i)
				passed = passed || ok
			}
		}
		if passed || len(l.cases) == 0 {
			continue
		}
		for i := range s.Cases.Train {
			ok, _ := s.passes(parent, i, said)
			l.alive = l.alive || ok
		}
		dead = append(dead, l)
	}
	if len(dead) < 2 {
		return nil, nil, nil
	}
	slices.SortStableFunc(dead, func(a, b line) int { return a.demand - b.demand })
	half := len(dead) / 2
	for _, l := range dead[:half] {
		drop = append(drop, l.block)
		if l.alive {
			lost = append(lost, l.cases...)
		}
	}
	for _, l := range dead[half:] {
		stay = append(stay, l.cases...)
	}
	return drop, distinct(stay), distinct(lost)
}

// passes reports whether m has passed a check of train case i that asks for one
// of the lessons, in any trial, and whether it was tried on one at all.
func (s *State) passes(m *Member, i int, said []int) (passed, tried bool) {
	for k, lesson := range s.lessons.of[i] {
		if !slices.Contains(said, lesson) {
			continue
		}
		for t := range m.train[i].trials() {
			if r := m.train[i].at(t); r.Status == eval.Done && k < len(r.Checks) {
				tried, passed = true, passed || r.Checks[k].Score >= 1
			}
		}
	}
	return passed, tried
}

func distinct(idx []int) []int {
	slices.Sort(idx)
	return slices.Compact(idx)
}

// lessons are the feedback lines of the train cases: which of them each case
// asks for, and how many checks ask for each.
type lessons struct {
	support *mutate.Support
	of      [][]int // by train case and check; -1 for a check without words
	demand  []int
}

func newLessons(train []eval.Case) *lessons {
	l := &lessons{of: make([][]int, len(train))}
	at := map[string]int{}
	var lines []string
	for i := range train {
		for _, k := range train[i].Checks {
			text := k.Feedback
			if text == "" {
				text = k.Rubric
			}
			if text == "" {
				l.of[i] = append(l.of[i], -1)
				continue
			}
			n, ok := at[text]
			if !ok {
				n = len(lines)
				at[text], lines, l.demand = n, append(lines, text), append(l.demand, 0)
			}
			l.demand[n]++
			l.of[i] = append(l.of[i], n)
		}
	}
	l.support = mutate.NewSupport(lines, nil)
	return l
}
