package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/store/subjects"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Run is one search and trial of a hook, as it is recorded.
type Run struct {
	Store    *store.Store
	Locks    lock.Locks
	Live     *skill.Live
	Spec     agent.Spec
	Mutator  eval.Model // metered by Budget
	Budget   *eval.Budget
	Options  Options
	Sessions []Session // in the order of time
	Anew     bool      // search, although a text is undecided
	Play     Player
	Now      func() time.Time
	// Path is where the script of the hook with that key is.
	Path func(key string) (string, error)

	run    *record.Run
	open   *candidate.OnTrial
	heard  map[string]bool // sessions that a search or a trial has heard, not those of this run
	began  map[string]bool // sessions that this run has searched in; nil unless it goes on
	config config
}

// A config is stored with the run: what it searched in can prove nothing later.
type config struct {
	Schema  int      `json:"schema"`
	Skill   string   `json:"skill"`
	Hook    bool     `json:"hook"`
	Event   string   `json:"event"`
	Weight  float64  `json:"wrong_block"`
	Calls   int      `json:"calls"`
	Search  []string `json:"search"` // ids of sessions
	HeldOut int      `json:"held_out"`
	agent.Spec
}

// An Outcome is what a run ends with.
type Outcome struct {
	Run   string
	Found *Found // nil if the trial of an earlier run's text went on
	Next  *skill.Document
	// Trial is nil if nothing was tried.
	Trial *Trial
	Spent eval.Spent
}

// Prepare looks up what earlier runs did, and divides the sessions. Nothing is written.
func (r *Run) Prepare(ctx context.Context) error {
	name := r.Live.Name
	r.heard = map[string]bool{}
	runs, err := r.Store.Runs(ctx, name)
	if err != nil {
		return err
	}
	r.config = config{Schema: 1, Skill: name, Hook: true, Event: r.Options.Event, Weight: r.Options.Weight, Calls: r.Options.Calls, Spec: r.Spec}
	for i := range runs { // the newest first
		var c config
		if json.Unmarshal(runs[i].Config, &c) != nil || !c.Hook {
			continue
		}
		if i == 0 && slices.Contains([]record.RunStatus{record.Interrupted, record.Running, record.Stopped}, runs[i].Status) && runs[i].Incumbent == r.Live.Doc.Hash() && c.same(&r.config) &&
			(r.Options.Seed < 0 || r.Options.Seed == runs[i].Seed) {
			if busy, err := r.Locks.Running(runs[i].ID); err != nil {
				return err
			} else if !busy {
				r.run, r.Options.Seed, r.began = &runs[i], runs[i].Seed, map[string]bool{} // it goes on: what it paid for is recalled
				for _, id := range c.Search {
					r.began[id] = true
				}
				r.config.Search = c.Search // also what is not there today was shown
				continue
			}
		}
		for _, id := range c.Search {
			r.heard[id] = true
		}
	}
	if r.Options.Seed < 0 {
		r.Options.Seed = int64(len(runs))
	}
	if err := r.elsewhere(ctx); err != nil {
		return err
	}
	spent, err := r.Store.Journal("").SpentCases(ctx, name)
	if err != nil {
		return err
	}
	var ours []record.Candidate
	if r.run != nil {
		if ours, err = r.Store.Candidates(ctx, r.run.ID); err != nil {
			return err
		}
	}
	for id, by := range spent.By {
		if !slices.ContainsFunc(ours, func(c record.Candidate) bool { return c.SHA == by }) {
			r.heard[id] = true
		}
	}
	said, err := r.Store.Decisions(ctx, name)
	if err != nil {
		return err
	}
	if !r.Anew {
		if r.open, err = candidate.OpenTrial(ctx, r.Store, r.Live, ""); err != nil {
			return err
		}
		if r.open != nil && said[r.open.Challenger].Word == store.Rejected {
			r.open = nil
		}
	}
	if r.open != nil {
		maps.Copy(r.heard, r.began)
	}
	for sha, d := range said {
		if d.Word == store.Rejected {
			r.Options.Rejected = append(r.Options.Rejected, sha)
		}
		if d.Word != store.Approved {
			continue
		}
		if c, err := candidate.MadeBy(ctx, r.Store, name, sha); err == nil && len(c.Text) > 0 {
			r.Options.Approved = append(r.Options.Approved, c.Text)
		}
	}
	slices.SortFunc(r.Options.Approved, slices.Compare[[]byte])
	return nil
}

// elsewhere adds what was heard of the same file under another name, through a link.
func (r *Run) elsewhere(ctx context.Context) error {
	here, err := os.Stat(r.Live.Path)
	if err != nil {
		return nil //nolint:nilerr // whoever reads the script says so
	}
	keys, err := subjects.Of(ctx, r.Store, subject.Hook)
	if err != nil {
		return err
	}
	for _, key := range keys {
		path, err := r.Path(key)
		if err != nil || key == r.Live.Name {
			continue
		}
		if there, err := os.Stat(path); err != nil || !os.SameFile(here, there) {
			continue
		}
		runs, err := r.Store.Runs(ctx, key)
		if err != nil {
			return err
		}
		for i := range runs {
			var c config
			if json.Unmarshal(runs[i].Config, &c) == nil {
				for _, id := range c.Search {
					r.heard[id] = true
				}
			}
		}
		spent, err := r.Store.Journal("").SpentCases(ctx, key)
		if err != nil {
			return err
		}
		for id := range spent.By {
			r.heard[id] = true
		}
	}
	return nil
}

// same reports whether a run began as this one does.
func (c *config) same(o *config) bool {
	return c.Event == o.Event && c.Weight == o.Weight && c.Calls == o.Calls && c.ReflectAgent == o.ReflectAgent && c.ReflectModel == o.ReflectModel
}

// Searches reports whether the run asks a model.
func (r *Run) Searches() bool { return r.open == nil }

// Divide is which sessions the search hears, with some of which nothing is known, and which are
// kept for the trial. Of those that nobody has heard the newer ones are kept: two fifths at
// first, later two thirds. A run that goes on searches where it began to, and all others are
// kept: a model has seen the former, and has been paid for that.
func (r *Run) Divide() (search, held []Session) {
	if r.began != nil && r.Searches() {
		for _, s := range r.Sessions {
			switch {
			case s.Own() || r.began[s.ID] || !s.Labelled() && !s.Time.After(r.run.Started):
				search = append(search, s)
			case s.Labelled() && !r.heard[s.ID]:
				held = append(held, s)
			}
		}
		return search, held
	}
	var fresh []int
	for i := range r.Sessions {
		if s := &r.Sessions[i]; s.Labelled() && !r.heard[s.ID] && !s.Own() {
			fresh = append(fresh, i)
		}
	}
	keep := len(fresh) * 2 / 5
	if len(r.heard) > 0 {
		keep = (len(fresh)*2 + 2) / 3
	}
	if !r.Searches() {
		keep = len(fresh)
	}
	fresh = fresh[len(fresh)-keep:]
	for i := range r.Sessions {
		switch s := r.Sessions[i]; {
		case slices.Contains(fresh, i):
			held = append(held, s)
		case s.Labelled() && r.heard[s.ID] && !r.Searches():
		default:
			search = append(search, s)
		}
	}
	return search, held
}

func (r *Run) engine() *Engine {
	return &Engine{Play: r.Play, Mutator: r.Mutator, Options: r.Options, Log: &record.Log{Journal: r.Store.Journal(r.run.ID), Run: r.run.ID, Now: r.Now}}
}

// begin records the run.
func (r *Run) begin(ctx context.Context, search []Session, held int) error {
	if r.run == nil {
		now := r.Now()
		r.run = &record.Run{ID: record.NewID(now), Skill: r.Live.Name, Seed: r.Options.Seed, Incumbent: r.Live.Doc.Hash(), Started: now.UTC(),
			Simulated: agent.KindOf(r.Spec.ReflectAgent).Simulated && r.Searches()}
	}
	for i := range search {
		if search[i].Labelled() && !slices.Contains(r.config.Search, search[i].ID) {
			r.config.Search = append(r.config.Search, search[i].ID)
		}
	}
	r.config.HeldOut = held
	var err error
	if r.run.Config, err = json.Marshal(r.config); err != nil {
		return fmt.Errorf("encode run: %w", err)
	}
	r.run.Status = record.Running
	return r.Store.Journal(r.run.ID).SaveRun(ctx, r.run)
}

// ID is the name of the run, once it has begun.
func (r *Run) ID() string { return r.run.ID }

// Do searches, and tries what is better, or goes on with the trial of an earlier text. What it
// ends with is recorded, and so is why it ended early.
func (r *Run) Do(ctx context.Context, metered func(run string) eval.Model) (out *Outcome, err error) {
	locked, err := r.Locks.Skill(ctx, r.Live.Name, skill.Harness, nil)
	if err != nil {
		return nil, err
	}
	defer locked.Unlock()
	search, held := r.Divide()
	if err := r.begin(ctx, search, len(held)); err != nil {
		return nil, err
	}
	unlock, err := r.Locks.Run(ctx, r.run.ID, nil)
	if err != nil {
		return nil, err
	}
	defer unlock()
	r.Mutator = metered(r.run.ID)
	out = &Outcome{Run: r.run.ID}
	err = r.do(ctx, out, search, held)
	return out, errors.Join(err, r.end(ctx, out, err))
}

func (r *Run) do(ctx context.Context, out *Outcome, search, held []Session) error {
	e := r.engine()
	failures := 0.5
	switch {
	case r.Searches():
		found, err := e.Search(ctx, r.Live.Doc, search)
		if err != nil {
			return err
		}
		if out.Found = found; found.Best == found.Root {
			return nil
		}
		out.Next, failures = found.Best.Doc, found.failures()
	default:
		doc, err := skill.Stored(r.Live.Name, r.open.With.Text)
		if err != nil {
			return err
		}
		out.Next = doc
	}
	r.run.Challenger = out.Next.Hash()
	var err error
	out.Trial, err = e.Try(ctx, r.Live.Name, r.Live.Doc, out.Next, held, failures)
	return err
}

// failures is the share of the labelled sessions in which the owner's text was wrong.
func (f *Found) failures() float64 {
	all, wrong := 0, 0
	for i := range f.Sessions {
		if !f.Sessions[i].Labelled() || f.Sessions[i].Own() {
			continue
		}
		all++
		if f.Root.Marks[i].Loss(1) > 0 {
			wrong++
		}
	}
	if all == 0 {
		return 0.5
	}
	return float64(wrong) / float64(all)
}

// end records how the run ended.
func (r *Run) end(ctx context.Context, out *Outcome, failed error) error {
	out.Spent = r.Budget.Spent()
	r.run.Spent, r.run.Ended = out.Spent, r.Now().UTC()
	_, capped := errors.AsType[*eval.BudgetError](failed)
	_, infra := errors.AsType[*eval.InfraError](failed)
	switch {
	case failed == nil:
		r.run.Status = record.Finished
	case capped:
		r.run.Status, r.run.StoppedBy, r.run.Note = record.Stopped, record.ByCap, record.CapReached
	case ctx.Err() != nil || infra: // the same run goes on, with what it has paid for
		r.run.Status = record.Interrupted
	default:
		r.run.Status, r.run.Note = record.Failed, failed.Error()
	}
	switch {
	case out.Trial != nil:
		verdict, err := json.Marshal(out.Trial.Verdict)
		if err != nil {
			return fmt.Errorf("encode run: %w", err)
		}
		r.run.Verdict = verdict
	case failed == nil && out.Found != nil:
		r.run.Note = "nothing better was found: " + out.Found.Stop
	}
	return r.Store.Journal(r.run.ID).SaveRun(context.WithoutCancel(ctx), r.run)
}

// Ask is the first request that a search would make, nil if it would make none.
func (r *Run) Ask(ctx context.Context, m eval.Model) error {
	search, _ := r.Divide()
	answers, err := r.Play(ctx, r.Live.Doc.Render(), search)
	if err != nil {
		return err
	}
	s := &searching{Engine: &Engine{Options: r.Options, Mutator: m}, sessions: search}
	s.begin()
	h := s.prompt(&Text{Doc: r.Live.Doc, Marks: marks(search, answers)})
	if h == nil {
		return nil
	}
	_, _, err = h.Propose(ctx, r.Live.Doc, r.Options.Seed)
	return err
}
