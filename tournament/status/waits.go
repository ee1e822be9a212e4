package status

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/probes"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// A WaitKind is the reason why a skill waits for its owner.
type WaitKind string

// The kinds, the most urgent first.
const (
	waitAlarm    WaitKind = "alarm"    // real sessions say that the live version is worse
	waitPromote  WaitKind = "promote"  // a challenger is proved
	waitConflict WaitKind = "conflict" // an edit by hand overlaps a change on trial
	waitResume   WaitKind = "resume"   // a run was interrupted
	waitApprove  WaitKind = "approve"  // the firewall holds a candidate
	waitReview   WaitKind = "review"   // a trial waits for labels
	waitKernel   WaitKind = "kernel"   // a night may not install before the kernel is confirmed
	waitProbes   WaitKind = "probes"   // a night may not install before probes are approved
	waitBudget   WaitKind = "budget"   // a night is too small for a search
	waitTry      WaitKind = "try"      // a suggestion was neither tried nor rejected
)

var waitKinds = []WaitKind{waitAlarm, waitPromote, waitConflict, waitResume, waitApprove, waitReview, waitKernel, waitProbes, waitBudget, waitTry}

// A Wait is one decision or act that a skill needs from its owner.
type Wait struct {
	Kind    WaitKind `json:"kind"`
	Text    string   `json:"text"`    // in words
	Command string   `json:"command"` // to type
}

// urgency sorts skills: those that wait for no decision come last.
func (s *Skill) urgency() int {
	if len(s.Waits) == 0 {
		return len(waitKinds)
	}
	return slices.Index(waitKinds, s.Waits[0].Kind)
}

// waits lists what a skill on disk waits for. closed is why its last trial is closed, "" if
// it is not.
func (rd *Reader) waits(ctx context.Context, s *Skill, known *overview, closed string) ([]Wait, error) {
	out := []Wait{}
	add := func(kind WaitKind, command, format string, args ...any) {
		out = append(out, Wait{kind, fmt.Sprintf(format, args...), command})
	}
	st := known.nights[s.Skill]
	if why := alarmOf(st, known.last, s); why != "" {
		add(waitAlarm, "evolve rollback "+s.Skill, "%s", why)
	}
	if c := s.Challenger; c != nil && c.Offer != "" {
		if c.Lifetime != "" {
			add(waitPromote, c.Offer, "better as a single trial, not as trial %d", c.single)
		} else if c.Shorter != nil {
			add(waitPromote, c.Offer, "%s; %s", c.Shorter, c.Answer())
		} else if c.Proposed != "" {
			add(waitPromote, c.Look, "%s, %s, not on the default branch", c.Answer(), c.Proposed)
		} else if c.Held != "" {
			add(waitPromote, c.Offer, "better (%.12s), and held back: %s", c.SHA, c.Held)
		} else {
			add(waitPromote, c.Offer, "a better version (%.12s, at most 5 %% luck)", c.SHA)
		}
		if s.isHook() { // no night installs one
		} else if s.Kernel.Confirmed == nil && known.last != nil && known.last.Policy == sleep.Auto {
			add(waitKernel, "evolve kernel confirm "+s.Skill, "nightly runs install nothing before its locked lines are confirmed")
		} else if s.unprobed && s.damaged == nil && known.last != nil && known.last.Policy == sleep.Auto {
			add(waitProbes, "evolve kernel probes "+s.Skill, "%s", probes.Unapproved)
		}
	}
	if s.damaged != nil {
		add(waitProbes, "evolve kernel probes "+s.Skill, "%v", s.damaged)
	}
	if c := s.Challenger; c != nil && c.Unlabelled > 0 {
		add(waitReview, "evolve review "+s.Skill, "%s", c.unlabelled())
	}
	if t := s.Turn; t != nil && t.Beyond {
		add(waitBudget, fmt.Sprintf("evolve sleep run --max-rollouts %d", t.Needs), "%s", t.Why)
	}
	if closed != "" {
		add(waitConflict, "evolve --skill "+s.Skill, "%s", closed)
	}
	if s.Unfinished != nil && s.Unfinished.Resume != "" {
		add(waitResume, s.Unfinished.Resume, "%s", s.Unfinished.Text)
	}
	for i, q := range s.Quarantine {
		if i == shownQuarantine {
			break
		}
		more := ""
		if n := len(s.Quarantine) - shownQuarantine; i == shownQuarantine-1 && n > 0 {
			more = fmt.Sprintf(" (and %d more)", n)
		}
		add(waitApprove, "evolve approve "+s.Skill+"@"+plain.Short(q.SHA), "in quarantine%s: %s", more, q.Reason)
	}
	if s.suggestion != "" {
		add(waitTry, s.suggestion, "a suggestion was never tried")
	}
	slices.SortStableFunc(out, func(v, w Wait) int { return slices.Index(waitKinds, v.Kind) - slices.Index(waitKinds, w.Kind) })
	return out, nil
}

// shownQuarantine is the largest number of candidates in quarantine that are
// listed one by one.
const shownQuarantine = 3

// alarmOf is why the live version is under suspicion, "" if it is not.
func alarmOf(st *sleep.State, last *sleep.Night, s *Skill) string {
	if st == nil {
		return ""
	}
	if slices.Contains(st.Alarmed, s.Live.SHA) {
		if last != nil {
			for _, k := range last.Steps {
				if k.Skill == s.Skill && k.Alarm != nil && k.Alarm.Version == s.Live.SHA && k.Alarm.Raised() {
					return "alarm: " + k.Alarm.String()
				}
			}
		}
		return fmt.Sprintf("alarm: real sessions are worse with v%d than before it", s.Live.Version)
	}
	return ""
}

// closed is why the owner's last edit closed the newest trial, "" if it did not, or
// something has been run since.
func (rd *Reader) closed(ctx context.Context, s *Skill, live *skill.Live, last *record.Run) (string, error) {
	if s.Challenger != nil || last == nil || s.Live.Recorded && last.Started.After(s.Live.since) {
		return "", nil
	}
	trials, err := candidate.Trials(ctx, rd.Store, live)
	if err != nil {
		return "", err
	}
	for i := range trials { // the newest first
		t := &trials[i]
		if t.Closed == "" || t.Closed == candidate.HasItAlready {
			continue
		}
		if was, err := release.HadItsChance(ctx, rd.Store, live, t); err != nil || was != "" {
			return "", err
		}
		why := t.Closed
		if i := strings.Index(why, "both changed "); i >= 0 {
			why = why[i:] // keep the line short
		}
		if s.isHook() {
			why = "you edited the script"
		}
		return fmt.Sprintf("%s: the trial of %.12s is closed", why, t.Challenger), nil
	}
	return "", nil
}

// A Nights is what nights did and will do.
type Nights struct {
	Last  *NightSummary `json:"last"`  // null: there was none
	Next  *time.Time    `json:"next"`  // null if no timer is installed
	Timer string        `json:"timer"` // "systemd", …; "" for none
}

// A NightSummary is the summary of one night; `evolve sleep status --json`
// has all of it.
type NightSummary struct {
	ID    string     `json:"night"`
	Began time.Time  `json:"began"`
	Ended *time.Time `json:"ended"` // null: it is not over
	Spent eval.Spent `json:"spent"`
}

func (rd *Reader) nightStatus(ctx context.Context, last *sleep.Night) (n Nights, err error) {
	if last != nil {
		n.Last = &NightSummary{ID: last.ID, Began: last.Began, Spent: last.Spent()}
		if !last.Ended.IsZero() {
			n.Last.Ended = &last.Ended
		}
	}
	kind, at, err := rd.Timer(ctx)
	if err == nil && kind != "" {
		n.Next, n.Timer = &at, kind
	}
	return n, err
}

// readNights reads the state of every skill's nights.
func (o *overview) readNights(ctx context.Context, db *store.Store) error {
	nights, err := sleep.Nights(ctx, db, 1)
	if err != nil {
		return err
	}
	if len(nights) > 0 {
		o.last = &nights[0]
	}
	bodies, err := db.SleepStates(ctx)
	if err != nil {
		return err
	}
	o.nights = map[string]*sleep.State{}
	for name, body := range bodies {
		st := sleep.NewState(name)
		if err := json.Unmarshal(body, st); err != nil {
			return fmt.Errorf("read the nights of %s: %w", name, err)
		}
		o.nights[name] = st
	}
	return nil
}

// A Step is the most useful next step.
type Step struct {
	Command string `json:"command"` // to type; "" if nothing is to do
	Text    string `json:"text"`    // why
}

// mostCorrected is the skill with the most corrections that no run of it has
// learned from, and their number; nil for none.
func (r *Report) mostCorrected(ctx context.Context, db *store.Store) (best *Skill, fresh int, err error) {
	var able []*Skill
	for i := range r.Skills {
		s := &r.Skills[i]
		if s.searchable() {
			able = append(able, s)
		}
	}
	slices.SortStableFunc(able, func(s, t *Skill) int { return cmp.Compare(t.Corrected, s.Corrected) })
	for _, s := range able {
		if s.Corrected <= fresh {
			break // counting is not free
		}
		n := s.Corrected
		if !s.ran.IsZero() {
			if n, err = db.CorrectedSince(ctx, s.Skill, s.ran); err != nil {
				return nil, 0, err
			}
		}
		if n > fresh {
			best, fresh = s, n
		}
	}
	return best, fresh, nil
}

// searchable reports whether a search for a better text of the skill could begin.
func (s *Skill) searchable() bool {
	return !s.Pinned && !s.Managed && s.Path != "" && (s.Challenger == nil || s.Challenger.TakenBack) && s.Lack == nil && s.Cases[eval.Train] > 0 && s.Cases[eval.Val] > 0
}

// next picks the most useful command: a decision, then a first look at the
// sessions, then the skill with the most fresh corrections, then nights.
func (r *Report) next(best *Skill, fresh int) Step {
	untried := slices.IndexFunc(r.Skills, func(s Skill) bool { return s.ran.IsZero() && s.Uses == 0 && s.searchable() }) // its cases were imported
	switch {
	case len(r.Skills) > 0 && len(r.Skills[0].Waits) > 0:
		w := r.Skills[0].Waits[0]
		if w.Kind == waitResume && !strings.Contains(w.Command, r.Skills[0].Skill) {
			w.Text = r.Skills[0].Skill + ": " + w.Text
		}
		return Step{w.Command, w.Text}
	case len(r.Skills)+len(r.Broken) == 0 && !r.harvested:
		return Step{"evolve demo", "every step on made-up sessions: no key, no network"}
	case len(r.Broken) > 0 && len(r.Skills) == 0:
		return Step{"evolve kernel check " + inCommand(r.Broken[0].Skill), "mend it first: agents do not load it"}
	case !r.harvested:
		return Step{"evolve harvest", "it reads your sessions (nothing is sent anywhere)"}
	case best != nil:
		return Step{"evolve --skill " + best.Skill, fmt.Sprintf("%s; --dry-run says what it would cost", plain.Counted(fresh, "correction")+" to learn from")}
	case r.demo && len(r.Skills) > 0:
		return r.Skills[0].look()
	case untried >= 0:
		return Step{"evolve --skill " + r.Skills[untried].Skill, fmt.Sprintf("%s to learn from, and no search yet; --dry-run says what it would cost", plain.Counted(r.Skills[untried].Cases[eval.Train]+r.Skills[untried].Cases[eval.Val], "case"))}
	case r.Night.Next == nil && r.Sessions > 0:
		return Step{"evolve sleep install --at 03:17", "nights read the new sessions and try what helps"}
	}
	return Step{"", "nothing to do: use your skills, and correct their mistakes"}
}

// look is what to try in the demo if nothing else is to be done.
func (s *Skill) look() Step {
	switch c := s.Challenger; {
	case c != nil && c.TakenBack && c.Version > 0:
		return Step{fmt.Sprintf("evolve promote %s@v%d", s.Skill, c.Version), "install again what was rolled back"}
	case s.Live != nil && s.Live.Author == "evolve":
		return Step{"evolve show " + s.Skill + " --why", "who taught which sentence"}
	}
	return Step{"evolve log " + s.Skill, "its versions, and what was tried"}
}
