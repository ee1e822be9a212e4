// Package projects asks the owner which projects may be read and how much is kept of agents'
// work, and has the commands that list, allow and deny projects.
package projects

import (
	"context"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/owner"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/datadir/policy"
	"github.com/skill-evolve/evolve/tournament/report"
)

// A Desk is what these decisions need of the program.
type Desk struct {
	*term.Terminal
	Home   func() (datadir.Dir, error)
	Demo   bool // its sessions are its own: nobody is asked
	Policy func() (*policy.Policy, error)
	Typist *owner.Agent                                // who types, nil for a person
	Store  func(context.Context) (*store.Store, error) // nil if there is none yet
	Config func() (*backend.Config, error)
	Choice Choice
	// Sources opens the sources that are harvested, with these options.
	Sources func(ctx context.Context, o func(*backend.SourceOptions)) ([]ingest.Source, error)
}

// decisions are the owner's, and their file.
func (d *Desk) decisions() (*consent.Decisions, string, error) {
	home, err := d.Home()
	if err != nil {
		return nil, "", err
	}
	all, err := consent.Read(home.Projects())
	return all, home.Projects(), err
}

// Decided is the gate of what is decided now, which holds back everything if nothing is.
// What a policy denies is not read in a demo either.
func (d *Desk) Decided() (*consent.Gate, error) {
	all := &consent.Decisions{All: true}
	if !d.Demo {
		var err error
		if all, _, err = d.decisions(); err != nil {
			return nil, err
		}
	}
	l, err := d.limits()
	if err != nil {
		return nil, err
	}
	g := &consent.Gate{Decisions: []*consent.Decisions{all}}
	for _, x := range l.fixed {
		g.Decisions = append(g.Decisions, x.Decisions)
	}
	return g, nil
}

// limits are what besides the owner decides on projects.
type limits struct {
	policy *policy.Policy
	fixed  []limit
}

type limit struct {
	*consent.Decisions
	denied string // what is denied then, in words
}

// limits are those of the demo and of the machine's policy. With an error the policy
// allows nothing.
func (d *Desk) limits() (l limits, err error) {
	if d.Demo {
		l.fixed = append(l.fixed, limit{consent.Fixed(&[]string{backend.DemoProject}, nil), "denied: it is not the demo's"})
	}
	if d.Policy == nil {
		return l, nil
	}
	p, err := d.Policy()
	if p == nil && err == nil {
		return l, nil
	}
	fixed := new(consent.Decisions)
	if err == nil {
		fixed = consent.Fixed(p.Projects.Allow, p.Projects.Deny)
	}
	l.policy, l.fixed = p, append(l.fixed, limit{fixed, "denied by the machine's policy"})
	return l, err
}

// denied is what keeps a folder from being read whatever its owner decides, "" if nothing
// does; the folder "" is none that is known.
func (l limits) denied(folder string) string {
	var folders []string
	if folder != "" {
		folders = []string{folder}
	}
	for _, x := range l.fixed {
		if !x.MayRead(folders) {
			return x.denied
		}
	}
	return ""
}

// vendors are those that the policy lets have text.
func (l limits) vendors(send []string) []string {
	return slices.DeleteFunc(slices.Clone(send), func(v string) bool { return !l.policy.Vendor(v) })
}

// Gate is Decided for a harvest. If nothing is decided it asks, once; if it cannot ask,
// the error is consent.Undecided's.
func (d *Desk) Gate(ctx context.Context) (*consent.Gate, error) {
	g, err := d.Decided()
	if err != nil || d.Demo || g.Decisions[0].Asked() {
		return g, err
	}
	if err := d.ask(ctx, g.Decisions[0]); err != nil {
		return nil, err
	}
	return d.Decided()
}

// Check opens the sources, so that what is wrong with flags is known, and asks what Gate
// asks.
func (d *Desk) Check(ctx context.Context) error {
	if _, err := d.Sources(ctx, func(*backend.SourceOptions) {}); err != nil {
		return err
	}
	if _, err := d.choice(); err != nil {
		return err
	}
	_, err := d.Gate(ctx)
	return err
}

func (d *Desk) ask(ctx context.Context, all *consent.Decisions) error {
	change, err := d.choose(ctx, all)
	if err != nil || change == nil {
		return err
	}
	return d.update(change)
}

// Choose asks which projects may be read, and returns the answer without keeping it; nil if
// there is nothing to ask for yet.
func (d *Desk) Choose(ctx context.Context) (change func(*consent.Decisions) error, err error) {
	all, _, err := d.decisions()
	if err != nil {
		return nil, err
	}
	return d.choose(ctx, all)
}

func (d *Desk) choose(ctx context.Context, all *consent.Decisions) (change func(*consent.Decisions) error, err error) {
	if !term.IsTerminal(d.Stdin) || !term.IsTerminal(d.Stderr) || d.Typist != nil {
		return nil, consent.Undecided()
	}
	found, err := d.survey(ctx, nil, all)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	_, file, err := d.decisions()
	if err != nil {
		return nil, err
	}
	folded := func(question string) (string, bool, error) {
		return d.Ask(plain.Fold(question, term.Columns(d.Stderr)))
	}
	return consent.Ask(found, file, folded)
}

// Undecided reports whether the owner has not chosen yet.
func (d *Desk) Undecided() bool {
	if d.Demo {
		return false
	}
	all, _, err := d.decisions()
	return err == nil && !all.Asked()
}

// Waiting counts the sessions that the last harvests left out because their owner has not
// decided on their projects, if nothing was decided since.
func (d *Desk) Waiting(ctx context.Context, db *store.Store) (int, error) {
	g, err := d.Decided()
	if err != nil || db == nil {
		return 0, nil // the next harvest says what is wrong
	}
	return ingest.Waiting(ctx, db, g)
}

// survey counts the sessions that are not in a store, by their projects. db may be nil.
func (d *Desk) survey(ctx context.Context, db *store.Store, all *consent.Decisions) ([]consent.Project, error) {
	s := &ingest.Survey{Survey: consent.Survey{Decisions: all}}
	sources, err := d.Sources(ctx, func(o *backend.SourceOptions) {
		o.Allowed, o.Redactor, o.LeftOut, o.Known = s.Allowed, unread{}, nil, ingest.Archive{DB: db}
	})
	if err != nil {
		return nil, err
	}
	bar := d.Watch(report.Task{Phase: "projects", Unit: "sessions"})
	defer bar.Done()
	if err := ingest.Unread(ctx, db, s, sources, bar.Count); err != nil {
		return nil, fmt.Errorf("look which projects have sessions: %w", err)
	}
	return s.Projects(), nil
}

// unread is the redactor of texts that are not kept.
type unread struct{}

func (unread) Redact(text string) (string, int) { return text, 0 }

// Notes reports whether hooks may write something down of a session that works in these
// folders.
func (d *Desk) Notes(folders []string) bool {
	g, err := d.Decided()
	return err == nil && g.Allowed(folders)
}
