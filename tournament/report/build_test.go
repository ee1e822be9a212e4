package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
)

var begin = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)

// hostile is what somebody may have typed, or a model answered.
const hostile = "</style></script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b]0;x\x07 \"'`{{.}}\u202e"

func ptr[T any](x T) *T { return &x }

func rollout(candidate, id string, trial int, quality float64) eval.Rollout {
	return eval.Rollout{Key: fmt.Sprint(candidate, id, trial), Candidate: candidate, CaseID: id, Trial: trial, Status: eval.Done,
		Quality: quality, Retries: 1 - quality, LatencyMS: ptr(int64(2000)), CostUSD: ptr(0.002), Usage: &eval.Usage{Input: 100, Output: 20},
		Attempts: 1, Agent: eval.Identity{Backend: "openai", Model: "m-1"}, Started: begin,
		Checks: []eval.CheckResult{{Type: eval.Contains, Score: quality, Weight: 1, Feedback: "use a log axis"}}}
}

// sample is a run with every part: three texts, a verdict, hostile words.
func sample(t *testing.T) *Data {
	t.Helper()
	old, challenger := parse(t, oldText), parse(t, newText)
	hash := []string{old.Hash(), skill.HashText([]byte("x")), challenger.Hash()}
	d := &Data{Incumbent: old.Render(), Challenger: challenger.Render()}
	trial := pareto.NewTrial(pareto.DefaultConfig())
	for i := range 6 {
		id := fmt.Sprintf("v-%d", i)
		d.Cases = append(d.Cases, eval.Case{ID: id, Skill: "tagger", Prompt: "Tag release " + id + hostile, Split: eval.Val})
		for k, sha := range hash {
			if k != 1 || i < 3 {
				r := rollout(sha, id, 0, []float64{0, 0.5, 1}[k])
				r.JudgeCalls, r.JudgeUsage, r.JudgeUSD = 1, &eval.Usage{Input: 50, Output: 5}, ptr(0.001)
				d.Rollouts = append(d.Rollouts, r)
			}
		}
		id = fmt.Sprintf("t-%d", i)
		d.Cases = append(d.Cases, eval.Case{ID: id, Skill: "tagger", Prompt: "Held out " + id, Split: eval.Test})
		arm := "gate:" + hash[0][:16] + ":" + hash[2][:16]
		for k, sha := range []string{hash[0], hash[2]} {
			r := rollout(sha, id, 0, float64(k))
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
	verdict, err := json.Marshal(gate.Verdict{Decision: trial.Decide(), Fresh: 5, Stop: "no held-out case is left"})
	if err != nil {
		t.Fatal(err)
	}
	d.Run = record.Run{ID: "20260301-093000-abcdef", Skill: "tagger", Status: record.Finished, Seed: 7, Incumbent: hash[0], Challenger: hash[2],
		Verdict: verdict, Started: begin, Ended: begin.Add(time.Minute), Note: "8 rounds without a better candidate",
		Spent: eval.Spent{Rollouts: 27, AgentCalls: 27, MutatorCalls: 3, JudgeCalls: 15, TokensIn: 5000, TokensOut: 1000, CostUSD: 0.2, CostKnown: true, WallMS: 61_500}}
	d.Candidates = []record.Candidate{
		{SHA: hash[0], Run: d.Run.ID, Operator: "found", State: record.Seed, Text: old.Render()},
		{SHA: hash[1], Run: d.Run.ID, Seq: 1, Operator: "prune", State: record.Pooled, Parents: hash[:1], Text: []byte("x")},
		{SHA: strings.Repeat("e", 64), Run: d.Run.ID, Seq: 2, Operator: "reflect", State: record.Invalid, Reason: "new-host: " + hostile, Parents: hash[:1]},
		{SHA: hash[2], Run: d.Run.ID, Seq: 3, Operator: "reflect", State: record.Pooled, Parents: hash[1:2], Taught: []string{"v-1"}, Text: challenger.Render()},
	}
	event := func(kind string, rollouts int64, best *float64, data any) {
		raw, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		d.Events = append(d.Events, record.Event{Run: d.Run.ID, Seq: len(d.Events), Time: begin, Kind: kind, Data: raw, Rollouts: rollouts, Best: best})
	}
	type m = map[string]any
	event("search_start", 0, nil, m{"train": 4, "val": 6})
	event("seed", 6, ptr(0.0), m{"quality": 0.0, "cases": 6})
	event("invalid", 6, ptr(0.0), m{"sha256": strings.Repeat("e", 64), "operator": "reflect", "reason": hostile})
	event("leading", 12, ptr(0.9), m{"sha256": hash[1], "operator": "prune", "quality": 0.9, "gain": 0.9, "cases": 3, "of": 6})
	event("validated", 15, ptr(1.0), m{"sha256": hash[2], "operator": "reflect", "quality": 1.0, "against": 0.0, "best": hash[2]})
	event("gate_start", 15, nil, m{"challenger": hash[2], "incumbent": hash[0], "clusters": 6, "carried": 0})
	for i := range 5 {
		event("gate_pair", int64(17+2*i), nil, m{"cluster": fmt.Sprintf("t-%d", i), "quality": 1.0, "latency": nil, "cost": 0.1, "retries": 1.0, "e_value": float64(i + 1), "cases": i + 1})
	}
	event("verdict", 27, nil, m{"decision": "undecided", "reason": "too few"})
	event("a kind of tomorrow", 27, nil, m{"words": hostile})
	return d
}

func build(t testing.TB, d *Data) *Model {
	t.Helper()
	m, err := Build(d)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Pairs of a trial that started again on another model are no evidence of the new one.
func TestBuildOfATrialThatStartedAgain(t *testing.T) {
	d := sample(t)
	at := slices.IndexFunc(d.Events, func(e record.Event) bool { return e.Kind == "gate_pair" })
	const words = "the model changed from a to b: the trial starts again"
	d.Events = slices.Insert(d.Events, at+2, record.Event{Kind: "gate_restart", Data: []byte(`{"from":"a","to":"b","reason":"` + words + `"}`)})
	m := build(t, d)
	if len(m.Evidence) != 3 || !slices.ContainsFunc(m.Events, func(e Step) bool { return e.Kind == "gate_restart" && e.Text == words }) {
		t.Errorf("%d pairs: %+v", len(m.Evidence), m.Events[at:])
	}
}

func TestBuild(t *testing.T) {
	d := sample(t)
	m := build(t, d)
	if got := m.Events[len(m.Events)-1].Best; got == nil || *got != 1 {
		t.Errorf("the gate's events do not carry the search's best: %v", got)
	}
	if e := m.Events[3]; e.Kind != "leading" || *e.Best != 0 {
		t.Errorf("a mean over some cases passes for the best quality: %+v", e)
	}
	inc, part, refused, won := m.Candidates[0], m.Candidates[1], m.Candidates[2], m.Candidates[3]
	if inc.Metrics.Quality != 0 || inc.Metrics.N != 6 || !inc.Full || inc.Role != "incumbent" {
		t.Errorf("incumbent: %+v", inc)
	}
	if part.Full || part.OnFront || part.Metrics.N != 3 {
		t.Errorf("a candidate that was measured in part is not comparable: %+v", part)
	}
	if refused.Metrics.N != 0 || refused.State != "invalid" {
		t.Errorf("refused: %+v", refused)
	}
	// The gate's rollouts must not count as validation: the challenger has 6.
	if won.Metrics.N != 6 || won.Metrics.Quality != 1 || !won.OnFront || won.Depth != 2 || won.Role != "challenger" {
		t.Errorf("challenger: %+v", won)
	}
	if !slices.Equal(m.Front, []string{won.SHA}) {
		t.Errorf("front is %v", m.Front)
	}
	if len(m.Evidence) != 5 || m.Evidence[4].EValue != 5 || m.Evidence[0].Latency != nil || *m.Evidence[0].Cost != 0.1 {
		t.Errorf("evidence: %+v", m.Evidence)
	}
	if len(m.Matrix.Rows) != 12 || m.Matrix.Rows[0].Split != "val" || m.Matrix.Rows[6].Split != "test" || len(m.Matrix.Candidates) != 3 {
		t.Fatalf("matrix has %d rows of %d candidates", len(m.Matrix.Rows), len(m.Matrix.Candidates))
	}
	at := slices.IndexFunc(m.Matrix.Rows, func(r Row) bool { return r.Case == "t-5" })
	if row := m.Matrix.Rows[at]; row.Cells[2] != nil || row.Cells[1] != nil || *row.Cells[0] != 0 {
		t.Errorf("a missing rollout has a score: %v", row.Cells)
	}
	if !slices.ContainsFunc(m.Warnings, func(w string) bool { return strings.HasPrefix(w, "missing: 1 rollout ") }) {
		t.Errorf("warnings: %q", m.Warnings)
	}
	if !strings.HasPrefix(m.Sentence, "Undecided: ") || m.Diff == nil || m.Diff.Plus != 3 {
		t.Errorf("%q, %+v", m.Sentence, m.Diff)
	}
	if kinds := []string{m.Spending[0].Kind, m.Spending[1].Kind, m.Spending[2].Kind}; len(m.Spending) != 3 || !slices.Equal(kinds, []string{"agent", "judge", "mutator"}) {
		t.Errorf("spending: %+v", m.Spending)
	}
	total, agent, judge := 0.0, m.Spending[0], m.Spending[1]
	for _, s := range m.Spending {
		total += *s.CostUSD
	}
	if total < 0.1999 || total > 0.2001 || *agent.Tokens != 27*120 || *judge.Tokens != 15*55 {
		t.Errorf("spending adds up to %v: %+v", total, m.Spending)
	}
	first, again := jsonOf(t, m), jsonOf(t, build(t, d))
	if first != again {
		t.Error("the same data made two reports")
	}
}

func TestSplitsAreTheRunsOwn(t *testing.T) {
	d := sample(t)
	for i := range d.Cases { // the trial has closed, and the cases were moved
		d.Cases[i].Split = eval.Train
	}
	splits := map[string]eval.Split{}
	for i := range 6 {
		splits[fmt.Sprintf("v-%d", i)], splits[fmt.Sprintf("t-%d", i)] = eval.Val, eval.Test
	}
	config, err := json.Marshal(map[string]any{"splits": splits})
	if err != nil {
		t.Fatal(err)
	}
	d.Run.Config = config
	if m := build(t, d); m.Candidates[3].Metrics.N != 6 || m.Matrix.Rows[6].Split != "test" {
		t.Errorf("the report forgot what the cases were: %+v", m.Candidates[3])
	}
}

func TestReusedRollouts(t *testing.T) {
	d := sample(t)
	all := d.Rollouts
	d.Rollouts = nil
	for i, r := range all {
		other, later, arm := r, r, r
		other.Agent.Model, other.Quality = "m-2", 0.25
		later.Started, later.Trial, later.Quality = begin.Add(time.Hour), 1, 0.25
		arm.Arm, arm.Quality = "compare:a:b", 0.25
		if i == 0 {
			d.Rollouts = append(d.Rollouts, r)
		}
		d.Reused = append(d.Reused, other, later, arm, r)
	}
	m := build(t, d)
	if won := m.Candidates[3]; won.Metrics.N != 6 || won.Metrics.Quality != 1 {
		t.Errorf("rollouts of another agent, a later run or another purpose count: %+v", won.Metrics)
	}
}

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		status     record.RunStatus
		challenger string
		want       string
	}{
		{record.Running, "", "The run is still under way."},
		{record.Killed, "", "The run was killed before a verdict."},
		{record.Interrupted, "", "The run was interrupted before a verdict: signal."},
		{record.Finished, "x", "No verdict: the gate did not run."},
		{record.Finished, "", "No verdict: nothing beat the incumbent on validation."},
	} {
		m := build(t, &Data{Run: record.Run{ID: "r", Status: c.status, Challenger: c.challenger, Note: "signal"}})
		if m.Sentence != c.want {
			t.Errorf("%s: %q, want %q", c.status, m.Sentence, c.want)
		}
		resumes := c.status == record.Killed || c.status == record.Interrupted
		if strings.Contains(m.Next, "`evolve --resume r`") != resumes {
			t.Errorf("%s: next is %q", c.status, m.Next)
		}
		var b bytes.Buffer
		if err := m.HTML(&b); err != nil { // an empty run has a page too
			t.Error(err)
		}
	}
}

// TestSchema holds the names of the JSON's fields: one that is missing or
// renamed breaks programs that read them.
func TestSchema(t *testing.T) {
	m := build(t, sample(t))
	c := comparison(t)
	golden(t, "fields.txt", "report, schema 1\n"+fields(t, m)+"\ncomparison, schema 1\n"+fields(t, c))
	if Schema != 1 {
		t.Error("another schema needs its own list")
	}
}

// fields lists the paths of v's JSON, sorted; [] stands for every element.
func fields(t *testing.T, v any) string {
	t.Helper()
	var any any
	if err := json.Unmarshal([]byte(jsonOf(t, v)), &any); err != nil {
		t.Fatal(err)
	}
	paths := map[string]bool{}
	var walk func(path string, v interface{})
	walk = func(path string, v interface{}) {
		switch v := v.(type) {
		case map[string]interface{}:
			for k, x := range v {
				walk(path+"."+k, x)
			}
		case []interface{}:
			for _, x := range v {
				walk(path+"[]", x)
			}
		}
		if path != "" && !strings.HasSuffix(path, "[]") && !strings.Contains(path, ".events[].data") {
			paths[path] = true
		}
	}
	walk("", any)
	return strings.Join(slices.Sorted(maps.Keys(paths)), "\n") + "\n"
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
