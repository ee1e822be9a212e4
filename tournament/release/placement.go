package release

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Placement is the planned change of one place.
type Placement struct {
	Place
	To *record.Version // nil if the skill is removed again
	// stays: a trial install that is there ends, and its text stays.
	stays bool
}

// sha is the SHA-256 of the place's text afterwards, "" for nothing.
func (p *Placement) sha() string {
	if p.To == nil {
		return ""
	}
	return p.To.SHA
}

// The results at a place.
const (
	Installed = "installed" // the text took the place of another one
	Copied    = "copied"    // the whole folder was put where there was nothing
	Removed   = "removed"   // and taken back
	Unchanged = "unchanged" // it held the text already
	Stays     = "stays"     // it was there on trial, and is no more
	Same      = "same"      // it is the file of another target
	Refused   = "refused"
)

// Placed is the result at one target, as promote and rollback print it.
type Placed struct {
	Target  string   `json:"target"`
	Path    string   `json:"path"`
	Outcome string   `json:"outcome"`
	From    string   `json:"from,omitempty"` // SHA-256 of what was there, "" for nothing
	To      string   `json:"to,omitempty"`   // and of what is there now
	Same    string   `json:"same_as,omitempty"`
	Files   int      `json:"files,omitempty"` // copied, SKILL.md included
	Kept    []string `json:"kept,omitempty"`  // files that a removal left, because they were changed or added
	// Differs: other files of the skill differ from those in its home. Only
	// the SKILL.md is kept up to date.
	Differs bool   `json:"files_differ,omitempty"`
	Reason  string `json:"reason,omitempty"`

	Err  error `json:"-"` // why it was refused
	Home bool  `json:"-"` // it is where the skill lives
}

// Changed reports whether something was written.
func (p *Placed) Changed() bool {
	return p.Outcome == Installed || p.Outcome == Copied || p.Outcome == Removed
}

// put carries out the plan, each place for itself: a place that has changed
// since, or cannot be written, is left as it is and does not keep the others
// from being changed. All intentions, together with the version that a
// candidate becomes, are recorded before the first file is touched, and each
// place as it is done: after a crash the store and the files show which are
// left (settle).
func (in *Installer) put(ctx context.Context, p *Plan) ([]Placed, error) {
	if err := in.MayRun(p); err != nil {
		return nil, err
	}
	unlock, err := in.lockInstalls(ctx, installWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	ctx = context.WithoutCancel(ctx) // it takes milliseconds, and must not stop half-way
	if err := ownersWord(ctx, in.Store, p); err != nil {
		return nil, err
	}
	if err := in.giveUp(ctx, p.Live.Name); err != nil {
		return nil, err
	}
	out := make([]Placed, len(p.Places))
	var intents []store.Intent
	var which []int
	for i := range p.Places {
		at, o := &p.Places[i], &out[i]
		*o = Placed{Target: at.Name, Path: at.Path, From: at.Held, To: at.Held, Home: at.Home}
		intent, err := at.intent(ctx, in.Store, p.Live, o)
		switch {
		case err != nil:
			o.refuse(err)
		case intent != nil:
			intent.Op, intent.Note = p.Op, p.note
			intents, which = append(intents, *intent), append(which, i)
		}
	}
	ids, err := in.begin(ctx, p, intents, inPlaceAnywhere(out))
	if err != nil {
		return nil, err
	}
	for k, i := range which {
		if err := p.Places[i].act(p.Live, intents[k].Files, &out[i]); err != nil {
			out[i].refuse(err)
			if err := in.Store.AbandonInstall(ctx, ids[k]); err != nil {
				return nil, err
			}
			continue
		}
		if err := in.Store.FinishInstall(ctx, ids[k]); err != nil {
			return nil, err
		}
	}
	if p.fresh && !inPlaceAnywhere(out) {
		if err := in.Store.WithdrawVersion(ctx, *p.Version); err != nil {
			return nil, err
		}
	}
	return out, compareFolders(p.Live, p.Places, out)
}

// begin records the intentions. A candidate becomes a version in the same
// step, if it is put anywhere or is there already; else it gets the number
// that it would have had.
func (in *Installer) begin(ctx context.Context, p *Plan, intents []store.Intent, there bool) (ids []int64, err error) {
	switch {
	case !p.fresh && len(intents) == 0:
		return nil, nil
	case !p.fresh:
		return in.Store.BeginInstalls(ctx, intents)
	case there || len(intents) > 0:
		*p.Version, ids, err = in.Store.BeginVersion(ctx, *p.Version, intents)
		return ids, err
	}
	p.Version.N, err = in.Store.NextVersion(ctx, p.Version.Skill, p.Version.SHA)
	return nil, err
}

// inPlaceAnywhere reports whether a text is in place anywhere. Of two places
// with one file only one counts.
func inPlaceAnywhere(done []Placed) bool {
	return slices.ContainsFunc(done, func(o Placed) bool { return o.Outcome != Refused && o.Outcome != Same })
}

// ownersWord checks the owner's decisions again: they may have changed while
// the lock was waited for. The files are compared place by place.
func ownersWord(ctx context.Context, db *store.Store, plan *Plan) error {
	live := plan.Live
	if plan.force {
		return nil
	}
	ends := plan.Op == store.OpTakeBack // a trial install
	stays := ends && !slices.ContainsFunc(plan.Places, func(p Placement) bool { return !p.stays })
	if pin, err := Pinned(ctx, db, live.Name); err != nil {
		return err
	} else if pin != nil && !stays { // no file is changed
		return pin.Refuse(plan.Op)
	}
	if ends { // what its owner had in place comes back, whatever was said of it
		return nil
	}
	said, err := db.Decisions(ctx, live.Name)
	if err != nil {
		return err
	}
	for i := range plan.Places {
		p := &plan.Places[i]
		if sha := p.sha(); sha != "" && sha != live.Doc.Hash() && p.To.Author == "evolve" && said[sha].Word == store.Rejected {
			return problem.Refusef(fmt.Sprintf("`evolve approve %s@%.12s` takes that back", live.Name, sha), "candidate %.12s was rejected by you: nothing was changed", sha)
		}
	}
	return nil
}

// compareFolders finds the targets whose other files differ from the skill's
// own.
func compareFolders(live *skill.Live, plan []Placement, out []Placed) error {
	own := ""
	for i := range plan {
		o := &out[i]
		if o.Home || o.To == "" || o.Outcome != Installed && o.Outcome != Unchanged {
			continue
		}
		var err error
		if own == "" {
			if own, err = install.RestHash(live.Dir); err != nil {
				return err
			}
		}
		there, err := install.RestHash(plan[i].dir())
		if err != nil {
			return err
		}
		o.Differs = there != own
	}
	return nil
}

func (o *Placed) refuse(err error) {
	o.Outcome, o.Err, o.Reason, o.To = Refused, err, plain.Line(err.Error()), o.From
}

// intent is the record to write for a place, nil if there is nothing to do.
// It reads the place again: time has passed since the plan was made.
func (p *Placement) intent(ctx context.Context, db *store.Store, live *skill.Live, o *Placed) (*store.Intent, error) {
	if p.Same != "" {
		o.Outcome, o.Same, o.To = Same, p.Same, p.sha()
		return nil, nil
	}
	if p.Refusal != nil {
		return nil, p.Refusal
	}
	real, err := skill.RealPath(p.Path)
	if err != nil {
		return nil, err
	}
	if real != p.Path { // what is there is not what would be recorded
		return nil, fmt.Errorf("%s leads to %s now", p.Path, real)
	}
	now, err := HashAt(p.Path)
	if err != nil {
		return nil, err
	}
	if now == p.sha() && p.stays && now != "" {
		return &store.Intent{Install: store.Install{Skill: live.Name, Path: p.Path, From: now, To: now}}, nil
	}
	if now == p.sha() {
		o.Outcome, o.From, o.To = Unchanged, now, now
		if now == "" {
			return nil, nil
		}
		return nil, db.SetInstalled(ctx, live.Name, p.Path, now)
	}
	if now != p.Held {
		return nil, &install.DriftError{Path: p.Path, Want: p.Held, Live: now}
	}
	in := &store.Intent{Install: store.Install{Skill: live.Name, Path: p.Path, From: p.Held, To: p.sha()}}
	switch {
	case p.To == nil:
		in.Files, _, err = db.PlantedFiles(ctx, live.Name, p.Path)
	case skill.HashText(p.To.Text) != p.To.SHA:
		err = problem.Refusef("the store is damaged; restore it from a backup", "version v%d of %s is not the text that its name says", p.To.N, live.Name)
	case p.Held == "":
		if err = p.clear(ctx, db, live.Name); err == nil {
			in.Files, err = install.Survey(live.Dir)
		}
	}
	return in, err
}

// clear removes the remains of an interrupted removal from the folder of a
// new skill.
func (p *Placement) clear(ctx context.Context, db *store.Store, name string) error {
	files, planted, err := db.PlantedFiles(ctx, name, p.Path)
	if err != nil || !planted {
		return err
	}
	_, err = install.Uproot(p.dir(), "", files)
	return err
}

// act carries out what was recorded.
func (p *Placement) act(live *skill.Live, files []install.FolderFile, o *Placed) (err error) {
	switch {
	case p.To == nil:
		o.Outcome = Removed
		o.Kept, err = install.Uproot(p.dir(), p.Held, files)
	case p.stays:
		o.Outcome = Stays
	case p.Held == "":
		o.Outcome, o.Files = Copied, len(files)+1
		err = install.Plant(p.dir(), live.Dir, files, p.To.Text)
	default:
		o.Outcome = Installed
		err = install.Install(p.Path, p.Held, p.To.Text)
	}
	if err == nil {
		o.To = p.sha()
	}
	return err
}

// HashAt is the SHA-256 of a file, "" for none.
func HashAt(path string) (string, error) {
	text, err := skill.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return skill.HashText(text), nil
}

// installWait is how long an installation waits for another one.
const installWait = 30 * time.Second

var errInstalling = &problem.Error{Kind: problem.Busy, Err: errors.New("another process is installing"), Hint: "wait for it, or stop it first"}

// lockInstalls keeps other processes with the same data from installing. It
// is a lock of the system: a killed process leaves none behind.
func (in *Installer) lockInstalls(ctx context.Context, wait time.Duration) (unlock func(), err error) {
	path := in.Dir.InstallLock()
	if in.Access != datadir.Writes { // it installs nothing, but must know whether somebody does
		if busy, err := lock.Held(path); err != nil || busy {
			return nil, errors.Join(errInstalling, err)
		}
		return func() {}, nil
	}
	l := flock.New(path, flock.SetPermissions(0o600))
	// A short wait may be over before the first try of a busy machine.
	got, err := l.TryLock()
	if err == nil && !got {
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		got, err = l.TryLockContext(ctx, 5*time.Millisecond)
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("lock installations: %w", err)
	}
	if !got {
		return nil, errInstalling
	}
	return func() { l.Close() }, nil
}

// settle settles the installs that a crash interrupted, by reading the files.
// Those that were carried out are recorded and returned as done; the others
// stay recorded as begun and are returned as open: the same command again
// finishes them. A command that only reads records nothing.
func (in *Installer) settle(ctx context.Context, name string) (done, open []store.Install, err error) {
	if open, err = in.Pending(ctx, name); err != nil || len(open) == 0 {
		return nil, nil, err
	}
	unlock, err := in.lockInstalls(ctx, time.Millisecond)
	if err != nil { // another process is at it this very moment
		return nil, nil, nil //nolint:nilerr // what it does is not cut short
	}
	defer unlock()
	if open, err = in.Pending(ctx, name); err != nil {
		return nil, nil, err
	}
	left := open[:0]
	for _, k := range open {
		now, err := HashAt(k.Path)
		if err != nil {
			in.Say("%s: %v", name, err)
			left = append(left, k)
			continue
		}
		where := in.Layout.TargetOf(name, k.Path)
		if k.From == "" && in.Access == datadir.Writes { // it may have died before it removed what the folder was put together in
			install.SweepPlants(filepath.Dir(filepath.Dir(k.Path)))
		}
		switch {
		case now == k.To && in.Access == datadir.Looks:
			done = append(done, k)
		case now == k.To:
			if k.To == "" && in.Access == datadir.Writes { // its SKILL.md is gone; what lay beside it may not be
				files, _, err := in.Store.PlantedFiles(ctx, name, k.Path)
				if err == nil {
					_, err = install.Uproot(filepath.Dir(k.Path), "", files)
				}
				if err != nil {
					return nil, nil, err
				}
			}
			if err := in.Store.FinishInstall(ctx, k.ID); err != nil {
				return nil, nil, err
			}
			in.Say("an installation of %s in %s that was interrupted is in place after all", name, where)
			done = append(done, k)
		case k.Op == "" || now != k.From:
			if in.Access == datadir.Looks {
				continue
			}
			if err := in.Store.AbandonInstall(ctx, k.ID); err != nil {
				return nil, nil, err
			}
			in.Say("an installation of %s in %s that was interrupted did not happen", name, where)
		default:
			left = append(left, k)
		}
	}
	return done, left, nil
}

// Pending are the installations of a skill that a crash has cut short and that nothing
// has finished or taken back yet.
func (in *Installer) Pending(ctx context.Context, name string) (out []store.Install, err error) {
	all, err := in.Store.PendingInstalls(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range all {
		if k.Skill == name {
			out = append(out, k)
		}
	}
	return out, nil
}

// giveUp ends what is still written down of an interrupted command: another one
// takes its place. The caller holds the lock.
func (in *Installer) giveUp(ctx context.Context, name string) error {
	open, err := in.Pending(ctx, name)
	if err != nil {
		return err
	}
	for _, k := range open {
		now, err := HashAt(k.Path)
		if err != nil {
			return err
		}
		if k.From == "" {
			install.SweepPlants(filepath.Dir(filepath.Dir(k.Path)))
		}
		if _, err := in.Store.SettleInstall(ctx, k, now); err != nil {
			return err
		}
	}
	return nil
}

// Settle ends interrupted installs that were carried out after all: done. For
// the others it reports the command that finishes them.
func (in *Installer) Settle(ctx context.Context, name string) (done []store.Install, err error) {
	done, open, err := in.settle(ctx, name)
	for _, k := range open {
		if k.Op == store.OpTakeBack || k.Op == store.OpNightTry {
			continue // the next night or run does it again
		}
		in.Say("%s: a %s was interrupted before %s: `evolve %[2]s %[1]s` finishes it", name, k.Op, in.Layout.TargetOf(name, k.Path))
	}
	return done, err
}
