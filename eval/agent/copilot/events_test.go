package copilot

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/github/copilot-sdk/go"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

var update = flag.Bool("update", false, "write the golden attempts")

// play feeds recorded events, one JSON object a line, to a reader.
func play(t testing.TB, r *reader, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		var e sdk.SessionEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %.200s", err, line)
		}
		r.event(e)
	}
}

// A told is the complete result of one recording.
type told struct {
	Attempt eval.Attempt     `json:"attempt"`
	Kind    eval.FailureKind `json:"kind,omitempty"`
	Error   string           `json:"error,omitempty"`
	Ended   bool             `json:"ended"`
}

// The recordings are what the real program, 1.0.102, sent to the SDK against a
// scripted model; texts of the vendor and paths are replaced.
func TestRecordedEvents(t *testing.T) {
	files, err := filepath.Glob("testdata/events/*.jsonl")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d recordings (%v)", len(files), err)
	}
	a := &Agent{route: &route{}}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r := newReader(30, true)
			play(t, r, string(text))
			v := eval.Variant{Name: "dataviz"}
			got := told{Attempt: a.attempt(r, map[string]string{"dataviz": "dataviz"}, v), Ended: r.ended}
			got.Attempt.Failure, err = r.outcome()
			var infra *eval.InfraError
			if errors.As(err, &infra) {
				got.Kind, got.Error = infra.Kind, infra.Err.Error()
			}
			text, err = json.MarshalIndent(got, "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(file, "jsonl") + "golden.json"
			if *update {
				if err := os.WriteFile(golden, append(text, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if string(want) != string(text)+"\n" {
				t.Errorf("got %s\nwant %s", text, want)
			}
		})
	}
}

func event(kind, data string) string {
	return `{"id":"x","timestamp":"2026-11-21T00:00:00Z","type":"` + kind + `","data":` + data + `}` + "\n"
}

func TestOutcome(t *testing.T) {
	const good = `{"content":"the diamond","messageId":"m"}`
	reply := func(finish string) string {
		return event("assistant.usage", `{"model":"m","inputTokens":10,"outputTokens":2,"finishReason":"`+finish+`"}`)
	}
	failed := func(data string) string {
		return event("model.call_failure", `{"source":"top_level",`+data+`}`) + event("session.error", `{"errorType":"query","message":"it failed"}`)
	}
	idle := event("session.idle", `{}`)
	for name, c := range map[string]struct {
		events  string
		failure string
		kind    eval.FailureKind
		answer  string
	}{
		"good":       {reply("stop") + event("assistant.message", good) + idle, "", "", "the diamond"},
		"cut off":    {reply("length") + event("assistant.message", good) + idle, "cut off", "", "the diamond"},
		"withheld":   {reply("content_filter") + event("assistant.message", good) + idle, "content filter", "", "the diamond"},
		"empty":      {reply("stop") + event("assistant.message", `{"content":" ","messageId":"m"}`) + idle, "empty answer", "", " "},
		"aborted":    {reply("stop") + event("session.idle", `{"aborted":true}`), "broke the work off", "", ""},
		"useless":    {reply("stop") + event("assistant.message", good) + event("session.error", `{"errorType":"query","message":"what is this"}`) + idle, "what is this", "", "the diamond"},
		"too long":   {failed(`"statusCode":400,"errorCode":"context_length_exceeded"`), "longer than the model's context", "", ""},
		"too long 2": {event("session.error", `{"errorType":"context_limit","message":"x"}`) + idle, "longer than the model's context", "", ""},
		"filtered":   {failed(`"statusCode":400,"errorCode":"content_filter"`), "refused by the server's content filter", "", ""},
		"denied":     {failed(`"statusCode":403`), "", eval.Auth, ""},
		"unknown":    {failed(`"statusCode":404`), "", eval.BadRequest, ""},
		"overloaded": {failed(`"statusCode":529`), "", eval.ServerError, ""},
		"timeout":    {failed(`"statusCode":408`), "", eval.ServerError, ""},
		"payment":    {failed(`"statusCode":402`), "", eval.UsageLimit, ""},
		"quota":      {failed(`"statusCode":429,"errorCode":"insufficient_quota"`), "", eval.UsageLimit, ""},
		"weekly":     {event("session.error", `{"errorType":"rate_limit","errorCode":"user_weekly_rate_limited","message":"x","statusCode":429}`) + idle, "", eval.UsageLimit, ""},
		"plan":       {event("session.error", `{"errorType":"quota","message":"x"}`) + idle, "", eval.UsageLimit, ""},
		"busy":       {event("session.error", `{"errorType":"rate_limit","errorCode":"user_model_rate_limited","message":"x"}`) + idle, "", eval.RateLimited, ""},
		"no login":   {event("session.error", `{"errorType":"authentication","message":"x"}`) + idle, "", eval.Auth, ""},
		"refused":    {failed(`"failureKind":"transport","errorMessage":"\"error sending request\""`), "", eval.Unreachable, ""},
		"garbage":    {failed(`"failureKind":"transport","errorMessage":"\"body was not valid JSON\""`), "", eval.ServerError, ""},
		"no word":    {event("session.error", `{"errorType":"query","message":"x"}`) + idle, "", eval.ServerError, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReader(30, false)
			play(t, r, c.events)
			failure, err := r.outcome()
			var infra *eval.InfraError
			if errors.As(err, &infra) != (c.kind != "") || infra != nil && infra.Kind != c.kind {
				t.Errorf("err = %v, want kind %q", err, c.kind)
			}
			if !strings.Contains(failure, c.failure) || (failure == "") != (c.failure == "") {
				t.Errorf("failure = %q, want %q", failure, c.failure)
			}
			if r.answer != c.answer {
				t.Errorf("answer = %q, want %q", r.answer, c.answer)
			}
		})
	}
}

func TestQuotaTellsWhenItResets(t *testing.T) {
	r := newReader(30, false)
	play(t, r, event("model.call_failure", `{"source":"top_level","statusCode":402,"quotaSnapshots":{"premium":{"resetDate":"2026-12-01T00:00:00Z","remainingPercentage":0}}}`))
	_, err := r.outcome()
	var infra *eval.InfraError
	if !errors.As(err, &infra) || !infra.ResetAt.Equal(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("err = %+v, want the first of December", err)
	}
}

func TestFinalRefusalsEndTheSession(t *testing.T) {
	refusal := event("model.call_failure", `{"source":"top_level","statusCode":401}`)
	busy := event("model.call_failure", `{"source":"top_level","statusCode":429}`)
	for name, c := range map[string]struct {
		own   bool
		event string
		want  bool
	}{
		"one's own server refuses the key": {true, refusal, true},
		"GitHub may renew its token":       {false, refusal, false},
		"a busy server":                    {true, busy, false},
	} {
		r := newReader(30, c.own)
		play(t, r, c.event)
		if r.ended != c.want {
			t.Errorf("%s: ended = %v", name, r.ended)
		}
	}
}

func TestTurnsAreLimited(t *testing.T) {
	r := newReader(2, true)
	turn := event("assistant.message", `{"content":"I go on.","messageId":"m","toolRequests":[{"name":"bash","toolCallId":"1"}]}`)
	play(t, r, turn)
	if r.ended {
		t.Fatal("ended after the first of two turns")
	}
	play(t, r, turn)
	failure, err := r.outcome()
	if !r.ended || err != nil || !strings.Contains(failure, "within 2 turns") || r.answer != "" {
		t.Errorf("ended %v, failure %q (%v), answer %q", r.ended, failure, err, r.answer)
	}
}

func TestWaitIn(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"Please try again in 20s.":                               20 * time.Second,
		"try again in 1h30m0s":                                   90 * time.Minute,
		"Please try again in 3 hours and 5 minutes.":             3*time.Hour + 5*time.Minute,
		"Rate limit reached. Please try again in 250ms. Visit x": 250 * time.Millisecond,
		"your limit resets in 2 days":                            48 * time.Hour,
		"Retry after 1.5 seconds":                                1500 * time.Millisecond,
		"Please try again later.":                                0,
		"retried 5 times (total retry wait time: 5.61 seconds)":  0,
		"":                                       0,
		"try again in 99999999999999999999 days": 365 * 24 * time.Hour,
	} {
		if got := replay.WaitIn(text); got != want {
			t.Errorf("WaitIn(%q) = %v, want %v", text, got, want)
		}
	}
}

func FuzzWaitIn(f *testing.F) {
	f.Add("Please try again in 1h30m0s")
	f.Add("resets in 2 days, 3 hours")
	f.Add("retry after 9e99 weeks")
	f.Fuzz(func(t *testing.T, text string) {
		if d := replay.WaitIn(text); d < 0 || d > 365*24*time.Hour {
			t.Errorf("WaitIn(%q) = %v", text, d)
		}
	})
}

func FuzzEvents(f *testing.F) {
	for _, kind := range []string{"assistant.message", "assistant.usage", "model.call_failure", "session.error",
		"tool.execution_start", "tool.execution_complete", "skill.invoked", "session.idle", "user.message"} {
		f.Add(event(kind, `{"content":"x","toolCallId":"1","toolName":"bash","arguments":{"command":"ls"},"inputTokens":1,"success":true}`))
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := newReader(3, true)
		for line := range strings.Lines(text) {
			var e sdk.SessionEvent
			if json.Unmarshal([]byte(line), &e) == nil {
				r.event(e)
			}
		}
		if u := r.usage(); u != nil && (u.Input < 0 || u.CacheRead < 0 || u.Output < 0) {
			t.Errorf("usage = %+v", *u)
		}
		for _, c := range r.calls.Trace(replay.Secrets{}) {
			if len(c.Input) > replay.MaxInput+len("…") {
				t.Errorf("an input of %d bytes", len(c.Input))
			}
		}
		if failure, err := r.outcome(); failure != "" && err != nil {
			t.Errorf("both a failure %q and an error %v", failure, err)
		}
		r.accesses()
	})
}
