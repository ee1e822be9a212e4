package copilot

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	sdk "github.com/github/copilot-sdk/go"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// maxCalls is how many tool calls a trace holds.
const maxCalls = 500

// A reader makes an attempt of a session's events. The SDK calls it from one
// goroutine; everybody else holds mu.
type reader struct {
	maxTurns int  // 0: any number
	own      bool // the server is one's own: what it refuses it refuses for good
	done     chan struct{}

	mu      sync.Mutex
	ended   bool
	answer  string
	turns   int
	finish  string // of the model's last reply; "" before the first
	blocked bool   // it was cut off by a content filter
	calls   replay.Calls
	skills  []string
	model   string // of the last reply
	tokens  eval.Usage
	counted bool

	fault   *fault // the last call of the model, if that failed
	retries int
	broken  string // what the program says of a reply that did come
	tired   bool   // maxTurns are used up
	aborted bool

	began, last, failed time.Time
	waited              time.Duration
}

func newReader(maxTurns int, own bool) *reader {
	return &reader{maxTurns: maxTurns, own: own, done: make(chan struct{})}
}

// event takes the next event.
func (r *reader) event(e sdk.SessionEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.last = e.Timestamp
	switch d := e.Data.(type) {
	case *sdk.UserMessageData:
		if r.began.IsZero() {
			r.began = e.Timestamp
		}
	case *sdk.AssistantMessageData:
		r.message(d)
	case *sdk.AssistantUsageData:
		r.reply(d)
	case *sdk.ModelCallFailureData:
		r.fault = faultOf(d)
		r.failed = e.Timestamp.Add(-time.Duration(value(d.DurationMs)) * time.Millisecond)
		if r.own && r.fault.final() {
			r.end() // the program would try three times
		}
	case *sdk.AssistantTurnRetryData:
		r.retries++
		if !r.failed.IsZero() {
			r.waited += max(0, e.Timestamp.Sub(r.failed))
			r.failed = time.Time{}
		}
	case *sdk.SessionErrorData:
		if r.fault == nil && d.StatusCode == nil && r.finish != "" {
			r.broken = d.Message // the model replied, and the program can do nothing with it
			break
		}
		r.fault = r.fault.with(d)
	case *sdk.ToolExecutionStartData:
		r.start(d)
	case *sdk.ToolExecutionCompleteData:
		r.calls.End(d.ToolCallID, !d.Success || exitCode(d.Result) != 0)
	case *sdk.SkillInvokedData:
		if !slices.Contains(r.skills, d.Name) {
			r.skills = append(r.skills, d.Name)
		}
	case *sdk.SessionIdleData:
		r.aborted = value(d.Aborted)
		r.end()
	}
}

func (r *reader) end() {
	r.ended = true
	close(r.done)
}

// message is a text, or a request to call tools, or both. What comes before a
// call is no answer yet.
func (r *reader) message(d *sdk.AssistantMessageData) {
	r.turns++
	r.answer = d.Content
	if len(d.ToolRequests) > 0 {
		r.answer = ""
		if r.maxTurns > 0 && r.turns >= r.maxTurns {
			r.tired = true
			r.end()
		}
	}
}

// reply is the model's bookkeeping of a call that went through. Its input counts
// cached tokens in, whatever the server speaks.
func (r *reader) reply(d *sdk.AssistantUsageData) {
	r.fault = nil
	r.model = d.Model
	r.finish, r.blocked = value(d.FinishReason), value(d.ContentFilterTriggered)
	if d.InputTokens == nil && d.OutputTokens == nil {
		return
	}
	read, write := value(d.CacheReadTokens), value(d.CacheWriteTokens)
	u := eval.Usage{CacheRead: max(0, read), CacheWrite: max(0, write), Output: max(0, value(d.OutputTokens)),
		Reasoning: max(0, value(d.ReasoningTokens))}
	u.Input = max(0, value(d.InputTokens)-u.CacheRead-u.CacheWrite)
	r.counted = r.counted || u.Total() > 0
	r.tokens = r.tokens.Add(u)
}

func (r *reader) start(d *sdk.ToolExecutionStartData) {
	if len(r.calls.All) == maxCalls {
		return
	}
	input, err := json.Marshal(d.Arguments)
	if err != nil {
		input = []byte("null")
	}
	r.calls.Begin(d.ToolCallID, d.ToolName, input)
}

// exitCode is a shell's; the program calls a command that failed a success.
func exitCode(d *sdk.ToolExecutionCompleteResult) int64 {
	if d == nil {
		return 0
	}
	for _, c := range d.Contents {
		switch c := c.(type) {
		case *sdk.ToolExecutionCompleteContentShellExit:
			return c.ExitCode
		case sdk.ToolExecutionCompleteContentShellExit:
			return c.ExitCode
		}
	}
	return 0
}

// usage is nil if the server reported none.
func (r *reader) usage() *eval.Usage {
	if !r.counted {
		return nil
	}
	u := r.tokens
	return &u
}

// duration is from the request to the end, without failed calls of the model and
// the waiting after them; 0 if the events do not tell.
func (r *reader) duration() time.Duration {
	if r.began.IsZero() {
		return 0
	}
	return max(0, r.last.Sub(r.began)-r.waited)
}

// accesses is what the calls reached for.
func (r *reader) accesses() []replay.Access {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls.Accesses()
}

// value is what p points to, or nothing.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
