package hooks

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Trial is what a new text did in sessions that no search has heard, beside the old one.
type Trial struct {
	gate.Verdict
	Old Score `json:"old"`
	New Score `json:"new"`
	// Wrong are the sessions in which the new text alone stops a call that had permission. One
	// is enough to reject it.
	Wrong int `json:"wrong_anew"`
	// Better and Worse count all sessions of this run that were replayed, Rest those of them that
	// came after the evidence was enough: they prove nothing more, and can still refute it.
	Better    int `json:"better"`
	Worse     int `json:"worse"`
	Rest      int `json:"rest"`
	RestWorse int `json:"rest_worse"`
}

// Try hears sessions, which are in the order of time, and were not heard by a search nor in
// the trial of another text: in each the new text did better (+1), as well or worse (-1) than
// the old one, a wrong block weighing as much as in the search. The same texts decide the same
// sessions alike, so each is heard once. Whatever that shows, a text is rejected that stops a
// permitted call which the old one lets go, or less of what should be stopped, or that is worse in
// as many of all sessions as it is better; once rejected it stays so. failures is the
// share of sessions in which the old text was wrong, as far as it is known.
func (e *Engine) Try(ctx context.Context, name string, old, next *skill.Document, sessions []Session, failures float64) (*Trial, error) {
	j := e.Log.Journal
	t, err := j.Trial(ctx, name, old.Hash(), next.Hash())
	if err != nil {
		return nil, err
	}
	if t != nil && t.Run != e.Log.Run && t.Decision == pareto.Reject { // more sessions take back no wrong block
		return &Trial{Verdict: gate.Verdict{Decision: pareto.Decision{Verdict: pareto.Reject, Reason: "an earlier trial rejected it"}}}, nil
	}
	cfg := pareto.DefaultConfig()
	cfg.Failures, cfg.Without = failures, pareto.Without([]string{pareto.Objectives[pareto.Quality].Name})
	st, _, err := t.Begin(e.Log.Run, cfg, record.Model{})
	if err != nil {
		return nil, err
	}
	if t == nil {
		t = &record.TrialRecord{Skill: name, Incumbent: old.Hash(), Challenger: next.Hash()}
	}
	v := &Trial{}
	if err := e.hear(ctx, st, t, v, [2]*skill.Document{old, next}, sessions); err != nil {
		return nil, err
	}
	v.Decision = st.Trial.Decide()
	switch {
	case v.Wrong > 0:
		v.Decision.Verdict, v.Reason = pareto.Reject, fmt.Sprintf("it stops a call that had permission in %s, and the old text does not", plain.Counted(v.Wrong, "session"))
	case v.New.Stopped < v.Old.Stopped:
		v.Decision.Verdict, v.Reason = pareto.Reject, fmt.Sprintf("it stops %d of the %d calls that it should stop, and the old text stops %d", v.New.Stopped, v.New.Stop, v.Old.Stopped)
	case v.Worse > 0 && v.Worse >= v.Better:
		v.Decision.Verdict, v.Reason = pareto.Reject, fmt.Sprintf("it is better in %d and worse in %s", v.Better, plain.Counted(v.Worse, "session"))
	}
	if v.Decision.Verdict.IsOpen() {
		v.Stop = "no unseen session is left"
	}
	v.Heard = st.Heard()
	t.Run, t.Decision, t.Updated = e.Log.Run, v.Decision.Verdict, e.Log.Now().UTC()
	if err := t.Save(st); err != nil {
		return nil, err
	}
	if err := j.SaveTrial(ctx, t); err != nil {
		return nil, fmt.Errorf("save the trial of %.12s: %w", t.Challenger, err)
	}
	return v, e.Log.Add(ctx, "verdict", 0, nil, map[string]any{"decision": v.Decision.Verdict, "route": v.Route, "reason": v.Reason, "e_value": v.EValue,
		"cases": v.Cases, "wins": v.Wins, "losses": v.Losses, "ties": v.Ties})
}

// hear replays both texts on all sessions, and adds the pairs that the trial does not have.
func (e *Engine) hear(ctx context.Context, st *record.State, t *record.TrialRecord, v *Trial, texts [2]*skill.Document, sessions []Session) error {
	var both [2][]Mark
	for i, doc := range texts {
		answers, err := e.Play(ctx, doc.Render(), sessions)
		if err != nil {
			return err
		}
		both[i] = marks(sessions, answers)
	}
	v.Old, v.New = score(texts[0].Render(), both[0]), score(texts[1].Render(), both[1])
	for i := range sessions {
		s, old, next := &sessions[i], &both[0][i], &both[1][i]
		if wrongAnew(s, old, next) {
			v.Wrong++
		}
		if old.Late > 0 { // the machine was busy: it may be heard another time
			continue
		}
		d := cmp.Compare(old.Loss(e.Options.Weight), next.Loss(e.Options.Weight))
		if next.Late > 0 { // a text that hangs wins nothing by it, and does not get out of a loss
			d = min(d, 0)
		}
		v.Better, v.Worse = v.Better+max(d, 0), v.Worse+max(-d, 0)
		if slices.Contains(st.Clusters, s.ID) || !s.Labelled() {
			continue
		}
		if !st.Trial.Verdict().IsOpen() {
			v.Rest, v.RestWorse = v.Rest+1, v.RestWorse+max(-d, 0)
			continue
		}
		if err := e.Log.Journal.SpendCase(ctx, t.Skill, t.Incumbent, t.Challenger, s.ID, ""); err != nil {
			return err
		}
		st.Use(record.Cluster{Name: s.ID, Place: record.Place{Workspace: s.Project, Time: s.Time}},
			pareto.Pair{Quality: float64(d), Latency: math.NaN(), Cost: math.NaN(), Retries: math.NaN()}, nil)
		v.Fresh++
		if err := e.Log.Add(ctx, "gate_pair", 0, nil, map[string]any{"cluster": s.ID, "quality": d, "e_value": st.Trial.EValue(), "cases": st.Trial.Cases()}); err != nil {
			return err
		}
	}
	return nil
}

// wrongAnew reports whether next stops a call of a session that had permission and that old lets
// go. That both stop one does not make up for it: they may be two.
func wrongAnew(s *Session, old, next *Mark) bool {
	for k := range s.Events {
		if s.Events[k].Label == guard.Go && next.answers[k].Decision == guard.Block && old.answers[k].Decision != guard.Block {
			return true
		}
	}
	return false
}
