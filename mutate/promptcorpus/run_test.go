package promptcorpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
)

// operator is what sends the prompt of a situation.
func (s *situation) operator(m eval.Model, in *mutate.Input) mutate.Operator {
	switch s.Kind {
	case "prune":
		return &mutate.Prune{Model: m}
	case "union":
		var ps []mutate.Proposal
		for _, edits := range s.Sides {
			ps = append(ps, mutate.Proposal{Doc: s.edited(in.Parent, edits), Taught: []string{"a"}})
		}
		return &mutate.Union{Model: m, Proposals: ps}
	case "merge":
		in.Ancestor = in.Parent
		in.Parent, in.Other = s.edited(in.Ancestor, s.Sides[0]), s.edited(in.Ancestor, s.Sides[1])
		return &mutate.Merge{Model: m}
	case "description":
		in.Evidence = nil
		for i := range s.of.Triggers {
			in.Evidence = append(in.Evidence, s.of.trigger(i))
		}
		// What was decided wrongly comes first, as in a search.
		slices.SortStableFunc(in.Evidence, func(a, b mutate.Evidence) int { return int(a.Rollout.Quality - b.Rollout.Quality) })
		in.Passing, in.Failing = nil, nil
		return &mutate.Description{Model: m}
	case "examples":
		return &mutate.Examples{Model: m}
	case "rephrase":
		return &mutate.Rephrase{Model: m}
	case "suggest":
		op := &mutate.Suggest{Model: m}
		for i, e := range in.Evidence {
			c := mutate.Correction{Case: e.Case, Words: strings.Join(mutate.FeedbackOf(e.Rollout), "\n")}
			if i%2 == 0 { // of others nobody has read a rule
				r, _ := s.of.said(s.of.example(e.Case.ID).Miss[0])
				c.Rule = r.Say
			}
			op.Corrections = append(op.Corrections, c)
		}
		in.Failing = nil
		return op
	}
	return &mutate.Reflect{Model: m}
}

func (s *subject) trigger(i int) mutate.Evidence {
	x := &s.Triggers[i]
	usual := map[bool]string{true: "The skill was needed for this request, and was not loaded.", false: "The skill was loaded, and this request is not for it."}
	words := cmp.Or(x.Wording, usual[x.Should])
	c := &eval.Case{ID: x.Prompt, Skill: s.name, Prompt: x.Prompt, ShouldTrigger: &x.Should, Neighbour: x.Instead, Split: eval.Train}
	r := &eval.Rollout{CaseID: c.ID, Status: eval.Done, Quality: 1}
	if x.Did != x.Should {
		r.Quality, r.Checks = 0, []eval.CheckResult{{Type: "trigger", Weight: 1, Feedback: words}}
	}
	return mutate.Evidence{Case: c, Rollout: r}
}

// run sends the prompts of a situation, and scores the text that comes of the replies.
func (s *situation) run(ctx context.Context, m *stored) (*score, error) {
	in := s.input()
	op := s.operator(m, &in)
	out := &score{kind: s.Kind, name: s.id()}
	p, err := op.Propose(ctx, in)
	out.replies = len(m.texts)
	if len(m.missing) > 0 {
		return out, nil
	}
	if m.sent == 0 {
		return out, errors.New("the operator asked nothing")
	}
	var unusable *mutate.ReplyError
	if err != nil && !errors.As(err, &unusable) {
		return out, err
	}
	out.parsed = err == nil
	if err != nil {
		out.note("%s", err)
	}
	if u, ok := op.(*mutate.Union); ok && u.Unusable != "" {
		out.parsed = false
		out.note("%s", u.Unusable)
	}
	out.kernel = s.Kind == "description" || kernelKept(m.texts[len(m.texts)-1], in.Parent)
	child, proposed := in.Parent, in.Parent
	if p.Doc != nil {
		child, proposed = s.allowed(out, in, p), p.Doc
	}
	s.score(out, in, m, child)
	for _, phrase := range s.Gone { // what is put back waits for the owner as a proposal of its own
		out.demand(!holds(proposed.View(), phrase), "still says %q", phrase)
	}
	return out, nil
}

// allowed asks the firewall, as the search does: lines that restrain the agent are put
// back if that leaves a change, what the user asked for may be tried, and a text above the
// limit is refused.
func (s *situation) allowed(out *score, in mutate.Input, p mutate.Proposal) *skill.Document {
	root, parent, child := s.root(), in.Parent, p.Doc
	find := func(doc *skill.Document) []check.Finding {
		return check.Descendant(root, parent, doc, check.ClaudeCode)
	}
	drops := func(doc *skill.Document) bool { return slices.ContainsFunc(find(doc), check.Finding.DropsGuard) }
	if drops(child) {
		if rest, _, ok := p.Apart(parent, drops); ok && !drops(rest.Doc) {
			child = rest.Doc
		}
	}
	var cases []eval.Case // the corrections are their users' own
	for _, e := range in.Evidence {
		cases = append(cases, *e.Case)
	}
	for _, t := range in.Failing {
		cases = append(cases, eval.Case{Checks: []eval.Check{{Feedback: t.Feedback}}})
	}
	asked := mutate.OwnersWords(cases)
	for _, f := range find(child) {
		if f.Severity >= check.Quarantine && !f.AskedFor(asked) {
			out.held, out.flagged = append(out.held, f.String()), true
		}
	}
	if n := skill.Tokens(string(child.Body())); n > in.MaxTokens && n > skill.Tokens(string(parent.Body())) {
		out.held = append(out.held, fmt.Sprintf("has %d tokens, the limit is %d", n, in.MaxTokens))
	}
	return child
}

var token = regexp.MustCompile(`(?m)^[ \t>]*(<<KERNEL[^\n]*>>)[ \t]*$`)

// kernelKept reports whether a reply has each token of the kernel once and in order.
func kernelKept(reply string, parent *skill.Document) bool {
	var want, have []string
	for _, k := range parent.KernelText() {
		want = append(want, k.Token)
	}
	for _, m := range token.FindAllStringSubmatch(reply, -1) {
		have = append(have, m[1])
	}
	return slices.Equal(want, have)
}
