package backend

import (
	"context"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/problem"
)

// Workers are the names of the agents that can work for others.
func Workers() (names []string) {
	for _, k := range agent.Kinds() {
		if forOthers(k) {
			names = append(names, k.Name)
		}
	}
	return names
}

// forOthers reports whether an agent needs nothing for its answers but what a job has.
func forOthers(k *agent.Kind) bool { return !k.ByHand && !k.Simulated }

// Offer is what a worker says of an agent of this spec.
func (o *Opener) Offer(ctx context.Context, spec agent.Spec) (fleet.Agent, error) {
	k := agent.KindOf(spec.Agent)
	if !forOthers(k) {
		return fleet.Agent{}, problem.Inputf("the agents are "+strings.Join(Workers(), ", "), "%s cannot work for others", spec.Agent)
	}
	a, b, err := o.replays(ctx, spec, nil)
	if err != nil {
		return fleet.Agent{}, err
	}
	out := fleet.Agent{Backend: k.Name, Version: a.Identity().Version, Sandbox: b.Sandbox}
	out.Vendors = vendors(k, o.Opening(b, b.Roles()[0]))
	return out, nil
}

// Needs is what the runs of this machine need of a worker, as it is set up now, and the vendors
// that they may ask; nil if no worker can do them.
func (o *Opener) Needs(ctx context.Context) (*fleet.Need, []string, error) {
	b := &agent.Spec{}
	if err := o.Resolve(b); err != nil {
		return nil, nil, err
	}
	k := agent.KindOf(b.Agent)
	if !forOthers(k) {
		return nil, nil, nil
	}
	opening := o.Opening(b, b.Roles()[0])
	made, err := k.Make(ctx, opening)
	if err != nil {
		return nil, nil, err
	}
	need := fleet.NeedOf(fleet.Program(), b.Sandbox, made.Agent.Identity())
	return &need, vendors(k, opening), nil
}

func vendors(k *agent.Kind, o *agent.Opening) (list []string) {
	for _, r := range k.Recipients(o) {
		list = append(list, r.Vendor)
	}
	return list
}

// Needed opens an agent of this spec for a job of a fleet, with what loads of the job's owner.
func (o *Opener) Needed(ctx context.Context, spec agent.Spec, need fleet.Need, owner *setup.Set) (eval.Agent, error) {
	spec.Agent, spec.Model = need.Backend, need.Model
	a, _, err := o.replays(ctx, spec, owner)
	return a, err
}

// replays opens the agent alone: a worker has neither a mutator nor a judge.
func (o *Opener) replays(ctx context.Context, spec agent.Spec, owner *setup.Set) (eval.Agent, *agent.Spec, error) {
	b, model, k := &spec, spec.Model, agent.KindOf(spec.Agent)
	if k.NeedsModel && model == "" {
		b.Model = "any" // to say what there is
	}
	if err := o.Resolve(b); err != nil {
		return nil, nil, err
	}
	if !k.NeedsModel {
		b.Model = model // and not that of config.yaml: others' runs say which
	}
	if err := needsSandbox(b); err != nil {
		return nil, nil, err
	}
	for _, name := range append([]string{b.APIKeyEnv}, b.PassEnv...) {
		o.Keys.Add(o.Getenv(name))
	}
	opening := o.Opening(b, b.Roles()[0])
	opening.Owner = owner
	made, err := k.Make(ctx, opening)
	return made.Agent, b, err
}
