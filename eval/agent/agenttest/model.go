package agenttest

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// checkText fails unless the completion equals good.
func checkText(t *testing.T, c eval.Completion) {
	t.Helper()
	if c.Text != good.Text || c.Finish != "stop" {
		t.Errorf("completion = %+v, want %q", c, good.Text)
	}
	want := eval.Usage{Input: 20, CacheRead: 100, Output: 7}
	if c.Usage == nil || *c.Usage != want {
		t.Errorf("usage = %+v, want %+v: input without the cached tokens", c.Usage, want)
	}
	if c.CostUSD != nil && *c.CostUSD < 0 {
		t.Errorf("cost = %v", *c.CostUSD)
	}
}

// checkAsked fails unless both parts of the prompt are in the requests.
func checkAsked(t *testing.T, asked []Request) {
	t.Helper()
	for _, text := range []string{ask.System, ask.User} {
		if !among(asked, text) {
			t.Errorf("%q did not reach the model", text)
		}
	}
}

// RunModel tests what a Metered model relies on, for a backend that calls the server
// itself with one request per call. New is as in Harness.
func RunModel(t *testing.T, newModel func(t *testing.T, s *Server, key string) eval.Model) {
	t.Helper()
	start := func(t *testing.T, key string, r Reply) (*Server, eval.Model) {
		s := NewServer(t, nil, r)
		return s, newModel(t, s, key)
	}
	t.Run("text", func(t *testing.T) {
		s, m := start(t, Key, good)
		if id := m.Identity(); id.Backend == "" || id != m.Identity() {
			t.Errorf("identity %+v: want a backend, and the same each time", id)
		}
		c, err := m.Complete(t.Context(), ask)
		if err != nil {
			t.Fatal(err)
		}
		checkText(t, c)
		asked := s.Requests()
		checkAsked(t, asked)
		if len(asked) != 1 || len(asked[0].Tools) > 0 {
			t.Errorf("%d requests, tools %q; want one without tools", len(asked), asked[0].Tools)
		}
	})
	t.Run("cut-off", func(t *testing.T) {
		_, m := start(t, Key, Reply{Text: "zirconium: the dia", Finish: "length", Input: 120, Output: 7})
		if c, err := m.Complete(t.Context(), ask); err != nil || c.Finish != "length" {
			t.Errorf("completion = %+v, %v; want one that says that it was cut off", c, err)
		}
	})
	unreachable := failing{kinds: []eval.FailureKind{eval.Unreachable}}
	for _, c := range []struct {
		name string
		key  string
		r    Reply
		want failing
	}{
		{"wrong-key", wrong, good, authFails},
		{"bad-request", Key, bad, badRequestFails},
		{"usage-limit", Key, spent, limitFails},
		{"always-busy", Key, Reply{Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded"}, busyFails},
		{"server-error", Key, broken, brokenFails},
		{"dropped", Key, Reply{Drop: true}, droppedFails},
		{"malformed", Key, gibber, droppedFails},
		{"unreachable", Key, good, unreachable},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewServer(t, nil, c.r)
			if c.name == "unreachable" {
				s.Root, s.URL = "http://127.0.0.1:1", "http://127.0.0.1:1/v1" // nothing listens on port 1
			}
			got, err := newModel(t, s, c.key).Complete(t.Context(), ask)
			c.want.check(&stage{T: t}, err)
			if got.Text != "" {
				t.Errorf("a text came of it all the same: %q", got.Text)
			}
			if n := len(s.Requests()); c.name != "unreachable" && n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
	t.Run("interrupted", func(t *testing.T) {
		s, m := start(t, Key, Reply{Hang: true})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			<-s.Arrived()
			cancel()
		}()
		if _, err := m.Complete(ctx, ask); !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v, want context canceled", err)
		}
	})
}
