package copilot

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/github/copilot-sdk/go"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// A fault is why the model's last call failed, from all events about it.
type fault struct {
	status    int    // of HTTP; 0: none came
	kind      string // the program's word: "authentication", "quota", "rate_limit", "context_limit", …
	code      string // the server's word
	message   string
	transport bool      // no complete answer came
	reset     time.Time // of a quota that is used up
}

func faultOf(d *sdk.ModelCallFailureData) *fault {
	f := &fault{status: int(value(d.StatusCode)), code: value(d.ErrorCode), message: plain(value(d.ErrorMessage)),
		transport: value(d.FailureKind) == sdk.ModelCallFailureKindTransport}
	if f.code == "" {
		f.code = value(d.ErrorType)
	}
	for _, q := range d.QuotaSnapshots {
		if q.ResetDate != nil && q.RemainingPercentage <= 0 && !q.IsUnlimitedEntitlement && q.ResetDate.After(f.reset) {
			f.reset = *q.ResetDate
		}
	}
	return f
}

// with adds the program's error to what is known of the call. f may be nil.
func (f *fault) with(d *sdk.SessionErrorData) *fault {
	out := fault{}
	if f != nil {
		out = *f
	}
	out.kind = d.ErrorType
	if d.StatusCode != nil {
		out.status = int(*d.StatusCode)
	}
	if d.ErrorCode != nil {
		out.code = *d.ErrorCode
	}
	if out.message == "" {
		out.message = d.Message
	}
	return &out
}

// plain takes the message out of the error object that a server wrote.
func plain(text string) string {
	var object struct{ Message string }
	var quoted string
	switch {
	case json.Unmarshal([]byte(text), &object) == nil && object.Message != "":
		return object.Message
	case json.Unmarshal([]byte(text), &quoted) == nil:
		return quoted
	}
	return text
}

var (
	// spent are the limits that no waiting of minutes lifts: OpenAI's, and those
	// of Copilot's plans.
	spent = []string{"insufficient_quota", "billing_hard_limit_reached", "billing_not_active",
		"quota_exceeded", "session_quota_exceeded", "billing_not_configured",
		"user_weekly_rate_limited", "user_global_rate_limited"}
)

// text is the reason if the text caused the failure: the candidate's or the case's. ""
// if it did not.
func (f *fault) text() string {
	lower := strings.ToLower(f.message)
	client := f.status == http.StatusBadRequest || f.status == http.StatusRequestEntityTooLarge || f.status == 0
	switch {
	case f.kind == "context_limit",
		client && (strings.Contains(lower, "maximum context length") || strings.Contains(lower, "prompt is too long")):
		return replay.TooLong
	}
	return replay.TextRefused(f.code)
}

// infra is the failure of the infrastructure.
func (f *fault) infra(now time.Time) *eval.InfraError {
	message := f.message
	if message == "" {
		message = "the model's call failed"
	}
	if f.status != 0 && !strings.HasPrefix(message, strconv.Itoa(f.status)) {
		message = "status " + strconv.Itoa(f.status) + ": " + message
	}
	e := &eval.InfraError{Err: errors.New(message)}
	lower := strings.ToLower(f.message)
	switch {
	case f.status == http.StatusPaymentRequired, f.kind == "quota", slices.Contains(spent, f.code):
		e.Kind, e.ResetAt = eval.UsageLimit, f.reset
		if wait := replay.WaitIn(f.message); wait > 0 && e.ResetAt.IsZero() {
			e.ResetAt = now.Add(wait)
		}
	case f.status == http.StatusUnauthorized, f.status == http.StatusForbidden,
		f.kind == "authentication", f.kind == "authorization":
		e.Kind = eval.Auth
	case f.status == http.StatusTooManyRequests, f.kind == "rate_limit":
		e.Kind, e.RetryAfter = eval.RateLimited, replay.WaitIn(f.message)
	case f.status >= 400:
		e.Kind = replay.Refused(f.status)
	case strings.Contains(lower, "json"), strings.Contains(lower, "parse"):
		e.Kind = eval.ServerError
	case f.transport:
		e.Kind = eval.Unreachable
	default:
		e.Kind = eval.ServerError
	}
	return e
}

// final reports whether every other try would fail too.
func (f *fault) final() bool {
	if f.text() != "" {
		return true
	}
	switch f.infra(time.Time{}).Kind {
	case eval.Auth, eval.UsageLimit, eval.BadRequest:
		return true
	}
	return false
}

// outcome is the session's result: why the agent failed, "" if it did not, or the error
// that leaves it unknown.
func (r *reader) outcome() (failure string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.fault != nil:
		if why := r.fault.text(); why != "" {
			return why, nil
		}
		return "", r.fault.infra(time.Now())
	case r.tired:
		return "no end of the work within " + strconv.Itoa(r.maxTurns) + " turns", nil
	case r.aborted:
		return "the program broke the work off", nil
	case r.blocked, r.finish == "content_filter":
		return "the answer was withheld by the server's content filter", nil
	case r.finish == "length":
		return replay.CutOff, nil
	case strings.TrimSpace(r.answer) == "":
		return replay.Empty, nil
	case r.broken != "":
		return r.broken, nil
	}
	return "", nil
}
