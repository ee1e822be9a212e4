package openai

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/agenttest"
)

func client(t *testing.T, s *agenttest.Server, change func(*Config)) *Client {
	t.Helper()
	conf := Config{BaseURL: s.URL + "/", APIKey: agenttest.Key + "\n", Model: "m", HTTPClient: s.Client}
	if change != nil {
		change(&conf)
	}
	c, err := New(conf)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ptr[T any](v T) *T { return &v }

var task = eval.Task{Case: &eval.Case{ID: "1", Skill: "s", Prompt: "p"}, Seed: 7}

func TestRequest(t *testing.T) {
	s := agenttest.NewServer(t, agenttest.ChatCompletions{}, agenttest.Reply{Text: "fine"})
	c := client(t, s, func(c *Config) { c.Temperature, c.MaxTokens = ptr(float32(0)), 99 })
	if _, err := c.Run(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Complete(t.Context(), eval.Prompt{System: "be brief", User: "u", MaxTokens: 5}); err != nil {
		t.Fatal(err)
	}
	type request struct {
		Model       string   `json:"model"`
		Temperature *float64 `json:"temperature"`
		MaxTokens   int      `json:"max_tokens"`
		Seed        *int64   `json:"seed"`
		Messages    []struct{ Role, Content string }
	}
	var got [2]request
	for i, body := range s.Bodies() {
		if err := json.Unmarshal(body, &got[i]); err != nil {
			t.Fatal(err)
		}
	}
	if r := got[0]; r.Model != "m" || r.MaxTokens != 99 || *r.Seed != 7 || len(r.Messages) != 1 || r.Messages[0].Role != "user" {
		t.Errorf("request = %+v", r)
	}
	// A temperature of 0 must reach the server, as 0 for all it can tell.
	if r := got[0]; r.Temperature == nil || *r.Temperature > 1e-30 {
		t.Errorf("temperature = %v", r.Temperature)
	}
	if r := got[1]; r.MaxTokens != 5 || r.Seed != nil || len(r.Messages) != 2 || r.Messages[0].Content != "be brief" {
		t.Errorf("prompt = %+v", r)
	}
}

func TestUsageAndPrice(t *testing.T) {
	for _, c := range []struct {
		name   string
		prices *eval.Price
		reply  agenttest.Reply
		usage  *eval.Usage
		usd    *float64
	}{
		{"no prices", nil, agenttest.Reply{Text: "x", Input: 1000, Cached: 400, Output: 50},
			&eval.Usage{Input: 600, CacheRead: 400, Output: 50}, nil},
		{"prices", &eval.Price{Input: 10, CacheRead: 1, Output: 100}, agenttest.Reply{Text: "x", Input: 1000, Cached: 400, Output: 50},
			&eval.Usage{Input: 600, CacheRead: 400, Output: 50}, ptr(0.0114)},
		{"cached as input", &eval.Price{Input: 10, Output: 100}, agenttest.Reply{Text: "x", Input: 1000, Cached: 400, Output: 50},
			&eval.Usage{Input: 600, CacheRead: 400, Output: 50}, ptr(0.015)},
		{"no usage", &eval.Price{Input: 10, Output: 100}, agenttest.Reply{Text: "x"}, nil, nil},
		{"more cached than there is", nil, agenttest.Reply{Text: "x", Input: 10, Cached: 400, Output: 1},
			&eval.Usage{CacheRead: 10, Output: 1}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := agenttest.NewServer(t, agenttest.ChatCompletions{}, c.reply)
			got, err := client(t, s, func(conf *Config) { conf.Prices = c.prices }).Complete(t.Context(), eval.Prompt{User: "u"})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Usage, c.usage) || !reflect.DeepEqual(got.CostUSD, c.usd) {
				t.Errorf("usage %+v, cost %v", got.Usage, got.CostUSD)
			}
		})
	}
}

// The server reports which model answered: one name may stand for another model every
// month.
func TestModelThatAnswered(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"model":"mini-2026-03-01","choices":[{"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}]}`))
	}))
	t.Cleanup(s.Close)
	c, err := New(Config{BaseURL: s.URL, Model: "mini"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Run(t.Context(), eval.Task{Case: &eval.Case{Prompt: "p"}})
	if err != nil || a.Model != "mini-2026-03-01" {
		t.Errorf("model %q, %v; want the one that the server names", a.Model, err)
	}
}

func TestTooLongIsTheCandidatesFault(t *testing.T) {
	for _, r := range []agenttest.Reply{
		{Status: 400, Code: "context_length_exceeded", Message: "too long"},
		{Status: 400, Code: "BadRequestError", Message: "This model's maximum context length is 4096 tokens"},
	} {
		s := agenttest.NewServer(t, agenttest.ChatCompletions{}, r)
		a, err := client(t, s, nil).Run(t.Context(), task)
		if err != nil || !strings.Contains(a.Failure, "longer than the model's context") {
			t.Errorf("attempt %+v (%v)", a, err)
		}
	}
}

func TestStatusKinds(t *testing.T) {
	for status, want := range map[int]eval.FailureKind{
		401: eval.Auth, 403: eval.Auth, 400: eval.BadRequest, 404: eval.BadRequest, 422: eval.BadRequest,
		429: eval.RateLimited, 408: eval.ServerError, 500: eval.ServerError, 503: eval.ServerError, 529: eval.ServerError,
	} {
		for _, raw := range []bool{false, true} {
			var p agenttest.Protocol = agenttest.ChatCompletions{}
			if raw {
				p = plain{}
			}
			s := agenttest.NewServer(t, p, agenttest.Reply{Status: status, RetryAfter: "7", Message: "your key " + agenttest.Key})
			_, err := client(t, s, nil).Run(t.Context(), task)
			var infra *eval.InfraError
			if !errors.As(err, &infra) || infra.Kind != want {
				t.Errorf("status %d: %v, want %s", status, err, want)
				continue
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				if strings.Contains(e.Error(), agenttest.Key) {
					t.Errorf("status %d: the key is in %v", status, e)
				}
			}
			waits := want == eval.RateLimited || want == eval.ServerError
			if (infra.RetryAfter == 7*time.Second) != waits {
				t.Errorf("status %d: retry after %v", status, infra.RetryAfter)
			}
		}
	}
}

// plain is a server whose errors are no JSON objects of OpenAI's.
type plain struct{ agenttest.ChatCompletions }

func (plain) Error(r agenttest.Reply) any { return "proxy says: " + r.Message }

func TestReplyWithoutChoices(t *testing.T) {
	s := agenttest.NewServer(t, agenttest.ChatCompletions{}, agenttest.Reply{Raw: `{"error":{"message":"overloaded"}}`})
	_, err := client(t, s, nil).Complete(t.Context(), eval.Prompt{User: "u"})
	var infra *eval.InfraError
	if !errors.As(err, &infra) || infra.Kind != eval.ServerError {
		t.Errorf("err = %v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "20": 20 * time.Second, "0.05": 50 * time.Millisecond, "-3": 0, "NaN": 0, "soon": 0,
		"Sun, 01 Mar 2026 12:01:30 GMT": 90 * time.Second, "Sun, 01 Mar 2026 11:00:00 GMT": 0,
		"1e300": 365 * 24 * time.Hour,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("Retry-After: %s = %v, want %v", text, got, want)
		}
	}
	if got := retryAfter(http.Header{"Retry-After": {"1"}, "Retry-After-Ms": {"250"}}, now); got != 250*time.Millisecond {
		t.Errorf("with milliseconds: %v", got)
	}
}

func TestIdentityAndConfig(t *testing.T) {
	id := func(c Config) string {
		c.Model = "m"
		got, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		return got.Identity().Params
	}
	if got := id(Config{APIKey: "sk-1"}); got != "base=api.openai.com/v1" {
		t.Errorf("params = %q", got)
	}
	got := id(Config{BaseURL: "http://localhost:11434/v1/", Temperature: ptr(float32(0.7)), MaxTokens: 100})
	if got != "base=localhost:11434/v1 max_tokens=100 temperature=0.7" {
		t.Errorf("params = %q", got)
	}
	for _, bad := range []Config{
		{}, {Model: "m", BaseURL: "localhost:1234"}, {Model: "m", BaseURL: "https://u:hunter2@host/v1"},
		{Model: "m", BaseURL: "https://host/v1?key=hunter2"}, {Model: "m", BaseURL: "ftp://host"},
	} {
		_, err := New(bad)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("New(%+v): %v", bad, err)
		}
	}
}

func TestInlinedFiles(t *testing.T) {
	got := inlined(map[string]string{"b.md": "```\ncode\n```\n", "a.csv": "x,y"})
	want := "\n\na.csv:\n```\nx,y\n```\n\nb.md:\n````\n```\ncode\n```\n````"
	if got != want {
		t.Errorf("inlined:\n%s\nwant\n%s", got, want)
	}
}
