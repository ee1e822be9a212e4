package simulated

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
)

// Agent returns the world's agent: it follows what the skill teaches, up to the
// world's noise.
func (w World) Agent() eval.Agent { return &player{compile(w)} }

type player struct{ *compiled }

var _ eval.Agent = (*player)(nil)

func (c *compiled) identity() eval.Identity {
	return eval.Identity{Backend: "simulated", Version: "1", Model: c.Name, Params: "world=" + c.id, Simulated: true}
}

func (a *player) Identity() eval.Identity { return a.identity() }

func (a *player) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	var text []byte
	if t.Variant.Doc != nil {
		text = t.Variant.Doc.Render()
	}
	at := a.attempt(text, t)
	invoked := t.Variant.IsSkill()
	at.SkillInvoked = &invoked
	if slices.ContainsFunc(t.Case.Checks, func(k eval.Check) bool { return k.Spec().Work }) {
		at.Work = workOf(at.Answer)
	}
	if err := eval.Sleep(ctx, time.Duration(a.Pace*float64(at.Duration))); err != nil {
		return eval.Attempt{}, err
	}
	return at, nil
}

// workOf takes lines of an answer for work: "$ COMMAND" for a command that was run, and
// "+ FILE: TEXT" for a line that was added.
func workOf(answer string) *check.Work {
	w := new(check.Work)
	for line := range strings.Lines(answer) {
		line = strings.TrimSuffix(line, "\n")
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			w.Steps = append(w.Steps, check.Step{Line: command})
		}
		if added, ok := strings.CutPrefix(line, "+ "); ok {
			path, text, _ := strings.Cut(added, ": ")
			w.Steps = append(w.Steps, check.Step{File: path})
			w.Files = append(w.Files, check.Change{Path: path, Added: text + "\n"})
		}
	}
	return w
}

// attempt answers t with the skill's text. The draws are seeded by seed, text and
// request, so they do not depend on other requests.
func (c *compiled) attempt(text []byte, t eval.Task) eval.Attempt {
	an := c.analyse(text)
	rq := c.request(t.Case)
	var told string // the feedback in a work retry, normalised
	var toldHash uint64
	in := c.Task.Overhead + an.tokens + rq.tokens
	if t.Prior != nil {
		prior := strings.Join(t.Prior.Feedback, "\n")
		told, toldHash = normalise(prior), digest([]byte(prior))
		in += tokens(len(prior) + len(t.Prior.Answer))
	}
	d := NewDraw(c.seed, uint64(c.RandomSeed), uint64(t.Seed), an.hash, rq.hash, toldHash)

	var b strings.Builder
	b.WriteString(c.Opening)
	thought := 0
	for _, i := range rq.lessons {
		p := an.follow[i]
		switch {
		case told != "" && c.lessons[i].quoted(told):
			p = max(p, 1-an.miss)
		case !an.taught[i]:
			thought += c.Hesitation
		}
		if d.hit(p) {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(c.lessons[i].Outcome)
		}
	}
	if b.Len() == 0 {
		b.WriteString("Done.")
	}
	answer := b.String()
	out := thought + tokens(len(answer))
	usd := c.Task.usd(in, out)
	return eval.Attempt{
		Answer:   answer,
		Model:    c.Name,
		Usage:    &eval.Usage{Input: int64(in), Output: int64(out), Reasoning: int64(thought)},
		CostUSD:  &usd,
		Duration: c.Task.duration(&d, in, out),
	}
}
