package hookrun

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/hooks"
)

// sentence is the one before a text, in tokens.
const sentence = 60

func (fc *forecast) String() string {
	if fc.Calls == 0 {
		return "forecast: no model is asked; only recorded events are replayed"
	}
	line := fmt.Sprintf("forecast: up to %s of %s, about %s tokens, %s", plain.Counted(int(fc.Calls), "call"), fc.Model, plain.Thousands(fc.Tokens), campaign.CostWords(fc.CostUSD, fc.free))
	return strings.Join(append([]string{line}, outgoing.Lines(fc.Sends)...), "\n")
}

// A counter counts what a model would be asked.
type counter struct {
	id        eval.Identity
	in, bytes int64 // tokens, estimated, and bytes
}

func (c *counter) Identity() eval.Identity { return c.id }

func (c *counter) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	c.in += int64(skill.Tokens(p.System) + skill.Tokens(p.User))
	c.bytes += int64(len(p.System) + len(p.User))
	return eval.Completion{}, &eval.InfraError{Kind: eval.Unreachable, Err: errors.New("only counted")}
}

// A Result is what `evolve --hook NAME --json` prints: schema 1.
type Result struct {
	Schema     int         `json:"schema"`
	Run        string      `json:"run"`
	Subject    subject.Ref `json:"subject"`
	Path       string      `json:"path"`
	Event      string      `json:"event"`
	Incumbent  string      `json:"incumbent"`
	Challenger *string     `json:"challenger"` // SHA-256; null if nothing better was found
	// Search is how both did in the sessions that the search heard; null if it went on with
	// an earlier text.
	Search *search      `json:"search"`
	Trial  *hooks.Trial `json:"trial"`
	Held   []held       `json:"held"`
	Spent  eval.Spent   `json:"spent"`
}

type search struct {
	Old     hooks.Score  `json:"old"`
	New     *hooks.Score `json:"new"`
	Calls   int          `json:"calls"`
	Invalid int          `json:"invalid"`
	Stop    string       `json:"stop"`
}

// A held text was not run: it may do what the old one may not.
type held struct {
	SHA    string `json:"sha256"`
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
}

func (p Parts) result(h *hooktest.Hook, r *hooks.Run, live *skill.Live, out *hooks.Outcome) *Result {
	res := &Result{Schema: 1, Run: out.Run, Subject: subject.Parse(live.Name), Path: h.Path, Event: h.Events[0], Incumbent: live.Doc.Hash(), Trial: out.Trial, Held: []held{}, Spent: out.Spent}
	if out.Next != nil {
		sha := out.Next.Hash()
		res.Challenger = &sha
	}
	if f := out.Found; f != nil {
		s := &search{Old: f.Score(f.Root), Calls: f.Calls, Invalid: f.Invalid, Stop: f.Stop}
		if f.Best != f.Root {
			is := f.Score(f.Best)
			s.New = &is
		}
		res.Search = s
		for i := range f.Held {
			c := &f.Held[i]
			res.Held = append(res.Held, held{c.SHA, c.Rule, c.Reason})
		}
	}
	return res
}

// text is the result for a person.
func (r *Result) text() string {
	var b strings.Builder
	name := r.Subject.Typed()
	switch {
	case r.Challenger == nil:
		fmt.Fprintf(&b, "%s: nothing better was found: %s\n", name, r.Search.Stop)
	case r.rejected() && r.Trial.Cases == 0:
		fmt.Fprintf(&b, "%s: the text that was found is not better: %s\n", name, r.Trial.Reason)
	case r.Trial == nil || r.Trial.Cases == 0:
		fmt.Fprintf(&b, "%s: a better text was found, and there is no session yet to try it on\n", name)
	default:
		fmt.Fprintf(&b, "%s: a new text: %s\n", name, pareto.Answer(r.Trial.Decision.Verdict, r.Trial.Route))
	}
	if s := r.Search; s != nil {
		scores(&b, "search", &s.Old, s.New)
	}
	if t := r.Trial; t != nil && t.Cases > 0 {
		scores(&b, "trial", &t.Old, &t.New)
		fmt.Fprintf(&b, "  unseen   better in %d of %s, worse in %d: %s\n", t.Wins, plain.Counted(t.Cases, "session"), t.Losses, pareto.Chance(t.EValue))
		if t.RestWorse > 0 {
			fmt.Fprintf(&b, "           and worse in %d of the other %s\n", t.RestWorse, plain.Counted(t.Rest, "session"))
		}
		if t.Wrong > 0 || t.New.Stopped < t.Old.Stopped || t.Worse > 0 && t.Worse >= t.Better {
			fmt.Fprintf(&b, "           %s\n", t.Reason)
		}
	}
	for i, h := range r.Held {
		if i == 0 {
			fmt.Fprintf(&b, "  held     %s not run, for example %.12s: %s\n", plain.Counted(len(r.Held), "text"), h.SHA, plain.Excerpt(h.Reason, 120))
			fmt.Fprintf(&b, "           `evolve show %s@%.12s` shows it, `evolve approve` lets the next run try it\n", name, h.SHA)
		}
	}
	if r.Spent.MutatorCalls > 0 {
		fmt.Fprintf(&b, "  spent    %s, %s tokens, %s\n", plain.Counted(int(r.Spent.MutatorCalls), "call"), plain.Thousands(r.Spent.TokensIn+r.Spent.TokensOut), r.Spent.Dollars())
	}
	switch {
	case r.Challenger == nil:
	case r.rejected():
		fmt.Fprintf(&b, "  next     `evolve diff %s %.12s` shows it; nothing was changed\n", name, *r.Challenger)
	default:
		fmt.Fprintf(&b, "  next     `evolve diff %s %.12s` shows it; `evolve promote %s@%.12s` puts these bytes in place\n", name, *r.Challenger, name, *r.Challenger)
	}
	return b.String()
}

func (r *Result) rejected() bool {
	return r.Trial != nil && r.Trial.Decision.Verdict == pareto.Reject
}

// scores prints what two texts did; is nil if there is one only.
func scores(b *strings.Builder, of string, was, is *hooks.Score) {
	to := func(f func(*hooks.Score) string) string {
		if is == nil || f(was) == f(is) {
			return f(was)
		}
		return f(was) + " → " + f(is)
	}
	if was.Stop > 0 {
		fmt.Fprintf(b, "  %-8s stops %s of %d that it should stop\n", of, to(func(s *hooks.Score) string { return fmt.Sprint(s.Stopped) }), was.Stop)
		of = ""
	}
	if was.Permitted > 0 {
		fmt.Fprintf(b, "  %-8s wrongly in %s of %s: at most %s\n", of, to(func(s *hooks.Score) string { return fmt.Sprint(s.Wrong) }), plain.Counted(was.Permitted, "session"),
			to(func(s *hooks.Score) string { return hooktest.Percent(*s.AtMost) }))
		of = ""
	}
	if was.OwnStop > 0 {
		fmt.Fprintf(b, "  %-8s stops %s of %s of its author\n", of, to(func(s *hooks.Score) string { return fmt.Sprint(s.OwnStopped) }), plain.Counted(was.OwnStop, "case"))
		of = ""
	}
	if was.OwnGo > 0 {
		fmt.Fprintf(b, "  %-8s wrongly on %s of %s of its author\n", of, to(func(s *hooks.Score) string { return fmt.Sprint(s.OwnWrong) }), plain.Counted(was.OwnGo, "case"))
		of = ""
	}
	if was.Others > 0 || is != nil && is.Others > 0 {
		fmt.Fprintf(b, "  %-8s and %s of %s about which you were not asked\n", of, to(func(s *hooks.Score) string { return fmt.Sprint(s.Others) }), plain.Counted(was.Ran, "call"))
	}
	if was.Failed > 0 || is != nil && is.Failed > 0 {
		fmt.Fprintf(b, "  %-8s failed on %s of %s: if it does not for you, the sandbox lacks what it needs\n", of, to(func(s *hooks.Score) string { return fmt.Sprint(s.Failed) }), plain.Counted(was.Events, "event"))
	}
	if was.Late > 0 || is != nil && is.Late > 0 {
		fmt.Fprintf(b, "  %-8s late on %s of %s, which proves nothing\n", "", to(func(s *hooks.Score) string { return fmt.Sprint(s.Late) }), plain.Counted(was.Events, "event"))
	}
	p95 := func(s *hooks.Score) string { return plain.Duration(int64(math.Ceil(s.P95))) }
	took := p95(was)
	if is != nil {
		took += " → " + p95(is) // equal ones too: whether they are is chance
	}
	fmt.Fprintf(b, "  %-8s p95 %s, %s lines\n", "", took, to(func(s *hooks.Score) string { return fmt.Sprint(s.Lines) }))
}
