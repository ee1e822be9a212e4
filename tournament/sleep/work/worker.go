// Package work implements the steps of a night with runs, releases and cases.
package work

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/hook/settings"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament/campaign"
)

// A Worker implements the steps of a night.
type Worker struct {
	Runner   *campaign.Runner
	Store    *store.Store
	Config   campaign.Config // of every run of the night
	Ingester *ingest.Ingester
	Outbox   *settings.Outbox
	Locks    lock.Locks
	Demo     bool // the data and the skills are a demo's own
	// UsesTools reports whether a kind of agent runs programs.
	UsesTools func(agent string) bool
	// Page writes the page of a run, and returns its path.
	Page func(ctx context.Context, run string) (string, error)

	// byDefault are the caps that their owner has not chosen.
	byDefault eval.Caps
	// now is tonight's model, once it was determined.
	now *nightModel
}
