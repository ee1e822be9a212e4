package candidate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Backing describes the evidence for a version.
func Backing(v record.Version) string {
	switch {
	case v.Author != "evolve":
		return "yours"
	case !v.Proven:
		return "not proven"
	}
	return "proven"
}

// NeverTried is the decision of a candidate that never came before the gate.
const NeverTried pareto.Verdict = "never tried"

// MadeBy is a candidate as the run that made it has it.
func MadeBy(ctx context.Context, db *store.Store, name, sha string) (*record.Candidate, error) {
	c, _, err := (&Texts{Skill: name, Store: db}).Made(ctx, sha)
	if err == nil && c == nil {
		c, err = db.Candidate(ctx, sha)
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
)

// A Candidate is one text of a skill that its owner may decide on: one that
// the firewall flagged, one that came before the gate, or both.
type Candidate struct {
	record.Candidate // as the run that made it has it
	Flagged          bool
	Trial            *record.TrialRecord // the newest, nil for none
	Decision         *store.Decision     // the owner's last one, nil for none
	TriedIn          string              // the finished run that had an approved one in its pool
	Base             string              // SHA-256 of the text that an approved one was made from
	Carryings        []Carrying          // what became of an approved one on later texts, the newest first
}

// MayStart reports whether a search of the live text begins with it: its
// owner has approved it, no run has tried it, and it was made from this very
// text. A candidate made from an older text lacks what was written since, and
// so would its children.
func (c *Candidate) MayStart(live string) bool {
	return c.Standing() == Approved && c.TriedIn == "" && c.Base == live && c.SHA != live
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
		return "proven by the gate"
	case Undecided:
		return "on trial, " + string(c.Trial.Decision)
	case Lost:
		return "rejected by the gate"
	}
	if c.TriedIn != "" {
		return fmt.Sprintf("approved on %s; run %s tried it", at(), c.TriedIn)
	}
	if len(c.Carryings) > 0 {
		switch k := c.Carryings[0]; k.Outcome {
		case Dropped:
			return fmt.Sprintf("approved on %s, left out: %s", at(), k.Reason)
		case HeldBack:
			return fmt.Sprintf("approved on %s; re-based since as %.12s", at(), k.To)
		}
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
	return out, markTried(ctx, db, name, by)
}

// markTried records which approved candidates a run has tried to its end
// since, what they were made from, and their results on later texts.
func markTried(ctx context.Context, db *store.Store, name string, by map[string]*Candidate) error {
	open := false
	for _, c := range by {
		open = open || c.Decision != nil && c.Decision.Word == store.Approved
	}
	if !open {
		return nil
	}
	runs, err := db.Runs(ctx, name)
	if err != nil {
		return err
	}
	against := make(map[string]string, len(runs))
	for _, run := range runs {
		against[run.ID] = run.Incumbent
	}
	for _, c := range by {
		c.Base = against[c.Run]
	}
	for _, run := range runs {
		var f struct {
			Approved []string `json:"approved"`
		}
		if strings.HasPrefix(run.ID, CarryingPrefix) {
			var r Carrying
			if err := json.Unmarshal(run.Config, &r); err != nil {
				return fmt.Errorf("read run %s: %w", run.ID, err)
			}
			if c := by[r.From]; c != nil {
				c.Carryings = append(c.Carryings, r)
			}
			continue
		}
		if run.Status != record.Finished || len(run.Config) == 0 {
			continue
		}
		if err := json.Unmarshal(run.Config, &f); err != nil {
			return fmt.Errorf("read run %s: %w", run.ID, err)
		}
		for _, sha := range f.Approved {
			if c := by[sha]; c != nil && c.Decision != nil && run.Started.After(c.Decision.Time) {
				c.TriedIn = cmp.Or(c.TriedIn, run.ID)
			}
		}
	}
	return nil
}

// Seeds lists the approved candidates that a search of this live text begins
// with beside it, and the texts that it must never propose. A candidate whose
// kernel differs from the live one is named in notes instead.
func Seeds(ctx context.Context, db *store.Store, live *skill.Live, evolves string) (seeds, excluded, notes []string, err error) {
	all, err := All(ctx, db, live.Name)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, c := range all {
		switch c.Standing() {
		case Rejected:
			excluded = append(excluded, c.SHA)
			continue
		case Approved:
		default:
			continue
		}
		if c.TriedIn != "" || c.SHA == live.Doc.Hash() || PartOf(c.Operator) != evolves {
			continue
		}
		if !c.MayStart(live.Doc.Hash()) {
			if len(c.Carryings) == 0 { // else it was reported
				notes = append(notes, fmt.Sprintf("approved candidate %.12s is left out: it was made from another text than the live one", c.SHA))
			}
			continue
		}
		doc, err := skill.Stored(c.Text)
		if err != nil {
			return nil, nil, nil, err
		}
		if err := check.Kernel(live.Doc, doc, evolves); err != nil {
			notes = append(notes, fmt.Sprintf("approved candidate %.12s cannot be tried any more: %v", c.SHA, err))
			continue
		}
		seeds = append(seeds, c.SHA)
		notes = append(notes, fmt.Sprintf("approved candidate %.12s starts beside the live text", c.SHA))
	}
	slices.Sort(excluded)
	return seeds, excluded, notes, nil
}

// FlaggedRules names the rules of the firewall that a text breaks against the
// live one, or was found to break when it was made. A text that breaks any is
// installed by its owner alone: an approval only lets it be tried.
func FlaggedRules(live, next *skill.Document, evolves string, c *Candidate) ([]string, error) {
	live, err := skill.Parse(live.Render(), skill.OptionsFor(evolves))
	if err == nil {
		next, err = skill.Parse(next.Render(), skill.OptionsFor(evolves))
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
	if c != nil && c.Flagged {
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

// Carried reports whether an approved candidate needs no re-basing on the
// live text: it was tried there, or its re-based text on an earlier one waits
// for its owner's decision.
func (c *Candidate) Carried(live string) bool {
	for _, k := range c.Carryings {
		if k.Onto == live || k.Outcome != Dropped {
			return true
		}
	}
	return false
}

// NextElsewhere is the next step after the approval of a candidate that was
// made from another text than the live one.
func (c *Candidate) NextElsewhere(name string) string {
	const why = "it was made from another text than the live one"
	if len(c.Carryings) == 0 {
		return fmt.Sprintf("nothing yet: %s, and a run is at work; the next one re-bases it", why)
	}
	if k := c.Carryings[0]; k.Outcome == HeldBack {
		return fmt.Sprintf("`evolve approve %s@%.12s` shows it with what the live text says: %s", name, k.To, why)
	}
	return fmt.Sprintf("nothing: %s, and %s", why, c.Carryings[0].Reason)
}

// OpenTrial returns the newest undecided trial against the live text, nil for
// none. evolves selects the part, "" for any: a harness is tried on other
// cases than a description. A text that only lacks lines is on trial if its
// owner asked for it.
func OpenTrial(ctx context.Context, db *store.Store, live *skill.Live, evolves string) (*record.TrialRecord, error) {
	trials, err := db.Trials(ctx, live.Name)
	if err != nil {
		return nil, err
	}
	for _, t := range trials { // the newest first
		if t.Incumbent != live.Doc.Hash() || !t.Decision.IsOpen() {
			continue
		}
		if evolves != "" {
			c, err := db.Candidate(ctx, t.Challenger)
			if err != nil {
				return nil, fmt.Errorf("read challenger %.12s: %w", t.Challenger, err)
			}
			of := PartOf(c.Operator)
			if of == skill.Harness && OnlyDeletes(live.Doc, c.Text) {
				of = skill.Shorten
			}
			if of != evolves {
				continue
			}
		}
		return &t, nil
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
