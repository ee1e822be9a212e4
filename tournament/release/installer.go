// Package release plans and applies installations and rollbacks of a skill's
// texts, and keeps the history of every place that holds one.
package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"time"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// An Installer puts texts of skills into the folders that agents load them
// from, and rolls them back. Every text that it replaces is a version in
// Store first.
type Installer struct {
	Store  *store.Store
	Dir    datadir.Dir
	Access datadir.Access
	Layout *skill.Layout
	Now    func() time.Time
	// Say reports what was found or done besides the result, a line at a
	// time.
	Say func(format string, args ...any)
	// Note leaves a message about a skill for an agent's next session.
	Note func(skill string, kind hook.NoteKind, format string, args ...any)
	// Demo: the data and the skills belong to a demo, in which simulated
	// evidence counts.
	Demo bool
	// Within is the only folder that may be written to, "" for no limit.
	Within string
	// Word: the owner has typed this command. It may change files that git tracks, except
	// the one that the skill lives in, which tracked.Promote changes, and hooks' scripts: see
	// Plan.Agree.
	Word bool
	// MayTarget refuses a target that nothing may be put into; nil allows all. What was
	// put there before can still be rolled back.
	MayTarget func(skill.Target) error
	// MayKeep is why a trial install that its trial has proved is not kept without its
	// owner's word, "" for nothing. nil keeps what the owner put in place, and leaves what
	// a night did.
	MayKeep func(ctx context.Context, live *skill.Live, t *Trying) (why string, err error)
}

// A Request is a requested promotion or rollback.
type Request struct {
	// At names a version (v3) or a candidate (the beginning of its SHA-256);
	// "" is the challenger that waits for promotion, or the previous text.
	At string
	// To are the named targets. nil: a promotion uses the configured ones, a
	// rollback every place that holds the live text.
	To []skill.Target
	// Force lets a promotion replace a text that its evidence is not about,
	// or that is its owner's; and lets a rollback change a pinned skill,
	// replace an edit or bring back a rejected text.
	Force bool
	// ByNight: a night puts the text in place on trial.
	ByNight bool
	// Unproven: the owner has agreed to an unproven candidate already.
	Unproven bool
}

// A Plan has the planned change of each place of a skill. Apply carries it
// out; until then no file is changed.
type Plan struct {
	Op   string // store.OpPromote, …
	Live *skill.Live
	// Version is the version that most of the plan is about; nil if it is the
	// live text and no version yet. For a candidate it is the version that
	// the candidate becomes, which has no number before Apply.
	Version *record.Version
	Places  []Placement
	// Trial is the trial of a candidate, nil if Version is a version already.
	Trial *candidate.OnTrial
	// Older: the change cannot be made to the live text, and Force was set.
	Older bool

	// Rest: it finishes a command that a crash interrupted.
	Rest bool
	// Said are the messages of planning, a line each. Apply reports them.
	Said []string

	note   string // stored with every installation
	force  bool
	fresh  bool   // Version is no version yet
	notify bool   // leave a note for the next session
	pin    *Pin   // that stays, on what is live then
	again  bool   // a rollback ends a trial install that may be put in place again
	agreed string // SHA-256 of the script that its owner lets run: see Agree
}

// A Result is the result of a plan.
type Result struct {
	*Plan
	Placed []Placed
	// Versions are all versions of the skill, which give texts their names.
	Versions []record.Version
	// Again is the version that a rollback removed and a promotion would put
	// back, nil for none.
	Again *record.Version
}

// Refusal is the error about the places that were left unchanged, nil if
// there are none; a *PartialError if there were several targets.
func (r *Result) Refusal() error { return refusalOf(r.Placed) }

// HomeRefusal is why the text was not installed in the skill's home, nil if
// it was.
func (r *Result) HomeRefusal() (err error) {
	for i := range r.Placed {
		if o := &r.Placed[i]; o.Home && o.Err != nil {
			err = o.Err
		}
	}
	return err
}

// Changed reports whether anything was written.
func (r *Result) Changed() bool {
	for i := range r.Placed {
		if r.Placed[i].Changed() {
			return true
		}
	}
	return false
}

// Record brings the store up to date with the file on disk: it settles an
// interrupted installation by reading the file, and makes a text without a
// version (found for the first time, or edited by its owner) a version. A
// text that cannot be read becomes none: its owner may be half-way through
// saving it. An edit of a text on trial ends that, and live has the text that is there then.
func (in *Installer) Record(ctx context.Context, live *skill.Live) error {
	if _, err := in.Settle(ctx, live.Name); err != nil {
		return err
	}
	if live.HalfSaved() {
		return nil
	}
	if err := in.RecordEdit(ctx, live); err != nil {
		return err
	}
	return in.carry(ctx, live)
}

// RecordEdit makes the live text a version if it is none, readable or not, and reports what
// that means for the trials.
func (in *Installer) RecordEdit(ctx context.Context, live *skill.Live) error {
	target, err := filepath.EvalSymlinks(live.Path)
	if err != nil {
		return fmt.Errorf("find skill %s: %w", live.Name, err)
	}
	if err := in.followHome(ctx, live, target); err != nil {
		return err
	}
	before, err := in.Store.Installed(ctx, live.Name, target)
	if err != nil {
		return err
	}
	if err := in.recordText(ctx, live); err != nil {
		return err
	}
	return in.tellEdit(ctx, live, before)
}

// Next plans a command: the rest of the same command if a crash interrupted
// it, else r. op is store.OpPromote, store.OpTry or store.OpRollback. The live text is
// recorded first.
func (in *Installer) Next(ctx context.Context, live *skill.Live, op string, r Request) (*Plan, error) {
	pin, err := Pinned(ctx, in.Store, live.Name)
	if err != nil {
		return nil, err
	}
	if pin != nil && op == store.OpRollback && !r.Force {
		return nil, pin.Refuse(op)
	}
	force := r.Force && op == store.OpRollback
	if p, err := in.PlanRest(ctx, live, op, Request{At: r.At, To: r.To, Force: force}); p != nil || err != nil {
		return p, err
	}
	// An edit that is not recorded becomes a version first: nothing is lost.
	if err := in.RecordEdit(ctx, live); err != nil {
		return nil, err
	}
	if op == store.OpRollback {
		return in.PlanRollback(ctx, live, r)
	}
	if err := in.carry(ctx, live); err != nil {
		return nil, err
	}
	if op == store.OpTry {
		return in.PlanTry(ctx, live, r)
	}
	return in.PlanPromotion(ctx, live, r)
}

// Apply carries out a plan, each place for itself: see put. It leaves a place
// that another process or the owner has changed since the plan was made. If
// nothing could be installed, a candidate is no version afterwards: a
// rollback must not find one that was never live.
//
// The error is the store's, or the owner's decision, a pin or a rejection;
// Result has the result of each place.
func (in *Installer) Apply(ctx context.Context, p *Plan) (*Result, error) {
	for _, line := range p.Said {
		in.Say("%s", line)
	}
	tries := p.Op == store.OpTry || p.Op == store.OpNightTry
	if tries && p.Trial != nil {
		if err := in.saveTrial(ctx, p.Trial); err != nil {
			return nil, err
		}
	}
	done, err := in.put(ctx, p)
	if err != nil {
		return nil, err
	}
	v := p.Version
	if tries && inPlaceAnywhere(done) {
		in.Note(p.Live.Name, hook.Installed, "v%d (%.12s) is a trial install; `evolve rollback %s` takes it back", v.N, v.SHA, p.Live.Name)
	} else if p.fresh && v.Author == "evolve" && inPlaceAnywhere(done) {
		in.Note(p.Live.Name, hook.Installed, "v%d (%.12s, %s) was installed; `evolve rollback %s` takes it back", v.N, v.SHA, candidate.Backing(*v), p.Live.Name)
	}
	if p.notify {
		if err := in.notify(ctx, p, done); err != nil {
			return nil, err
		}
	}
	if v == nil {
		if p.Version, err = in.Store.VersionBySHA(ctx, p.Live.Name, p.Live.Doc.Hash()); err != nil {
			return nil, err
		}
	}
	r := &Result{Plan: p, Placed: done}
	if r.Versions, err = in.Store.Versions(ctx, p.Live.Name); err != nil || p.Op != store.OpRollback {
		return r, err
	}
	r.Again = candidate.VersionIn(r.Versions, tookThePlaceOf(done))
	if r.Again != nil && !in.promotable(ctx, p.Live.Name, r.Again) {
		r.Again = nil
	}
	return r, nil
}

// notify notes a rollback for the next session, and moves a pin to the text
// that is live now.
func (in *Installer) notify(ctx context.Context, p *Plan, done []Placed) error {
	for i := range done {
		if !done[i].Home || !done[i].Changed() {
			continue
		}
		in.Note(p.Live.Name, hook.Installed, "v%d (%.12s) was put back in the place of %.12s", p.Version.N, p.Version.SHA, p.Live.Doc.Hash())
		if p.pin != nil {
			if err := in.Store.PinSkill(ctx, p.Live.Name, done[i].To); err != nil {
				return err
			}
		}
	}
	return nil
}

// noting is the installer whose messages go into a plan.
func (in *Installer) noting(p *Plan) *Installer {
	c := *in
	c.Say = func(format string, args ...any) { p.Said = append(p.Said, fmt.Sprintf(format, args...)) }
	return &c
}

// planned is a plan, or the error that ended it; then its messages are
// reported at once.
func (in *Installer) planned(p *Plan, err error) (*Plan, error) {
	if err == nil {
		return p, nil
	}
	for _, line := range p.Said {
		in.Say("%s", line)
	}
	return nil, err
}

// Unproven reports whether the owner has to confirm a candidate that is not
// proven. Force is enough for one that was proved against another text.
func (p *Plan) Unproven() bool {
	return p.Trial != nil && !p.Version.Proven && !(p.Older && p.Trial.Decision == pareto.Promote)
}

// Declined is the error if the owner does not confirm an Unproven candidate.
func (p *Plan) Declined() error {
	if p.Op == store.OpTry {
		return problem.Refusef("add --yes to put it in place", "nothing was put in place")
	}
	return unproven(&p.Trial.TrialRecord)
}

// Fingerprint names the effect of the plan: two plans with the same one
// replace the same texts by the same texts.
func (p *Plan) Fingerprint() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q\n", p.Op, p.Live.Name, p.Live.Doc.Hash())
	if p.Version != nil {
		fmt.Fprintf(h, "%q %t\n", p.Version.SHA, p.Version.Proven)
	}
	for i := range p.Places {
		at := &p.Places[i]
		fmt.Fprintf(h, "%q %q %q %t %q\n", at.Path, at.Held, at.sha(), at.Refusal != nil, at.Same)
	}
	return hex.EncodeToString(h.Sum(nil))
}
