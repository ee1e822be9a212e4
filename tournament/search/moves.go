package search

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate"
)

// input is what every operator is told.
func (s *search) input(m *member, idx []int) mutate.Input {
	return mutate.Input{Parent: m.variant.Doc, Evidence: s.evidence(m, idx), Rejected: slices.Clone(s.rejected),
		Corpus: s.corpus, MaxTokens: s.guard.maxTokens, Seed: s.rng.Int64N(1 << 31)}
}

// reflection asks for several reflections on different failures of one parent.
func (s *search) reflection(ctx context.Context) (*move, error) {
	m := s.pool.members[s.opt.Selector.Select(s.pool, s.best, s.rng)]
	if n := len(s.stones); n > 0 {
		m, s.stones = s.stones[n-1], s.stones[:n-1]
	}
	fails, err := s.failures(ctx, m, s.opt.Proposals*s.opt.Group)
	if err != nil || len(fails) == 0 {
		return nil, err
	}
	fails = fails[:min(len(fails), s.opt.Proposals*s.opt.Group)]
	s.rng.Shuffle(len(fails), func(i, j int) { fails[i], fails[j] = fails[j], fails[i] })
	n := (len(fails) + s.opt.Group - 1) / s.opt.Group
	inputs := make([]mutate.Input, n)
	for k := range inputs {
		var group []int
		for i := k; i < len(fails); i += n {
			group = append(group, fails[i])
		}
		inputs[k] = s.input(m, group)
	}
	ps, err := s.ask(ctx, &mutate.Reflect{Model: s.Mutator}, m, inputs)
	if err != nil {
		return nil, err
	}
	for _, p := range ps {
		s.supported = s.supported || p.Supported
	}
	if s.supported {
		// Words tell in this run which changes answer the feedback: one that
		// shares none with it is a guess.
		n := len(ps)
		ps = slices.DeleteFunc(ps, func(p mutate.Proposal) bool { return !p.Supported })
		s.stats.Unusable += n - len(ps)
	}
	return &move{op: "reflect", parent: m, proposals: ps, targets: s.targets(ps, fails), accept: s.opt.Accept, depth: m.depth}, nil
}

// targets lists the failures that the proposals say they answer, then the rest.
func (s *search) targets(ps []mutate.Proposal, fails []int) []int {
	taught := map[string]bool{}
	for _, p := range ps {
		for _, id := range p.Taught {
			taught[id] = true
		}
	}
	var first, rest []int
	for _, i := range fails {
		if taught[s.cases.Train[i].ID] {
			first = append(first, i)
		} else {
			rest = append(rest, i)
		}
	}
	return append(first, rest...)
}

// urgent looks at where the search stands. Where most of what the best still
// fails is stated in its text already, saying it again is no use, and rewording
// is.
func (s *search) urgent() map[string]float64 {
	m := s.pool.members[s.best]
	stated, lines := 0, 0
	for i := range s.cases.Train {
		r := persistent(&m.train[i])
		if r == nil {
			continue
		}
		fb := mutate.FeedbackOf(r)
		support := mutate.NewSupport(fb, s.asked)
		for k := range fb {
			lines++
			if support.Stated(k, m.variant.Doc.View()) {
				stated++
			}
		}
	}
	// Once additions stop helping it is time to take away.
	out := map[string]float64{"ablate": 1 + 3*float64(s.stale)}
	if s.stale == 0 {
		// While reflections find something, a rewrite of the whole is a gamble.
		out["rephrase"], out["prune"], out["examples"] = 0.1, 0.1, 0.1
	}
	if lines > 0 && 2*stated >= lines {
		out["rephrase"], out["merge"] = 8, 2
	}
	return out
}

// ablation deletes, without a model, blocks of the best text that no train case
// speaks of. What the search itself added without support goes first and
// is tried on validation alone: it is a passenger until shown otherwise. The
// incumbent's own idle lines follow, all at once and then by halves.
func (s *search) ablation(ctx context.Context) (*move, error) {
	m := s.pool.members[s.best]
	in := mutate.Input{Parent: m.variant.Doc}
	index, text := mutate.Deletable(in)
	if len(index) == 0 || !m.full && s.stale < 2 {
		// A leader that ran away is soon replaced: what a deletion would have
		// to be held against is not worth measuring.
		return nil, nil
	}
	support := mutate.NewSupport(s.asked, s.asked)
	_, own := mutate.Deletable(mutate.Input{Parent: s.pool.members[0].variant.Doc})
	var idle, added []int
	for k, i := range index {
		switch {
		case m.tried[text[k]] || len(support.Answers(text[k])) > 0:
			continue
		case slices.Contains(own, text[k]):
			idle = append(idle, i)
		default:
			added = append(added, i)
		}
	}
	mv := &move{op: "ablate", parent: m, accept: NotWorse{Slack: 0.02}, deletion: deletionSlack}
	parts := [][]int{added}
	if len(added) > 0 {
		mv.accept, mv.deletion, mv.untried = NotWorse{Slack: 1}, passengerSlack, true
	} else if parts = halve(idle, 4); len(idle) == 0 {
		return nil, nil
	}
	for k, i := range index {
		if slices.Contains(added, i) || len(added) == 0 && slices.Contains(idle, i) {
			m.tried[text[k]] = true
		}
	}
	if !mv.untried {
		if err := s.atLeast(ctx, m, s.opt.Minibatch); err != nil {
			return nil, err
		}
	}
	for _, part := range parts {
		got, err := s.ask(ctx, &mutate.Ablate{Blocks: part}, m, []mutate.Input{in})
		if err != nil {
			return nil, err
		}
		mv.proposals = append(mv.proposals, got...)
	}
	return mv, nil
}

// halve cuts idx into at most n parts of about the same size.
func halve(idx []int, n int) (parts [][]int) {
	n = min(n, len(idx))
	for k := range n {
		parts = append(parts, idx[k*len(idx)/n:(k+1)*len(idx)/n])
	}
	return parts
}

// atLeast measures m on train cases until n of them have a score.
func (s *search) atLeast(ctx context.Context, m *member, n int) error {
	have := 0
	for i := range s.cases.Train {
		if !math.IsNaN(m.train[i].mean()) {
			have++
		}
	}
	if rest := s.untried(m); have < n && len(rest) > 0 {
		return s.measureTrain(ctx, m, rest[:min(len(rest), n-have)], 0)
	}
	return nil
}

// crossing merges the best with a member of another line that beats it on some
// validation case.
func (s *search) crossing(ctx context.Context) (*move, error) {
	a := s.pool.members[s.best]
	lineage := s.pool.ancestors(s.best)
	var partners []int
	for i, b := range s.pool.members {
		if i == s.best || slices.Contains(lineage, i) || slices.Contains(s.pool.ancestors(i), s.best) || a.tried["merge "+b.SHA] {
			continue
		}
		for k := range b.val {
			if b.val[k].mean() > a.val[k].mean()+1e-9 {
				partners = append(partners, i)
				break
			}
		}
	}
	if len(partners) == 0 {
		return nil, nil
	}
	at := partners[s.rng.IntN(len(partners))]
	b := s.pool.members[at]
	a.tried["merge "+b.SHA] = true
	if err := s.atLeast(ctx, a, s.opt.Minibatch); err != nil {
		return nil, err
	}
	in := s.input(a, nil)
	in.Other, in.Ancestor = b.variant.Doc, s.pool.members[s.pool.commonAncestor(s.best, at)].variant.Doc
	ps, err := s.ask(ctx, &mutate.Merge{Model: s.Mutator}, a, []mutate.Input{in})
	if err != nil {
		return nil, err
	}
	fails, err := s.known(ctx, a)
	if err != nil {
		return nil, err
	}
	return &move{op: "merge", parent: a, other: b, proposals: ps, targets: fails, accept: NotWorse{}}, nil
}

// description asks for a new description of one parent, which reads wrong
// decisions first and some right ones after them: what is right must stay so.
func (s *search) description(ctx context.Context) (*move, error) {
	m := s.pool.members[s.opt.Selector.Select(s.pool, s.best, s.rng)]
	fails, err := s.failures(ctx, m, 2*s.opt.Group)
	if err != nil || len(fails) == 0 {
		return nil, err
	}
	s.rng.Shuffle(len(fails), func(i, j int) { fails[i], fails[j] = fails[j], fails[i] })
	idx := slices.Clone(fails[:min(len(fails), 2*s.opt.Group)])
	for _, i := range s.rng.Perm(len(s.cases.Train)) {
		if r := m.train[i].last(); r != nil && r.Quality == 1 && len(idx) < 3*s.opt.Group {
			idx = append(idx, i)
		}
	}
	ps, err := s.ask(ctx, &mutate.Description{Model: s.Mutator}, m, []mutate.Input{s.input(m, idx)})
	if err != nil {
		return nil, err
	}
	return &move{op: "description", parent: m, proposals: ps, targets: fails, accept: s.opt.Accept}, nil
}

// maxRewrites is how often an operator may rewrite the same text.
const maxRewrites = 3

// rewriting applies one of the operators that work on the whole text.
func (s *search) rewriting(ctx context.Context, name string) (*move, error) {
	m := s.pool.members[s.best]
	mv := &move{op: name, parent: m, accept: s.opt.Accept}
	for try := range maxRewrites + 1 {
		if try == maxRewrites {
			return nil, nil
		}
		if key := fmt.Sprint(name, try); !m.tried[key] {
			m.tried[key] = true
			break
		}
	}
	var op mutate.Operator
	var idx []int
	switch name {
	case "prune":
		op, mv.accept, mv.deletion = &mutate.Prune{Model: s.Mutator}, NotWorse{Slack: 0.02}, deletionSlack
	case "rephrase":
		op = &mutate.Rephrase{Model: s.Mutator}
	case "examples":
		op = &mutate.Examples{Model: s.Mutator}
	}
	if err := s.atLeast(ctx, m, s.opt.Minibatch); err != nil {
		return nil, err
	}
	fails, err := s.known(ctx, m)
	if err != nil {
		return nil, err
	}
	mv.targets = fails
	idx = fails[:min(len(fails), s.opt.Group)]
	if name == "examples" {
		idx = nil
		for i := range s.cases.Train {
			if strings.TrimSpace(s.cases.Train[i].Reference) != "" && m.train[i].last() != nil {
				idx = append(idx, i)
			}
		}
	}
	mv.proposals, err = s.ask(ctx, op, m, []mutate.Input{s.input(m, idx)})
	if err != nil || len(mv.proposals) == 0 && len(idx) == 0 {
		return nil, err
	}
	return mv, nil
}
