// Package approval shows a candidate to its owner, records the decision on
// it, and names the next step.
package approval

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/hook/settings"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/release/tracked"
)

// A Desk records the owner's decisions on candidates.
type Desk struct {
	Layout  *skill.Layout
	Release *release.Installer // records what is live before it is decided on
	Outbox  *settings.Outbox
	By      string // who decides
}

// A Decision is an owner's decision on a candidate, to be recorded.
type Decision struct {
	Result    Result
	Candidate *candidate.Candidate
	Words     string // the candidate's standing, for people
	Done      bool   // the decision was recorded before: nothing changes

	word store.Word
	live *skill.Live
}

// Find finds the candidate named by arg, SKILL@CANDIDATE, and refuses if the
// decision is not possible. It changes nothing.
func (k *Desk) Find(ctx context.Context, arg string, word store.Word) (*Decision, error) {
	name, at := subject.Cut(arg)
	live, err := k.Layout.Live(name)
	if err != nil {
		return nil, err
	}
	if err := k.Release.Record(ctx, live); err != nil {
		return nil, err
	}
	db, there := k.Release.Store, live.Doc.Hash()
	if live, err = trying.Ground(ctx, db, live); err != nil {
		return nil, err
	}
	c, err := named(ctx, db, live, at, word)
	if err != nil {
		return nil, err
	}
	d := &Decision{Candidate: c, Words: c.Words(), word: word, live: live}
	if d.Result, err = shown(ctx, db, live, c); err != nil {
		return nil, err
	}
	switch was := c.Standing(); {
	case word == store.Rejected && there == c.SHA:
		return nil, problem.Inputf(fmt.Sprintf("`evolve rollback %s` takes it back", name), "candidate %.12s is installed", c.SHA)
	case word == store.Rejected && live.Doc.Hash() == c.SHA:
		return nil, problem.Inputf(fmt.Sprintf("`evolve promote %s` keeps the trial install", name), "candidate %.12s is what the text on trial is compared with, and goes back to", c.SHA)
	case word == store.Rejected:
		d.Done = was == candidate.Rejected
	case was == candidate.Approved || c.Decision != nil && c.Decision.Word == store.Approved:
		d.Done = true
	case was != candidate.Quarantined && was != candidate.Rejected:
		return nil, problem.Inputf(fmt.Sprintf("`evolve promote %s@%.12s` installs the better text", name, c.SHA),
			"candidate %.12s is not in quarantine: it is %s", c.SHA, c.Words())
	default:
		seed, why, err := candidate.Seed(ctx, db, live, c.SHA, d.Result.rules()...)
		if err != nil {
			return nil, err
		}
		if seed == nil {
			return nil, problem.Refusef("the next run makes others from the live text", "candidate %.12s cannot be tried any more: %s", c.SHA, why)
		}
	}
	return d, nil
}

// Keep records the owner's decision on a candidate, unless it was recorded
// before, and adds the next step to d.Result.
func (k *Desk) Keep(ctx context.Context, d *Decision) error {
	db, r := k.Release.Store, &d.Result
	if !d.Done {
		if err := k.keep(ctx, d); err != nil {
			return err
		}
	}
	c := d.Candidate
	r.State, r.By, r.At = c.Standing(), c.Decision.By, &c.Decision.Time
	var err error
	r.Next, err = nextAfter(ctx, db, d.live, c)
	return err
}

func (k *Desk) keep(ctx context.Context, d *Decision) (err error) {
	db, live, c := k.Release.Store, d.live, d.Candidate
	w := store.Decision{Skill: live.Name, SHA: c.SHA, Word: d.word, By: k.By, Run: c.Run, Incumbent: live.Doc.Hash(), Rules: d.Result.rules()}
	if _, err := db.Decide(ctx, w); err != nil {
		return err
	}
	if err := k.Outbox.Guard(ctx, db, live.Name); err != nil {
		return err
	}
	if d.Candidate, err = candidate.Of(ctx, db, live.Name, c.SHA); err != nil {
		return err
	}
	return k.Outbox.Decided(*d.Candidate.Decision, d.Candidate.Flagged)
}

// named finds the candidate by the beginning of its name among those that the
// owner may decide on.
func named(ctx context.Context, db *store.Store, live *skill.Live, at string, word store.Word) (*candidate.Candidate, error) {
	all, err := candidate.All(ctx, db, live.Name)
	if err != nil {
		return nil, err
	}
	var waiting []string
	for _, c := range all {
		if s := c.Standing(); s == candidate.Quarantined || word == store.Rejected && (s == candidate.Undecided || s == candidate.Proven || s == candidate.Suggested) {
			waiting = append(waiting, c.SHA)
		}
	}
	hint := fmt.Sprintf("nothing of %s waits for a word of yours", live.Name)
	if len(waiting) > 0 {
		hint = "what waits: " + nameAll(live.Name, waiting)
	}
	if at == "" {
		return nil, problem.Inputf(hint, "name a candidate: %s@CANDIDATE", live.Name)
	}
	s := &candidate.Texts{Skill: live.Name, Live: live, Store: db}
	sha, err := s.SHA(ctx, at)
	var none *candidate.NotNamedError
	if err != nil && !errors.As(err, &none) {
		return nil, err
	}
	if err == nil { // a change on trial is known by the text that it makes of the live one, too
		trials, err := candidate.Trials(ctx, db, live)
		if err != nil {
			return nil, err
		}
		for _, t := range trials {
			if t.With != nil && t.With.SHA == sha {
				sha = t.Challenger
				break
			}
		}
	}
	for _, c := range all {
		switch {
		case err != nil || c.SHA != sha:
		case len(c.Text) == 0:
			return nil, problem.Inputf(hint, "the text of %.12s is gone: it was purged with the session that taught it", c.SHA)
		default:
			return c, nil
		}
	}
	var short []string
	for _, c := range all {
		short = append(short, c.SHA[:min(len(c.SHA), len(at))])
	}
	if near := skill.Nearest(at, short); near != "" {
		hint = "did you mean " + live.Name + "@" + near + "?"
	}
	if t, err := s.Find(ctx, at); err == nil && t.Candidate != nil { // there is one, that neither was flagged nor came before the gate
		return nil, problem.Inputf(hint, "candidate %.12s needs no approval: it was %s", t.Candidate.SHA, t.Candidate.State)
	}
	return nil, problem.Inputf(hint, "no candidate of %s that you may decide on begins with %q", live.Name, at)
}

func nameAll(name string, shas []string) string {
	out := make([]string, len(shas))
	for i, sha := range shas {
		out[i] = name + "@" + plain.Short(sha)
	}
	return strings.Join(out, ", ")
}

// nextAfter is the next step after the owner's decision.
func nextAfter(ctx context.Context, db *store.Store, live *skill.Live, c *candidate.Candidate) (string, error) {
	switch {
	case c.Decision.Word == store.Rejected:
		return fmt.Sprintf("nothing: no later run of %s proposes it again; `evolve approve %s@%s` takes that back", live.Name, live.Name, plain.Short(c.SHA)), nil
	case c.TriedIn != "":
		return fmt.Sprintf("nothing: run %s tried it, `evolve log --run %s` tells how", c.TriedIn, c.TriedIn), nil
	case c.Trial != nil:
		switch t, err := candidate.On(ctx, db, live, c.Trial.Change()); {
		case err != nil || t == nil:
			return "nothing: it was on trial against another text than the live one", err
		case t.Closed != "":
			return "nothing: " + t.Closed, nil
		case c.Standing() == candidate.Proven:
			command, err := tracked.Command(ctx, db, live, c.SHA, live.Name+"@"+plain.Short(c.SHA))
			return fmt.Sprintf("`%s` installs it", command), err
		case c.Standing() == candidate.Undecided:
			return fmt.Sprintf("`evolve --skill %s` goes on where its trial was", live.Name), nil
		}
		return "nothing: its trial rejected it", nil
	}
	if seed, why, err := candidate.Seed(ctx, db, live, c.SHA); err != nil || seed == nil {
		return "nothing: " + why, err
	}
	next := fmt.Sprintf("`evolve --skill %s` tries it beside the live text; it is installed by nothing but `evolve promote`, once its trial finds it better, or with --unproven", live.Name)
	if candidate.PartOf(c.Operator) == skill.Description {
		next = strings.Replace(next, live.Name+"`", live.Name+" --evolve description`", 1)
	}
	trial, err := candidate.OpenTrial(ctx, db, live, candidate.PartOf(c.Operator))
	if err == nil && trial != nil {
		next += fmt.Sprintf("; the trial of new text %s goes first, unless --anew searches beside it", plain.Short(trial.Challenger))
	}
	return next, err
}
