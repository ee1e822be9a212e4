package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/store"
)

// A harvested is what one harvest found.
type harvested struct {
	Sessions    int               `json:"sessions"`    // new or changed
	Invocations int               `json:"invocations"` // uses in them, as store.SkillUse counts them
	Problems    []harvest.Problem `json:"problems"`    // what could not be read
	Remarks     []harvest.Problem `json:"remarks,omitempty"`
	Redactions  int               `json:"redactions"`
	Found       []found           `json:"sources"`
}

const (
	harvestGC     = 400       // percent
	harvestMemory = 150 << 20 // bytes; above it the collector works as hard as it must
)

// harvest reads what is new in the sessions and stores it, redacted.
func (a *app) harvest(ctx context.Context, db *store.Store, f harvestFlags) (*harvested, error) {
	sources, err := a.sources(ctx, f)
	if err != nil {
		return nil, err
	}
	// Sessions pass through and are gone: collecting less often costs some tens
	// of megabytes and saves a tenth of the time. The limit keeps it to that.
	defer debug.SetGCPercent(debug.SetGCPercent(harvestGC))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(harvestMemory))
	h := &harvested{Problems: []harvest.Problem{}, Found: []found{}}
	began := a.Now()
	bar := a.Watch(term.Task{Phase: "harvest", Unit: "sessions"})
	defer bar.Done()
	red := a.redactor()
	live, problems, err := a.live()
	if err != nil {
		return nil, err
	}
	h.note(problems)
	for _, src := range sources {
		before := *h
		cur, err := db.Cursor(ctx, src.Name())
		if err != nil {
			return nil, err
		}
		saving := newSaving(db)
		marks := &marks{FileCursor: cur}
		problems, err := src.Sessions(ctx, marks, func(s *harvest.Session) error {
			harvest.Scrub(s, red) // of what readers do not know by its value
			live.Merge(s)
			h.Sessions++
			bar.Count()
			if !s.Headless || f.headless {
				h.Invocations += s.Uses()
			}
			h.Redactions += s.Redactions
			return saving.save(ctx, s)
		})
		if e := saving.wait(); e != nil {
			err = e
		}
		marks.settle(problems, saving)
		// What was read is kept even where the harvest was stopped.
		if e := cur.Flush(context.WithoutCancel(ctx)); e != nil && err == nil {
			err = e
		}
		h.note(problems)
		h.Found = append(h.Found, found{src.Name(), src.where, h.Sessions - before.Sessions, h.Invocations - before.Invocations})
		if err != nil {
			return h, fmt.Errorf("harvest %s: %w", src.Name(), err)
		}
	}
	if _, err := db.SkillUses(ctx); err != nil { // who only looks cannot keep what it counts
		return h, err
	}
	return h, a.harvestedQueue(began)
}

// note adds what a source has met.
func (h *harvested) note(problems []harvest.Problem) {
	for _, p := range problems {
		if p.Remark {
			h.Remarks = append(h.Remarks, p)
		} else {
			h.Problems = append(h.Problems, p)
		}
	}
}

// marks holds back what a source has read, so that a file of which nothing
// could be kept is named again by the next harvest. What is wrong with one that
// was kept stands in its stored session.
type marks struct {
	harvest.FileCursor
	later []func()
	paths []string
}

// Mark implements harvest.Cursor.
func (m *marks) Mark(path string, size int64, modified time.Time) {
	m.paths = append(m.paths, path)
	m.later = append(m.later, func() { m.FileCursor.Mark(path, size, modified) })
}

// MarkFile implements harvest.FileCursor.
func (m *marks) MarkFile(path string, f harvest.FileState) {
	m.paths = append(m.paths, path)
	m.later = append(m.later, func() { m.FileCursor.MarkFile(path, f) })
}

// settle marks the files that need not be read again.
func (m *marks) settle(problems []harvest.Problem, sv *saving) {
	again := map[string]bool{}
	for _, p := range problems {
		again[p.Path] = again[p.Path] || !p.Remark && !sv.kept[p.Path]
	}
	for path := range sv.lost {
		again[path] = true
	}
	for i, mark := range m.later {
		if !again[m.paths[i]] {
			mark()
		}
	}
}

// mine turns the stored uses of a skill into cases and assigns their splits.
// fresh are the ids of cases that were not known before: while a challenger is
// on trial, they are held out for it.
func (a *app) mine(ctx context.Context, db *store.Store, name string, model eval.Model, headless, onTrial bool) (fresh []eval.Case, stats harvest.MineStats, err error) {
	sessions, err := db.Sessions(ctx, store.SessionFilter{Skill: name})
	if err != nil {
		return nil, stats, err
	}
	known, err := db.Cases(ctx, name)
	if err != nil {
		return nil, stats, err
	}
	ptrs := make([]*harvest.Session, len(sessions))
	for i := range sessions {
		ptrs[i] = &sessions[i]
	}
	seen := map[string]bool{} // clusters that a search has read or chosen by
	for _, c := range known {
		seen[eval.ClusterOf(&c)] = seen[eval.ClusterOf(&c)] || c.Split == eval.Train || c.Split == eval.Val
	}
	old := map[string]string{} // case to be mined once more → its cluster, which stays
	if model != nil {
		for _, c := range known {
			if quoted(c) {
				old[c.ID] = c.Cluster
			}
		}
		known = slices.DeleteFunc(known, quoted)
	}
	mined, stats, err := harvest.Mine(ctx, ptrs, name, harvest.Miner{Model: model, Memory: db, Redactor: a.redactor(), Now: a.Now, Existing: known, IncludeHeadless: headless,
		Labeller: &harvest.Labeller{Model: model, Memory: db, Redactor: a.redactor(), Save: db.SaveSession}})
	if err != nil && len(mined) == 0 {
		return nil, stats, err
	}
	for i := range mined {
		if cluster, ok := old[mined[i].ID]; ok {
			mined[i].Cluster = cluster
			stats.Cases--
		}
		// What goes on in a session that the search knows, or nearly repeats it,
		// is no news to the challenger: it goes where its cluster is.
		if onTrial && !seen[eval.ClusterOf(&mined[i])] {
			mined[i].Split = eval.Test
		}
	}
	// What was read is kept even where reading was stopped.
	if e := a.saveCases(context.WithoutCancel(ctx), db, name, mined); e != nil {
		return nil, stats, e
	}
	return mined, stats, err
}

// quotation begins the rubric that harvest.Mine writes without a model.
const quotation = "The user corrected this: «"

// quoted reports whether a mined case was made without a model (by `evolve
// harvest`): its checks do no more than quote the correction, and a model may
// still write better ones.
func quoted(c eval.Case) bool {
	return c.Source != nil && c.Source.Origin == "mined" && c.Source.Outcome == string(harvest.Corrected) &&
		!slices.ContainsFunc(c.Checks, func(k eval.Check) bool { return !strings.HasPrefix(k.Rubric, quotation) })
}

// saveCases stores cases and gives those without a split one, all cases of the
// skill considered.
func (a *app) saveCases(ctx context.Context, db *store.Store, name string, cases []eval.Case) error {
	if len(cases) > 0 {
		if _, _, err := db.SaveCases(ctx, cases); err != nil {
			return err
		}
	}
	all, err := db.Cases(ctx, name)
	if err != nil {
		return err
	}
	splits := map[string]eval.Split{}
	open := map[string]bool{}
	for _, c := range all {
		open[c.ID] = c.Split == eval.Unassigned
	}
	eval.AssignSplits(all)
	for _, c := range all {
		if open[c.ID] {
			splits[c.ID] = c.Split
		}
	}
	if len(splits) == 0 {
		return nil
	}
	return db.SetSplits(ctx, name, splits)
}
