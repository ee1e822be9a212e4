package report_test

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
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/page"
	"github.com/skill-evolve/evolve/tournament/report/reporttest"
)

// Pairs of a trial that started again on another model are no evidence of the new one.
func TestBuildOfATrialThatStartedAgain(t *testing.T) {
	d := reporttest.Sample(t)
	at := slices.IndexFunc(d.Events, func(e record.Event) bool { return e.Kind == "gate_pair" })
	const words = "the model changed from a to b: the trial starts again"
	d.Events = slices.Insert(d.Events, at+2, record.Event{Kind: "gate_restart", Data: []byte(`{"from":"a","to":"b","reason":"` + words + `"}`)})
	m := reporttest.Model(t, d)
	if len(m.Evidence) != 3 || !slices.ContainsFunc(m.Events, func(e report.Step) bool { return e.Kind == "gate_restart" && e.Text == words }) {
		t.Errorf("%d pairs: %+v", len(m.Evidence), m.Events[at:])
	}
}

func TestBuild(t *testing.T) {
	d := reporttest.Sample(t)
	m := reporttest.Model(t, d)
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
	at := slices.IndexFunc(m.Matrix.Rows, func(r report.Row) bool { return r.Case == "t-5" })
	if row := m.Matrix.Rows[at]; row.Cells[2] != nil || row.Cells[1] != nil || *row.Cells[0] != 0 {
		t.Errorf("a missing rollout has a score: %v", row.Cells)
	}
	if !slices.ContainsFunc(m.Warnings, func(w string) bool { return strings.HasPrefix(w, "missing: 1 rollout ") }) {
		t.Errorf("warnings: %q", m.Warnings)
	}
	if !strings.HasPrefix(m.Sentence, "Probably better: ") || !strings.Contains(m.Sentence, "5 better and 0 worse, at most 1 time in 10 by chance; 1 in 25 decides") || m.Diff == nil || m.Diff.Plus != 3 {
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
	first, again := jsonOf(t, m), jsonOf(t, reporttest.Model(t, d))
	if first != again {
		t.Error("the same data made two reports")
	}
}

func TestSplitsAreTheRunsOwn(t *testing.T) {
	d := reporttest.Sample(t)
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
	if m := reporttest.Model(t, d); m.Candidates[3].Metrics.N != 6 || m.Matrix.Rows[6].Split != "test" {
		t.Errorf("the report forgot what the cases were: %+v", m.Candidates[3])
	}
}

func TestReusedRollouts(t *testing.T) {
	d := reporttest.Sample(t)
	all := d.Rollouts
	d.Rollouts = nil
	for i, r := range all {
		other, later, arm := r, r, r
		other.Agent.Model, other.Quality = "m-2", 0.25
		later.Started, later.Trial, later.Quality = reporttest.Begin.Add(time.Hour), 1, 0.25
		arm.Arm, arm.Quality = "compare:a:b", 0.25
		if i == 0 {
			d.Rollouts = append(d.Rollouts, r)
		}
		d.Reused = append(d.Reused, other, later, arm, r)
	}
	m := reporttest.Model(t, d)
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
		{record.Finished, "x", "No verdict: there was no trial."},
		{record.Finished, "", "No verdict: nothing beat your text on validation."},
	} {
		m := reporttest.Model(t, &report.Data{Run: record.Run{ID: "r", Status: c.status, Challenger: c.challenger, Note: "signal"}})
		if m.Sentence != c.want {
			t.Errorf("%s: %q, want %q", c.status, m.Sentence, c.want)
		}
		resumes := c.status == record.Killed || c.status == record.Interrupted
		if strings.Contains(m.Next, "`evolve --resume r`") != resumes {
			t.Errorf("%s: next is %q", c.status, m.Next)
		}
		var b bytes.Buffer
		if err := page.Run(m)(&b); err != nil { // an empty run has a page too
			t.Error(err)
		}
	}
}

// TestSchema holds the names of the JSON's fields: one that is missing or
// renamed breaks programs that read them.
func TestSchema(t *testing.T) {
	m := reporttest.Model(t, reporttest.Sample(t))
	c := reporttest.Comparison(t)
	golden(t, "fields.txt", "report, schema 2\n"+fields(t, m)+"\ncomparison, schema 2\n"+fields(t, c))
	if report.Schema != 2 {
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

// TestHeardOfTheVerdict: what a trial has heard by now is what the verdict is about only while
// no later run has gone on with it.
func TestHeardOfTheVerdict(t *testing.T) {
	d := reporttest.Tournament(t, 6, 20)
	d.Heard = &record.Heard{Requests: d.Trial.Cases()}
	if got := reporttest.Model(t, d).Heard; got != d.Heard {
		t.Errorf("heard %+v", got)
	}
	d.Trial = d.Trial.Under(d.Trial.Config().Within(1e-6)) // open
	if d.Trial.Add(pareto.Pair{Quality: 1}); reporttest.Model(t, d).Heard != nil {
		t.Error("what was heard later is the verdict's")
	}
}

// TestEvidenceOfAKeptTrial: the whole trial is drawn, pairs of earlier runs
// too, but only if the verdict is about it.
func TestEvidenceOfAKeptTrial(t *testing.T) {
	d := reporttest.Tournament(t, 6, 20)
	m := reporttest.Model(t, d)
	n := m.Verdict.Cases
	if len(m.Evidence) != n || m.Evidence[n-1].EValue != m.Verdict.EValue || m.Evidence[0].Worse == nil {
		t.Fatalf("%d pairs of %d, the last %+v", len(m.Evidence), n, m.Evidence[len(m.Evidence)-1])
	}
	for i, e := range m.Evidence {
		if i > 0 && (e.EValue < m.Evidence[i-1].EValue || *e.Worse < *m.Evidence[i-1].Worse) {
			t.Errorf("the largest e-value so far falls at pair %d", i+1)
		}
	}
	// An earlier run had added the first ten.
	d.Events = slices.DeleteFunc(d.Events, func(e record.Event) bool {
		var f struct{ Cases int }
		return e.Kind == "gate_pair" && json.Unmarshal(e.Data, &f) == nil && f.Cases <= 10
	})
	if got := reporttest.Model(t, d).Evidence; len(got) != n || got[0].Cluster != "" || got[11].Cluster != "c11" {
		t.Errorf("%d of %d pairs where some were carried over", len(got), n)
	}
	// A later run went on with it.
	d.Trial.Add(pareto.Pair{Quality: 1})
	if got := reporttest.Model(t, d).Evidence; len(got) != n {
		t.Errorf("%d pairs, want this run's verdict's %d", len(got), n)
	}
	// The pairs have become others since.
	d.Trial = pareto.NewTrial(pareto.DefaultConfig())
	for range n {
		d.Trial.Add(pareto.Pair{Quality: 0.01})
	}
	if got := reporttest.Model(t, d); len(got.Evidence) != n-10 || got.Evidence[0].Worse != nil {
		t.Errorf("%d pairs of another trial are shown as this run's", len(got.Evidence))
	}
}
