package promptcorpus

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/reading"
	"github.com/skill-evolve/evolve/tournament/applies"
)

// A reader is a situation of which the reply decides something: what a person said of an
// agent's work, to which requests lines apply, or whether an answer meets a rubric.
type reader struct {
	name, kind string
	Readings   []struct {
		Name, Skill string
		Turns       []turn
	}
	Applies []struct {
		Name     string
		Lines    []string
		Requests []request
	}
	Judges []struct {
		Name, Prompt, Reference, Answer, Rubric string
		Work                                    *check.Work
		Low, High                               float64 // bounds of the right score
	}
}

// A turn is a request and its answer. What the messages after it say of the answer should be
// read as Label, with a rule that matches Rule: "" for none, "any" for one or none.
type turn struct {
	Prompt, Answer, Label, Rule, Concerns string
	Stopped                               bool
}

type request struct {
	Text   string
	Before []eval.Message
	Files  []string
	Want   []int // numbers of the lines that apply, from 1
}

// readers are all situations of readers, one each.
var readers = sync.OnceValue(func() (out []reader) {
	for name, f := range load[reader]("readers") {
		for i := range f.Readings {
			out = append(out, reader{name: name + "-" + f.Readings[i].Name, kind: "reading", Readings: f.Readings[i : i+1]})
		}
		for i := range f.Applies {
			out = append(out, reader{name: name + "-" + f.Applies[i].Name, kind: "applies", Applies: f.Applies[i : i+1]})
		}
		for i := range f.Judges {
			out = append(out, reader{name: name + "-" + f.Judges[i].Name, kind: "judge", Judges: f.Judges[i : i+1]})
		}
	}
	slices.SortFunc(out, func(a, b reader) int { return cmp.Compare(a.name, b.name) })
	return out
})

// run asks the reader, and scores what it decided.
func (r *reader) run(ctx context.Context, m *stored) (*score, error) {
	s := &score{kind: r.kind, name: r.name}
	ask := map[string]func(context.Context, *stored, *score) error{"reading": r.reading, "applies": r.applies, "judge": r.judge}
	err := ask[r.kind](ctx, m, s)
	s.replies = len(m.texts)
	return s, err
}

func (r *reader) reading(ctx context.Context, m *stored, s *score) error {
	x := r.Readings[0]
	session := &harvest.Session{ID: r.name, Agent: "claude-code", Path: r.name + ".jsonl"}
	if x.Skill != "" { // in play all the time
		session.Invocations = []harvest.Invocation{{Skill: x.Skill, Turn: 0}}
	}
	for _, t := range x.Turns {
		session.Turns = append(session.Turns, harvest.Turn{Prompt: t.Prompt, Answer: t.Answer, Interrupted: t.Stopped})
	}
	stats, err := (&reading.Reader{Model: m}).Read(ctx, []*harvest.Session{session})
	if err != nil || len(m.missing) > 0 {
		return err
	}
	s.parsed = stats.Void == 0
	for i, t := range x.Turns {
		if t.Label == "" {
			continue
		}
		s.of++
		got := session.Turns[i].Reading
		switch {
		case got == nil:
			s.note("turn %d: not read", i)
		case string(got.Label) != t.Label:
			s.note("turn %d: read as %s, is %s", i, cmp.Or(string(got.Label), "unknown"), t.Label)
		case t.Rule == "" && got.Rule != "":
			s.note("turn %d: a rule where there is none: %s", i, got.Rule)
		case t.Rule != "" && t.Rule != "any" && !match(t.Rule, got.Rule):
			s.note("turn %d: not the rule: %q", i, got.Rule)
		case t.Concerns != "" && got.Rule != "" && got.Concerns != t.Concerns:
			s.note("turn %d: concerns %q, not %q", i, got.Concerns, t.Concerns)
		default:
			s.right++
		}
	}
	return nil
}

func (r *reader) applies(ctx context.Context, m *stored, s *score) error {
	x := r.Applies[0]
	var lines []applies.Line
	for _, l := range x.Lines {
		lines = append(lines, applies.Line{Is: l})
	}
	var requests []applies.Request
	for i, q := range x.Requests {
		requests = append(requests, applies.Request{ID: fmt.Sprint(i), Text: q.Text, Before: q.Before, Files: q.Files})
	}
	got, _, err := (&applies.Reader{Model: m}).Decide(ctx, lines, requests)
	if err != nil || len(m.missing) > 0 {
		return err
	}
	s.parsed = len(got) == len(requests)
	for i, q := range x.Requests {
		s.of++
		var is []int
		for _, n := range got[fmt.Sprint(i)] {
			is = append(is, n+1)
		}
		if slices.Equal(is, q.Want) {
			s.right++
		} else {
			s.note("request %d: lines %v, not %v", i+1, is, q.Want)
		}
	}
	return nil
}

func (r *reader) judge(ctx context.Context, m *stored, s *score) error {
	x := r.Judges[0]
	k := check.Check{Type: "judge", Rubric: x.Rubric}
	got, err := k.Grade(ctx, &check.Subject{Prompt: x.Prompt, Reference: x.Reference, Answer: x.Answer, Work: x.Work, ShowWork: x.Work != nil,
		Redact: func(text string) string { return text },
		Ask: func(ctx context.Context, p check.Prompt) (check.Reply, error) {
			c, err := m.Complete(ctx, eval.Prompt{System: p.System, User: p.User, Seed: p.Seed})
			return check.Reply{Text: c.Text}, err
		}})
	if len(m.missing) > 0 {
		return nil
	}
	if err != nil {
		return err
	}
	s.parsed, s.of = !got.Missing && m.sent == 1, 1
	if !got.Missing && got.Score >= x.Low && got.Score <= x.High {
		s.right = 1
	} else {
		s.note("graded %.2f, right is %.2f to %.2f: %s", got.Score, x.Low, x.High, got.Evidence)
	}
	return nil
}
