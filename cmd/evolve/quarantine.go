package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/user"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
)

// A verdictWord is how a candidate stands, in one word of `--json`.
type verdictWord string

const (
	inQuarantine verdictWord = "quarantined" // waits for its owner's word
	approvedWord verdictWord = "approved"    // by its owner; to be tried, or tried without coming to the gate
	rejectedWord verdictWord = "rejected"    // by its owner
	provenWord   verdictWord = "proven"      // by the gate
	onTrialWord  verdictWord = "undecided"   // before the gate
	lostWord     verdictWord = "lost"        // before the gate
)

// A candidacy is one text of a skill that its owner may have a word on: one that
// the firewall flagged, one that came before the gate, or both.
type candidacy struct {
	tournament.Candidate // as the run that made it has it
	flagged              bool
	trial                *tournament.TrialRecord // the newest, nil for none
	said                 *store.Decision         // the owner's last word, nil for none
	triedIn              string                  // the finished run that had an approved one in its pool
	base                 string                  // SHA-256 of the text that an approved one was made from
	carried              []rebasing              // what became of an approved one on later texts, the newest first
}

// mayBeSown reports whether a search of the live text begins with it: one that its
// owner approved, that no run has tried, and that was made from this very text. Made
// from an older one it has not what was written since, and neither would its
// children have.
func (c *candidacy) mayBeSown(live string) bool {
	return c.standing() == approvedWord && c.triedIn == "" && c.base == live && c.SHA != live
}

// standing is how it stands.
func (c *candidacy) standing() verdictWord {
	switch {
	case c.said != nil && c.said.Word == store.Rejected:
		return rejectedWord
	case c.flagged && c.said == nil:
		return inQuarantine
	case c.trial != nil && c.trial.Decision == string(pareto.Promote):
		return provenWord
	case c.trial != nil && c.trial.Decision == string(pareto.Undecided):
		return onTrialWord
	case c.trial != nil:
		return lostWord
	}
	return approvedWord
}

// words say the same for people.
func (c *candidacy) words() string {
	at := func() string { return c.said.Time.Local().Format("2006-01-02") + " by " + c.said.By }
	switch c.standing() {
	case inQuarantine:
		return "in quarantine: " + c.Reason
	case rejectedWord:
		return "rejected on " + at()
	case provenWord:
		return "proven by the gate"
	case onTrialWord:
		return "on trial, undecided"
	case lostWord:
		return "rejected by the gate"
	}
	if c.triedIn != "" {
		return fmt.Sprintf("approved on %s; run %s tried it", at(), c.triedIn)
	}
	if len(c.carried) > 0 {
		switch k := c.carried[0]; k.Outcome {
		case dropped:
			return fmt.Sprintf("approved on %s, left out: %s", at(), k.Reason)
		case heldBack:
			return fmt.Sprintf("approved on %s; re-based since as %.12s", at(), k.To)
		}
	}
	return "approved on " + at() + ", not tried yet"
}

// candidacies lists what of a skill its owner has, or may have, a word on: the
// newest run's first.
func candidacies(ctx context.Context, db *store.Store, name string) ([]*candidacy, error) {
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
	by := map[string]*candidacy{}
	var out []*candidacy
	find := func(sha string) (*candidacy, error) {
		if c := by[sha]; c != nil {
			return c, nil
		}
		s := &skillTexts{name: name, db: db}
		first, _, err := s.made(ctx, sha)
		if err != nil || first == nil {
			return nil, err
		}
		c := &candidacy{Candidate: *first}
		by[sha], out = c, append(out, c)
		return c, nil
	}
	for _, k := range flagged {
		c := &candidacy{Candidate: k, flagged: true}
		by[k.SHA], out = c, append(out, c)
	}
	for i := range trials { // the newest first
		if c, err := find(trials[i].Challenger); err != nil {
			return nil, err
		} else if c != nil && c.trial == nil {
			c.trial = &trials[i]
		}
	}
	for _, sha := range slices.Sorted(maps.Keys(said)) {
		c, err := find(sha)
		if err != nil {
			return nil, err
		}
		if c != nil {
			d := said[sha]
			c.said = &d
		}
	}
	// Of a text that was purged with the session that taught it nothing is left to
	// decide on; but a rejection stays one.
	out = slices.DeleteFunc(out, func(c *candidacy) bool { return len(c.Text) == 0 && c.standing() != rejectedWord })
	return out, markTried(ctx, db, name, by)
}

// markTried notes which approved candidates a run has tried since to its end, what
// they were made from, and what became of them on later texts.
func markTried(ctx context.Context, db *store.Store, name string, by map[string]*candidacy) error {
	open := false
	for _, c := range by {
		open = open || c.said != nil && c.said.Word == store.Approved
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
		c.base = against[c.Run]
	}
	for _, run := range runs {
		var f struct {
			Approved []string `json:"approved"`
		}
		if strings.HasPrefix(run.ID, rebasePrefix) {
			var r rebasing
			if err := json.Unmarshal(run.Config, &r); err != nil {
				return fmt.Errorf("read run %s: %w", run.ID, err)
			}
			if c := by[r.From]; c != nil {
				c.carried = append(c.carried, r)
			}
			continue
		}
		if run.Status != tournament.Finished || len(run.Config) == 0 {
			continue
		}
		if err := json.Unmarshal(run.Config, &f); err != nil {
			return fmt.Errorf("read run %s: %w", run.ID, err)
		}
		for _, sha := range f.Approved {
			if c := by[sha]; c != nil && c.said != nil && run.Started.After(c.said.Time) {
				c.triedIn = cmp.Or(c.triedIn, run.ID)
			}
		}
	}
	return nil
}

// seedsFor lists the approved candidates that a search of this live text begins
// with beside it, and the texts that it must never propose. One whose kernel is
// no longer the live one's is named in notes instead.
func seedsFor(ctx context.Context, db *store.Store, live *skill.Live, evolves string) (seeds, barred, notes []string, err error) {
	all, err := candidacies(ctx, db, live.Name)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, c := range all {
		switch c.standing() {
		case rejectedWord:
			barred = append(barred, c.SHA)
			continue
		case approvedWord:
		default:
			continue
		}
		if c.triedIn != "" || c.SHA == live.Doc.Hash() || evolvesOf(c.Operator) != evolves {
			continue
		}
		if !c.mayBeSown(live.Doc.Hash()) {
			if len(c.carried) == 0 { // else that was told
				notes = append(notes, fmt.Sprintf("approved candidate %.12s is left out: it was made from another text than the live one", c.SHA))
			}
			continue
		}
		doc, err := skill.Stored(c.Text)
		if err != nil {
			return nil, nil, nil, err
		}
		if err := skill.CheckKernel(live.Doc, doc, evolves); err != nil {
			notes = append(notes, fmt.Sprintf("approved candidate %.12s cannot be tried any more: %v", c.SHA, err))
			continue
		}
		seeds = append(seeds, c.SHA)
		notes = append(notes, fmt.Sprintf("approved candidate %.12s starts beside the live text", c.SHA))
	}
	slices.Sort(barred)
	return seeds, barred, notes, nil
}

// flaggedRules names the rules of the firewall that a text breaks against the
// live one, or was found to break when it was made. What has any is installed by
// its owner alone: an approval lets a text be tried, and says no more.
func flaggedRules(live, next *skill.Document, evolves string, c *candidacy) ([]string, error) {
	live, err := skill.Parse(live.Render(), skill.OptionsFor(evolves))
	if err == nil {
		next, err = skill.Parse(next.Render(), skill.OptionsFor(evolves))
	}
	if err != nil {
		return nil, fmt.Errorf("read candidate: %w", err)
	}
	rules := map[string]bool{}
	if c != nil && c.said != nil {
		for _, r := range c.said.Rules {
			rules[r] = true
		}
	}
	if c != nil && c.flagged {
		rule, _, _ := strings.Cut(c.Reason, ":")
		rules[rule] = true
	}
	for _, f := range skill.Check(live, next, skill.ClaudeCode) {
		if f.Severity == skill.Quarantine {
			rules[f.Rule] = true
		}
	}
	return slices.Sorted(maps.Keys(rules)), nil
}

// candidacyOf is what is known of one text, nil where it never came before its
// owner.
func candidacyOf(ctx context.Context, db *store.Store, name, sha string) (*candidacy, error) {
	all, err := candidacies(ctx, db, name)
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

// whoami is the name of the user who types.
func whoami() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}
