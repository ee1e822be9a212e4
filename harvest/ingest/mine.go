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
	"github.com/skill-evolve/evolve/harvest/moments"
	"github.com/skill-evolve/evolve/harvest/reading"
	"github.com/skill-evolve/evolve/harvest/repeated"
	"github.com/skill-evolve/evolve/harvest/verify"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/draws"
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
	Reading     reading.Stats   `json:"reading"`
	Verified    verify.Stats    `json:"verified"`
	Moments     *moments.Counts `json:"moments,omitempty"` // of a file
	Unconfirmed []Ungraded      `json:"unconfirmed,omitempty"`
	NoProgram   []Ungraded      `json:"no_program,omitempty"`
}

// Mine has what users said about the uses of a skill, or about the moments of a file, read,
// turns the stored ones into cases and assigns their splits. It returns the new cases, and
// those that a model has rewritten.
func (g *Ingester) Mine(ctx context.Context, name string, m Mining) (fresh []eval.Case, stats MineStats, err error) {
	q, err := g.open(ctx, name, m)
	if err != nil {
		return nil, stats, err
	}
	for _, s := range q.sessions {
		was := unread(s)
		if harvest.Assess(s); unread(s) > was { // labelled by an older evolve, by other cues
			if err := g.Store.SaveReadings(ctx, s); err != nil {
				return nil, stats, err
			}
		}
	}
	if q.draw != nil { // before anything is read that followed a turn
		if err := draws.Keep(ctx, g.Store, q.draw); err != nil {
			return nil, stats, err
		}
	}
	mined, stats, err := q.mine(ctx, g.Store.SaveReadings)
	if err != nil && len(mined) == 0 {
		return nil, stats, err
	}
	// What was mined is kept even if mining was stopped.
	after := context.WithoutCancel(ctx)
	mined, e := q.keep(after, mined, &stats)
	if e != nil {
		return nil, stats, e
	}
	if e := q.settle(after, stats); e != nil {
		return nil, stats, e
	}
	if e := g.Split(after, name, m.OnTrial); e != nil {
		return nil, stats, e
	}
	if stats.Unconfirmed, stats.NoProgram, e = g.grade(after, name, q.sessions); e != nil {
		return nil, stats, e
	}
	for _, c := range mined {
		if !Quoted(c) && slices.ContainsFunc(q.kept, func(k harvest.Kept) bool { return k.Case.ID == c.ID }) {
			if e := g.Store.TrimRecording(after, name, c.ID); e != nil {
				return nil, stats, e
			}
		}
	}
	return mined, stats, err
}

// Count makes the requests of Mine to a model that only counts them. Nothing is stored.
func (g *Ingester) Count(ctx context.Context, name string, m Mining) error {
	q, err := g.open(ctx, name, m)
	if err == nil {
		_, _, err = q.mine(ctx, nil)
	}
	return err
}

// A quarry is what cases of one subject are made of.
type quarry struct {
	Mining
	g        *Ingester
	name     string
	sessions []*harvest.Session
	known    []eval.Case
	kept     []harvest.Kept
	again    map[string]string // case to be mined again → its cluster, which is kept
	// Of a file: its population, and how cases are drawn of it.
	people *moments.Population
	draw   *moments.Draw
}

func (g *Ingester) open(ctx context.Context, name string, m Mining) (*quarry, error) {
	q := &quarry{Mining: m, g: g, name: name, again: map[string]string{}}
	file := subject.Parse(name)
	filter := store.SessionFilter{Skill: name, Text: true, Work: true}
	if file.Kind == subject.File {
		filter.Skill = ""
	}
	sessions, err := g.Store.Sessions(ctx, filter)
	if err != nil {
		return nil, err
	}
	for i := range sessions {
		q.sessions = append(q.sessions, &sessions[i])
	}
	if q.known, err = g.Store.Cases(ctx, name); err != nil {
		return nil, err
	}
	if m.Model != nil {
		if q.kept, err = Kept(ctx, g.Store, name, q.known); err != nil {
			return nil, err
		}
		for _, c := range q.known {
			if unproven(c) {
				q.again[c.ID] = c.Cluster
			}
		}
		q.known = slices.DeleteFunc(q.known, unproven)
	}
	if file.Kind == subject.File {
		err = q.take(ctx, file)
	}
	return q, err
}

// mine has the sessions read, and makes cases.
func (q *quarry) mine(ctx context.Context, save func(context.Context, *harvest.Session) error) (mined []eval.Case, stats MineStats, err error) {
	reader := reading.Reader{Model: q.Model, May: q.May, Memory: q.g.Store, Redactor: q.g.Redactor, Save: save, Headless: q.Headless}
	miner := harvest.Miner{Model: q.Model, May: q.May, Memory: q.g.Store, Redactor: q.g.Redactor, Now: q.g.Now, Existing: q.known, Kept: q.kept,
		Workspace: new(checkout.Finder).Workspace, Repeats: repeated.Of, IncludeHeadless: q.Headless}
	var choice *moments.Choice
	if q.draw == nil {
		miner.Attribute = q.g.attribute(ctx)
		stats.Reading, err = reader.Uses(ctx, q.sessions, q.name)
	} else if stats.Reading, err = q.read(ctx, reader); err == nil {
		choice = q.draw.Choose(q.people)
		stats.Moments, miner.Moment = &choice.Counts, choice.Becomes
	}
	if err != nil {
		return nil, stats, err
	}
	mined, stats.MineStats, err = harvest.Mine(ctx, q.sessions, q.name, miner)
	for i := range mined {
		if cluster, ok := q.again[mined[i].ID]; ok {
			mined[i].Cluster = cluster
			stats.Cases--
		}
	}
	if e := q.verify(ctx, mined, &stats, save == nil); err == nil {
		err = e
	}
	if choice != nil {
		choice.Mark(mined)
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
	Unconfirmed []Ungraded      `json:"unconfirmed,omitempty"`
	NoProgram   []Ungraded      `json:"no_program,omitempty"`
	// Corrections after turns in which other skills were loaded, too: those that are cases of
	// another one, and those of which nothing says whose they are.
	Elsewhere    int           `json:"attributed_elsewhere,omitempty"`
	Unattributed int           `json:"unattributed,omitempty"`
	Draw         *moments.Draw `json:"draw,omitempty"` // of a file; its uses are the requests in which it was loaded
}

// attributed says of how many corrections no case was made because of other skills, for the
// end of a note.
func (s *SkillCases) attributed() (words string) {
	if s.Elsewhere > 0 {
		words += "; " + plain.Counted(s.Elsewhere, "correction") + " attributed to another skill of the turn"
	}
	if s.Unattributed > 0 {
		words += "; " + plain.Counted(s.Unattributed, "correction") + " attributed to none of several skills"
	}
	return words
}

// MineAll makes cases, without a model, of every skill that was used and can be read and of
// every file whose moments were drawn, or only of one, if only is not "". onTrial reports whether a challenger of a skill is
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
			s.Unconfirmed, s.NoProgram = stats.Unconfirmed, stats.NoProgram
			s.Elsewhere, s.Unattributed = stats.Elsewhere, stats.Unattributed
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
		s.Note = strings.TrimPrefix(s.Note+s.attributed(), "; ")
		out = append(out, s)
	}
	files, err := g.mineFiles(ctx, only, headless, onTrial)
	return append(out, files...), err
}
