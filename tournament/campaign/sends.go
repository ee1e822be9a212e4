package campaign

import (
	"context"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/mutate/second"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/applies"
	"github.com/skill-evolve/evolve/tournament/judge"
	"github.com/skill-evolve/evolve/tournament/neighbours"
	"github.com/skill-evolve/evolve/tournament/search"
)

// What requests hold besides what is known of them, in bytes, on the high side: the
// instructions of a prompt, and an answer with what is wrong with it.
const (
	instructionBytes = 4 << 10
	answerBytes      = 8 << 10
	// bytesAToken is the most that a token of prose has.
	bytesAToken = 6
	// grownSkill is how many bytes a candidate may have more than the live text.
	grownSkill = 4 * 1500
	// shownFailure is what a mutator is shown of one failure, and mutated how many of its
	// calls a rollout brings.
	shownFailure = 5 << 10
	mutated      = 2 * mutatorShare
)

// requestBytes are upper estimates of the text in all requests of a run or comparison of
// so many attempts by an agent, by kind. An agent's own instructions and what it sends again while it
// works with tools are not in them; 0 attempts are no limit.
func requestBytes(body int, cases []eval.Case, attempts int64, by string) map[string]int64 {
	largest, judged, checks := int64(0), int64(0), int64(0)
	for i := range cases {
		c := &cases[i]
		n := int64(len(c.Prompt))
		for _, m := range c.Context {
			n += int64(len(m.Text))
		}
		asked := n + int64(len(c.Reference))
		for path, text := range c.Files {
			n += int64(len(path) + len(text))
		}
		largest = max(largest, n)
		k := int64(0)
		for j := range c.Checks {
			if c.Checks[j].Asks() {
				k++
				judged = max(judged, asked+int64(len(c.Checks[j].Rubric)))
			}
		}
		checks = max(checks, k)
	}
	text := int64(body+body/5) + grownSkill
	out := map[string]int64{agent.Replay: attempts * (instructionBytes + text + largest + answerBytes)}
	if checks > 0 {
		out[agent.Judge] = attempts * checks * (instructionBytes + judged + answerBytes + agent.KindOf(by).WorkBytes())
	}
	return out
}

// sends are who gets how much of the cases of this run.
func (c *Campaign) sends(ctx context.Context, fc *Forecast) ([]outgoing.Send, error) {
	f, mined := c.Config, int64(0)
	if c.mines() {
		may, err := c.runner.Control.Readable(c.back, agent.Requests)
		if err != nil {
			return nil, err
		}
		m, err := ForecastMining(ctx, c.runner.Ingester(c.db, c.back), f.Skill, may, c.runner.Headless, c.back.Mutator.Identity())
		if err != nil {
			return nil, err
		}
		mined = m.bytes
	}
	if !f.NoGate {
		mined += MinedBytes(applies.CallTokens * applies.Calls(f.Skill, fc.Test, c.cases))
	}
	f.MaxRollouts = fc.Rollouts
	return c.runner.Sends(ctx, c.db, c.back, &f, len(c.Live.Doc.Render()), second.Needed(c.Live.Doc), slices.Concat(c.cases, neighbours.CasesOf(c.beside)), mined)
}

// Sends are who gets how much text of these cases, which are cleared, in a run with this
// configuration that begins with a text of so many bytes, which has a kernel or none, and
// has the miner read mined bytes.
func (r *Runner) Sends(ctx context.Context, db *store.Store, back *agent.Backends, f *Config, body int, kernel bool, cases []eval.Case, mined int64) ([]outgoing.Send, error) {
	attempts := f.MaxRollouts
	bytes := requestBytes(body+f.OwnerTokens*bytesAToken, cases, attempts, f.Agent)
	if n := bytes[agent.Judge]; n > 0 && !f.NoGate { // comparisons: calls with two answers each
		calls, err := judge.Calls(ctx, db, f.Skill)
		if err != nil {
			return nil, err
		}
		pairs := attempts
		if f.Carried == "" {
			pairs = search.Share(attempts-f.Beside, f.HeldOut, f.MaxRetries, true).Gate
		}
		bytes[agent.Judge] = n + 2*(int64(calls)+pairs)*n/max(1, attempts)
	}
	if f.Carried == "" && f.Evolve != skill.Shorten {
		call := instructionBytes + 3*int64(body+grownSkill) + int64(max(f.Minibatch, 8))*shownFailure
		bytes[agent.Mutate] = int64(mutated*float64(attempts)) * call
		if kernel { // the second reader gets the text and what is new
			bytes[agent.Judge] += int64(secondShare*float64(attempts)) * (instructionBytes + 2*int64(body+grownSkill))
		}
	}
	if f.ReadFirst { // a simulated model is sent nothing
		reader := agent.Judge
		if agent.KindOf(f.JudgeAgent).Simulated {
			reader = agent.Mutate
		}
		bytes[reader] += instructionBytes + 2*int64(body+grownSkill)
	}
	if mined > 0 {
		bytes[agent.Mine] = mined
	}
	return r.Control.Forecast(ctx, db, back, cases, bytes)
}

// MinedBytes is about how many bytes so many tokens have that the miner reads.
func MinedBytes(tokens int64) int64 { return tokens * bytesAToken }
