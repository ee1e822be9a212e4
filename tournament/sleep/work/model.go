package work

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// nightModel is the agent and model of this night, and what may be tried on
// it.
type nightModel struct {
	model sleep.Model
	f     campaign.Config
	back  *agent.Backends
}

// model is the model that answers in this night, as far as it is known
// without asking it; the zero Model if no agent works.
func (s *Worker) model(ctx context.Context) sleep.Model {
	if s.now == nil {
		s.now = &nightModel{f: s.Config}
		back, err := s.Runner.Backends(ctx, &s.now.f.Spec)
		if err != nil {
			return s.now.model // the first run that needs it reports the error
		}
		id := back.Agent.Identity()
		reported, err := s.Store.LastModel(ctx, id)
		if err != nil {
			reported = ""
		}
		s.now.back, s.now.model = back, record.ModelOf(id, reported)
	}
	return s.now.model
}

// Hold gives the night the default caps. A night asks nobody: it does what its caps allow.
func (s *Worker) Hold(ctx context.Context) error {
	if s.Store == nil || s.Runner.Default == nil {
		return nil
	}
	if s.model(ctx); s.now.back == nil {
		return nil // no agent works
	}
	h, err := s.Runner.Hold(ctx, s.Store, &s.now.f, true)
	s.byDefault = h.ByDefault
	s.Config.MaxCostUSD, s.Config.MaxTokens = s.now.f.MaxCostUSD, s.now.f.MaxTokens
	return err
}

// Close closes what the night has opened.
func (s *Worker) Close() {
	if s.now != nil {
		s.now.back.Close() // folders for temporary files; what stays behind does no harm
	}
}

// outdated reports that a challenger was proved on another model than
// tonight's, "" if it was not, or that is not known. The trial knows its model: what ran
// may have been other texts, with their owner's edits.
func (s *Worker) outdated(ctx context.Context, name, challenger string) (string, error) {
	on, err := s.provedOn(ctx, name, challenger)
	if err != nil {
		return "", err
	}
	if now := s.model(ctx); now.DriftedFrom(on) {
		return fmt.Sprintf("it was found better on %v, and the agent is %v now", on, now), nil
	}
	return "", nil
}

// provedOn is the model that a challenger's trial is about; the zero Model if it had none,
// or nothing is left of it.
func (s *Worker) provedOn(ctx context.Context, name, challenger string) (sleep.Model, error) {
	on, err := candidate.ProvedOn(ctx, s.Store, challenger)
	if err != nil {
		return on, err
	}
	trials, err := s.Store.Trials(ctx, name)
	if err != nil {
		return on, err
	}
	for i := range trials { // the latest first
		if trials[i].Challenger != challenger {
			continue
		}
		known, err := trials[i].Model()
		if err != nil {
			return on, err
		}
		if known.Agent != "" {
			on = known
		}
		break
	}
	return on, nil
}
