package status

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
)

// lessons are the sentences of a run's challenger with the cases that taught
// them; none if no run made the text, or it was removed.
func lessons(ctx context.Context, db *store.Store, run *record.Run) ([]report.Lesson, error) {
	if run.Challenger == "" {
		return nil, nil
	}
	s := &candidate.Texts{Skill: run.Skill, Store: db}
	first, _, err := s.Made(ctx, run.Challenger)
	if err != nil || first == nil || len(first.Text) == 0 {
		return nil, err
	}
	doc, err := skill.Stored(run.Skill, first.Text)
	if err != nil {
		return nil, nil // what cannot be cut into sentences taught none
	}
	// What this run's incumbent lacked, whatever the text has become since.
	h, err := s.History(ctx, &candidate.Text{Doc: doc, Candidate: first, Version: &record.Version{Author: "evolve", Parent: run.Incumbent}})
	if err != nil {
		return nil, fmt.Errorf("read what taught %s: %w", plain.Short(run.Challenger), err)
	}
	var out []report.Lesson
	for _, c := range h.Changes(run.Challenger) {
		l := report.Lesson{Kind: c.Kind, Text: c.Text, Was: c.Was, Because: c.Because, Steps: []report.LessonStep{}}
		for _, st := range c.Steps {
			step := report.LessonStep{SHA: st.SHA, Operator: st.Operator, Cases: []report.LessonCase{}}
			for _, k := range st.Cases {
				step.Cases = append(step.Cases, report.LessonCase{Case: k.Case, Words: k.Words})
			}
			l.Steps = append(l.Steps, step)
		}
		out = append(out, l)
	}
	return out, nil
}
