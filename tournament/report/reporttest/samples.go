// Package reporttest makes up runs, comparisons and nights for tests of reports.
package reporttest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/search"
)

var Begin = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)

// Hostile is what somebody may have typed, or a model answered.
const Hostile = "</style></script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b]0;x\x07 \"'`{{.}}\u202e"

func Ptr[T any](x T) *T { return &x }

func Rollout(candidate, id string, trial int, quality float64) eval.Rollout {
	return eval.Rollout{Key: fmt.Sprint(candidate, id, trial), Candidate: candidate, CaseID: id, Trial: trial, Status: eval.Done,
		Quality: quality, Retries: 1 - quality, LatencyMS: Ptr(int64(2000)), CostUSD: Ptr(0.002), Usage: &eval.Usage{Input: 100, Output: 20},
		Attempts: 1, Agent: eval.Identity{Backend: "openai", Model: "m-1"}, Started: Begin,
		Checks: []eval.CheckResult{{Type: eval.Contains, Score: quality, Weight: 1, Feedback: "use a log axis"}}}
}

// Sample is a run with every part: three texts, a verdict, Hostile words.
func Sample(t testing.TB) *report.Data {
	t.Helper()
	old, challenger := Parse(t, OldText), Parse(t, NewText)
	hash := []string{old.Hash(), skill.HashText([]byte("x")), challenger.Hash()}
	d := &report.Data{Incumbent: old.Render(), Challenger: challenger.Render()}
	trial := pareto.NewTrial(pareto.DefaultConfig())
	for i := range 6 {
		id := fmt.Sprintf("v-%d", i)
		d.Cases = append(d.Cases, eval.Case{ID: id, Skill: "tagger", Prompt: "Tag release " + id + Hostile, Split: eval.Val})
		for k, sha := range hash {
			if k != 1 || i < 3 {
				r := Rollout(sha, id, 0, []float64{0, 0.5, 1}[k])
				r.JudgeCalls, r.JudgeUsage, r.JudgeUSD = 1, &eval.Usage{Input: 50, Output: 5}, Ptr(0.001)
				d.Rollouts = append(d.Rollouts, r)
			}
		}
		id = fmt.Sprintf("t-%d", i)
		d.Cases = append(d.Cases, eval.Case{ID: id, Skill: "tagger", Prompt: "Held out " + id, Split: eval.Test})
		arm := "gate:" + hash[0][:16] + ":" + hash[2][:16]
		for k, sha := range []string{hash[0], hash[2]} {
			r := Rollout(sha, id, 0, float64(k))
			r.Arm = arm
			if i == 5 && k == 1 {
				r.Status = eval.Missing
			}
			d.Rollouts = append(d.Rollouts, r)
		}
		if i < 5 {
			p := pareto.Pair{Quality: 1, Retries: 1}
			trial.Add(p)
		}
	}
	verdict, err := json.Marshal(gate.Verdict{Decision: trial.Decide(), Fresh: 5, Stop: "no unseen request is left"})
	if err != nil {
		t.Fatal(err)
	}
	d.Run = record.Run{ID: "20260301-093000-abcdef", Skill: "tagger", Status: record.Finished, Seed: 7, Incumbent: hash[0], Challenger: hash[2],
		Verdict: verdict, Started: Begin, Ended: Begin.Add(time.Minute), Note: "8 rounds without a better candidate",
		Spent: eval.Spent{Rollouts: 27, AgentCalls: 27, MutatorCalls: 3, JudgeCalls: 15, TokensIn: 5000, TokensOut: 1000, CostUSD: 0.2, CostKnown: true, WallMS: 61_500}}
	d.Candidates = []record.Candidate{
		{SHA: hash[0], Run: d.Run.ID, Operator: "found", State: record.Seed, Text: old.Render()},
		{SHA: hash[1], Run: d.Run.ID, Seq: 1, Operator: "prune", State: record.Pooled, Parents: hash[:1], Text: []byte("x")},
		{SHA: strings.Repeat("e", 64), Run: d.Run.ID, Seq: 2, Operator: "reflect", State: record.Invalid, Reason: "new-host: " + Hostile, Parents: hash[:1]},
		{SHA: hash[2], Run: d.Run.ID, Seq: 3, Operator: "reflect", State: record.Pooled, Parents: hash[1:2], Taught: []string{"v-1"}, Text: challenger.Render()},
	}
	event := func(kind string, rollouts int64, best *float64, data any) {
		raw, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		d.Events = append(d.Events, record.Event{Run: d.Run.ID, Seq: len(d.Events), Time: Begin, Kind: kind, Data: raw, Rollouts: rollouts, Best: best})
	}
	type m = map[string]any
	event("search_start", 0, nil, m{"train": 4, "val": 6})
	event("seed", 6, Ptr(0.0), m{"quality": 0.0, "cases": 6})
	event("invalid", 6, Ptr(0.0), m{"sha256": strings.Repeat("e", 64), "operator": "reflect", "reason": Hostile})
	event("leading", 12, Ptr(0.9), m{"sha256": hash[1], "operator": "prune", "quality": 0.9, "gain": 0.9, "cases": 3, "of": 6})
	event("validated", 15, Ptr(1.0), m{"sha256": hash[2], "operator": "reflect", "quality": 1.0, "against": 0.0, "best": hash[2]})
	event("gate_start", 15, nil, m{"challenger": hash[2], "incumbent": hash[0], "clusters": 6, "carried": 0})
	for i := range 5 {
		event("gate_pair", int64(17+2*i), nil, m{"cluster": fmt.Sprintf("t-%d", i), "quality": 1.0, "latency": nil, "cost": 0.1, "retries": 1.0, "e_value": float64(i + 1), "cases": i + 1})
	}
	event("verdict", 27, nil, m{"decision": "undecided", "reason": "too few"})
	event("a kind of tomorrow", 27, nil, m{"words": Hostile})
	return d
}

func Model(t testing.TB, d *report.Data) *report.Model {
	t.Helper()
	m, err := report.Build(d)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const OldText = `---
name: tagger
description: Tags release notes.
---

# Tagger

- Read the notes first.
- Use at most three tags.

<!-- kernel -->
## Contract

Print one line of JSON.
<!-- /kernel -->

Be brief.
`

var NewText = strings.NewReplacer("- Use at most three tags.\n", "- Use one tag.\n- Sort them.\n", "Be brief.", "Be \x1b[31mbrief.").Replace(OldText)

func Parse(t testing.TB, text string) *skill.Document {
	t.Helper()
	d, err := skill.Parse([]byte(text), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// HostileRun has Hostile words wherever a user or a model could put words.
func HostileRun(t testing.TB) *report.Data {
	t.Helper()
	d := Sample(t)
	d.Run.Simulated, d.Run.Note = true, Hostile
	for i := range d.Cases {
		c := &d.Cases[i]
		c.Context = []eval.Message{{Role: Hostile, Text: Hostile}}
		c.Checks = []eval.Check{{Type: eval.Judge, Rubric: Hostile}}
		c.Source, c.Cluster = &eval.Source{Origin: Hostile, Outcome: Hostile}, Hostile
	}
	for i := range d.Rollouts {
		r := &d.Rollouts[i]
		r.Answer, r.Failure, r.Agent.Model = Hostile+fmt.Sprint(i), Hostile, Hostile
		r.Trace = []eval.ToolCall{{Name: Hostile, Input: "javascript:alert(3)" + Hostile, Failed: true}}
		r.Checks = []eval.CheckResult{{Type: Hostile, Feedback: Hostile, Evidence: Hostile, Weight: 1}}
	}
	for i := range d.Candidates {
		d.Candidates[i].Operator = Hostile
	}
	d.Lessons = []report.Lesson{{Kind: "reworded", Text: Hostile, Was: Hostile, Because: Hostile,
		Steps: []report.LessonStep{{Operator: Hostile, Cases: []report.LessonCase{{Case: "v-1", Words: Hostile}, {Case: Hostile}}}}}}
	return d
}

// Tournament makes up a finished run: n candidates, each measured on all cases,
// a gate of 24 pairs, noise.
func Tournament(t testing.TB, n, cases int) *report.Data {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 7))
	sha := func(i int) string { return fmt.Sprintf("%02x%062x", (i*37+11)%251, i+1) }
	d := &report.Data{Incumbent: Parse(t, OldText).Render(), Challenger: Parse(t, NewText).Render(), Version: Ptr(3)}
	d.Run = record.Run{ID: "20260302-031700-0b51e5", Skill: "tagger", Status: record.Finished, Seed: 1, Incumbent: sha(0), Challenger: sha(n - 1),
		Started: Begin, Ended: Begin.Add(3e12), Spent: eval.Spent{Rollouts: int64(n * cases), AgentCalls: int64(n * cases), MutatorCalls: int64(n), TokensIn: 1e8, TokensOut: 1e6, CostUSD: 41, CostKnown: true, WallMS: 3e6}}
	splits := []eval.Split{eval.Val, eval.Val, eval.Test, eval.Train}
	answer := strings.Repeat("The release is tagged and the changelog says so. ", 12)
	for k := range cases {
		d.Cases = append(d.Cases, eval.Case{ID: fmt.Sprintf("mined-%016x", k*7919), Skill: "tagger", Split: splits[k%4], Prompt: fmt.Sprintf("Tag release %d.%d of the library and write what has changed since the last one", k/10, k%10),
			Checks: []eval.Check{{Type: eval.Contains, Value: "signed"}, {Type: eval.Judge, Rubric: "names the version"}}})
	}
	event := func(kind string, rollouts int64, best *float64, data any) {
		raw, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		if best != nil {
			best = Ptr(*best)
		}
		d.Events = append(d.Events, record.Event{Run: d.Run.ID, Seq: len(d.Events), Time: Begin, Kind: kind, Data: raw, Rollouts: rollouts, Best: best})
	}
	type m = map[string]any
	operators := []string{"reflect", "prune", "rephrase", "examples", "merge", "description"}
	event("search_start", 0, nil, m{"train": cases / 4, "val": cases / 2})
	best := 0.0
	for i := range n {
		c := record.Candidate{SHA: sha(i), Run: d.Run.ID, Seq: i, Operator: operators[rng.IntN(len(operators))], State: record.Pooled, Text: d.Challenger}
		if i == 0 {
			c.Operator, c.State, c.Text = "found", record.Seed, d.Incumbent
		} else {
			c.Parents = []string{sha(rng.IntN(i))}
			if c.Operator == "merge" && i > 2 {
				c.Parents = append(c.Parents, sha(rng.IntN(i)))
			}
			if i != n-1 && rng.IntN(4) == 0 {
				c.State, c.Reason = record.Refused, "lost its minibatch"
			}
		}
		d.Candidates = append(d.Candidates, c)
		skill, sum := 0.25+0.6*float64(i)/float64(n), 0.0
		for k := range d.Cases {
			q := 0.0
			if rng.Float64() < skill {
				q = []float64{1, 1, 0.5}[rng.IntN(3)]
			}
			sum += q
			r := Rollout(c.SHA, d.Cases[k].ID, 0, q)
			r.Answer = answer[:len(answer)-rng.IntN(40)] + fmt.Sprint(i, k)
			*r.LatencyMS, *r.CostUSD = int64(2000+rng.IntN(2000)-8*i), 0.002+0.001*rng.Float64()+0.00002*float64(i)
			r.Checks = append(r.Checks, eval.CheckResult{Type: eval.Judge, Score: q, Weight: 1, Feedback: "name the version"})
			r.Trace = []eval.ToolCall{{Name: "Bash", Input: "git tag -s v1"}, {Name: "Read", Input: "CHANGELOG.md", Failed: k%9 == 0}}
			d.Rollouts = append(d.Rollouts, r)
		}
		mean := sum / float64(cases)
		best = max(best, mean)
		at := int64((i + 1) * cases)
		switch {
		case i == 0:
			event("seed", at, &best, m{"quality": mean, "cases": cases})
		case c.State == record.Refused:
			event("refused", at, &best, m{"sha256": c.SHA, "operator": c.Operator, "gain": -0.5, "cases": 8})
		default:
			event("accepted", at, &best, m{"sha256": c.SHA, "operator": c.Operator, "gain": 0.5, "cases": 8})
			event("validated", at, &best, m{"sha256": c.SHA, "operator": c.Operator, "quality": mean, "best": c.SHA})
		}
	}
	for _, k := range d.Cases[:4] {
		if k.Split == eval.Val {
			d.Rollouts = append(d.Rollouts, Rollout(eval.NoSkill, k.ID, 0, 0))
		}
	}
	at := int64(n * cases)
	event("finals", at+20, &best, m{"trial": 1, "finalists": 4, "best": sha(n - 1), "quality": best})
	event("noise", at+32, &best, m{"noise": search.Noise{Cases: cases / 2, Pairs: 40, Quality: 0.2, Retries: 0.3, LatencyMS: Ptr(700.0), CostUSD: Ptr(0.0004), Tokens: Ptr(90.0)}})
	event("search_end", at+32, &best, m{"stop": "8 rounds without a better candidate", "pool": n})
	event("gate_start", at+32, nil, m{"challenger": sha(n - 1), "incumbent": sha(0), "clusters": 24})
	d.Trial = pareto.NewTrial(pareto.DefaultConfig())
	for i := 0; i < 24 && d.Trial.Decide().Verdict.IsOpen(); i++ {
		p := pareto.Pair{Quality: []float64{1, 0, 1, -1, 0, 1}[i%6], Latency: 0.1, Cost: -0.02, Retries: []float64{1, 0, 0}[i%3]}
		d.Trial.Add(p)
		event("gate_pair", at+34+int64(2*i), nil, m{"cluster": fmt.Sprint("c", i), "quality": p.Quality, "latency": p.Latency, "cost": p.Cost, "retries": p.Retries, "e_value": d.Trial.Decide().EValue, "cases": i + 1})
	}
	v := gate.Verdict{Decision: d.Trial.Decide(), Fresh: d.Trial.Cases(), Stop: "no unseen request is left"}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	d.Run.Verdict = raw
	event("verdict", at+90, nil, m{"decision": v.Verdict, "reason": v.Reason})
	d.Lessons = []report.Lesson{{Kind: "added", Text: "Sign every tag.", Because: "it answers what was said on these cases",
		Steps: []report.LessonStep{{SHA: sha(3), Operator: "reflect", Cases: []report.LessonCase{{Case: d.Cases[3].ID, Words: "no, sign it"}, {Case: "gone", Words: ""}}}}}}
	return d
}

// HostileComparison is a comparison with Hostile words and a difference of texts.
func HostileComparison(t testing.TB) *report.Comparison {
	t.Helper()
	c := Comparison(t)
	c.B.Label, c.Judge = "v3 "+Hostile, Hostile
	for _, p := range c.Pairs {
		p.Case.Prompt += Hostile
		p.A[0].Answer, p.B[0].Answer = "tagged", Hostile
	}
	diff, err := report.Between("v2", "v3", Parse(t, OldText), Parse(t, NewText))
	if err != nil {
		t.Fatal(err)
	}
	c.Diff = diff
	return c
}

// Comparison has 41 cases in 40 clusters: B solves 28 more, loses one, and is
// twice as expensive. A 42nd is missing.
func Comparison(t testing.TB) *report.Comparison {
	t.Helper()
	var cases []eval.Case
	var a, b []*eval.Rollout
	for i := range 42 {
		c := eval.Case{ID: fmt.Sprintf("c-%02d", i), Skill: "tagger", Prompt: fmt.Sprintf("Tag \x1b[31mrelease| %d", i),
			Checks: []eval.Check{{Type: eval.Contains, Value: "log axis"}, {Type: eval.Judge, Rubric: "labels every axis"}}}
		if i < 2 {
			c.Cluster = "session-1"
		}
		cases = append(cases, c)
		qa, qb := 0.0, 1.0
		switch {
		case i == 0:
			qa, qb = 1, 0
		case i > 28:
			qa = 1
		}
		ra, rb := Rollout("none", c.ID, 0, qa), Rollout("b", c.ID, 0, qb)
		for k, r := range []*eval.Rollout{&ra, &rb} {
			r.Checks = append(r.Checks, eval.CheckResult{Type: eval.Judge, Score: r.Quality, Weight: 1, Evidence: "no unit\x1b[0m"})
			*r.CostUSD *= float64(k + 1)
		}
		if i == 41 {
			rb.Status = eval.Missing
		}
		a, b = append(a, &ra), append(b, &rb)
	}
	pairs, dropped := report.Pair(cases, a, b)
	if dropped != 1 || len(pairs) != 41 {
		t.Fatalf("%d pairs, %d dropped", len(pairs), dropped)
	}
	c := &report.Comparison{Skill: "tagger", Split: "test", A: report.Arm{Label: "no skill", SHA: eval.NoSkill}, B: report.Arm{Label: "v3", SHA: "b", Tokens: 500}, Judge: "openai/j"}
	c.Compare(pairs, dropped)
	return c
}
