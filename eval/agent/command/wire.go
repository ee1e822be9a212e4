package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/eval/fields"
)

// Version is the contract of this package: the member "evolve" of every request. It
// changes if a program that follows the old one would fail.
const Version = 1

// The kinds of a request.
const (
	kindTask     = "task"
	kindComplete = "complete"
	kindPing     = "ping"
)

// A taskRequest asks for one attempt at a case.
type taskRequest struct {
	Evolve    int               `json:"evolve"`
	Kind      string            `json:"kind"`
	Skill     *offered          `json:"skill"`  // null: the arm without a skill
	Others    []offered         `json:"others"` // offered beside it, as they are
	Forced    bool              `json:"forced"` // the skill is to be used; false: it is only offered
	Prompt    string            `json:"prompt"`
	Context   []eval.Message    `json:"context"`   // the conversation so far
	Files     map[string]string `json:"files"`     // slash-separated path → content
	Workspace string            `json:"workspace"` // folder that holds them; "" if there is none
	Prior     *prior            `json:"prior"`     // the attempt that failed before this one, or null
	Seed      int64             `json:"seed"`
}

type offered struct {
	Name string `json:"name"`
	Dir  string `json:"dir"` // a private copy of the skill's folder
	Text string `json:"text,omitempty"`
	// Path is of a file of standing instructions, which holds in every turn: below the
	// workspace, or "~/…". Then there is no Dir.
	Path string `json:"path,omitempty"`
}

type prior struct {
	Answer   string   `json:"answer"`
	Feedback []string `json:"feedback"`
}

// A textRequest asks for the reply to one prompt.
type textRequest struct {
	Evolve    int    `json:"evolve"`
	Kind      string `json:"kind"`
	System    string `json:"system"`
	User      string `json:"user"`
	MaxTokens int    `json:"max_tokens"` // 0: the program's own limit
	Seed      int64  `json:"seed"`
}

type pingRequest struct {
	Evolve int    `json:"evolve"`
	Kind   string `json:"kind"`
}

// A taskReply answers a taskRequest.
type taskReply struct {
	Evolve     int         `json:"evolve"` // absent, or Version; here and below
	Answer     string      `json:"answer"`
	Failure    string      `json:"failure"` // the agent failed, and why: data, not an error
	Trace      []call      `json:"trace"`
	Skills     *[]string   `json:"skills"` // loaded, in order of first use; absent: unknown
	Usage      *eval.Usage `json:"usage"`
	CostUSD    *float64    `json:"cost_usd"`
	DurationMS float64     `json:"duration_ms"`
	Turns      int         `json:"turns"`
	Error      *failure    `json:"error"`
}

// A call is an eval.ToolCall whose input may be a text or any JSON.
type call struct {
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	Failed bool            `json:"failed"`
}

// maxInput is how much of a call's input a rollout keeps, in bytes.
const maxInput = 4 << 10

// text is the input as a rollout keeps it.
func (c *call) text() string {
	var s string
	if json.Unmarshal(c.Input, &s) != nil {
		s = replay.Compact(c.Input)
	}
	return replay.Clip(s, maxInput)
}

// A textReply answers a textRequest.
type textReply struct {
	Evolve  int         `json:"evolve"`
	Text    string      `json:"text"`
	Finish  string      `json:"finish"` // "stop", "length", …; absent is "stop"
	Usage   *eval.Usage `json:"usage"`
	CostUSD *float64    `json:"cost_usd"`
	Error   *failure    `json:"error"`
}

// A pong answers a pingRequest.
type pong struct {
	Evolve  int      `json:"evolve"`
	OK      bool     `json:"ok"`
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Model   string   `json:"model"`
	Error   *failure `json:"error"`
}

// A failure is one of the infrastructure, reported by the program.
type failure struct {
	Kind       eval.FailureKind `json:"kind"`
	Message    string           `json:"message"`
	RetryAfter float64          `json:"retry_after_s"`
	ResetAt    *time.Time       `json:"reset_at"` // RFC 3339; of a usage limit
}

// kinds are what a program may report.
var kinds = []eval.FailureKind{eval.Unreachable, eval.RateLimited, eval.ServerError, eval.Auth, eval.BadRequest, eval.UsageLimit}

// decode reads a reply of one kind and validates it.
func decode(stdout []byte, reply interface{ valid() error }) error {
	if err := fields.Decode(stdout, reply); err != nil {
		return err
	}
	return reply.valid()
}

func (r *taskReply) valid() error {
	switch {
	case r.DurationMS < 0 || r.DurationMS > 1e12:
		return errors.New("duration_ms is no duration")
	case r.Turns < 0:
		return errors.New("turns is negative")
	}
	return valid(r.Evolve, r.Usage, r.CostUSD, r.Error)
}

func (r *textReply) valid() error { return valid(r.Evolve, r.Usage, r.CostUSD, r.Error) }

func (r *pong) valid() error {
	switch {
	case r.Error != nil:
		return r.Error.valid()
	case !r.OK:
		return errors.New(`neither "ok": true nor an error`)
	}
	return wantVersion(r.Evolve)
}

// valid validates what all replies have in common.
func valid(version int, u *eval.Usage, usd *float64, f *failure) error {
	if err := u.Check(); err != nil {
		return err
	}
	switch {
	case usd != nil && *usd < 0:
		return errors.New("cost_usd is negative")
	case f != nil:
		return f.valid()
	}
	return wantVersion(version)
}

func wantVersion(v int) error {
	if v != 0 && v != Version {
		return fmt.Errorf("version %d of the contract, want %d", v, Version)
	}
	return nil
}

func (f *failure) valid() error {
	if !slices.Contains(kinds, f.Kind) {
		names := make([]string, len(kinds))
		for i, k := range kinds {
			names[i] = string(k)
		}
		return fmt.Errorf("error.kind %q is none of %s", f.Kind, strings.Join(names, ", "))
	}
	if f.RetryAfter < 0 {
		return errors.New("error.retry_after_s is negative")
	}
	return nil
}

// infra is the failure as an InfraError.
func (f *failure) infra(scrub func(string) string) *eval.InfraError {
	message := f.Message
	if message == "" {
		message = "the program gives no reason"
	}
	e := &eval.InfraError{Kind: f.Kind, Err: errors.New(scrub(message)),
		RetryAfter: time.Duration(min(f.RetryAfter, math.MaxInt32) * float64(time.Second))}
	if f.ResetAt != nil {
		e.ResetAt = *f.ResetAt
	}
	return e
}

// marshal writes a request; all requests can be marshalled.
func marshal(request any) []byte {
	text, err := json.Marshal(request)
	if err != nil {
		panic("command: request: " + err.Error())
	}
	return append(text, '\n')
}
