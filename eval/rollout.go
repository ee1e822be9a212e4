package eval

import (
	"errors"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval/check"
)

// Usage counts tokens. Input excludes cached tokens, whatever the backend's
// own convention.
type Usage struct {
	Input      int64 `json:"input"`
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	Output     int64 `json:"output"`
	Reasoning  int64 `json:"reasoning,omitempty"` // part of Output
}

// Total is every token that was processed, cached or not.
func (u Usage) Total() int64 { return u.Input + u.CacheRead + u.CacheWrite + u.Output }

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite,
		u.Output + v.Output, u.Reasoning + v.Reasoning}
}

// Check says what is wrong with numbers that somebody else reported; u may be nil.
func (u *Usage) Check() error {
	switch {
	case u == nil:
	case min(u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning) < 0:
		return errors.New("usage is negative")
	case u.Reasoning > u.Output:
		return errors.New("usage.reasoning is more than usage.output, which it is a part of")
	}
	return nil
}

// Status says what a rollout is worth.
type Status string

const (
	// Done: the agent answered (or failed) and was graded. A failing agent is data:
	// quality 0 with its trace.
	Done Status = "done"
	// Missing: the infrastructure failed. Never counted as a score.
	Missing Status = "missing"
	// Void: tainted (the agent read what it must not). Never counted as a score.
	Void Status = "void"
)

// A Rollout is one case answered by one candidate once, and graded.
type Rollout struct {
	Key       string `json:"key"`       // see Job.Key
	Candidate string `json:"candidate"` // SHA-256 of the SKILL.md, NoSkill for the arm without one
	CaseID    string `json:"case"`
	Trial     int    `json:"trial"`
	Arm       string `json:"arm,omitempty"` // "" in the search; the gate's own trials carry its name
	Status    Status `json:"status"`

	Quality float64 `json:"quality"` // first attempt, weighted mean of the checks, [0,1]
	// Retries is how often the user would have to ask again. Without work retries it is
	// inferred from the first attempt: 1 if a check failed, plus the tool calls that
	// failed and were issued again. With them it is measured: the attempts that failed,
	// at most 1 + Evaluator.MaxRetries.
	Retries float64 `json:"retries"`
	// LatencyMS is the agent's own duration if reported, else wall time
	// without queueing and infrastructure retries. nil is unknown.
	LatencyMS *int64   `json:"latency_ms,omitempty"`
	CostUSD   *float64 `json:"cost_usd,omitempty"` // nil when unknown; nil is not zero
	Usage     *Usage   `json:"usage,omitempty"`    // nil when unknown

	Answer   string        `json:"answer,omitempty"`
	Trace    []ToolCall    `json:"trace,omitempty"`
	Work     *check.Work   `json:"work,omitempty"` // of the first attempt
	Checks   []CheckResult `json:"checks,omitempty"`
	Failure  string        `json:"failure,omitempty"` // why the agent failed, or why the rollout is missing
	Feedback []string      `json:"feedback,omitempty"`
	Expired  bool          `json:"expired,omitempty"` // the texts are removed: see Expire

	SkillInvoked *bool    `json:"skill_invoked,omitempty"` // of the first attempt; nil if the backend does not report it
	Skills       []string `json:"skills,omitempty"`        // every skill that it loaded
	Files        []string `json:"files,omitempty"`         // created, changed or removed in the workspace
	Turns        int      `json:"turns,omitempty"`         // the model's replies; 0 is unknown
	Audit        Audit    `json:"audit,omitempty"`         // the worst one of all attempts

	// Model is the model of the first answer, as the backend reported it: one name may
	// stand for another model every month. "" is unknown.
	Model    string `json:"model,omitempty"`
	Attempts int    `json:"attempts"` // agent attempts that ended in an answer or a failure, work retries included
	// InfraRetries counts the agent's calls that failed in the infrastructure. Except
	// for LostUsage they are assumed to have been free, and are never counted in
	// Retries.
	InfraRetries int      `json:"infra_retries,omitempty"`
	Agent        Identity `json:"agent"`
	// Worker is the id of the machine of a fleet that ran the first attempt; "" is this
	// machine, which alone is trusted.
	Worker string `json:"worker,omitempty"`
	// Tried are other workers that had a part in it: that were given it and brought no answer, or
	// that ran a later attempt. One that could give back what it does not like would choose what
	// the others measure.
	Tried   []string  `json:"tried,omitempty"`
	Started time.Time `json:"started,omitzero"`

	// RetryUsage and RetryUSD are the usage and cost of all attempts after the first;
	// nil if there were none, or if unknown. They count for the budget, not for the
	// objectives.
	RetryUsage *Usage   `json:"retry_usage,omitempty"`
	RetryUSD   *float64 `json:"retry_usd,omitempty"`

	// The judge's usage for grading this rollout.
	JudgeCalls int      `json:"judge_calls,omitempty"`
	JudgeUsage *Usage   `json:"judge_usage,omitempty"`
	JudgeUSD   *float64 `json:"judge_usd,omitempty"`

	Lost
}

// tried notes workers in r.Tried, once each.
func (r *Rollout) tried(workers ...string) {
	for _, w := range workers {
		if w != "" && !slices.Contains(r.Tried, w) {
			r.Tried = append(r.Tried, w)
		}
	}
}

// Workers are all that had a part in r, sorted; nil if this machine alone ran it.
func (r *Rollout) Workers() []string {
	all := slices.DeleteFunc(append(slices.Clone(r.Tried), r.Worker), func(w string) bool { return w == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

// Expire removes the texts of r: what the agent wrote and did, and what was said of it.
func (r *Rollout) Expire() {
	r.Answer, r.Trace, r.Work, r.Failure, r.Feedback, r.Files, r.Expired = "", nil, nil, "", nil, nil, true
	for i := range r.Checks {
		r.Checks[i].Feedback, r.Checks[i].Evidence = "", ""
	}
}

// NoSkill names the arm that runs without any skill.
const NoSkill = "none"

// Metrics are the four objectives over N rollouts of Cases cases, each case counted
// once: see Summarise. nil is unknown.
type Metrics struct {
	Quality   float64  `json:"quality"`
	LatencyMS *float64 `json:"latency_ms"`
	CostUSD   *float64 `json:"cost_usd"`
	Tokens    *float64 `json:"tokens"`
	Retries   float64  `json:"retries"`
	N         int      `json:"n"`
	Cases     int      `json:"cases"`
}
