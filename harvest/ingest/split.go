package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/splits"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Split gives the stored cases of a skill their splits: see splits.State.Assign. onTrial:
// new ones are held out for a challenger.
func (g *Ingester) Split(ctx context.Context, name string, onTrial bool) error {
	cases, err := g.Store.Cases(ctx, name)
	if err != nil || len(cases) == 0 {
		return err
	}
	st, err := SplitState(ctx, g.Store, g.Layout, name)
	if err != nil {
		return err
	}
	st.OnTrial = onTrial
	was := map[string]eval.Split{}
	for _, c := range cases {
		was[c.ID] = c.Split
	}
	st.Assign(cases)
	given := map[string]eval.Split{}
	for _, c := range cases {
		if c.Split != was[c.ID] {
			given[c.ID] = c.Split
		}
	}
	if len(given) == 0 {
		return nil
	}
	return g.Store.SetSplits(ctx, name, given)
}

// SplitState reads what splits depend on, but for whether a challenger is on trial. A
// trial is over once it is decided, or if the live text is no edit of its incumbent.
func SplitState(ctx context.Context, db *store.Store, layout *skill.Layout, name string) (st splits.State, err error) {
	if st.Read, err = lastRead(ctx, db, name); err != nil {
		return st, err
	}
	spent, err := db.Journal("").SpentCases(ctx, name)
	if err != nil || len(spent.By) == 0 {
		return st, err
	}
	trials, err := db.Trials(ctx, name)
	if err != nil {
		return st, err
	}
	live, err := liveText(layout, name)
	if err != nil {
		return st, err
	}
	var same map[string]bool
	if live != nil {
		if live, err = trying.Ground(ctx, db, live); err != nil {
			return st, err
		}
		if same, err = record.Edits(ctx, db, name, live.Doc.Hash(), live.Home); err != nil {
			return st, err
		}
	}
	open := map[string]bool{} // by challenger
	for _, t := range trials {
		if t.Decision.IsOpen() && (live == nil || same[t.Incumbent]) {
			open[t.Challenger] = true
		}
	}
	st.Heard = map[string]bool{}
	for id, who := range spent.By {
		st.Heard[id] = !open[who]
	}
	return st, nil
}

// liveText is the live text of a subject, nil if there is none that can be read.
func liveText(layout *skill.Layout, name string) (*skill.Live, error) {
	live, err := layout.Live(name)
	var unknown *skill.UnknownSkillError
	var broken *skill.BrokenSkillError
	if errors.As(err, &unknown) || errors.As(err, &broken) || err != nil && subject.Parse(name).Kind == subject.File {
		return nil, nil
	}
	return live, err
}

// Waiting reports, a line each, what the next search of a skill waits for, and what waits
// for a model to read it; "" for nothing.
func (g *Ingester) Waiting(ctx context.Context, name string) (string, error) {
	cases, err := g.Store.Cases(ctx, name)
	if err != nil {
		return "", err
	}
	st, err := SplitState(ctx, g.Store, g.Layout, name)
	if err != nil {
		return "", err
	}
	lines := ""
	if l := st.Lack(cases); l != (splits.Lack{}) {
		lines = fmt.Sprintf("a search waits for %v\n", l)
	}
	draw, err := g.Draw(ctx, name)
	if err != nil {
		return "", err
	}
	if draw != nil {
		return lines + draw.Text(), nil
	}
	uses, err := g.Uses(ctx, name)
	if err == nil && uses.Unread > 0 {
		lines += fmt.Sprintf("%s; `evolve corrections %s --read` has them read\n", UnreadUses(uses.Unread), name)
	}
	return lines, err
}

// lastRead are the train and validation cases of the last search that came to its end or
// to a challenger. A search that was stopped before has read nothing.
func lastRead(ctx context.Context, db *store.Store, name string) (map[string]bool, error) {
	runs, err := db.Runs(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, r := range runs { // the newest first
		if r.Status != record.Finished && r.Challenger == "" || len(r.Config) == 0 {
			continue
		}
		var f struct { // of campaign.Config
			Evolve  string                `json:"evolve"`
			Carried string                `json:"carried"`
			Splits  map[string]eval.Split `json:"splits"`
		}
		if err := json.Unmarshal(r.Config, &f); err != nil {
			return nil, fmt.Errorf("read run %s: %w", r.ID, err)
		}
		if f.Carried != "" || len(f.Splits) == 0 || f.Evolve != "" && f.Evolve != skill.Harness {
			continue
		}
		read := map[string]bool{}
		for id, s := range f.Splits {
			if s == eval.Train || s == eval.Val {
				read[id] = true
			}
		}
		return read, nil
	}
	return nil, nil
}
