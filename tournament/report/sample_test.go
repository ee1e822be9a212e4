package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/search"
)

// pageWriters are pages of every kind, and of every size.
func pageWriters(t *testing.T) map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{
		"run":     build(t, sample(t)).HTML,
		"hostile": build(t, hostileRun(t)).HTML,
		"compare": compared(t).HTML,
		"night":   nightly().HTML,
		"quiet":   (&Night{ID: "20260302-031700", Policy: "stage", Began: begin, Ended: begin, Spent: eval.Spent{CostKnown: true}}).HTML,
		"busy":    build(t, tournamentOf(t, 30, 60)).HTML,
	}
}

// tournamentOf makes up a finished run: n candidates, each measured on all cases,
// a gate of 24 pairs, noise.
func tournamentOf(t testing.TB, n, cases int) *Data {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 7))
	sha := func(i int) string { return fmt.Sprintf("%02x%062x", (i*37+11)%251, i+1) }
	d := &Data{Incumbent: parse(t, oldText).Render(), Challenger: parse(t, newText).Render(), Version: ptr(3)}
	d.Run = record.Run{ID: "20260302-031700-0b51e5", Skill: "tagger", Status: record.Finished, Seed: 1, Incumbent: sha(0), Challenger: sha(n - 1),
		Started: begin, Ended: begin.Add(3e12), Spent: eval.Spent{Rollouts: int64(n * cases), AgentCalls: int64(n * cases), MutatorCalls: int64(n), TokensIn: 1e8, TokensOut: 1e6, CostUSD: 41, CostKnown: true, WallMS: 3e6}}
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
			best = ptr(*best)
		}
		d.Events = append(d.Events, record.Event{Run: d.Run.ID, Seq: len(d.Events), Time: begin, Kind: kind, Data: raw, Rollouts: rollouts, Best: best})
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
			r := rollout(c.SHA, d.Cases[k].ID, 0, q)
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
			d.Rollouts = append(d.Rollouts, rollout(eval.NoSkill, k.ID, 0, 0))
		}
	}
	at := int64(n * cases)
	event("finals", at+20, &best, m{"trial": 1, "finalists": 4, "best": sha(n - 1), "quality": best})
	event("noise", at+32, &best, m{"noise": search.Noise{Cases: cases / 2, Pairs: 40, Quality: 0.2, Retries: 0.3, LatencyMS: ptr(700.0), CostUSD: ptr(0.0004), Tokens: ptr(90.0)}})
	event("search_end", at+32, &best, m{"stop": "8 rounds without a better candidate", "pool": n})
	event("gate_start", at+32, nil, m{"challenger": sha(n - 1), "incumbent": sha(0), "clusters": 24})
	d.Trial = pareto.NewTrial(pareto.DefaultConfig())
	for i := 0; i < 24 && d.Trial.Decide().Verdict == pareto.Undecided; i++ {
		p := pareto.Pair{Quality: []float64{1, 0, 1, -1, 0, 1}[i%6], Latency: 0.1, Cost: -0.02, Retries: []float64{1, 0, 0}[i%3]}
		d.Trial.Add(p)
		event("gate_pair", at+34+int64(2*i), nil, m{"cluster": fmt.Sprint("c", i), "quality": p.Quality, "latency": p.Latency, "cost": p.Cost, "retries": p.Retries, "e_value": d.Trial.Decide().EValue, "cases": i + 1})
	}
	v := gate.Verdict{Decision: d.Trial.Decide(), Fresh: d.Trial.Cases(), Stop: "no held-out case is left"}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	d.Run.Verdict = raw
	event("verdict", at+90, nil, m{"decision": v.Verdict, "reason": v.Reason})
	d.Lessons = []Lesson{{Kind: "added", Text: "Sign every tag.", Because: "it answers what was said on these cases",
		Steps: []LessonStep{{SHA: sha(3), Operator: "reflect", Cases: []LessonCase{{Case: d.Cases[3].ID, Words: "no, sign it"}, {Case: "gone", Words: ""}}}}}}
	return d
}

// compared is a comparison with hostile words and a difference of texts.
func compared(t *testing.T) *Comparison {
	t.Helper()
	c := comparison(t)
	c.B.Label, c.Judge = "v3 "+hostile, hostile
	for _, p := range c.Pairs {
		p.Case.Prompt += hostile
		p.A[0].Answer, p.B[0].Answer = "tagged", hostile
	}
	diff, err := Between("v2", "v3", parse(t, oldText), parse(t, newText))
	if err != nil {
		t.Fatal(err)
	}
	c.Diff = diff
	return c
}

// nightly is a night with every kind of step, and hostile words.
func nightly() *Night {
	spent := func(n int64) *eval.Spent {
		return &eval.Spent{Rollouts: n, CostUSD: float64(n) * 0.01, CostKnown: true}
	}
	return &Night{ID: "20260302-031700", Policy: "stage", Began: begin, Ended: begin.Add(2e12), Sessions: 41, TakenOver: 1,
		Caps: eval.Caps{Rollouts: 240, CostUSD: 2}, Spent: eval.Spent{Rollouts: 200, CostUSD: 1.9, TokensIn: 4e6, TokensOut: 1e5, CostKnown: true, WallMS: 7e5},
		Steps: []NightStep{
			{Kind: "harvest", Stage: "done", Note: "41 sessions new or changed"},
			{Kind: "watch", Skill: "tagger", Stage: "done", Note: "alarm: failures in 60% of 20 sessions",
				Alarm: true},
			{Kind: "watch", Skill: "a-skill-with-a-very-long-name-that-hardly-fits-anywhere", Stage: "done", Note: "fine"},
			{Kind: "continue", Skill: "dataviz", Stage: "done", Note: "undecided", Attempts: 1, Spent: spent(60), Gain: 3.2, Report: "20260302-031702-0b51e5.html",
				Trial: &NightTrial{Decision: "undecided", Challenger: "ab", EValue: 5.9, Alpha: 0.04}},
			{Kind: "search", Skill: "tagger", Stage: "done", Note: "proven", Attempts: 1, Spent: spent(140), Gain: 1.4, Report: "javascript:alert(1)", Simulated: true,
				Trial: &NightTrial{Decision: "promote", Challenger: "cd", EValue: 40, Alpha: 0.04, Flagged: []string{"new-host"}}},
			{Kind: "install", Skill: "tagger", Stage: "skipped", Note: "proven, and waits for your word (policy stage)", Proved: true},
			{Kind: "search", Skill: hostile, Stage: "failed", Note: hostile, Attempts: 3, Errors: 3, Spent: spent(0)},
		}, Waiting: []string{"tagger@cd: proven; `evolve promote tagger`", hostile}}
}
