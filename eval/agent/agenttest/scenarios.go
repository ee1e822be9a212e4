package agenttest

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

func success(t *testing.T, h Harness) {
	_, a := h.start(t, good)
	if id := a.Identity(); id.Backend == "" || id != a.Identity() {
		t.Errorf("identity %+v: want a backend, and the same each time", id)
	}
	got, err := a.Run(t.Context(), eval.Task{Variant: variant(t), Case: h.kase(), Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	if got.Failure != "" || strings.TrimSpace(got.Answer) == "" {
		t.Errorf("attempt = %+v, want an answer", got)
	}
	if u := got.Usage; u != nil && (u.Input < 0 || u.Output <= 0 || u.Reasoning > u.Output) {
		t.Errorf("usage = %+v", *u)
	}
	if got.CostUSD != nil && *got.CostUSD < 0 {
		t.Errorf("cost = %v", *got.CostUSD)
	}
}

func cancelled(t *testing.T, h Harness) {
	_, a := h.start(t, good)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := a.Run(ctx, eval.Task{Variant: variant(t), Case: h.kase(), Seed: 7})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want context canceled", err)
	}
}

func answer(t *testing.T, h Harness) {
	_, a := h.start(t, good)
	got, err := a.Run(t.Context(), eval.Task{Variant: variant(t), Case: h.kase(), Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	if got.Answer != good.Text {
		t.Errorf("answer = %q, want %q", got.Answer, good.Text)
	}
	want := eval.Usage{Input: 20, CacheRead: 100, Output: 7}
	if got.Usage == nil || *got.Usage != want {
		t.Errorf("usage = %+v, want %+v: input without the cached tokens", got.Usage, want)
	}
}

func skillText(t *testing.T, h Harness) {
	s, a := h.start(t, good)
	for _, v := range []eval.Variant{variant(t), {Name: "stones"}} {
		if _, err := a.Run(t.Context(), eval.Task{Variant: v, Case: h.kase(), Seed: 7}); err != nil {
			t.Fatal(err)
		}
	}
	bodies := s.Bodies()
	if len(bodies) != 2 {
		t.Fatalf("%d requests for two tasks", len(bodies))
	}
	if !bytes.Contains(bodies[0], []byte(sentinel)) {
		t.Errorf("the skill's text did not reach the model: %s", bodies[0])
	}
	if bytes.Contains(bodies[1], []byte(sentinel)) {
		t.Errorf("without a skill its text reached the model all the same: %s", bodies[1])
	}
}

func conversation(t *testing.T, h Harness) {
	s, a := h.start(t, good)
	c := *h.kase()
	c.Context = []eval.Message{{Role: "user", Text: "earlier-question"}, {Role: "assistant", Text: "earlier-answer"}}
	c.Files = map[string]string{"data/stones.csv": "name-of-stone,hardness"}
	task := eval.Task{Variant: variant(t), Case: &c, Seed: 7,
		Prior: &eval.Prior{Answer: "failed-answer", Feedback: []string{"what-was-wrong"}}}
	if _, err := a.Run(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	body := s.Bodies()[0]
	at := 0
	for _, part := range []string{"earlier-question", "earlier-answer", c.Prompt, "data/stones.csv", "name-of-stone",
		"failed-answer", "what-was-wrong"} {
		i := bytes.Index(body[at:], []byte(part))
		if i < 0 {
			t.Fatalf("%q is missing or out of order in %s", part, body)
		}
		at += i
	}
}

func (h Harness) wantFailure(t *testing.T, r Reply) {
	t.Helper()
	_, a := h.start(t, r)
	got, err := a.Run(t.Context(), eval.Task{Variant: variant(t), Case: h.kase(), Seed: 7})
	if err != nil {
		t.Fatalf("err = %v, want the agent's failure as data", err)
	}
	if got.Failure == "" {
		t.Errorf("attempt = %+v, want a failure", got)
	}
}

func emptyAnswer(t *testing.T, h Harness) { h.wantFailure(t, Reply{Input: 120, Output: 1}) }

func cutOff(t *testing.T, h Harness) {
	h.wantFailure(t, Reply{Text: "zirconium: the dia", Finish: "length", Input: 120, Output: 7})
}

// wantStop expects that a run of several jobs ends with one InfraError after one call,
// and that nothing is recorded.
func (h Harness) wantStop(t *testing.T, kind eval.FailureKind, key string, r Reply) {
	t.Helper()
	s := NewServer(t, h.Protocol, r)
	rec := newRecord()
	e := &eval.Evaluator{Agent: h.New(t, s, key), Grader: &eval.Checks{}, Recorder: rec}
	out, err := e.Run(t.Context(), h.jobs(t, 5))
	var infra *eval.InfraError
	if !errors.As(err, &infra) || infra.Kind != kind {
		t.Fatalf("err = %v, want %s", err, kind)
	}
	if strings.Contains(err.Error(), key) {
		t.Errorf("the error holds the key: %v", err)
	}
	if n := len(s.Bodies()); n != 1 {
		t.Errorf("%d calls, want 1: no other could fare better", n)
	}
	if out[0] != nil || rec.len() != 0 {
		t.Errorf("a rollout was kept: %+v", out[0])
	}
}

func wrongKey(t *testing.T, h Harness) { h.wantStop(t, eval.Auth, "sk-wrong-fedcba9876543210", good) }

func badRequest(t *testing.T, h Harness) {
	h.wantStop(t, eval.BadRequest, Key, Reply{Status: http.StatusBadRequest, Code: "invalid_request_error",
		Message: "no such model, asked for with " + Key})
}

func usageLimit(t *testing.T, h Harness) {
	h.wantStop(t, eval.UsageLimit, Key, Reply{Status: http.StatusTooManyRequests, Code: "insufficient_quota",
		Message: "you exceeded your current quota"})
}
