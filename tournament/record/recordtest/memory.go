// Package recordtest is a journal in memory, for tests and for searches that keep nothing.
package recordtest

import (
	"context"
	"maps"
	"sync"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/record"
)

// Memory is a Journal that keeps its data in memory: for benchmarks of the
// search alone, and for embedding. The zero value is ready.
type Memory struct {
	mu          sync.Mutex
	Rollouts    map[string]*eval.Rollout
	completions map[string]*eval.Completion
	Trials      map[[3]string]*record.TrialRecord
	numbers     map[string][]record.TrialNumber // by skill
	spent       map[string]*record.Spent

	Runs       map[string]record.Run
	Candidates []record.Candidate
	Events     []record.Event
}

var _ record.Journal = (*Memory)(nil)

// Rollout implements eval.Recorder.
func (m *Memory) Rollout(_ context.Context, key string) (*eval.Rollout, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.Rollouts[key]
	return r, r != nil, nil
}

// SaveRollout implements eval.Recorder.
func (m *Memory) SaveRollout(_ context.Context, r *eval.Rollout) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Rollouts == nil {
		m.Rollouts = map[string]*eval.Rollout{}
	}
	m.Rollouts[r.Key] = r
	return nil
}

// Completion implements eval.Recorder.
func (m *Memory) Completion(_ context.Context, key string) (*eval.Completion, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.completions[key], nil
}

// SaveCompletion implements eval.Recorder.
func (m *Memory) SaveCompletion(_ context.Context, key string, _ eval.Spender, c *eval.Completion) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.completions == nil {
		m.completions = map[string]*eval.Completion{}
	}
	m.completions[key] = c
	return nil
}

// SaveRun implements Journal.
func (m *Memory) SaveRun(_ context.Context, r *record.Run) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Runs == nil {
		m.Runs = map[string]record.Run{}
	}
	m.Runs[r.ID] = *r
	return nil
}

// SaveCandidate implements Journal.
func (m *Memory) SaveCandidate(_ context.Context, c *record.Candidate) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.Candidates {
		if m.Candidates[i].Run == c.Run && m.Candidates[i].SHA == c.SHA {
			m.Candidates[i] = *c
			return nil
		}
	}
	m.Candidates = append(m.Candidates, *c)
	return nil
}

// AppendEvent implements Journal.
func (m *Memory) AppendEvent(_ context.Context, e record.Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, x := range m.Events {
		if x.Run == e.Run && x.Seq == e.Seq {
			return nil
		}
	}
	m.Events = append(m.Events, e)
	return nil
}

// SaveTrial implements Journal.
func (m *Memory) SaveTrial(_ context.Context, t *record.TrialRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Trials == nil {
		m.Trials = map[[3]string]*record.TrialRecord{}
	}
	key, basis := [3]string{t.Skill, t.Incumbent, t.Challenger}, int64(0)
	if kept := m.Trials[key]; kept != nil {
		basis = kept.Revision
	}
	if t.Revision != basis {
		return &record.TrialChangedError{Challenger: t.Challenger}
	}
	t.Revision++
	c := *t
	m.Trials[key] = &c
	round, begun := t.Begun()
	if begun && m.number(t.Skill, t.Incumbent, t.Challenger, round) == nil {
		if m.numbers == nil {
			m.numbers = map[string][]record.TrialNumber{}
		}
		all := m.numbers[t.Skill]
		m.numbers[t.Skill] = append(all, record.TrialNumber{Number: len(all) + 1, Incumbent: t.Incumbent, Challenger: t.Challenger, Round: round, Simulated: t.Simulated})
	}
	return nil
}

// TrialNumber implements Journal. No trial is ever proved over a lifetime
// here.
func (m *Memory) TrialNumber(_ context.Context, skill, incumbent, challenger string, round int) (*record.TrialNumber, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.number(skill, incumbent, challenger, round), nil
}

func (m *Memory) number(skill, incumbent, challenger string, round int) *record.TrialNumber {
	for _, n := range m.numbers[skill] {
		if n.Incumbent == incumbent && n.Challenger == challenger && n.Round == round {
			return &n
		}
	}
	return nil
}

// Trial implements Journal.
func (m *Memory) Trial(_ context.Context, skill, incumbent, challenger string) (*record.TrialRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := m.Trials[[3]string{skill, incumbent, challenger}]
	if kept == nil {
		return nil, nil
	}
	c := *kept
	return &c, nil
}

// SpendCase implements Journal.
func (m *Memory) SpendCase(_ context.Context, skill, _, challenger, caseID, print string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.spent == nil {
		m.spent = map[string]*record.Spent{}
	}
	if m.spent[skill] == nil {
		m.spent[skill] = &record.Spent{By: map[string]string{}, ByPrint: map[string]string{}}
	}
	for _, on := range []string{m.spent[skill].By[caseID], m.spent[skill].ByPrint[print]} {
		if on != "" && on != challenger {
			return &record.SpentError{Case: caseID, On: on}
		}
	}
	m.spent[skill].By[caseID] = challenger
	if print != "" {
		m.spent[skill].ByPrint[print] = challenger
	}
	return nil
}

// SpentCases implements Journal.
func (m *Memory) SpentCases(_ context.Context, skill string) (*record.Spent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := m.spent[skill]
	if kept == nil {
		return &record.Spent{}, nil
	}
	return &record.Spent{By: maps.Clone(kept.By), ByPrint: maps.Clone(kept.ByPrint)}, nil
}
