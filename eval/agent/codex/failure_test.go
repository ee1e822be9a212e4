package codex

import (
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

func TestClassify(t *testing.T) {
	for text, want := range map[string]eval.FailureKind{
		"unexpected status 401 Unauthorized: x":                                           eval.Auth,
		"unexpected status 404 Not Found: no such route":                                  eval.BadRequest,
		"unexpected status 422 Unprocessable Entity: x":                                   eval.BadRequest,
		"unexpected status 408 Request Timeout: x":                                        eval.ServerError,
		"unexpected status 502 Bad Gateway: x":                                            eval.ServerError,
		"unexpected status 413 Payload Too Large: x":                                      "",
		"exceeded retry limit, last status: 429 Too Many Requests":                        eval.RateLimited,
		"exceeded retry limit, last status: 503 Service Unavailable":                      eval.ServerError,
		"Missing environment variable: `OPENAI_API_KEY`.":                                 eval.Auth,
		"Your access token could not be refreshed. Please log in now":                     eval.Auth,
		"Your workspace is out of credits. Add credits to continue.":                      eval.UsageLimit,
		"You hit your spend cap set in your workspace":                                    eval.UsageLimit,
		"workspace routing discovery failed":                                              eval.Unreachable,
		"idle timeout waiting for SSE":                                                    eval.Unreachable,
		"something that no version has said yet":                                          eval.ServerError,
		"":                                                                                eval.ServerError,
		`{"error":{"message":"x","type":"invalid_request_error","code":null}}`:            eval.BadRequest,
		`{"error":{"message":"x","code":"context_length_exceeded"}}`:                      "",
		`{"error":{"message":"This model's maximum context length is 4096 tokens"}}`:      "",
		`{"detail":"Unsupported parameter"}`:                                              eval.BadRequest,
		`{not json`:                                                                       eval.ServerError,
		"The 'gpt-0' model is not supported when using Codex with a ChatGPT account.":     eval.BadRequest,
		"Codex ran out of room in the model's context window. Start a new thread":         "",
		"stream disconnected before completion: rate limit reached, please slow":          eval.RateLimited,
		"Incomplete response returned, reason: content_filter":                            "",
		"Invalid prompt: we've limited access to this content for safety reasons.":        "",
		"Selected model is at capacity. Please try a different model.":                    eval.ServerError,
		"We’re currently experiencing high demand, which may cause temporary errors.":     eval.ServerError,
		"You’ve hit your usage limit for gpt-5. Switch to another model now, or try":      eval.UsageLimit,
		"Connection failed: error sending request":                                        eval.Unreachable,
		"unexpected status 400 Bad Request: Your input exceeds the context window of it.": "",
	} {
		got := classify(text, clock())
		if got.infra != want {
			t.Errorf("%s: got %q, want %q", text, got.infra, want)
		}
		if want == "" && got.text == "" {
			t.Errorf("%s: the failure has no text", text)
		}
	}
}

func TestReset(t *testing.T) {
	berlin := time.FixedZone("CET", 3600)
	now := time.Date(2026, 11, 21, 23, 30, 20, 0, berlin)
	for text, want := range map[string]time.Time{
		"or try again at 11:45 PM.":               time.Date(2026, 11, 21, 23, 46, 0, 0, berlin),
		"or try again at 11:30 PM.":               time.Date(2026, 11, 21, 23, 31, 0, 0, berlin),
		"or try again at 3:37 AM.":                time.Date(2026, 11, 22, 3, 38, 0, 0, berlin),
		"or try again at Nov 24th, 2026 1:56 PM.": time.Date(2026, 11, 24, 13, 57, 0, 0, berlin),
		"try again at Dec 1st, 2026 12:05 AM":     time.Date(2026, 12, 1, 0, 6, 0, 0, berlin),
		"Try again in 3 days 4 hours":             now.Add(76 * time.Hour),
		"Please try again in 250ms.":              now.Add(250 * time.Millisecond),
		"try again in 20 minutes.":                now.Add(20 * time.Minute),
		"try again later.":                        {},
		"try again at Feb 31st, 2026 1:00 PM":     {},
		"":                                        {},
	} {
		if got := resetOf(text, now); !got.Equal(want) {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

func TestUnended(t *testing.T) {
	for _, c := range []struct {
		begun  bool
		exit   int
		stderr string
		kind   eval.FailureKind
		text   string
	}{
		{false, 2, "error: unexpected argument '--json' found\n", eval.BadRequest, "unexpected argument"},
		{false, 1, "WARNING: proceeding, x\nError: error loading config\n", eval.BadRequest, "error loading config"},
		{false, -1, "", eval.Unreachable, "exit code -1"},
		{true, 137, "Reading additional input from stdin...\n", eval.Unreachable, "exit code 137"},
		{true, 1, "thread 'main' panicked\n", eval.Unreachable, "panicked"},
	} {
		s := newStream(clock)
		s.begun = c.begun
		if got := s.unended(c.exit, c.stderr); got.infra != c.kind || !strings.Contains(got.text, c.text) {
			t.Errorf("%+v: got %s %q", c, got.infra, got.text)
		}
	}
}
