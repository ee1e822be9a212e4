package report

import (
	"encoding/xml"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// A Benchmark is skill-creator's benchmark.json.
type Benchmark struct {
	Metadata   BenchmarkMetadata `json:"metadata"`
	Runs       []BenchmarkRun    `json:"runs"`
	RunSummary BenchmarkSummary  `json:"run_summary"`
	Notes      []string          `json:"notes"`
}

// BenchmarkMetadata describes the run. EvalsRun numbers the cases from 1;
// eval_name is the case's id.
type BenchmarkMetadata struct {
	SkillName            string `json:"skill_name"`
	SkillPath            string `json:"skill_path"`
	ExecutorModel        string `json:"executor_model"`
	AnalyzerModel        string `json:"analyzer_model"`
	Timestamp            string `json:"timestamp"`
	EvalsRun             []int  `json:"evals_run"`
	RunsPerConfiguration int    `json:"runs_per_configuration"`
}

// A BenchmarkRun is one rollout.
type BenchmarkRun struct {
	EvalID        int                    `json:"eval_id"`
	EvalName      string                 `json:"eval_name"`
	Configuration string                 `json:"configuration"`
	RunNumber     int                    `json:"run_number"`
	Result        BenchmarkResult        `json:"result"`
	Expectations  []BenchmarkExpectation `json:"expectations"`
	Notes         []string               `json:"notes"`
}

// BenchmarkResult counts a rollout's checks. Time and tokens are null if
// they were not reported.
type BenchmarkResult struct {
	PassRate    float64  `json:"pass_rate"`
	Passed      int      `json:"passed"`
	Failed      int      `json:"failed"`
	Total       int      `json:"total"`
	TimeSeconds *float64 `json:"time_seconds"`
	Tokens      *int64   `json:"tokens"`
	ToolCalls   int      `json:"tool_calls"`
	Errors      int      `json:"errors"`
}

// A BenchmarkExpectation is one check.
type BenchmarkExpectation struct {
	Text     string `json:"text"`
	Passed   bool   `json:"passed"`
	Evidence string `json:"evidence"`
}

// BenchmarkSummary holds two of the four configurations, in this order: the
// candidate's, then the one it is compared with.
type BenchmarkSummary struct {
	WithSkill    *BenchmarkStats   `json:"with_skill,omitempty"`
	WithoutSkill *BenchmarkStats   `json:"without_skill,omitempty"`
	NewSkill     *BenchmarkStats   `json:"new_skill,omitempty"`
	OldSkill     *BenchmarkStats   `json:"old_skill,omitempty"`
	Delta        map[string]string `json:"delta"`
}

// BenchmarkStats are over the runs of one configuration.
type BenchmarkStats struct {
	PassRate    Spread `json:"pass_rate"`
	TimeSeconds Spread `json:"time_seconds"`
	Tokens      Spread `json:"tokens"`
}

// A Spread is a sample's mean, standard deviation (of a sample) and range; all 0
// if nothing is known.
type Spread struct {
	Mean   float64 `json:"mean"`
	Stddev float64 `json:"stddev"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// Benchmark turns the comparison into skill-creator's format: B is the
// candidate.
func (c *Comparison) Benchmark(path string, now time.Time) *Benchmark {
	newer, older := "new_skill", "old_skill"
	if c.A.SHA == eval.NoSkill {
		newer, older = "with_skill", "without_skill"
	}
	out := &Benchmark{Metadata: BenchmarkMetadata{SkillName: c.Skill, SkillPath: path, ExecutorModel: c.Agent, AnalyzerModel: c.Judge,
		Timestamp: now.UTC().Format(time.RFC3339), EvalsRun: []int{}, RunsPerConfiguration: c.Trials},
		Runs: []BenchmarkRun{}, Notes: append([]string{}, c.Warnings...)}
	var stats [2]*BenchmarkStats
	for side, name := range []string{newer, older} {
		var rates, times, tokens []float64
		for i, p := range c.Pairs {
			rs := p.B
			if side == 1 {
				rs = p.A
			} else {
				out.Metadata.EvalsRun = append(out.Metadata.EvalsRun, i+1)
			}
			for n, r := range rs {
				run := benchmarkRun(p.Case, r)
				run.EvalID, run.Configuration, run.RunNumber = i+1, name, n+1
				out.Runs = append(out.Runs, run)
				rates = append(rates, run.Result.PassRate)
				if t := run.Result.TimeSeconds; t != nil {
					times = append(times, *t)
				}
				if t := run.Result.Tokens; t != nil {
					tokens = append(tokens, float64(*t))
				}
			}
		}
		stats[side] = &BenchmarkStats{spread(rates), spread(times), spread(tokens)}
	}
	d := func(f func(*BenchmarkStats) Spread) float64 { return f(stats[0]).Mean - f(stats[1]).Mean }
	out.RunSummary.Delta = map[string]string{
		"pass_rate":    fmt.Sprintf("%+.2f", d(func(s *BenchmarkStats) Spread { return s.PassRate })),
		"time_seconds": fmt.Sprintf("%+.1f", d(func(s *BenchmarkStats) Spread { return s.TimeSeconds })),
		"tokens":       fmt.Sprintf("%+.0f", d(func(s *BenchmarkStats) Spread { return s.Tokens })),
	}
	if newer == "with_skill" {
		out.RunSummary.WithSkill, out.RunSummary.WithoutSkill = stats[0], stats[1]
	} else {
		out.RunSummary.NewSkill, out.RunSummary.OldSkill = stats[0], stats[1]
	}
	return out
}

func benchmarkRun(c *eval.Case, r *eval.Rollout) BenchmarkRun {
	run := BenchmarkRun{EvalName: c.ID, Expectations: []BenchmarkExpectation{}, Notes: []string{}}
	res := &run.Result
	for i := range r.Checks {
		k := &r.Checks[i]
		e := BenchmarkExpectation{Text: k.Type, Passed: k.Passed(), Evidence: k.Evidence}
		if i < len(c.Checks) {
			e.Text = c.Checks[i].Criterion()
		}
		if e.Evidence == "" && !e.Passed {
			e.Evidence = k.Feedback
		}
		if e.Passed {
			res.Passed++
		} else {
			res.Failed++
		}
		run.Expectations = append(run.Expectations, e)
	}
	if res.Total = res.Passed + res.Failed; res.Total > 0 {
		res.PassRate = round(float64(res.Passed)/float64(res.Total), 4)
	}
	if r.LatencyMS != nil {
		t := float64(*r.LatencyMS) / 1000
		res.TimeSeconds = &t
	}
	if r.Usage != nil {
		n := r.Usage.Total()
		res.Tokens = &n
	}
	res.ToolCalls = len(r.Trace)
	if r.Failure != "" {
		res.Errors = 1
		run.Notes = append(run.Notes, r.Failure)
	}
	return run
}

func spread(xs []float64) Spread {
	if len(xs) == 0 {
		return Spread{}
	}
	s, sum := Spread{Min: xs[0], Max: xs[0]}, 0.0
	for _, x := range xs {
		sum += x
		s.Min, s.Max = min(s.Min, x), max(s.Max, x)
	}
	mean, ss := sum/float64(len(xs)), 0.0
	for _, x := range xs {
		ss += (x - mean) * (x - mean)
	}
	if len(xs) > 1 {
		s.Stddev = round(math.Sqrt(ss/float64(len(xs)-1)), 4)
	}
	s.Mean, s.Min, s.Max = round(mean, 4), round(s.Min, 4), round(s.Max, 4)
	return s
}

func round(x float64, digits int) float64 {
	p := math.Pow(10, float64(digits))
	return math.Round(x*p) / p
}

type junitSuites struct {
	XMLName xml.Name   `xml:"testsuites"`
	Suite   junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit is the comparison for a CI system. A case fails if B does not solve
// what A solves; one that neither solves is skipped, because it is no
// evidence about the change.
func (c *Comparison) JUnit() ([]byte, error) {
	s := junitSuite{Name: plain.Text(fmt.Sprintf("evolve compare %s: %s → %s", c.Skill, c.A.Label, c.B.Label)), Tests: len(c.Pairs)}
	total := 0.0
	for _, p := range c.Pairs {
		k := junitCase{Name: plain.Text(p.Case.ID), Class: "evolve." + plain.Text(c.Skill), Time: "0"}
		seconds := 0.0
		var why []string
		for _, r := range p.B {
			if r.LatencyMS != nil {
				seconds += float64(*r.LatencyMS) / 1000
			}
			why = append(why, wrong(r)...)
		}
		k.Time = fmt.Sprintf("%.3f", seconds)
		total += seconds
		a, b := solved(p.A), solved(p.B)
		text := plain.Text(plain.Excerpt(p.Case.Prompt, 200) + "\n" + strings.Join(why, "\n"))
		switch {
		case a && !b:
			s.Failures++
			k.Failure = &junitMessage{fmt.Sprintf("solved by %s, not by %s", plain.Text(c.A.Label), plain.Text(c.B.Label)), "regression", text}
		case !b:
			s.Skipped++
			k.Skipped = &junitMessage{Message: "solved by neither"}
		}
		s.Cases = append(s.Cases, k)
	}
	s.Time = fmt.Sprintf("%.3f", total)
	out, err := xml.MarshalIndent(junitSuites{Suite: s}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode JUnit: %w", err)
	}
	return append([]byte(xml.Header), append(out, '\n')...), nil
}
