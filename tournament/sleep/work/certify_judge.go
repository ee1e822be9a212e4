package work

import (
	"context"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/judge"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// judgeOf names the judge of these backends. One that goes by the agent's own name
// is another judge than before where another model answers to that name now.
func judgeOf(back *agent.Backends, d *sleep.Drift) string {
	name := (&eval.Checks{Judge: back.Judge}).Identity()
	judge, agent := back.Judge.Identity(), back.Agent.Identity()
	moved := d.From.Agent == d.To.Agent && d.From.Asked == d.To.Asked && d.From.Reported != "" && d.To.Reported != "" && d.From.Reported != d.To.Reported
	if moved && judge.Backend == agent.Backend && judge.Model == agent.Model {
		name += " answered by " + d.To.Reported
	}
	return name
}

// trust says whose word alone counts tonight, and, where held-out cases rest on it,
// whether the night's judge is to be asked about labels first: where it may turn out
// to agree with its owner, and the labels are not those that it failed on before.
func (s *Worker) trust(ctx context.Context, name string, d *sleep.Drift, cases []eval.Case, rests bool) (t sleep.Trust, err error) {
	st, err := sleep.Stored(s.Store).State(ctx, name)
	if err != nil {
		return t, err
	}
	c := st.Certificate(d.Version, d.Previous, d.To)
	judges, mine := c.Judges(), judgeOf(s.now.back, d)
	if rests && !slices.Contains(judges, mine) {
		judges = append(judges, mine)
	}
	for _, who := range judges {
		k, err := judge.OnRecord(ctx, s.Store, name, cases, who)
		if err != nil {
			return t, err
		}
		if k.Trusted() {
			t.Trusted = append(t.Trusted, who)
		}
		if who != mine || !rests {
			continue
		}
		old := c.Calibration
		same := old != nil && old.Judge == who && old.Labels == k.Labels && old.Missing == k.Missing
		if k.Trusted() || !same && k.Missing > 0 && k.Labels.N()+k.Missing >= record.TrustedLabels {
			t.Judge, t.Ask = who, k.Missing
		}
	}
	return t, nil
}

// calibrate asks the judge about the labels that it was not asked about yet, and
// lets its word count, or not: of that the owner is told.
func (s *Worker) calibrate(ctx context.Context, run, name string, d *sleep.Drift, back *agent.Backends, f *campaign.Config, k *sleep.Certification, c *sleep.Certificate) (doubt []string, err error) {
	trusted := slices.Clone(d.Trusted)
	k.Trusts = func(judge string) bool { return slices.Contains(trusted, judge) }
	rests := record.RestsOnJudge(k.Cases)
	if rests == 0 {
		return nil, nil
	}
	said := ""
	// Whoever goes on with a killed night may have another judge.
	if who := judgeOf(back, d); d.Judge != "" && who == d.Judge {
		cases, err := s.Store.Cases(ctx, name)
		if err != nil {
			return nil, err
		}
		m := judge.New(s.Store, run, back.Judge, back.Redactor, k.Evaluator.Budget, f.WallClock, f.Concurrency)
		m.Judge = who
		known, err := m.Calibrate(ctx, name, cases)
		if err != nil {
			return nil, fmt.Errorf("calibrate the judge: %w", err)
		}
		trusted = slices.DeleteFunc(trusted, func(j string) bool { return j == who })
		if known.Trusted() {
			trusted, k.Judge = append(trusted, who), who
		}
		known.Outcomes = nil // they name answers
		c.Calibration = &known
		said = fmt.Sprintf(" (%s)", known)
		if known.Stop != "" {
			said = fmt.Sprintf(" (%s; %s)", known, known.Stop)
		}
	}
	if k.Judge != "" {
		return nil, nil
	}
	return []string{fmt.Sprintf("%d held-out cases rest on a judge that is not shown to agree with you%s: they prove nothing; `evolve review %s` adds labels", rests, said, name)}, nil
}
