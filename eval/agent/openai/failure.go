package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	api "github.com/sashabaranov/go-openai"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// classify turns an error into ctx's error or an *eval.InfraError whose text never
// holds the API key.
func (c *Client) classify(ctx context.Context, r *reply, err error) error {
	status, code, text := refusal(err)
	if status == 0 && ctx.Err() != nil {
		// The model was answering, or the caller gave up.
		if r.sent || errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
		return c.infra(eval.Unreachable, 0, "connect to the model: %v", ctx.Err())
	}
	after := retryAfter(r.header, time.Now())
	switch kind := replay.Refused(status); {
	case kind == eval.RateLimited && outOfQuota(code):
		e := c.infra(eval.UsageLimit, after, "%s", text)
		if after > 0 {
			e.ResetAt = time.Now().Add(after)
		}
		return e
	case kind == eval.RateLimited, kind == eval.ServerError:
		return c.infra(kind, after, "%s", text)
	case status != 0:
		return c.infra(cmp.Or(kind, eval.BadRequest), 0, "%s", text)
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var transport *url.Error
	switch {
	case errors.As(err, &syntax), errors.As(err, &kind), errors.Is(err, errNoChoice):
		return c.infra(eval.ServerError, 0, "read the model's reply: %v", err)
	case errors.As(err, &transport):
		return c.infra(eval.Unreachable, 0, "%v", err)
	case r.sent || errors.Is(err, io.ErrUnexpectedEOF):
		return c.infra(eval.Unreachable, 0, "read the model's reply: %v", err)
	}
	// The library refused the request before sending it.
	return c.infra(eval.BadRequest, 0, "%v", err)
}

// refusal splits a server's error response into its parts; status is 0 for all other
// errors.
func refusal(err error) (status int, code, text string) {
	var e *api.APIError
	if errors.As(err, &e) {
		if e.Code != nil {
			code = fmt.Sprint(e.Code)
		}
		if code == "" {
			code = e.Type
		}
		return e.HTTPStatusCode, code, fmt.Sprintf("status %d: %s", e.HTTPStatusCode, e.Message)
	}
	var plain *api.RequestError
	if errors.As(err, &plain) {
		body := strings.TrimSpace(string(plain.Body))
		const enough = 500
		if len(body) > enough {
			body = body[:enough] + "…"
		}
		return plain.HTTPStatusCode, "", strings.TrimSuffix(fmt.Sprintf("status %d: %s", plain.HTTPStatusCode, body), ": ")
	}
	return 0, "", ""
}

// outOfQuota distinguishes a limit that waiting does not lift from a rate limit.
func outOfQuota(code string) bool {
	switch code {
	case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active":
		return true
	}
	return false
}

// refusedText is why the server refused the text itself, "" if it did not. A candidate
// that grew beyond the model's context has failed, and must not stop the run.
func refusedText(err error) string {
	status, code, text := refusal(err)
	if status != http.StatusBadRequest && status != http.StatusRequestEntityTooLarge {
		return ""
	}
	if strings.Contains(text, "maximum context length") { // vLLM has no code for it
		return replay.TooLong
	}
	return replay.TextRefused(code)
}

// retryAfter is how long the server asks to wait, 0 if it does not: seconds, whole or
// not, or an HTTP date; milliseconds if they are given too.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return replay.Span(ms, time.Millisecond)
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		return replay.Span(s, time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
