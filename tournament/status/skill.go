package status

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/splits"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/proposed"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/applies"
	"github.com/skill-evolve/evolve/tournament/campaign/probing"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/judge"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/release/tracked"
)

func newSkillStatus(name string) *Skill {
	return &Skill{Skill: name, Subject: subject.Parse(name), Cases: map[eval.Split]int{}, Aliases: []string{}, Targets: []string{}, Others: []string{}, Quarantine: []Held{}, Approved: []string{}, Waits: []Wait{}}
}

// skillStatus is the state of one skill on disk, without its uses.
func (rd *Reader) skillStatus(ctx context.Context, e skill.Entry, known *overview) (*Skill, error) {
	live, err := rd.Layout.Read(e)
	if err != nil {
		return nil, err
	}
	sha := live.Doc.Hash()
	s := newSkillStatus(e.Name)
	s.Path, s.Managed = e.Path, e.Managed
	if w := check.Unloadable(live.Doc, check.ClaudeCode, e.Name); w != nil && !e.Managed {
		s.unloadable = fmt.Sprintf("line %d: %s", w.Line, w.Reason)
	}
	s.Live, s.Kernel = &Live{SHA: sha, Author: "you"}, &Kernel{SHA: live.Doc.KernelHash()}
	if rd.Store == nil {
		return s, nil
	}
	if s.Live, err = rd.liveNow(ctx, live); err != nil {
		return nil, err
	}
	if s.isHook() {
		s.Uncalled = rd.uncalled(live)
	}
	if s.Idle, err = applies.KnownIdle(ctx, rd.Store, live.Doc); err != nil {
		return nil, err
	}
	if at, ok, err := rd.Store.KernelConfirmed(ctx, e.Name, s.Kernel.SHA); err != nil {
		return nil, err
	} else if ok {
		s.Kernel.Confirmed = &at
	}
	if p, err := rd.Store.Pinned(ctx, e.Name); err != nil {
		return nil, err
	} else if p != nil {
		s.Pinned = true
	}
	if err := rd.statusTargets(ctx, s); err != nil {
		return nil, err
	}
	if n := known.cases[e.Name]; n != nil {
		s.Cases = n
	}
	if s.Challenger, err = rd.Challenger(ctx, live); err != nil {
		return nil, err
	}
	if c := s.Challenger; c != nil {
		c.hook = s.isHook()
	}
	if c := s.Challenger; c != nil && c.on != nil {
		if c.Left, err = judge.Left(ctx, rd.Store, c.on); err != nil {
			return nil, err
		}
	}
	if c := s.Challenger; c != nil && c.on != nil && known.judged[e.Name] {
		if c.Unlabelled, c.Reviews, err = judge.Unlabelled(ctx, rd.Store, c.on); err != nil {
			return nil, err
		}
	}
	if s.Challenger == nil && s.Cases[eval.Train]+s.Cases[eval.Val] > 0 {
		if err := rd.lack(ctx, s); err != nil {
			return nil, err
		}
	}
	if known.flagged[e.Name] {
		if err := s.decisions(ctx, rd.Store, live); err != nil {
			return nil, err
		}
	}
	last, err := rd.Store.LatestRun(ctx, e.Name)
	if err != nil {
		return nil, err
	}
	if last != nil {
		s.ran = last.Started
	}
	if s.Unfinished, err = rd.unfinished(ctx, e.Name, last); err != nil {
		return nil, err
	}
	s.Turn = laterOf(known.last, s)
	if st := known.nights[e.Name]; st != nil {
		s.Compared = st.ComparedOf(sha)
	}
	closed, err := rd.closed(ctx, s, live, last)
	if err != nil {
		return nil, err
	}
	if s.isHook() { // no night installs one, and no agent could break its locked lines
		s.Waits, err = rd.waits(ctx, s, known, closed)
		return s, err
	}
	probed := probing.FolderOf(rd.Locks.Dir, e.Name).Of(live.Doc, "", "")
	s.unprobed, s.damaged = !probed.Approved(), probed.Damaged
	s.Waits, err = rd.waits(ctx, s, known, closed)
	return s, err
}

// lack reads what a search waits for.
func (rd *Reader) lack(ctx context.Context, s *Skill) error {
	cases, err := rd.Store.Cases(ctx, s.Skill)
	if err != nil {
		return err
	}
	st, err := ingest.SplitState(ctx, rd.Store, rd.Layout, s.Skill)
	if l := st.Lack(cases); err == nil && l != (splits.Lack{}) {
		s.Lack = &l
	}
	return err
}

// statusTargets finds the other places of the skill, and what they hold now.
func (rd *Reader) statusTargets(ctx context.Context, s *Skill) error {
	places, err := release.Places(ctx, rd.Store, s.Skill)
	if err != nil || len(places) < 2 {
		return err
	}
	for _, p := range places {
		switch now, err := release.HashAt(p.Path); {
		case err != nil || now == "": // its owner's business, and no longer a place
		case now == s.Live.SHA:
			s.Targets = append(s.Targets, rd.Layout.TargetOf(s.Skill, p.Path))
		default:
			s.Others = append(s.Others, rd.Layout.TargetOf(s.Skill, p.Path))
		}
	}
	return nil
}

// decisions reads the candidates that the owner has decided on, or may.
func (s *Skill) decisions(ctx context.Context, db *store.Store, live *skill.Live) error {
	all, err := candidate.All(ctx, db, s.Skill)
	if err != nil {
		return err
	}
	for _, c := range all {
		switch {
		case c.Standing() == candidate.Quarantined:
			s.Quarantine = append(s.Quarantine, Held{c.SHA, c.Run, c.Reason})
		case c.MayStart(s.Live.SHA):
			s.Approved = append(s.Approved, c.SHA)
		}
	}
	c := newestSuggestion(all)
	if c == nil || c.Standing() != candidate.Suggested { // an older one knew less
		return nil
	}
	if _, err := db.VersionBySHA(ctx, s.Skill, c.SHA); !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if run, err := db.Run(ctx, c.Run); err != nil || run.Simulated {
		return err
	}
	at := subject.Parse(s.Skill).Text() + "@" + plain.Short(c.SHA)
	s.suggestion = "evolve try " + at
	if live.Tracked {
		s.suggestion, err = tracked.Command(ctx, db, live, c.SHA, at)
		s.suggestion += " --unproven"
	}
	return err
}

// newestSuggestion is the suggestion that was made last, tried or not; nil for none.
func newestSuggestion(all []*candidate.Candidate) (newest *candidate.Candidate) {
	for _, c := range all {
		if c.Operator == record.Suggested && (newest == nil || c.Run > newest.Run) { // a run's id begins with its time
			newest = c
		}
	}
	return newest
}

// Challenger returns the change that is proven or on trial in the live text, nil if there
// is none.
func (rd *Reader) Challenger(ctx context.Context, skill *skill.Live) (*Challenger, error) {
	skill, err := trying.Ground(ctx, rd.Store, skill)
	if err != nil {
		return nil, err
	}
	on, back, err := rd.Release.WaitingTrial(ctx, skill)
	if err != nil {
		return nil, err
	}
	if on == nil {
		on = back
	}
	if on == nil {
		return nil, nil
	}
	c := &Challenger{SHA: on.Challenger, Run: on.Run, Decision: on.Decision, Simulated: on.Simulated, Edited: on.Incumbent != skill.Doc.Hash()}
	if c.Edited {
		if v, err := rd.Store.VersionBySHA(ctx, skill.Name, skill.Doc.Hash()); err == nil {
			c.EditedAt = &v.Created
		} else if !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
	}
	if c.TakenBack = on == back; c.TakenBack {
		sha, err := release.HadItsChance(ctx, rd.Store, skill, on)
		if err != nil {
			return nil, err
		}
		v, err := rd.Store.VersionBySHA(ctx, skill.Name, sha)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		} else if err == nil {
			c.Version = v.N
		}
	}
	if c.Shorter, err = candidate.Shorter(ctx, rd.Store, skill, on); err != nil {
		return nil, err
	}
	alone, err := on.ProvenAlone()
	if err != nil {
		return nil, err
	}
	if alone && !c.TakenBack {
		if c.Lifetime, c.single, err = release.OverLifetime(ctx, rd.Store, &on.TrialRecord); err != nil {
			return nil, err
		}
		command, against, err := tracked.Offer(ctx, rd.Release, skill, on)
		if err != nil {
			return nil, err
		}
		c.Offer, c.Refused = command, against.String()
		if run, err := rd.Store.Run(ctx, on.Run); err == nil {
			if c.Held, err = run.Against(); err != nil {
				return nil, err
			}
		} else if !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
	}
	if skill.Tracked && on.With != nil {
		if err := rd.proposed(ctx, skill.Name, on.With.SHA, c); err != nil {
			return nil, err
		}
	}
	if !alone && !c.TakenBack {
		c.on = &on.TrialRecord
	}
	trial, err := on.Kept()
	if err != nil {
		return nil, err
	}
	c.Open, c.Worker = []string{}, trial.Held()
	for _, o := range trial.Outstanding() {
		c.Open = append(c.Open, o.String())
	}
	d := trial.Decide()
	c.EValue, c.Alpha, c.Cases = pareto.Finite(d.EValue), d.Alpha, counting(&d)
	if n := d.Needed(); n > 0 {
		c.Needed = &n
	}
	c.Wins, c.Losses, c.route = d.Wins, d.Losses, d.Route
	return c, nil
}

// proposed sets where the text of a challenger is while it waits for the default branch.
func (rd *Reader) proposed(ctx context.Context, name, sha string, c *Challenger) error {
	open, err := proposed.Open(ctx, rd.Store, name)
	// The newest first. Nobody knows what became of a patch.
	i := slices.IndexFunc(open, func(p proposed.Proposal) bool { return p.Version.SHA == sha && p.Kind != proposed.Patch })
	switch {
	case i < 0:
	case open[i].Kind == proposed.Tree:
		c.Proposed, c.Look = "in your working tree", "git diff"
	default:
		c.Proposed, c.Look = "on branch "+open[i].Branch, "git show "+open[i].Branch
	}
	return err
}

// unlabelled describes the reviews that its trial needs from its owner.
func (c *Challenger) unlabelled() string {
	wait := " wait"
	if c.Unlabelled == 1 {
		wait = " waits"
	}
	return plain.Counted(c.Reviews, "review") + " missing: " + plain.Counted(c.Unlabelled, "case") + wait + " for the judge"
}

// counting is how many cases the evidence is about, as in the verdict:
// without those whose quality only an untrusted judge has decided.
func counting(d *pareto.Decision) int {
	for _, o := range d.PerObjective {
		if o.Objective == pareto.Quality.String() && o.Measured {
			return o.Estimate.N
		}
	}
	return d.Cases
}

// unfinished is the skill's last run if it can be resumed, nil if it ended:
// older ones were given up.
func (rd *Reader) unfinished(ctx context.Context, name string, last *record.Run) (*Unfinished, error) {
	if u, err := rd.begun(ctx, name, last); err != nil || u != nil {
		return u, err
	}
	if last == nil || last.Status == record.Finished || last.Status == record.Failed {
		return nil, nil
	}
	open, err := rd.Store.UnfinishedRun(ctx, name)
	if err != nil || open == nil || last.ID != open.ID {
		return nil, err
	}
	if open.StoppedBy == record.ByCap {
		return nil, nil // its caps are part of it: it would stop where it stopped
	}
	if busy, err := rd.Locks.Running(open.ID); err != nil || busy {
		return &Unfinished{Run: open.ID, Status: string(record.Running)}, err
	}
	now, err := rd.RunStatus(open)
	resume := "evolve --resume " + open.ID
	if subject.Parse(name).Kind == subject.Hook {
		resume = "evolve --skill " + name
	}
	return &Unfinished{open.ID, string(now), resume, "its last run was " + string(now)}, err
}

func (s *Skill) count(u store.SkillUse) {
	s.Uses, s.Corrected, s.Rejected, s.Repeated, s.Accepted, s.Unread = u.Uses, u.Corrected, u.Rejected, u.Repeated, u.Accepted, u.Unread
	if u.Uses > 0 {
		rate := float64(u.Corrected) / float64(u.Uses)
		s.CorrectionRate = &rate
	}
	if !u.Last.IsZero() {
		s.LastUse = &u.Last
	}
}

// continues is how its trial goes on: a run that a cap ended leaves cases.
func (s *Skill) continues() string {
	with := "once there are new cases"
	switch n := s.Challenger.Left; {
	case s.isHook():
		with = "with sessions that it has not heard"
	case n == 1:
		with = "with the case that is left"
	case n > 1:
		with = fmt.Sprintf("with the %d cases that are left", n)
	}
	return fmt.Sprintf("`evolve --skill %s` continues the trial %s", s.Skill, with)
}

// next is the next step for a skill, in a few words.
func (s *Skill) next(harvested bool) string {
	switch c := s.Challenger; {
	case s.Pinned:
		return fmt.Sprintf("nothing: it is pinned; `evolve pin --off %s` takes the pin off", s.Skill)
	case s.Managed:
		return "nothing: it is edited at its source"
	case s.Unfinished != nil && s.Unfinished.Resume == "":
		return fmt.Sprintf("wait: run %s is at work", s.Unfinished.Run)
	case s.Unfinished != nil:
		return fmt.Sprintf("`%s` continues the last run", s.Unfinished.Resume)
	case c != nil && c.Offer != "" && c.Lifetime != "":
		return fmt.Sprintf("`%s` installs it at your word, nights go on with fresh cases: %s", c.Offer, c.Lifetime)
	case c != nil && c.Offer != "":
		return fmt.Sprintf("`%s` installs it", c.Offer)
	case c != nil && c.TakenBack:
		return fmt.Sprintf("`evolve --skill %s` searches for another text: v%d was rolled back", s.Skill, c.Version)
	case c != nil && c.Unlabelled > 0:
		return fmt.Sprintf("`evolve review %s`: %s", s.Skill, c.unlabelled())
	case c != nil && c.Simulated:
		return fmt.Sprintf("`evolve --skill %s --agent …`: the evidence is simulated", s.Skill)
	case c != nil && c.Refused != "":
		return fmt.Sprintf("`evolve log %s`: there is a better version, and promote refuses it: %s", s.Skill, c.Refused)
	case s.Live != nil && s.Live.Trial != nil && s.Live.Trial.Ends != "":
		return fmt.Sprintf("nothing: %s, and the next run or night takes it back; `evolve promote %s` keeps it all the same", s.Live.Trial.Ends, s.Skill)
	case s.Live != nil && s.Live.Trial != nil:
		return fmt.Sprintf("`evolve promote %s` keeps the trial install, `evolve rollback %[1]s` takes it back; its trial continues with new cases", s.Skill)
	case s.Turn != nil && !s.Turn.Beyond:
		return "nothing: a later night comes to it: it " + s.Turn.Why
	case c != nil && c.Shorter != nil:
		return fmt.Sprintf("`evolve --skill %s` looks for a better text; `evolve --skill %[1]s --evolve shorten` continues the trial of the shorter one", s.Skill)
	case c != nil && c.EValue*c.Alpha >= 1 && len(c.Open) > 0:
		return fmt.Sprintf("%s: quality is shown, and %s beyond tolerance so far", s.continues(), strings.Join(c.Open, " and "))
	case c != nil && c.Worker != "":
		return fmt.Sprintf("%s; probably better: %s", s.continues(), c.Worker)
	case c != nil && c.Decision == pareto.Promising:
		return fmt.Sprintf("%s; probably better, %s", s.continues(), pareto.Promises(c.Wins, c.Losses, c.EValue))
	case c != nil:
		return s.continues()
	case s.isHook():
		return s.nextOfHook()
	case s.Lack != nil:
		return fmt.Sprintf("use and correct it, or import cases: a search waits for %v; `evolve --skill %s` does not wait", s.Lack, s.Skill)
	case s.Cases[eval.Train] > 0 && s.Cases[eval.Val] > 0:
		return fmt.Sprintf("`evolve --skill %s`", s.Skill)
	case !harvested:
		return "`evolve harvest`"
	case s.Uses == 0:
		return "nothing: not used yet"
	}
	return "use and correct it, or import cases: too few yet"
}
