package backend

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/store/datadir"
)

// choose picks the first backend that works, in the order of agent.Kinds,
// never the simulated one. A backend that can ask any server counts only if
// its server or its model is set too: a key alone may serve another purpose.
func (o *Opener) choose(b *agent.Spec) (string, error) {
	var absent, locked []string
	for _, k := range agent.Kinds() {
		switch {
		case k.AnyServer:
			// A variable may serve another purpose; a flag and a model do
			// not.
			there := o.Getenv(k.BaseEnv) != "" || o.Getenv(b.APIKeyEnv) != ""
			if b.BaseURL != "" || there && b.Model != "" && !anthropic(b.Model) {
				return k.Name, nil
			}
			continue
		case k.Program == "":
			continue
		}
		if _, err := exec.LookPath(k.Program); err != nil {
			absent = append(absent, k.Name)
		} else if k.Credential(o.Getenv) == "" {
			locked = append(locked, k.Name)
		} else {
			return k.Name, nil
		}
	}
	if o.Getenv(b.APIKeyEnv) != "" || o.Getenv("OPENAI_BASE_URL") != "" {
		return "", problem.Inputf(modelHint(o, b, agent.KindOf("openai")), "the openai backend needs --model")
	}
	why := fmt.Sprintf("no key in %s and no --base-url", b.APIKeyEnv)
	if len(absent) > 0 {
		why += "; not on the PATH: " + strings.Join(absent, ", ")
	}
	if len(locked) > 0 {
		why += "; without a key: " + strings.Join(locked, ", ")
	}
	return "", problem.Inputf("`evolve doctor` prints what to type for each; `evolve demo` needs none of them", "%w: %s", errNoAgent, why)
}

// Working names the agents that a worker can offer on this machine without being told: their
// programs are here, and their keys.
func (o *Opener) Working() (names []string) {
	for _, k := range agent.Kinds() {
		if k.Program == "" || k.Credential(o.Getenv) == "" {
			continue
		}
		if _, err := exec.LookPath(k.Program); err == nil {
			names = append(names, k.Name)
		}
	}
	return names
}

var errNoAgent = errors.New("no agent works yet")

// assume lets a forecast go on where no agent works: it names one, and opens none. A nightly
// run needs a real one, so its error stays.
func (o *Opener) assume(b *agent.Spec, err error) error {
	if !errors.Is(err, errNoAgent) || o.Access == datadir.Writes || o.Night || o.Assume == nil {
		return err
	}
	i := slices.IndexFunc(agent.Kinds(), func(k *agent.Kind) bool { return k.Program != "" })
	b.Agent, b.Assumed = agent.Kinds()[i].Name, true
	o.Assume(b.Agent)
	return o.Resolve(b)
}

// modelHint says how to name a model, and what lists those of the server.
func modelHint(o *Opener, b *agent.Spec, k *agent.Kind) string {
	base := b.BaseURL
	if base == "" && k.BaseEnv != "" {
		base = o.Getenv(k.BaseEnv)
	}
	if u, err := url.Parse(base); !k.AnyServer || base == "" || err != nil || u.User != nil {
		return "for example --model gpt-5-mini"
	}
	return fmt.Sprintf("`evolve doctor --base-url %s` lists the models of that server", base)
}

// anthropic reports whether only Anthropic serves a model of this name.
func anthropic(model string) bool {
	for _, word := range []string{"claude", "sonnet", "opus", "haiku"} {
		if strings.Contains(model, word) {
			return true
		}
	}
	return false
}

// needsSandbox refuses to replay with tools if no sandbox can be made and the owner
// did not turn it off.
func needsSandbox(b *agent.Spec) error {
	if k := agent.KindOf(b.Agent); !k.UsesTools || k.ByHand || b.TextOnly || b.Sandbox == agent.SandboxNone {
		return nil
	}
	if err := process.Available(); err != nil {
		return problem.Inputf("or replay without one, with your own rights: --sandbox none", "%s runs tools, and no sandbox works here: %v", b.Agent, err)
	}
	return nil
}

// bare reports whether a backend is opened without a sandbox because none works and it only
// answers text: the agents' own programs then have no tools. What the program of the backend
// "command" does is not known.
func bare(b *agent.Spec, name string) bool {
	return b.TextOnly && agent.KindOf(name).Program != "" && process.Available() != nil
}

// described is a backend that is named and never asked: of a role that a command does not
// need, or of an agent that only a forecast assumes.
func described(r agent.Role) agent.Answerer {
	u := unasked{Backend: r.Agent, Model: r.Model, Simulated: agent.KindOf(r.Agent).Simulated}
	return agent.Answerer{Agent: u, Model: u}
}

type unasked eval.Identity

func (u unasked) Identity() eval.Identity { return eval.Identity(u) }

func (u unasked) Run(context.Context, eval.Task) (eval.Attempt, error) {
	return eval.Attempt{}, u.refusal()
}

func (u unasked) Complete(context.Context, eval.Prompt) (eval.Completion, error) {
	return eval.Completion{}, u.refusal()
}

func (u unasked) refusal() error {
	return &eval.InfraError{Kind: eval.Refused, Err: fmt.Errorf("%s was not opened to answer", u.Backend)}
}
