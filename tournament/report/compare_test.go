package report_test

import (
	"encoding/json"
	"encoding/xml"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/reporttest"
)

func TestCompare(t *testing.T) {
	c := reporttest.Comparison(t)
	near := func(what string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	if c.Cases != 41 || c.Clusters != 40 || c.A.Solved != 13 || c.B.Solved != 40 {
		t.Errorf("%d cases, %d clusters, solved %d and %d", c.Cases, c.Clusters, c.A.Solved, c.B.Solved)
	}
	q, cost, retries := c.Objectives[0], c.Objectives[2], c.Objectives[3]
	// Cluster session-1 holds a win and a loss: a tie. 27 of 40 win.
	near("quality", q.Delta, 27.0/40)
	if q.N != 40 || q.Wins != 27 || q.Losses != 0 || q.Ties != 13 || !q.Differs || *q.Low > *q.Delta || *q.High < *q.Delta {
		t.Errorf("quality: %+v", q)
	}
	near("cost ratio", cost.Delta, 2)
	if cost.Unit != "ratio" || !cost.Differs || *cost.Low < 1 || *cost.High < 2 || cost.Losses != 40 {
		t.Errorf("cost: %+v", cost)
	}
	near("retries", retries.Delta, -27.0/40)
	if lat := c.Objectives[1]; lat.Differs || lat.Change() != "~" {
		t.Errorf("equal latencies differ: %+v", lat)
	}
	near("cost per solved case of A", c.A.CostPerSolved, 41*0.002/13)
	near("cost per solved case of B", c.B.CostPerSolved, 41*0.004/40)
	near("lift", c.Lift, 27.0/40*2)
	if len(c.Flips) != 29 || c.Flips[0].Solved != "a" || c.Flips[1].Solved != "b" || c.Flips[0].Case != "c-00" {
		t.Errorf("flips: %+v", c.Flips)
	}
}

func TestCompareText(t *testing.T) {
	c := reporttest.Comparison(t)
	golden(t, "compare.txt", c.Text(report.Look{}))
	golden(t, "compare.md", c.Markdown())
	if text := c.Text(report.Look{}) + c.Markdown(); strings.Contains(text, "\x1b") {
		t.Error("an escape sequence reached the text")
	}
	narrow := c.Text(report.Look{Width: 40})
	golden(t, "compare-40.txt", narrow)
	for _, width := range []int{40, 80} {
		for line := range strings.SplitSeq(c.Text(report.Look{Width: width}), "\n") {
			if plain.Width(line) > width {
				t.Errorf("%d columns of %d: %q", plain.Width(line), width, line)
			}
		}
	}
	c.Objectives[2].Differs = false // the cost
	colours := c.Text(report.Look{Width: 80, Colour: true})
	for _, want := range []string{"\x1b[32m+0.68\x1b[0m", "  ~  ", "\x1b[32m-0.68\x1b[0m"} {
		if !strings.Contains(colours, want) {
			t.Errorf("no %q in %q", want, colours)
		}
	}
	if n := strings.Count(colours, "\x1b[3"); n != 2 {
		t.Errorf("%d cells have a colour, 2 differ", n)
	}
	if c.Objectives[2].Differs = true; !strings.Contains(c.Text(report.Look{Colour: true}), "\x1b[31m×2.00\x1b[0m") {
		t.Error("twice the cost is not red")
	}
}

func TestCompareNeedsNoPrice(t *testing.T) {
	c := reporttest.Comparison(t)
	for _, p := range c.Pairs {
		p.A[0].CostUSD = nil
	}
	c.Warnings = nil
	c.Compare(c.Pairs, 0)
	if c.CostUnit != "tokens" || c.Objectives[2].A == nil || *c.Objectives[2].A != 120 || c.Objectives[2].Differs {
		t.Errorf("cost: %+v in %s", c.Objectives[2], c.CostUnit)
	}
	if !slices.Contains(c.Warnings, "cost is compared in tokens: the price is not known") {
		t.Errorf("warnings: %q", c.Warnings)
	}
}

func TestCompareOfNothing(t *testing.T) {
	c := &report.Comparison{A: report.Arm{SHA: "a"}, B: report.Arm{SHA: "b"}}
	c.Compare(nil, 3)
	for _, d := range c.Objectives {
		if d.Delta != nil || d.A != nil || d.Differs {
			t.Errorf("something was made of nothing: %+v", d)
		}
	}
	if c.Lift != nil || c.A.CostPerSolved != nil || !strings.Contains(c.Text(report.Look{}), "3 pairs dropped") {
		t.Error(c.Text(report.Look{}))
	}
}

func TestPairKeepsTrialsApart(t *testing.T) {
	cases := []eval.Case{{ID: "x"}}
	a0, a1, b1, b2 := reporttest.Rollout("a", "x", 0, 1), reporttest.Rollout("a", "x", 1, 0), reporttest.Rollout("b", "x", 1, 1), reporttest.Rollout("b", "x", 2, 1)
	pairs, dropped := report.Pair(cases, []*eval.Rollout{&a0, &a1, nil}, []*eval.Rollout{&b1, &b2})
	if len(pairs) != 1 || len(pairs[0].A) != 1 || pairs[0].A[0] != &a1 || pairs[0].B[0] != &b1 || dropped != 2 {
		t.Errorf("pairs %+v, %d dropped", pairs, dropped)
	}
}

// benchmarkSchema is skill-creator's benchmark.json as its readers use it.
const benchmarkSchema = `{"type":"object","additionalProperties":false,"required":["metadata","runs","run_summary","notes"],
"$defs":{"spread":{"type":"object","additionalProperties":false,"required":["mean","stddev","min","max"],
  "properties":{"mean":{"type":"number"},"stddev":{"type":"number"},"min":{"type":"number"},"max":{"type":"number"}}},
 "stats":{"type":"object","additionalProperties":false,"required":["pass_rate","time_seconds","tokens"],
  "properties":{"pass_rate":{"$ref":"#/$defs/spread"},"time_seconds":{"$ref":"#/$defs/spread"},"tokens":{"$ref":"#/$defs/spread"}}}},
"properties":{
 "metadata":{"type":"object","additionalProperties":false,"required":["skill_name","skill_path","executor_model","analyzer_model","timestamp","evals_run","runs_per_configuration"],
  "properties":{"skill_name":{"type":"string"},"skill_path":{"type":"string"},"executor_model":{"type":"string"},"analyzer_model":{"type":"string"},
   "timestamp":{"type":"string"},"evals_run":{"type":"array","items":{"type":"integer"}},"runs_per_configuration":{"type":"integer"}}},
 "runs":{"type":"array","items":{"type":"object","additionalProperties":false,
  "required":["eval_id","eval_name","configuration","run_number","result","expectations","notes"],
  "properties":{"eval_id":{"type":"integer"},"eval_name":{"type":"string"},"configuration":{"enum":["with_skill","without_skill","new_skill","old_skill"]},"run_number":{"type":"integer"},
   "result":{"type":"object","additionalProperties":false,"required":["pass_rate","passed","failed","total","time_seconds","tokens","tool_calls","errors"],
    "properties":{"pass_rate":{"type":"number"},"passed":{"type":"integer"},"failed":{"type":"integer"},"total":{"type":"integer"},
     "time_seconds":{"type":["number","null"]},"tokens":{"type":["integer","null"]},"tool_calls":{"type":"integer"},"errors":{"type":"integer"}}},
   "expectations":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["text","passed","evidence"],
    "properties":{"text":{"type":"string"},"passed":{"type":"boolean"},"evidence":{"type":"string"}}}},
   "notes":{"type":"array","items":{"type":"string"}}}}},
 "run_summary":{"type":"object","additionalProperties":false,"required":["delta"],"minProperties":3,"maxProperties":3,
  "properties":{"with_skill":{"$ref":"#/$defs/stats"},"without_skill":{"$ref":"#/$defs/stats"},"new_skill":{"$ref":"#/$defs/stats"},"old_skill":{"$ref":"#/$defs/stats"},
   "delta":{"type":"object","additionalProperties":false,"required":["pass_rate","time_seconds","tokens"],
    "properties":{"pass_rate":{"type":"string","pattern":"^[+-]\\d+\\.\\d\\d$"},"time_seconds":{"type":"string"},"tokens":{"type":"string"}}}}},
 "notes":{"type":"array","items":{"type":"string"}}}}`

func TestBenchmark(t *testing.T) {
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(benchmarkSchema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("benchmark.json", schema); err != nil {
		t.Fatal(err)
	}
	s, err := compiler.Compile("benchmark.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{eval.NoSkill, "a"} {
		c := reporttest.Comparison(t)
		c.A.SHA = old
		b := c.Benchmark("/skills/tagger", reporttest.Begin)
		raw := jsonOf(t, b)
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); err != nil {
			t.Error(err)
		}
		first, second := `"with_skill":`, `"without_skill":`
		if old != eval.NoSkill {
			first, second = `"new_skill":`, `"old_skill":`
		}
		if i, j := strings.Index(raw, first), strings.Index(raw, second); i < 0 || j < i {
			t.Errorf("the candidate does not come first: %d, %d", i, j)
		}
		if b.Runs[0].Configuration != strings.Trim(first, `":`) || b.Runs[0].EvalName != "c-00" || b.Runs[0].EvalID != 1 {
			t.Errorf("first run: %+v", b.Runs[0])
		}
		if got := b.RunSummary.Delta["pass_rate"]; got != "+0.66" { // 40/41 − 13/41
			t.Errorf("delta is %s", got)
		}
	}
}

func TestJUnit(t *testing.T) {
	raw, err := reporttest.Comparison(t).JUnit()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Suite struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Skipped  int `xml:"skipped,attr"`
			Cases    []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Type string `xml:"type,attr"`
					Text string `xml:",chardata"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	s := got.Suite
	if s.Tests != 41 || s.Failures != 1 || s.Skipped != 0 || len(s.Cases) != 41 {
		t.Errorf("%d tests, %d failures, %d skipped", s.Tests, s.Failures, s.Skipped)
	}
	f := s.Cases[0].Failure
	if f == nil || f.Type != "regression" || !strings.Contains(f.Text, "use a log axis") {
		t.Errorf("failure: %+v", f)
	}
	if strings.Contains(string(raw), "\x1b") || strings.Contains(string(raw), "\ufffd") {
		t.Error("a control character reached the XML")
	}
}

func TestJSONOfAComparisonHasNoInfinity(t *testing.T) {
	c := &report.Comparison{A: report.Arm{SHA: "a"}, B: report.Arm{SHA: "b"}}
	c.Compare(nil, 0)
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
}
