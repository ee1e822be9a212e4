package store

import (
	"errors"
	"reflect"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

func TestJudgementsAndCalibrationsStay(t *testing.T) {
	s, ctx := open(t), t.Context()
	j := Judgement{Key: "k", Run: "r1", Skill: "dataviz", CaseID: "a", Quality: 0.25}
	must(t, s.SaveJudgement(ctx, j))
	again := j
	again.Run, again.Quality = "r2", 1
	must(t, s.SaveJudgement(ctx, again))
	if got, err := s.Judgement(ctx, "k"); err != nil || !reflect.DeepEqual(*got, j) {
		t.Errorf("judgement %+v, %v", got, err)
	}
	if got, err := s.Judgement(ctx, "other"); err != nil || got != nil {
		t.Errorf("an unknown judgement is %+v, %v", got, err)
	}
	c := record.Calibration{Judge: "j", Labels: pareto.Agreement{BothPass: 3, OnlyJudge: 1}}
	must(t, s.SaveCalibration(ctx, "r1", c))
	must(t, s.SaveCalibration(ctx, "r1", record.Calibration{Judge: "another"}))
	if got, err := s.Calibration(ctx, "r1"); err != nil || !reflect.DeepEqual(*got, c) {
		t.Errorf("calibration %+v, %v", got, err)
	}
	if got, err := s.Calibration(ctx, "r2"); err != nil || got != nil {
		t.Errorf("a run that never asked: %+v, %v", got, err)
	}
}

// TestLabels: two answers have one label, whichever was shown first; what is
// purged takes its labels and judgements with it.
func TestLabels(t *testing.T) {
	s, ctx := open(t), t.Context()
	save(t, s, 1, 0, aCase("a"))
	l := Label{Skill: "dataviz", CaseID: "a", First: "x", Second: "y", Choice: FirstBetter}
	must(t, s.SaveLabel(ctx, l))
	l.First, l.Second = "y", "x"
	must(t, s.SaveLabel(ctx, l))
	l.Choice = Same
	must(t, s.SaveLabel(ctx, l))
	got, err := s.Labels(ctx, "dataviz")
	if err != nil || len(got) != 1 || got[0].First != "y" || got[0].Choice != Same {
		t.Fatalf("labels %+v, %v", got, err)
	}
	if err := s.SaveLabel(ctx, Label{Skill: "dataviz", CaseID: "gone"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a label on a case that is not there: %v", err)
	}
	must(t, s.Journal("r9").SaveCompletion(ctx, "q", eval.ByJudge, &eval.Completion{Text: "it quotes the answer"}))
	must(t, s.SaveJudgement(ctx, Judgement{Key: "k", Run: "r9", Skill: "dataviz", CaseID: "a"}))
	must(t, s.SaveCalibration(ctx, "r9", record.Calibration{Judge: "j"}))
	_, err = s.PurgeSessions(ctx, []string{aCase("a").Source.Session})
	must(t, err)
	if got, err := s.Labels(ctx, "dataviz"); err != nil || len(got) != 0 {
		t.Errorf("after the purge: labels %+v, %v", got, err)
	}
	if got, err := s.Judgement(ctx, "k"); err != nil || got != nil {
		t.Errorf("after the purge: judgement %+v, %v", got, err)
	}
	if got, err := s.Calibration(ctx, "r9"); err != nil || got != nil {
		t.Errorf("after the purge: calibration %+v, %v", got, err)
	}
	if got, err := s.Journal("r9").Completion(ctx, "q"); err != nil || got != nil {
		t.Errorf("after the purge: the judge's reply %+v, %v", got, err)
	}
}
