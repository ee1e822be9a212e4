package claude

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// An outcome is the result of one run by its events: an answer, a failure of the model
// (data), or one of the infrastructure.
type outcome struct {
	failure string // of the model or the candidate
	cut     bool   // the failure is a reply that was cut off at the limit of tokens
	refused bool   // the failure is a refusal
	tooLong bool   // the failure is a request longer than the model's context
	err     *eval.InfraError
}

// ourDoing are the reasons of a denied tool that lie in how the program was
// started. Its own safety checks deny too, whatever the mode; those are the
// model's doing.
var ourDoing = []string{"mode", "rule", "workingDir", "sandboxOverride", ""}

// outcome classifies a run by its events. The exit code, result.subtype and "success"
// are unreliable: a refused key exits 1 with "success", a denied tool exits 0.
func (s *stream) outcome(now time.Time) outcome {
	if len(s.results) == 0 {
		return s.unfinished()
	}
	r := &s.results[len(s.results)-1]
	if o, denied := s.denial(); denied {
		return o
	}
	switch r.Terminal {
	case "max_turns":
		return failed("no answer within the limit of turns")
	case "budget_exhausted":
		return failed("no answer within the attempt's budget")
	case "prompt_too_long", "blocking_limit", "rapid_refill_breaker":
		return outcome{failure: replay.TooLong, tooLong: true}
	case "image_error":
		if r.APIErrorStatus == 413 {
			return outcome{failure: replay.TooLong, tooLong: true}
		}
		return failed("the request was refused for an image in it: %s", short(r.Result))
	case "malformed_tool_use_exhausted":
		return failed("the model's tool calls were malformed again and again")
	case "aborted_streaming", "aborted_tools":
		return infra(eval.Unreachable, "the program was interrupted")
	case "turn_setup_failed", "tool_deferred", "tool_deferred_unavailable", "background_requested":
		return infra(eval.ServerError, "the program did not begin (%s): %s", r.Terminal, short(r.said()))
	}
	switch r.Subtype { // of versions without terminal_reason
	case "error_max_turns":
		return failed("no answer within the limit of turns")
	case "error_max_budget_usd":
		return failed("no answer within the attempt's budget")
	}
	if r.IsError {
		return s.apiFailure(r, now)
	}
	if r.Terminal == "" && len(s.replies) == 0 && len(r.Models) == 0 {
		// A command of the program's own, which no model has seen.
		return failed("the program answered itself, without the model: %s", short(r.Result))
	}
	if r.StopReason == "refusal" {
		return outcome{failure: "the model refused", refused: true}
	}
	if r.StopReason == "max_tokens" || r.StopReason == "model_context_window_exceeded" {
		return outcome{failure: replay.CutOff, cut: true}
	}
	if strings.TrimSpace(s.answer()) == "" {
		return failed(replay.Empty)
	}
	return outcome{}
}

// unfinished is a stream without a result: the program died.
func (s *stream) unfinished() outcome {
	if s.retrying {
		return outcome{err: s.retryFailure()}
	}
	return outcome{err: &eval.InfraError{Kind: eval.ServerError, Err: errNoResult}}
}

var errNoResult = errors.New("the program ended without a result")

// retryFailure is why the program was still retrying.
func (s *stream) retryFailure() *eval.InfraError {
	kind := kindOf(s.last.ErrorStatus, word(s.last.Error))
	if s.last.ErrorStatus == 0 && word(s.last.Error) == "unknown" {
		kind = eval.Unreachable // no status came, so no reply did
	}
	return eval.Infraf(kind, "the model could not be asked: %s, status %d", word(s.last.Error), s.last.ErrorStatus)
}

// denial finds a tool that was refused because of how the program was started.
func (s *stream) denial() (outcome, bool) {
	for i := range s.results {
		for _, d := range s.results[i].Denials {
			if why, told := s.denied[d.ToolUseID]; !told || slices.Contains(ourDoing, why) || s.mode != bypass {
				name := "a tool"
				if c := s.calls.Find(d.ToolUseID); c != nil {
					name = c.Name
				}
				return infra(eval.BadRequest, "%s was denied by the program's permission mode %q", name, s.mode), true
			}
		}
	}
	return outcome{}, false
}

// apiFailure is a turn that ended on an error of the model's server.
func (s *stream) apiFailure(r *result, now time.Time) outcome {
	status, text := r.APIErrorStatus, r.said()
	switch {
	case r.StopReason == "refusal":
		return outcome{failure: "the model refused: " + short(text), refused: true}
	case r.APIError == "max_output_tokens":
		return outcome{failure: replay.CutOff, cut: true}
	case status == 413, strings.HasPrefix(text, "Prompt is too long"), r.APIError == "prompt_too_long":
		return outcome{failure: replay.TooLong, tooLong: true}
	case s.overLimit(r):
		return outcome{err: &eval.InfraError{Kind: eval.UsageLimit, ResetAt: s.resetAt(text, now), Err: errors.New(short(text))}}
	}
	e := &eval.InfraError{Kind: kindOf(status, s.apiError), Err: errors.New(short(text))}
	switch {
	case r.APIError == "connection_failed" || strings.Contains(text, "timed out"):
		e.Kind = eval.Unreachable
	case status == 0 && e.Kind == eval.ServerError && dropped(text):
		e.Kind = eval.Unreachable
	}
	if e.Kind == eval.RateLimited && s.firstPause > ownPause {
		e.RetryAfter = s.firstPause
	}
	return outcome{err: e}
}

// overLimit reports whether a limit that waiting a little does not lift has
// refused the request: of a subscription, of an account's credit, of a budget.
func (s *stream) overLimit(r *result) bool {
	text := r.said()
	return r.APIError == "usage_limit_reached" || r.APIError == "model_requires_usage_credits" ||
		s.apiError == "billing_error" || r.APIErrorType == "billing_error" ||
		r.APIErrorStatus == 429 && limitText(text)
}

// ownPause is the longest pause of the program's own before its first retry. The events
// do not hold the server's Retry-After; a longer pause shows that there was one.
const ownPause = 700 * time.Millisecond

// said is the result's text, or its errors.
func (r *result) said() string {
	if r.Result != "" || len(r.Errors) == 0 {
		return r.Result
	}
	return strings.Join(r.Errors, "; ")
}

// kindOf classifies by the server's status, and if there was none by the program's
// term.
func kindOf(status int, word string) eval.FailureKind {
	if kind := replay.Refused(status); kind != "" {
		return kind
	}
	switch word {
	case "authentication_failed", "oauth_org_not_allowed":
		return eval.Auth
	case "rate_limit":
		return eval.RateLimited
	case "invalid_request", "model_not_found":
		return eval.BadRequest
	}
	return eval.ServerError
}

// dropped reports whether a text is about a broken connection.
func dropped(text string) bool {
	for _, sign := range []string{"ECONN", "EPIPE", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "onnection", "socket", "network", "fetch failed"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

func failed(format string, args ...any) outcome {
	return outcome{failure: fmt.Sprintf(format, args...)}
}

func infra(kind eval.FailureKind, format string, args ...any) outcome {
	return outcome{err: eval.Infraf(kind, format, args...)}
}

// short keeps the beginning of a text, on one line.
func short(text string) string {
	return replay.Clip(strings.Join(strings.Fields(text), " "), 300)
}
