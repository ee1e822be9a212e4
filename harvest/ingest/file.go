package ingest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/moments"
	"github.com/skill-evolve/evolve/harvest/reading"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/standing"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/draws"
)

// take finds the population of a file, and how cases are drawn of it: as the first harvest
// that knew the file has decided.
func (q *quarry) take(ctx context.Context, file subject.Ref) error {
	var projects consent.Decisions // only to find them: worktrees are their repository
	loader := standing.Loader{Layout: q.g.Layout}
	loads := func(agent, version string, file subject.Ref, folder string) bool {
		return !below(file, folder) && loader.Loads(agent, version, file, folder)
	}
	q.people = moments.Of(q.sessions, file, loads, projects.Project)
	draw, err := draws.Of(ctx, q.g.Store, q.name)
	if q.draw = draw; err == nil && draw == nil {
		q.draw = moments.NewDraw(q.name, q.people, q.g.Now())
	}
	return err
}

// below reports whether a folder is of a repository below the folder of a file. An agent may
// load the file there, but the recorded tree of such a session has no place for it: it begins
// below, and has a file of its own at its top.
func below(file subject.Ref, folder string) bool {
	root, _ := file.Place()
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	top := skill.Repository(folder)
	return root != "~" && strings.HasPrefix(top, strings.TrimSuffix(root, "/")+"/") && skill.MainTree(top) != root
}

// read has the drawn moments read, and then some that only teach.
func (q *quarry) read(ctx context.Context, reader reading.Reader) (reading.Stats, error) {
	drawn, teaching := q.draw.Wanted(q.people)
	stats, err := reader.Chosen(ctx, q.sessions, drawn)
	if err != nil {
		return stats, err
	}
	more, err := reader.Chosen(ctx, q.sessions, teaching)
	return stats.Plus(more), err
}

// settle keeps what a harvest made of a file's moments, and drops the cases that cannot be
// replayed after all: a model has read what was silent before.
func (q *quarry) settle(ctx context.Context, stats MineStats) error {
	if q.draw == nil {
		return nil
	}
	for _, id := range q.people.Unreplayable(q.known) {
		if err := q.g.Store.DropCase(ctx, q.name, id); err != nil {
			return err
		}
	}
	q.draw.Counts = stats.Moments
	return draws.Keep(ctx, q.g.Store, q.draw)
}

// knownFile returns an error unless a file is on disk, or its moments were drawn.
func knownFile(ctx context.Context, db *store.Store, file subject.Ref) error {
	if d, err := draws.Of(ctx, db, file.Key()); err != nil || d != nil {
		return err
	}
	return onDisk(file)
}

func onDisk(file subject.Ref) error {
	root, at := file.Place()
	if root == "~" {
		var err error
		if root, err = os.UserHomeDir(); err != nil {
			return err
		}
	}
	if info, err := os.Stat(filepath.Join(root, filepath.FromSlash(at))); err != nil || !info.Mode().IsRegular() {
		return &problem.Error{Kind: problem.NotFound, Err: fmt.Errorf("there is no file %s", plain.Line(file.Text())), Hint: "a file is named by its path, or by file:FOLDER:PATH"}
	}
	return nil
}

// Draw is how the moments of a file are drawn that become cases; nil for a skill, and before
// the first harvest that knew the file.
func (g *Ingester) Draw(ctx context.Context, name string) (*moments.Draw, error) {
	if g.Store == nil || subject.Parse(name).Kind != subject.File {
		return nil, nil
	}
	return draws.Of(ctx, g.Store, name)
}

// Afford sets the share of a file's moments that the next harvest draws.
func (g *Ingester) Afford(ctx context.Context, name string, share float64) (*moments.Draw, error) {
	d, err := g.Draw(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case d == nil:
		return nil, &problem.Error{Kind: problem.NotFound, Err: fmt.Errorf("no requests of %s were drawn yet", plain.Line(subject.Parse(name).Text())), Hint: "`evolve harvest` draws those of the files that it knows"}
	}
	if err := d.Afford(share); err != nil {
		return nil, &problem.Error{Kind: problem.Input, Err: err}
	}
	return d, draws.Keep(ctx, g.Store, d)
}

// mineFiles makes cases, without a model, of every file whose moments were drawn, or only of
// one, if only is not "".
func (g *Ingester) mineFiles(ctx context.Context, only string, headless bool, onTrial func(context.Context, *skill.Live) (bool, error)) (out []SkillCases, err error) {
	all, err := draws.All(ctx, g.Store)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, d := range all {
		names = append(names, d.Subject)
	}
	if subject.Parse(only).Kind == subject.File && !slices.Contains(names, only) {
		names = append(names, only)
	}
	for _, name := range names {
		if only != "" && name != only {
			continue
		}
		trial := false
		live, err := liveText(g.Layout, name)
		if err == nil && live != nil {
			trial, err = onTrial(ctx, live)
		}
		if err != nil {
			return nil, err
		}
		fresh, stats, err := g.Mine(ctx, name, Mining{Headless: headless, OnTrial: trial})
		if err != nil {
			return nil, fmt.Errorf("mine cases of %s: %w", name, err)
		}
		cases, err := g.Store.Cases(ctx, name)
		if err != nil {
			return nil, err
		}
		draw, err := g.Draw(ctx, name)
		if err != nil {
			return nil, err
		}
		c := stats.Moments
		s := SkillCases{Skill: name, Uses: c.Turns, Corrected: c.Corrected, Accepted: c.Accepted, Unread: c.Unread, Cases: len(cases), NewCases: len(fresh), Draw: draw}
		for _, k := range cases {
			if Quoted(k) {
				s.Quoted++
			}
		}
		out = append(out, s)
	}
	return out, nil
}
