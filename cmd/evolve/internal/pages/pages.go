// Package pages implements what the pages of evolve serve show and do, with
// the functions that the commands call.
package pages

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fleet/watch"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/approval"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/report/serve"
	"github.com/skill-evolve/evolve/tournament/status"
)

// A Command is the state of one request.
type Command struct {
	Store     *store.Store
	Layout    *skill.Layout
	Installer *release.Installer
	Reader    *status.Reader
	Cases     *ingest.Ingester
	Desk      *approval.Desk
	// Forecast is what a run of a skill would do and cost.
	Forecast func(ctx context.Context, skill string) (*campaign.Forecast, error)
	// Agree refuses a text that is not proven, unless the owner has confirmed
	// it.
	Agree func(ctx context.Context, p *release.Plan, yes bool) error
	Close func() error
	// Fleet is what the fleet of this machine's runs is at.
	Fleet func(ctx context.Context) (*watch.State, error)
}

// A Program implements the pages of a server.
type Program struct {
	// Begin opens a command for one request. Requests come several at a time.
	// say receives the command's messages besides its result.
	Begin    func(ctx context.Context, to datadir.Access, say func(line string)) (*Command, error)
	Classify func(error) (problem.Kind, string) // its kind, and what to do about it
	Clean    func(string) string                // a text without secrets
	Seed     uint64                             // of the order of pairs and answers

	costs costs
}

var _ serve.Program = (*Program)(nil)

// A request is a command run for a page.
type request struct {
	*Command
	*Program
	notes []string
}

// with runs a request.
func with[T any](ctx context.Context, p *Program, to datadir.Access, do func(*request) (T, error)) (v T, err error) {
	r := &request{Program: p}
	if r.Command, err = p.Begin(ctx, to, func(line string) { r.notes = append(r.notes, p.lines(line)...) }); err != nil {
		return v, err
	}
	defer func() { err = cmp.Or(err, r.Close()) }()
	return do(r)
}

// look runs a request that changes nothing.
func look[T any](ctx context.Context, p *Program, do func(*request) (T, error)) (T, error) {
	return with(ctx, p, datadir.Looks, do)
}

// lines are the non-empty lines of a text, without secrets.
func (p *Program) lines(text string) []string {
	return strings.FieldsFunc(strings.TrimSpace(p.Clean(text)), func(r rune) bool { return r == '\n' })
}

// done is the page of a finished act: its result, in the words of its
// command, and its notes. An act that did one thing and refused another shows
// both.
func (r *request) done(result string, err error) (*serve.Done, error) {
	d := &serve.Done{Said: r.lines(result), Notes: r.notes}
	var some *release.PartialError
	if errors.As(err, &some) && some.Some() {
		d.Notes = append(d.Notes, r.Explain(err).Message)
		err = nil
	}
	return d, err
}

// Explain turns an error into its page.
func (p *Program) Explain(err error) *serve.Error {
	var own *serve.Error
	if errors.As(err, &own) {
		return own
	}
	var bug *eval.PanicError
	if errors.As(err, &bug) {
		return &serve.Error{Message: "this is a bug in evolve"}
	}
	kind, hint := p.Classify(err)
	e := &serve.Error{Message: plain.Line(p.Clean(err.Error())), Hint: p.Clean(hint)}
	switch {
	case kind == problem.Input || kind == problem.NotFound:
		e.Kind = problem.Input
	case kind == problem.Refused || hint != "":
		e.Kind = problem.Refused
	}
	return e
}

// stateOf is a fingerprint of the values that a page shows.
func stateOf(of ...any) (string, error) {
	b, err := json.Marshal(of)
	if err != nil {
		return "", fmt.Errorf("name what is shown: %w", err)
	}
	return skill.HashText(b), nil
}
