package candidate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/frozen"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Backing describes the evidence for a version.
func Backing(v record.Version) string {
	switch {
	case v.Author != "evolve":
		return "yours"
	case !v.Proven:
		return "not shown better"
	}
	return "better"
}

// NeverTried is the decision of a candidate that never came before the gate.
const NeverTried pareto.Verdict = "never tried"

// MadeBy is a candidate as the run that made it has it. A version that no run has made is
// one without a run.
func MadeBy(ctx context.Context, db *store.Store, name, sha string) (*record.Candidate, error) {
	c, _, err := (&Texts{Skill: name, Store: db}).Made(ctx, sha)
	if err == nil && c == nil {
		c, err = db.Candidate(ctx, sha)
	}
	if errors.Is(err, store.ErrNotFound) {
		if v, e := db.VersionBySHA(ctx, name, sha); e == nil && len(v.Text) > 0 {
			return &record.Candidate{SHA: v.SHA, Operator: v.Operator, State: record.Pooled, Text: v.Text}, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read candidate: %w", err)
	}
	return c, nil
}

// A Standing is the state of a candidate, in one word of `--json`.
type Standing string

const (
	Quarantined Standing = "quarantined" // waits for its owner's decision
	Approved    Standing = "approved"    // by its owner; to be tried, or tried without coming to the gate
	Rejected    Standing = "rejected"    // by its owner
	Proven      Standing = "proven"      // by the gate
	Undecided   Standing = "undecided"   // before the gate
	Lost        Standing = "lost"        // before the gate
	Suggested   Standing = "suggested"   // never tried; it was written without a search
)

// A Candidate is one text of a skill that its owner may decide on: one that
// the firewall flagged, one that came before the gate, or both.
type Candidate struct {
	record.Candidate // as the run that made it has it
	Flagged          bool
	Trial            *record.TrialRecord // the newest, nil for none
	Decision         *store.Decision     // the owner's last one, nil for none
	TriedIn          string              // the finished run that began with it
}

// MayStart reports whether a search of the live text begins with it: its
// owner has approved it, and no run has tried it.
func (c *Candidate) MayStart(live string) bool {
	return c.Standing() == Approved && c.TriedIn == "" && c.SHA != live
}

// Standing is the candidate's state.
func (c *Candidate) Standing() Standing {
	switch {
	case c.Decision != nil && c.Decision.Word == store.Rejected:
		return Rejected
	case c.Flagged && c.Decision == nil:
		return Quarantined
	case c.Trial != nil && c.Trial.Decision == pareto.Promote:
		return Proven
	case c.Trial != nil && c.Trial.Decision.IsOpen():
		return Undecided
	case c.Trial != nil:
		return Lost
	case c.Decision == nil:
		return Suggested
	}
	return Approved
}

// Words describe the standing for people.
func (c *Candidate) Words() string {
	at := func() string { return c.Decision.Time.Local().Format("2006-01-02") + " by " + c.Decision.By }
	switch c.Standing() {
	case Quarantined:
		return "in quarantine: " + c.Reason
	case Rejected:
		return "rejected on " + at()
	case Proven:
		return "better (at most 5 % luck)"
	case Undecided:
		return "on trial, " + pareto.Answer(c.Trial.Decision, "")
	case Lost:
		return "rejected by its trial"
	case Suggested:
		return "suggested, never tried"
	}
	if c.TriedIn != "" {
		return fmt.Sprintf("approved on %s; run %s tried it", at(), c.TriedIn)
	}
	return "approved on " + at() + ", not tried yet"
}

// All lists the texts of a skill that its owner has decided on, or may: the
// newest run's first.
func All(ctx context.Context, db *store.Store, name string) ([]*Candidate, error) {
	said, err := db.Decisions(ctx, name)
	if err != nil {
		return nil, err
	}
	flagged, err := db.Quarantined(ctx, name)
	if err != nil {
		return nil, err
	}
	trials, err := db.Trials(ctx, name)
	if err != nil {
		return nil, err
	}
	by := map[string]*Candidate{}
	var out []*Candidate
	find := func(sha string) (*Candidate, error) {
		if c := by[sha]; c != nil {
			return c, nil
		}
		s := &Texts{Skill: name, Store: db}
		first, _, err := s.Made(ctx, sha)
		if err != nil || first == nil {
			return nil, err
		}
		c := &Candidate{Candidate: *first}
		by[sha], out = c, append(out, c)
		return c, nil
	}
	for _, k := range flagged {
		c := &Candidate{Candidate: k, Flagged: true}
		by[k.SHA], out = c, append(out, c)
	}
	for i := range trials { // the newest first
		if c, err := find(trials[i].Challenger); err != nil {
			return nil, err
		} else if c != nil && c.Trial == nil {
			c.Trial = &trials[i]
		}
	}
	suggested, err := frozen.Suggestions(ctx, db.DB, name)
	if err != nil {
		return nil, err
	}
	for _, k := range suggested {
		if by[k.SHA] == nil {
			c := &Candidate{Candidate: k}
			by[k.SHA], out = c, append(out, c)
		}
	}
	for _, sha := range slices.Sorted(maps.Keys(said)) {
		c, err := find(sha)
		if err != nil {
			return nil, err
		}
		if c != nil {
			d := said[sha]
			c.Decision = &d
		}
	}
	// Of a text that was purged with the session that taught it nothing is
	// left to decide on; a rejection is kept.
	out = slices.DeleteFunc(out, func(c *Candidate) bool { return len(c.Text) == 0 && c.Standing() != Rejected })
	maps.DeleteFunc(by, func(_ string, c *Candidate) bool { return c.Decision == nil || c.Decision.Word != store.Approved })
	return out, markTried(ctx, db, name, by)
}

// markTried records which candidates a run has begun with and tried to its end, since its
// owner's decision if there is one.
func markTried(ctx context.Context, db *store.Store, name string, by map[string]*Candidate) error {
	if len(by) == 0 {
		return nil
	}
	runs, err := db.Runs(ctx, name)
	if err != nil {
		return err
	}
	for _, run := range runs {
		var f struct {
			Approved []string `json:"approved"`
		}
		if run.Status != record.Finished || len(run.Config) == 0 {
			continue
		}
		if err := json.Unmarshal(run.Config, &f); err != nil {
			return fmt.Errorf("read run %s: %w", run.ID, err)
		}
		for _, sha := range f.Approved {
			if c := by[sha]; c != nil && (c.Decision == nil || run.Started.After(c.Decision.Time)) {
				c.TriedIn = cmp.Or(c.TriedIn, run.ID)
			}
		}
	}
	return nil
}

// Seeds lists the candidates that a search of this live text begins with beside it (see
// Seed): those that their owner approved, and challengers whose trials her edits closed;
// and the texts that it must never propose. What is left out is named in notes.
func Seeds(ctx context.Context, db *store.Store, live *skill.Live, evolves string) (seeds, excluded, notes []string, err error) {
	all, err := All(ctx, db, live.Name)
	if err != nil {
		return nil, nil, nil, err
	}
	trials, err := Trials(ctx, db, live)
	if err != nil {
		return nil, nil, nil, err
	}
	closed, by := map[string]string{}, map[string]*Candidate{}
	for i := range trials {
		if !trials[i].Settled {
			closed[trials[i].Challenger] = trials[i].Closed
		}
	}
	for _, c := range all {
		if closed[c.SHA] != "" && c.TriedIn == "" {
			by[c.SHA] = c
		}
	}
	if err := markTried(ctx, db, live.Name, by); err != nil {
		return nil, nil, nil, err
	}
	for _, c := range all {
		who := "challenger"
		switch standing := c.Standing(); {
		case standing == Rejected:
			excluded = append(excluded, c.SHA)
			continue
		case c.TriedIn != "" || c.SHA == live.Doc.Hash() || PartOf(c.Operator) != evolves:
			continue
		case standing == Approved:
			who = "approved candidate"
		case closed[c.SHA] == "":
			continue
		}
		seed, why, err := Seed(ctx, db, live, c.SHA)
		if err != nil {
			return nil, nil, nil, err
		}
		if seed == nil {
			notes = append(notes, fmt.Sprintf("%s %.12s is left out: %s", who, c.SHA, why))
			continue
		}
		seeds = append(seeds, c.SHA)
		notes = append(notes, fmt.Sprintf("%s %.12s starts beside the live text", who, c.SHA))
	}
	slices.Sort(excluded)
	return seeds, excluded, notes, nil
}

// FlaggedRules names the rules of the firewall that a text breaks against the
// live one, or was found to break when it was made. A text that breaks any is
// installed by its owner alone: an approval only lets it be tried.
func FlaggedRules(live, next *skill.Document, evolves string, c *Candidate) ([]string, error) {
	opts := live.Options().Evolving(evolves)
	live, err := skill.Parse(live.Render(), opts)
	if err == nil {
		next, err = skill.Parse(next.Render(), opts)
	}
	if err != nil {
		return nil, fmt.Errorf("read candidate: %w", err)
	}
	rules := map[string]bool{}
	if c != nil && c.Decision != nil {
		for _, r := range c.Decision.Rules {
			rules[r] = true
		}
	}
	if c != nil && (c.Flagged || c.Rule != "") { // the second reader left one unread that was tried
		rules[cmp.Or(c.Rule, c.Reason)] = true
	}
	for _, f := range check.Check(live, next, check.ClaudeCode) {
		if f.Severity == check.Quarantine {
			rules[f.Rule] = true
		}
	}
	return slices.Sorted(maps.Keys(rules)), nil
}

// Of is the candidate of that SHA-256, nil if it never came before its owner.
func Of(ctx context.Context, db *store.Store, name, sha string) (*Candidate, error) {
	all, err := All(ctx, db, name)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if c.SHA == sha {
			return c, nil
		}
	}
	return nil, nil
}

// ProvedOn is the model that a text's own trial before the gate was about; the
// zero Model if it had none, or nothing is left of it.
func ProvedOn(ctx context.Context, db *store.Store, sha string) (record.Model, error) {
	by, err := db.ProvedBy(ctx, sha)
	if err != nil || by == nil {
		return record.Model{}, err
	}
	return record.ModelOf(by.Agent, by.Model), nil
}
