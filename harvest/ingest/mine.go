package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/checkout"
	"github.com/skill-evolve/evolve/harvest/reading"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
)

// A Mining holds the options of making cases of sessions.
type Mining struct {
	Model    eval.Model                  // writes checks and labels replies; nil: corrections are quoted
	May      func(*harvest.Session) bool // may Model be shown a session; nil: every one
	Headless bool                        // cases of sessions that a program drove, too
	OnTrial  bool                        // a challenger is on trial: new cases are held out for it
}

// MineStats counts what Mine did.
type MineStats struct {
	harvest.MineStats
	Reading     reading.Stats `json:"reading"`
	Unconfirmed []Unconfirmed `json:"unconfirmed,omitempty"`
}

// Mine has what users said about the uses of a skill read, turns the stored uses into
// cases and assigns their splits. It returns the new cases, and those that a model has
// rewritten.
func (g *Ingester) Mine(ctx context.Context, name string, m Mining) (fresh []eval.Case, stats MineStats, err error) {
	sessions, err := g.Store.Sessions(ctx, store.SessionFilter{Skill: name, Text: true, Work: true})
	if err != nil {
		return nil, stats, err
	}
	ptrs := make([]*harvest.Session, len(sessions))
	for i := range sessions {
		ptrs[i] = &sessions[i]
		was := unread(ptrs[i])
		if harvest.Assess(ptrs[i]); unread(ptrs[i]) > was { // labelled by an older evolve, by other cues
			if err := g.Store.SaveReadings(ctx, ptrs[i]); err != nil {
				return nil, stats, err
			}
		}
	}
	known, err := g.Store.Cases(ctx, name)
	if err != nil {
		return nil, stats, err
	}
	var kept []harvest.Kept
	old := map[string]string{} // case to be mined again → its cluster, which is kept
	if m.Model != nil {
		if kept, err = Kept(ctx, g.Store, name, known); err != nil {
			return nil, stats, err
		}
		for _, c := range known {
			if Quoted(c) {
				old[c.ID] = c.Cluster
			}
		}
		known = slices.DeleteFunc(known, Quoted)
	}
	reader := reading.Reader{Model: m.Model, May: m.May, Memory: g.Store, Redactor: g.Redactor, Save: g.Store.SaveReadings, Headless: m.Headless}
	if stats.Reading, err = reader.Uses(ctx, ptrs, name); err != nil {
		return nil, stats, err
	}
	mined, counts, err := harvest.Mine(ctx, ptrs, name, harvest.Miner{Model: m.Model, May: m.May, Memory: g.Store, Redactor: g.Redactor, Now: g.Now, Existing: known, Kept: kept,
		Workspace: new(checkout.Finder).Workspace, IncludeHeadless: m.Headless})
	stats.MineStats = counts
	if err != nil && len(mined) == 0 {
		return nil, stats, err
	}
	for i := range mined {
		if cluster, ok := old[mined[i].ID]; ok {
			mined[i].Cluster = cluster
			stats.Cases--
		}
	}
	// What was mined is kept even if mining was stopped.
	if _, _, e := g.Store.SaveCases(context.WithoutCancel(ctx), mined); e != nil {
		return nil, stats, e
	}
	if e := g.Split(context.WithoutCancel(ctx), name, m.OnTrial); e != nil {
		return nil, stats, e
	}
	var e error
	if stats.Unconfirmed, e = g.grade(context.WithoutCancel(ctx), name, ptrs); e != nil {
		return nil, stats, e
	}
	for _, c := range mined {
		if !Quoted(c) && slices.ContainsFunc(kept, func(k harvest.Kept) bool { return k.Case.ID == c.ID }) {
			if e := g.Store.TrimRecording(context.WithoutCancel(ctx), name, c.ID); e != nil {
				return nil, stats, e
			}
		}
	}
	return mined, stats, err
}

// unread counts the uses in s that no model has read.
func unread(s *harvest.Session) (n int) {
	for _, v := range s.Invocations {
		if v.Feedback.Unread {
			n++
		}
	}
	return n
}

// quotation begins the rubric that harvest.Mine writes without a model.
const quotation = "The user corrected this: «"

// Quoted reports whether a mined case was made without a model: its checks only quote
// the correction, confirmed tests aside, and a model may still write better ones.
func Quoted(c eval.Case) bool {
	if c.Source == nil || c.Source.Origin != "mined" || c.Source.Outcome != string(harvest.Corrected) {
		return false
	}
	quotes := func(k eval.Check) bool { return strings.HasPrefix(k.Rubric, quotation) }
	return slices.ContainsFunc(c.Checks, quotes) && !slices.ContainsFunc(c.Checks, func(k eval.Check) bool { return k.Type != eval.Tests && !quotes(k) })
}

// SkillCases has the counts of one skill over all stored sessions: see store.SkillUse.
type SkillCases struct {
	Skill     string `json:"skill"`
	Uses      int    `json:"uses"`
	Corrected int    `json:"corrected"`
	Accepted  int    `json:"accepted"`
	Rejected  int    `json:"rejected"`
	Repeated  int    `json:"repeated"`
	Abandoned int    `json:"abandoned"`
	// Unread are uses of which no model has read what the user wrote after them.
	Unread int `json:"unread"`
	// Headless are uses in sessions that a program drove, in none of the counts above.
	Headless int `json:"headless_uses"`
	Cases    int `json:"cases"`
	NewCases int `json:"new_cases"`
	// Quoted counts the cases whose checks quote a correction: no model has written
	// them yet.
	Quoted int `json:"quoted"`
	// Commits are counts by how far the commits of its mined cases are known; nil if all
	// have none.
	Commits     checkout.Counts `json:"commits,omitempty"`
	Note        string          `json:"note,omitempty"` // why it has no cases
	Unconfirmed []Unconfirmed   `json:"unconfirmed,omitempty"`
}

// MineAll makes cases, without a model, of every skill that was used and can be read,
// or only of one, if only is not "". onTrial reports whether a challenger of a skill is
// on trial.
func (g *Ingester) MineAll(ctx context.Context, reg *skill.Registry, only string, headless bool, onTrial func(context.Context, *skill.Live) (bool, error)) ([]SkillCases, error) {
	uses, err := Uses(ctx, g.Store, reg)
	if err != nil {
		return nil, err
	}
	out := []SkillCases{}
	for _, u := range uses {
		if only != "" && u.Skill != only {
			continue
		}
		s := SkillCases{Skill: u.Skill, Headless: u.Headless}
		live, err := g.Layout.Live(u.Skill)
		var unknown *skill.UnknownSkillError
		switch {
		case errors.As(err, &unknown):
			s.Note = "not in the skills folder"
		case err != nil:
			s.Note = plain.Line(err.Error())
		default:
			trial, err := onTrial(ctx, live)
			if err != nil {
				return nil, err
			}
			before, err := g.Store.Cases(ctx, live.Name)
			if err != nil {
				return nil, err
			}
			// Cases that the owner dropped are mined again, but not stored again.
			_, stats, err := g.Mine(ctx, live.Name, Mining{Headless: headless, OnTrial: trial})
			if err != nil {
				return nil, fmt.Errorf("mine cases of %s: %w", live.Name, err)
			}
			s.Unconfirmed = stats.Unconfirmed
			s.NewCases = -len(before)
			if u, err = g.Uses(ctx, u.Skill); err != nil {
				return nil, err
			}
		}
		s.Uses, s.Corrected, s.Accepted, s.Rejected, s.Repeated, s.Abandoned, s.Unread = u.Uses, u.Corrected, u.Accepted, u.Rejected, u.Repeated, u.Abandoned, u.Unread
		cases, err := g.Store.Cases(ctx, u.Skill)
		if err != nil {
			return nil, err
		}
		if s.Cases = len(cases); s.Note == "" {
			s.NewCases += len(cases)
		}
		for _, c := range cases {
			if Quoted(c) {
				s.Quoted++
			}
		}
		s.Commits = checkout.Count(cases)
		if s.Note == "" && s.Headless > 0 {
			s.Note = plain.Counted(s.Headless, "use") + " more without a person"
			if !headless {
				s.Note += ", left out (--include-headless)"
			}
		}
		out = append(out, s)
	}
	return out, nil
}
