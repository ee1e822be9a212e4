package serve

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/fleet/watch"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/tournament/approval"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/charts"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
)

// hostile is a text that a page must show, and never obey.
const hostile = `</textarea></pre><script>window.pwned=1</script><img src=x onerror="window.pwned=1">" onfocus="window.pwned=1" autofocus x="{{.}}` + "\u202e\x1b[31m"

// A stub is a program with hostile words in every field, which counts the
// acts. cmd/evolve's tests have the commands themselves behind the pages.
type stub struct {
	mu       sync.Mutex
	did      []string
	asked    int // for progress
	progress func(n int) *Progress
	panics   bool
}

func (s *stub) note(what string) (*Done, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.did = append(s.did, what)
	return &Done{Said: []string{hostile}, Notes: []string{hostile}}, nil
}

func (s *stub) done() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.did
}

func (s *stub) Status(context.Context) (*status.Report, error) {
	if s.panics {
		panic("a secret " + hostile)
	}
	st := &status.Report{Home: hostile}
	k := status.Skill{Skill: hostile, Path: hostile, Next: hostile, Uses: 2, CorrectionRate: new(float64)}
	st.Skills = append(st.Skills, k)
	st.Skills[0].Waits = append(st.Skills[0].Waits, status.Wait{Kind: hostile, Text: hostile, Command: hostile})
	return st, nil
}

func (s *stub) Log(context.Context, string) (*status.Log, error) {
	e := &status.Evidence{EValue: 2, Alpha: 0.04, Cases: 1}
	return &status.Log{Skill: hostile, Versions: []status.Version{{Version: 1, SHA: hostile, Parent: hostile, Author: hostile, Operator: hostile, Run: hostile, Note: hostile, Evidence: e}, {Author: "you", Note: hostile}},
		Candidates: []status.Trial{{SHA: hostile, Decision: "promote", Operator: hostile, Run: hostile, Evidence: e, Current: true}, {Decision: hostile, Evidence: e}}}, nil
}

var hostileDiff = &report.Diff{From: hostile, To: hostile, Lines: []report.Line{{Kind: report.Kernel, Text: hostile}, {Kind: report.Added, Text: hostile}}}

func (s *stub) Diff(context.Context, string, string, string) (*report.Diff, error) {
	return hostileDiff, nil
}

var hostileRun = record.Run{ID: hostile, Skill: hostile, Status: hostile}

func (s *stub) Runs(context.Context) ([]Run, error) {
	return []Run{{Run: hostileRun, Decision: hostile}, {Run: record.Run{ID: "r"}, Working: true}}, nil
}

func (s *stub) Report(context.Context, string) (*report.Model, error) {
	return &report.Model{Run: "r", Skill: hostile, Warnings: []string{hostile}, Sentence: hostile, Next: hostile, Agent: hostile, Diff: hostileDiff,
		Events: []report.Step{{Text: hostile}}, Cases: []report.Case{{ID: hostile, Prompt: hostile, Split: "test"}}}, nil
}

func (s *stub) Progress(context.Context, string) (*Progress, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.progress != nil {
		return s.progress(s.asked), nil
	}
	return &Progress{Run: Run{Run: hostileRun, Working: true}, Steps: []report.Step{{Text: hostile}}}, nil
}

func (s *stub) Fleet(context.Context) (*watch.State, error) {
	return &watch.State{URL: hostile, Expiring: []watch.Member{{Name: hostile}}, Workers: []watch.Worker{{ID: hostile, Name: hostile, Why: hostile,
		Agents: []fleet.Agent{{Backend: hostile, Version: hostile, Sandbox: hostile}}, Here: &watch.Share{Rollouts: 3, Missing: 1}}, {ID: hostile}}}, nil
}

func (s *stub) Nights(context.Context) ([]*status.Night, error) {
	return []*status.Night{{Night: &sleep.Night{ID: hostile, Began: time.Unix(0, 0)}, Waiting: []string{hostile}}}, nil
}

func (s *stub) Night(context.Context, string) (*status.Night, error) {
	return &status.Night{Night: &sleep.Night{ID: hostile, Policy: hostile, Steps: []sleep.Step{{Kind: hostile, Skill: hostile, Stage: sleep.Failed, Note: hostile, Result: &sleep.Result{Report: hostile}}}}, Waiting: []string{hostile}}, nil
}

var hostileCase = eval.Case{ID: hostile, Skill: hostile, Prompt: hostile, Reference: hostile, Files: map[string]string{hostile: hostile}, Context: []eval.Message{{Role: hostile, Text: hostile}},
	Checks: []eval.Check{{Type: eval.Contains, Value: hostile, Feedback: hostile}, {Type: eval.Judge, Rubric: hostile}, {Type: eval.FileContains, Path: hostile, Value: hostile}},
	Source: &eval.Source{Agent: hostile, Origin: hostile, Outcome: hostile, Session: hostile}}

func (s *stub) Cases(context.Context, string) ([]eval.Case, error) {
	return []eval.Case{hostileCase, {ID: "plain", Prompt: "a plot of rain", Split: eval.Test}}, nil
}

func (s *stub) Case(_ context.Context, _, id string) (*CaseNow, error) {
	if id == "gone" {
		return nil, &Error{Message: hostile, Hint: hostile, Kind: problem.Input}
	}
	c := hostileCase
	return &CaseNow{Case: &c, Seen: "now", Spent: hostile}, nil
}

func (s *stub) EditCase(_ context.Context, _, _, seen string, text []byte) (*Done, error) {
	if seen != "now" {
		return nil, ErrChanged
	}
	return s.note("edit " + string(text))
}

func (s *stub) DropCase(context.Context, string, string, string) (*Done, error) {
	return s.note("drop")
}

func (s *stub) Pair(_ context.Context, _ string, skipped func(PairName) bool) (*Pair, *Review, error) {
	n := PairName{hostile, "first", "second"}
	if skipped(n) {
		return nil, &Review{Left: 1}, nil
	}
	return &Pair{PairName: n, Prompt: hostile, Context: []eval.Message{{Role: hostile, Text: hostile}}, Answer1: hostile, Answer2: hostile, Work1: hostile, Work2: hostile}, &Review{Left: 1, Judge: hostile}, nil
}

func (s *stub) Answer(_ context.Context, _ string, p PairName, choice string) error {
	_, err := s.note("answer " + p.First + " " + p.Second + " " + choice)
	return err
}

func (s *stub) Uses(context.Context, string) ([]charts.Use, error) {
	return []charts.Use{{Time: time.Unix(0, 0), Corrected: true}, {Time: time.Unix(1e6, 0)}}, nil
}

func (s *stub) Corrections(context.Context, string) (*Corrections, error) {
	return &Corrections{Turns: 2, Corrected: 1, Unread: 1, Rules: []Correction{{Title: hostile, Written: hostile, Quotes: []Quote{{Words: hostile, Note: hostile}}}}}, nil
}

func (s *stub) Forecast(context.Context, string) (*Forecast, error) {
	return &Forecast{Command: hostile, Lines: []string{hostile}, Why: &Error{Message: hostile, Hint: hostile}}, nil
}

func (s *stub) Plan(_ context.Context, act Act, skill, at string) (*Plan, error) {
	switch at {
	case "refused":
		return &Plan{Act: act, Skill: skill, Refusal: &Error{Message: hostile, Hint: hostile, Kind: problem.Refused}}, nil
	case "broken":
		return nil, errors.New(hostile)
	}
	return &Plan{Act: act, Skill: hostile, At: hostile, Command: hostile, Will: []string{hostile}, Unproven: true, Evidence: []Fact{{hostile, hostile}},
		Findings: []approval.Finding{{Rule: hostile, Line: 1, Message: hostile}}, Diff: hostileDiff, Taught: []candidate.Case{{Case: hostile, Prompt: hostile, Words: hostile}}, Seen: hostile}, nil
}

func (s *stub) Do(_ context.Context, act Act, _, _, _ string, _ bool) (*Done, error) {
	return s.note(string(act))
}
