package eval

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// Identity identifies the agent or model that answered. It is part of every rollout
// key, because an answer of another model or version is another measurement.
type Identity struct {
	Backend   string `json:"backend"`           // "openai", "claude", …
	Version   string `json:"version,omitempty"` // of the program that ran, if there is one
	Model     string `json:"model,omitempty"`
	Params    string `json:"params,omitempty"` // canonical text of every parameter that can change an answer
	Simulated bool   `json:"simulated,omitempty"`
	// Draw is Params without the server's address, where they have one: a model's seeds are
	// made from it, so that the same run draws the same on another port.
	Draw string `json:"-"`
}

// A Variant is one text of a skill, as an agent gets it.
type Variant struct {
	Name string          // the skill's name, or the key of a file of instructions
	Doc  *skill.Document // nil for the answers without a skill
	Dir  string          // folder that holds the skill's other files; "" if there are none
	Rest string          // hash of those other files; part of the rollout key
	// Path is where a file of standing instructions is: slash-separated, "~/…" below the
	// person's home, else below the workspace. "" for a skill.
	Path string
}

// With is v with another text; nil for the no-skill arm.
func (v Variant) With(doc *skill.Document) Variant {
	v.Doc = doc
	if doc == nil {
		v.Dir, v.Rest = "", ""
	}
	return v
}

// IsSkill reports whether v is a skill to be offered: neither the no-skill arm nor a file.
func (v Variant) IsSkill() bool { return v.Doc != nil && v.Path == "" }

// SHA identifies the candidate: the SHA-256 of its whole text, or NoSkill.
func (v Variant) SHA() string {
	if v.Doc == nil {
		return NoSkill
	}
	return v.Doc.Hash()
}

// A Task is one request to an agent.
type Task struct {
	Variant Variant
	Case    *Case
	// Prior is set on a work retry: the previous answer, and what was wrong with it.
	// The workspace is the same.
	Prior     *Prior
	Workspace string // folder with the case's files; "" if the agent needs none
	// Before and Prepared are those of Workspace's Folder; nil without one.
	Before   func(name string) ([]byte, error)
	Prepared *Prepared
	// Others are skills that the agent gets beside Variant, as at its owner's: in a trigger
	// case they compete for the call.
	Others []Offer
	Seed   int64 // derived from the job key; passed to the model if its API takes one
}

// An Offer is an installed skill.
type Offer struct {
	Name string
	Dir  string // folder with its SKILL.md
	SHA  string // SHA-256 of its SKILL.md; part of the rollout key
	Text []byte // its SKILL.md instead of the one in Dir; nil: that one
}

// Prior is the failed attempt that a work retry follows.
type Prior struct {
	Answer   string
	Feedback []string
	Work     *check.Work // as the Attempt had it, not redacted: no model gets it
}

// Calls reports whether the request calls the skill, rather than offering it.
func (t *Task) Calls() bool {
	return t.Variant.IsSkill() && t.Case != nil && t.Case.ShouldTrigger == nil
}

// An Attempt is the result of one Task. Fields that are zero are left out when a fleet's worker
// sends it.
type Attempt struct {
	Answer  string
	Model   string     `json:",omitzero"` // the model that answered, by the backend's own report; "" if it does not report one
	Failure string     `json:",omitzero"` // non-empty: the agent failed (empty answer, cut off, gave up); this is data, score 0
	Trace   []ToolCall `json:",omitzero"`
	// Work is what the agent did, as evolve recorded it itself; nil if it cannot.
	Work         *check.Work   `json:",omitzero"`
	Usage        *Usage        `json:",omitzero"`
	CostUSD      *float64      `json:",omitzero"`
	Started      time.Time     `json:",omitzero"` // set by the Executor
	Duration     time.Duration `json:",omitzero"` // reported by the agent; 0: measure from outside
	Untimed      bool          `json:",omitzero"` // a person answered, so no duration is meaningful: the latency stays unknown
	SkillInvoked *bool         `json:",omitzero"` // whether Variant's skill was loaded; nil if the backend does not report it
	Skills       []string      `json:",omitzero"` // every skill that was loaded, in order of first use
	Files        []string      `json:",omitzero"` // files of the workspace that were made, changed or removed; slash-separated, sorted
	Turns        int           `json:",omitzero"` // the model's replies; 0: the backend does not report it
	Audit        Audit         `json:",omitzero"` // "" if the backend reads only its prompt
	Tainted      string        `json:",omitzero"` // non-empty: what the agent read though it must not; the rollout is void
	InfraRetries int           `json:",omitzero"` // retries within the backend; never the candidate's fault
	Worker       string        `json:",omitzero"` // the machine of a fleet that ran it, or failed with the error; "": this one
	Tried        []string      `json:",omitzero"` // machines that were given it before, and brought no answer
}

// Loaded notes the skills that the agent loaded, in order of first use.
func (a *Attempt) Loaded(v Variant, names []string) {
	invoked := v.IsSkill() && slices.Contains(names, v.Name)
	a.Skills, a.SkillInvoked = names, &invoked
}

// An Audit says whether an attempt can have seen what it must not: another copy
// of the skill, the case's answers, the owner's files.
type Audit string

// The findings of an audit.
const (
	Clean        Audit = "clean"        // every access that the trace shows is allowed
	Tainted      Audit = "tainted"      // one is not; the rollout is void
	Inconclusive Audit = "inconclusive" // the trace does not show what its calls read, and there was no sandbox
)

// An Agent runs tasks. Run must be safe for concurrent use. Its error means that the
// infrastructure failed (*InfraError if the kind is known) or that ctx ended; if the
// agent failed, the error is nil and the Attempt has Failure set. An Attempt returned
// with an error holds the Usage and CostUSD that the call took nevertheless.
type Agent interface {
	Identity() Identity
	Run(ctx context.Context, t Task) (Attempt, error)
}

// A Model turns text into text: the mutator, the judge and the miner use one. It must
// be safe for concurrent use; errors are as for Agent.
type Model interface {
	Identity() Identity
	Complete(ctx context.Context, p Prompt) (Completion, error)
}

// A Prompt is one request to a Model.
type Prompt struct {
	System    string
	User      string
	MaxTokens int   // 0: the backend's default
	Seed      int64 // passed on if the API takes one
}

// A Completion is a Model's reply.
type Completion struct {
	Text string `json:"text"`
	// Finish is "stop" for a complete reply, "length" for one that was cut off, else
	// the backend's own term.
	Finish  string   `json:"finish"`
	Usage   *Usage   `json:"usage,omitempty"`
	CostUSD *float64 `json:"cost_usd,omitempty"`
	// Attempts are those of a rollout that was lost: see LostRecord. It is 0 for a
	// reply.
	Attempts int `json:"attempts,omitempty"`
}

// A Grader scores one attempt. An error is as for Agent: the rollout becomes missing,
// and is never scored 0.
type Grader interface {
	// Identity changes whenever a grade could; it is part of the rollout key.
	Identity() string
	Grade(ctx context.Context, c *Case, a Attempt, workspace string) (Grade, error)
}

// A Grade is the outcome of all checks of a case.
type Grade struct {
	Quality    float64 // weighted mean, [0,1]
	Checks     []CheckResult
	JudgeCalls int
	JudgeUsage *Usage
	JudgeUSD   *float64
	Lost       // of the judge
}

// FailureKind classifies infrastructure failures by the reaction to them.
type FailureKind string

const (
	Unreachable FailureKind = "unreachable" // no connection, dropped stream, timeout while connecting: retried
	RateLimited FailureKind = "rate_limited"
	ServerError FailureKind = "server_error" // 5xx, malformed reply: retried
	Auth        FailureKind = "auth"         // 401, 403: never retried, stops the run
	BadRequest  FailureKind = "bad_request"  // 400, 404: never retried, stops the run
	UsageLimit  FailureKind = "usage_limit"  // a subscription's limit: save, report when it resets, exit 3
	Refused     FailureKind = "refused"      // the owner has not agreed to the request: never retried, stops the run
	Pending     FailureKind = "pending"      // requested and not answered yet: the rest of the batch is requested too
)

// An InfraError is a failure of the infrastructure, never of the candidate.
type InfraError struct {
	Kind       FailureKind
	RetryAfter time.Duration // 0 if the server did not report it
	ResetAt    time.Time     // of a usage limit, if known
	Err        error
}

// Infraf is a failure of one kind, worded as by fmt.Errorf.
func Infraf(kind FailureKind, format string, args ...any) *InfraError {
	return &InfraError{Kind: kind, Err: fmt.Errorf(format, args...)}
}

func (e *InfraError) Error() string { return string(e.Kind) + ": " + e.Err.Error() }
func (e *InfraError) Unwrap() error { return e.Err }
