package mutate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// Union joins several proposals made of one parent (see Combine). If
// sentences of different proposals may mean the same in other words, which no
// rule can decide, Model is asked to state each rule once. A reply that
// changes anything else, or loses a rule, is rejected, and the union by rule
// is used.
type Union struct {
	Model     eval.Model // nil: by rule alone
	Proposals []Proposal
	// Asked reports after Propose whether Model was asked, and Unusable why
	// its reply was rejected, "" if it was not.
	Asked    bool
	Unusable string
}

// Name implements Operator.
func (*Union) Name() string { return "union" }

// Propose implements Operator.
func (u *Union) Propose(ctx context.Context, in Input) (Proposal, error) {
	u.Asked, u.Unusable = false, ""
	view, sides, taught := combined(in.Parent, u.Proposals)
	p, err := propose(in.Parent, view, unique(taught))
	if err != nil || u.Model == nil {
		return p, err
	}
	support := NewSupport(in.Corpus, in.Corpus)
	groups := alike(in.Parent.View(), view, sides, support)
	if len(groups) == 0 {
		return p, nil
	}
	u.Asked = true
	settled, err := u.settle(ctx, in, p, view, groups, support)
	var unusable *ReplyError
	if errors.As(err, &unusable) {
		u.Unusable = unusable.Reason
		return p, nil
	}
	return settled, err
}

// settle asks the model to state each rule of the groups once.
func (u *Union) settle(ctx context.Context, in Input, p Proposal, view string, groups [][]statement, support *Support) (Proposal, error) {
	in.Evidence, in.Rejected = nil, nil
	data := newPromptData(in)
	view = withNewline(view)
	data.View, data.Fence = view, fenceFor(view)
	for _, g := range groups {
		var texts []string
		for _, s := range g {
			texts = append(texts, s.text)
		}
		data.Alike = append(data.Alike, texts)
	}
	user, err := render("union.txt", data)
	if err != nil {
		return Proposal{}, err
	}
	reply, err := ask(ctx, u.Model, user, in)
	if err != nil {
		return Proposal{}, err
	}
	reply = restore(reply, view)
	if why := faithful(view, reply, groups, words(strings.Join(in.Corpus, "\n")), support); why != "" {
		return Proposal{}, &ReplyError{Reason: why}
	}
	if p.Doc.View() == reply {
		return p, nil
	}
	return propose(in.Parent, reply, p.Taught, p.Doc)
}

// alike groups the sentences of a union that different sides added and that
// may mean the same: they are like each other, or say what one line of feedback
// asks for. The groups and their sentences are in the order of the text.
func alike(base, view string, sides []string, support *Support) (groups [][]statement) {
	u := newUnion(base, view, sides)
	group := make([]int, len(u.parts)) // the first sentence of each one's group
	for i := range u.parts {
		group[i] = i
		for j := range i {
			s, t := &u.parts[i], &u.parts[j]
			if !u.added(s) || !u.added(t) || u.together(s, t) || !s.like(t) && !support.same(s.words, t.words) {
				continue
			}
			from, to := max(group[i], group[j]), min(group[i], group[j])
			for k := range group[:i+1] {
				if group[k] == from {
					group[k] = to
				}
			}
		}
	}
	for i := range u.parts {
		var g []statement
		for k := i; k < len(group); k++ {
			if group[k] == i {
				g = append(g, u.parts[k])
			}
		}
		if len(g) > 1 {
			groups = append(groups, g)
		}
	}
	return groups
}

// faithful returns why a reply is not the text with the rules of its groups
// stated once, "" if it is. All else must be unchanged and in its place;
// every sentence of a group must be kept, or one like it, or one that answers the
// same feedback, with the numbers and literals that feedback asked for, and of the
// others one (an example of a format stands for the rest); of its words that feedback
// asked for at most a quarter may be lost ("is written" becomes "write"); and nothing
// may be added that is like none of them. asked are the words of the run's feedback.
func faithful(view, reply string, groups [][]statement, asked map[string]bool, support *Support) string {
	in := map[string]bool{} // the groups' statements
	var all []statement
	for _, g := range groups {
		for _, s := range g {
			in[s.norm] = true
			all = append(all, s)
		}
	}
	was, now := statementsOf(view), statementsOf(reply)
	had := counted(was)
	var frame, kept []string
	for i := range was {
		if !in[was[i].norm] {
			frame = append(frame, was[i].norm)
		}
	}
	var said []statement
	for i := range now {
		s := &now[i]
		switch {
		case had[s.norm] > 0 && !in[s.norm]:
			kept = append(kept, s.norm)
			continue
		case s.fixed:
			return "it changes more than the sentences that may say the same"
		case !slices.ContainsFunc(all, func(t statement) bool { return in[s.norm] || s.like(&t) || support.same(s.words, t.words) }):
			return "it adds a rule"
		}
		said = append(said, *s)
	}
	switch {
	case !slices.Equal(frame, kept):
		return "it changes more than the sentences that may say the same"
	case len(said) > len(all):
		return "it says more than was there"
	}
	told := map[string]bool{}
	for _, s := range said {
		for w := range s.words {
			told[w] = true
		}
	}
	for i := range all {
		g := &all[i]
		kept, about := false, statement{} // about: all that is said of the same
		for _, s := range said {
			kept = kept || s.norm == g.norm
			if s.like(g) || support.same(s.words, g.words) {
				about.tokens = append(about.tokens, s.tokens...)
			}
		}
		kept = kept || len(about.tokens) > 0 && about.holds(g, asked)
		wanted, lost := 0, 0
		for w := range g.words {
			if asked[w] {
				wanted++
				if !told[w] {
					lost++
				}
			}
		}
		if !kept || 4*lost > wanted {
			return "it drops a rule"
		}
	}
	return ""
}

// holds reports whether s has the numbers and literals of t that feedback asked
// for, and one at least if t has only others.
func (s *statement) holds(t *statement, asked map[string]bool) bool {
	exact := func(x token) bool { return x.literal || strings.ContainsAny(x.word, "0123456789") }
	has := func(x token) bool { // "24" also in "24-hour"
		return slices.ContainsFunc(s.tokens, func(y token) bool { return x.word == y.word || within(x.word, words(y.word)) })
	}
	example := false // one of t that s lacks
	for _, x := range t.tokens {
		if exact(x) && !has(x) {
			if within(x.word, asked) {
				return false
			}
			example = true
		}
	}
	return !example || slices.ContainsFunc(s.tokens, exact)
}

// within reports whether all words of a literal or number, one at least, are in the set.
func within(literal string, set map[string]bool) bool {
	ws := words(literal)
	for w := range ws {
		if !set[w] {
			return false
		}
	}
	return len(ws) > 0
}
