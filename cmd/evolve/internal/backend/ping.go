package backend

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
)

// PingText is what Ping sends: nothing of its owner's.
const PingText = "Reply with the word ok."

// Ping asks each backend of b one tiny question, and returns a line for each that answered.
// One that a person answers, and one that is simulated, is not asked.
func (o *Opener) Ping(ctx context.Context, b *agent.Spec) (lines []string, err error) {
	if err := o.Ready(b); err != nil {
		return nil, err
	}
	if err := o.Control.Allowed(o.Recipients(b)); err != nil {
		return nil, err
	}
	for _, name := range append([]string{b.APIKeyEnv}, b.PassEnv...) {
		o.Keys.Add(o.Getenv(name))
	}
	var asked []agent.Role
	for _, r := range b.Roles() {
		r.Flag = ""
		k := agent.KindOf(r.Agent)
		if slices.Contains(asked, r) || k.ByHand || k.Simulated {
			continue
		}
		asked = append(asked, r)
		m, err := k.Make(ctx, o.Opening(b, r))
		if err != nil {
			return lines, fmt.Errorf("open %s: %w", r.Agent, err)
		}
		reply, err := m.Model.Complete(ctx, eval.Prompt{System: "You check that a connection works.", User: PingText, MaxTokens: 200})
		if err != nil {
			return lines, fmt.Errorf("%s did not answer: %w", r.Agent, err)
		}
		line := strings.TrimSpace(r.Agent+" "+r.Model) + " answered"
		if u := reply.Usage; u != nil {
			line += ": " + plain.Counted(int(u.Total()), "token")
			if reply.CostUSD != nil {
				line += ", " + eval.FormatUSD(*reply.CostUSD) + " at list price"
			}
		}
		lines = append(lines, line)
	}
	if len(asked) == 0 {
		lines = append(lines, b.Agent+" is not asked: no model answers")
	}
	return lines, nil
}

// Ready resolves b, and returns which program, key or sandbox is missing to ask its backends.
// Nothing is started.
func (o *Opener) Ready(b *agent.Spec) error {
	if err := o.Resolve(b); err != nil {
		return err
	}
	if err := needsSandbox(b); err != nil {
		return err
	}
	for _, r := range b.Roles() {
		k := agent.KindOf(r.Agent)
		if k.Program != "" {
			if _, err := exec.LookPath(k.Program); err != nil {
				return problem.Hinted(fmt.Errorf("%s is not on the PATH", k.Program), k.Install)
			}
		}
		key := k.Credential(o.Getenv) != "" || k.AnyServer && o.Getenv(b.APIKeyEnv) != ""
		if len(k.Credentials) > 0 && !key && b.Servers[r.Agent] == "" {
			return problem.Hinted(fmt.Errorf("%s has no key", r.Agent), cmp.Or(k.Login, "set "+b.APIKeyEnv))
		}
	}
	return nil
}

// Found are the agents whose program is on the PATH, those with a key first.
func Found(getenv func(string) string) (names []string) {
	var locked []string
	for _, k := range agent.Kinds() {
		if k.Program == "" {
			continue
		}
		if _, err := exec.LookPath(k.Program); err != nil {
			continue
		}
		if k.Credential(getenv) == "" {
			locked = append(locked, k.Name)
		} else {
			names = append(names, k.Name)
		}
	}
	return append(names, locked...)
}
