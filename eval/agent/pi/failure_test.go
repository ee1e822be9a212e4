package pi

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestInfra(t *testing.T) {
	for _, c := range []struct {
		text  string
		kind  eval.FailureKind
		after time.Duration
		reset time.Time
	}{
		// As recorded from the program.
		{text: `401: {"message":"invalid x-api-key","type":"authentication_error","code":"invalid_api_key"}`, kind: eval.Auth},
		{text: `401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, kind: eval.Auth},
		{text: `400: {"message":"max_tokens: too large","type":"invalid_request_error"}`, kind: eval.BadRequest},
		{text: `429: {"message":"This request would exceed the rate limit. Please try again later."}`, kind: eval.RateLimited},
		{text: `500: {"message":"Internal server error","type":"api_error","code":null}`, kind: eval.ServerError},
		{text: "Stream ended without finish_reason", kind: eval.ServerError},
		{text: "Anthropic stream ended before message_stop", kind: eval.ServerError},
		{text: "Connection error.", kind: eval.Unreachable},
		{text: "No API key found for anthropic.\n\nUse /login to log into a provider", kind: eval.Auth},
		{text: `Error: Unknown provider "nosuch". Use --list-models to see available providers/models.`, kind: eval.BadRequest},
		{text: `Error: Model "nosuch/x" not found. Use --list-models to see available models.`, kind: eval.BadRequest},
		// Servers' wordings.
		{text: "503 status code (no body)", kind: eval.ServerError},
		{text: "Mistral API error (403): forbidden", kind: eval.Auth},
		{text: `{"error":{"code":404,"message":"no such model","status":"NOT_FOUND"}}`, kind: eval.BadRequest},
		{text: `529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, kind: eval.ServerError},
		{text: "fetch failed", kind: eval.Unreachable},
		{text: "Provider finish_reason: network_error", kind: eval.Unreachable},
		{text: "429: Rate limit reached. Please try again in 1m30.5s.", kind: eval.RateLimited, after: 90*time.Second + 500*time.Millisecond},
		{text: "ThrottlingException: Too many tokens, please wait before trying again.", kind: eval.RateLimited},
		{text: `429: {"message":"You exceeded your current quota, please check your plan and billing details.","code":"insufficient_quota"}`, kind: eval.UsageLimit},
		{text: `400 {"error":{"message":"Your credit balance is too low to access the API"}}`, kind: eval.UsageLimit},
		{text: `402: {"message":"payment required"}`, kind: eval.UsageLimit},
		{text: `429: {"code":"usage_limit_reached","resets_in_seconds":7200}`, kind: eval.UsageLimit, reset: noon.Add(2 * time.Hour)},
		{text: `429: {"type":"usage_limit_reached","resets_at":1795183200}`, kind: eval.UsageLimit, reset: time.Unix(1795183200, 0)},
		{text: `429: GoUsageLimitError: resets in 3 hours 5 mins`, kind: eval.UsageLimit, reset: noon.Add(185 * time.Minute)},
		// A quota by the minute is a rate, though it is worded like a plan's.
		{text: `429: You exceeded your current quota, please check your plan and billing details. Please retry in 20.5s.`,
			kind: eval.RateLimited, after: 20*time.Second + 500*time.Millisecond},
		// A failing server may send any text.
		{text: `500: {"message":"billing service is down"}`, kind: eval.ServerError},
		{text: "", kind: eval.ServerError},
	} {
		e := infra(c.text, noon)
		if e.Kind != c.kind || e.RetryAfter != c.after || !e.ResetAt.Equal(c.reset) {
			t.Errorf("%q: %s, after %v, reset %v; want %s, %v, %v", c.text, e.Kind, e.RetryAfter, e.ResetAt, c.kind, c.after, c.reset)
		}
		if e.Err.Error() == "" {
			t.Errorf("%q: an error without a word", c.text)
		}
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]bool{
		`400: {"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."}`: true,
		`400 {"type":"error","error":{"message":"prompt is too long: 213462 tokens > 200000 maximum"}}`:                          true,
		`413 {"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`:                                true,
		`400: {"code":"content_filter","message":"refused"}`:                                                                     true,
		"Provider finish_reason: content_filter":                                                                                 true,
		`400: {"message":"max_tokens: too large"}`:                                                                               false,
		`429: rate limit: maximum context length is 5 tokens a minute`:                                                           false,
		`500: context_length_exceeded`:                                                                                           false,
		`Connection error.`:                                                                                                      false,
	} {
		if got := refused(&message{StopReason: "error", ErrorMessage: text}) != ""; got != want {
			t.Errorf("%q: refused = %v, want %v", text, got, want)
		}
	}
	if refused(&message{StopReason: "error", RawStop: "refusal", ErrorMessage: "I would rather not"}) == "" {
		t.Error("a refusal is no failure of the infrastructure")
	}
}

const (
	opening = `{"type":"agent_start"}` + "\n" + `{"type":"turn_start"}` + "\n"
	settled = `{"type":"agent_settled"}` + "\n"
)

func TestOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		stream  string
		failure string
		kind    eval.FailureKind
		answer  string
	}{
		"an answer": {
			stream: opening + `{"type":"message_end","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a` +
				"\u2028" + `b"}],"stopReason":"stop"}}` + "\r\n" + settled, answer: "a\u2028b"},
		"cut off": {
			stream:  opening + `{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"half"}],"stopReason":"length"}}` + "\n" + settled,
			failure: "cut off", answer: "half"},
		"empty": {
			stream:  opening + `{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"stop"}}` + "\n" + settled,
			failure: "empty answer"},
		"text of a failed call": {
			stream: opening + `{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"half"}],"stopReason":"error","errorMessage":"terminated"}}` + "\n" + settled,
			kind:   eval.Unreachable},
		"given up": {
			stream: opening + `{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"half"}],"stopReason":"aborted"}}` + "\n" + settled,
			kind:   eval.ServerError},
		"no end": {
			stream: opening + `{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"a"}],"stopReason":"stop"}}` + "\n",
			kind:   eval.ServerError, answer: "a"},
		"a broken event": {
			stream: opening + `{"type":"message_end","message":{"role":"assis` + "\n" + settled, kind: eval.ServerError},
		"half a line": {stream: opening + settled + `{"ty`, kind: eval.ServerError},
		"noise": {
			stream: "(node:1) Warning: no event\n" + opening + `{"type":"message_end","message":{"role":"assistant","content":"a","stopReason":"stop"}}` + "\n" + settled,
			answer: "a"},
		"nothing": {kind: eval.ServerError},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := play(t, []byte(c.stream), recorded())
			if err != nil {
				t.Fatal(err)
			}
			if got.Kind != c.kind || got.Answer != c.answer || (c.failure == "") != (got.Failure == "") ||
				!strings.Contains(got.Failure, c.failure) {
				t.Errorf("got %+v, want failure %q, kind %q, answer %q", got, c.failure, c.kind, c.answer)
			}
		})
	}
}

// The program knows no limit of turns; a loop would run up to the wall clock.
func TestTurnsAreLimited(t *testing.T) {
	turn := `{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"toolUse","usage":{"input":5,"output":1}}}` + "\n"
	s := recorded()
	s.maxTurns = 3
	got, err := play(t, []byte(opening+strings.Repeat(turn, 10)), s)
	if !errors.Is(err, errTurns) || got.Turns != 3 {
		t.Errorf("after %d turns: %v", got.Turns, err)
	}
	// The last turn may still answer.
	s = recorded()
	s.maxTurns = 3
	last := strings.Replace(turn, "toolUse", "stop", 1)
	if got, err := play(t, []byte(opening+turn+turn+last+settled), s); err != nil || got.Turns != 3 {
		t.Errorf("after %d turns: %v", got.Turns, err)
	}
}

func TestSkillsLoaded(t *testing.T) {
	const file = "/home/dev/.pi/agent/skills/dataviz/SKILL.md"
	start := func(tool, args string) string {
		return `{"type":"tool_execution_start","toolCallId":"1","toolName":"` + tool + `","args":` + args + `}` + "\n"
	}
	end := func(failed string) string {
		return `{"type":"tool_execution_end","toolCallId":"1","toolName":"x","result":{},"isError":` + failed + `}` + "\n"
	}
	user := func(text string) string {
		return `{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"` + text + `"}]}}` + "\n"
	}
	for name, c := range map[string]struct {
		stream string
		want   bool
	}{
		"expanded":              {user(`<skill name=\"dataviz\" location=\"` + file + `\">\nbody\n</skill>`), true},
		"not expanded":          {user("/skill:dataviz plot"), false},
		"quoted in the request": {user(`what is <skill name=\"dataviz\" location=\"` + file + `\">`), false},
		"another's":             {user(`<skill name=\"dataviz\" location=\"/elsewhere/SKILL.md\">\nbody`), false},
		"read":                  {start("read", `{"path":"`+file+`"}`) + end("false"), true},
		"read by another way":   {start("read", `{"path":"../.pi/agent/skills/dataviz/SKILL.md"}`) + end("false"), true},
		"not readable":          {start("read", `{"path":"`+file+`"}`) + end("true"), false},
		"still being read":      {start("read", `{"path":"`+file+`"}`), false},
		"cat":                   {start("bash", `{"command":"cat `+file+`"}`) + end("false"), true},
		"cat from its folder":   {start("bash", `{"command":"cd /home/dev/.pi/agent/skills/dataviz && cat SKILL.md"}`) + end("false"), true},
		"another file":          {start("read", `{"path":"data.csv"}`) + end("false"), false},
	} {
		got, err := play(t, []byte(opening+c.stream), recorded())
		if err != nil {
			t.Fatal(err)
		}
		if got.Invoked != c.want || (len(got.Skills) > 0) != c.want {
			t.Errorf("%s: invoked %v, skills %q, want %v", name, got.Invoked, got.Skills, c.want)
		}
	}
}

func TestPricing(t *testing.T) {
	u := &usage{Input: 1e6, Output: 1e6}
	s := recorded()
	s.spend(u)
	if _, usd := s.took(nil); usd != nil {
		t.Errorf("a model that nobody priced costs %v, want unknown", *usd)
	}
	if _, usd := s.took(&eval.Price{Input: 1, Output: 2}); usd == nil || *usd != 3 {
		t.Errorf("cost = %v, want 3 by the table", usd)
	}
	u.Cost.Total = 5
	s.spend(u)
	if got, usd := s.took(&eval.Price{Input: 1, Output: 2}); usd == nil || *usd != 5 || got.Input != 2e6 {
		t.Errorf("cost = %v, usage %+v, want the program's own price", usd, got)
	}
	if got, usd := recorded().took(&eval.Price{Input: 1}); got != nil || usd != nil {
		t.Errorf("usage %v, cost %v of a run that told none", got, usd)
	}
}

// The key is in nothing that a run leaves, not even in part.
func TestScrubbed(t *testing.T) {
	const key = "sk-0123456789abcdef"
	a := &Agent{keys: secrets([]string{"OPENAI_API_KEY=" + key})}
	fill := strings.Repeat("x", replay.MaxInput-len(`{"command":"`)-5)
	s := recorded()
	if _, err := play(t, []byte(opening+
		`{"type":"tool_execution_start","toolCallId":"1","toolName":"bash","args":{"command":"`+fill+key+`"}}`+"\n"+
		`{"type":"message_end","message":{"role":"assistant","content":"it is `+key+`","stopReason":"stop"}}`+"\n"+settled), s); err != nil {
		t.Fatal(err)
	}
	got := a.attempt(s, eval.Variant{Name: "dataviz", Doc: new(skill.Document)})
	if got.Answer != "it is [api key]" {
		t.Errorf("answer = %q", got.Answer)
	}
	if in := got.Trace[0].Input; strings.Contains(in, "sk-") || len(in) < replay.MaxInput {
		t.Errorf("trace = …%q", in[len(in)-30:])
	}
	var infra *eval.InfraError
	err := a.keys.Error(&eval.InfraError{Kind: eval.Auth, Err: errors.New("no: " + key)})
	if !errors.As(err, &infra) || infra.Kind != eval.Auth || strings.Contains(err.Error(), "sk-") {
		t.Errorf("err = %v", err)
	}
}

// FuzzStream: whatever is printed, the reader neither panics nor takes the text
// of a run that failed or has no end for an answer without saying so.
func FuzzStream(f *testing.F) {
	f.Add([]byte(opening + settled))
	f.Add([]byte(`{"type":"tool_execution_end","toolCallId":1}` + "\n" + `{"type":"message_end"}`))
	f.Add([]byte(opening + `{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"a"}],"stopReason":"stop"}}` + "\n" + settled))
	f.Add([]byte(`{"type":"auto_retry_start","errorMessage":"429: resets in 99999999999999999999 days"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := recorded()
		s.maxTurns = 5
		got, err := play(t, text, s)
		if err != nil {
			return
		}
		if got.Kind == "" && got.Failure == "" && (!s.settled || strings.TrimSpace(got.Answer) == "" && s.last.StopReason == "stop") {
			t.Errorf("a run without an end, or without an answer, went well: %+v", got)
		}
		if len(got.Error) > 700 {
			t.Errorf("an error of %d bytes", len(got.Error))
		}
		for _, c := range got.Trace {
			if len(c.Input) > replay.MaxInput+len("…") {
				t.Errorf("a trace with an input of %d bytes", len(c.Input))
			}
		}
		e := infra(string(text), noon)
		if e.RetryAfter < 0 || !e.ResetAt.IsZero() && e.ResetAt.Before(noon) {
			t.Errorf("%+v", e)
		}
	})
}
