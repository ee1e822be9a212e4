package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
)

// A meter is a proxy before a station's server that adds up the usage in its
// replies.
type meter struct {
	mu     sync.Mutex
	calls  int64
	tokens int64
	most   int64 // of one call
}

// metered puts a meter before the station's server; change, if set, replaces
// a call's usage.
func (s *station) metered(change func(n, in, out int64) (int64, int64)) *meter {
	m := &meter{}
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if err != nil || strings.HasSuffix(r.URL.Path, "/models") {
			s.world.ServeHTTP(rw, r)
			return
		}
		rec := httptest.NewRecorder()
		s.world.ServeHTTP(rec, r)
		var answer map[string]any
		if err := json.Unmarshal(rec.Body.Bytes(), &answer); err != nil || answer["usage"] == nil {
			rw.WriteHeader(rec.Code)
			_, _ = rw.Write(rec.Body.Bytes())
			return
		}
		u := answer["usage"].(map[string]any)
		in, out := int64(u["prompt_tokens"].(float64)), int64(u["completion_tokens"].(float64))
		m.mu.Lock()
		if change != nil {
			in, out = change(m.calls, in, out)
			answer["usage"] = usageOf(int(in), int(out))
		}
		m.calls++
		m.tokens += in + out
		m.most = max(m.most, in+out)
		m.mu.Unlock()
		reply(rw, answer)
	}))
	s.t.Cleanup(srv.Close)
	s.url = srv.URL + "/v1"
	return m
}

// A night that compares holds its cap on tokens but for one reply, however
// suddenly its server's replies grow.
func TestAComparingNightHoldsItsCap(t *testing.T) {
	t.Parallel()
	s := newStation(t, 0)
	template, _ := s.settled()
	for name, change := range map[string]func(n, in, out int64) (int64, int64){
		"grows after three":     func(n, in, out int64) (int64, int64) { return in, after(n, 3, out, 900) },
		"grows after six":       func(n, in, out int64) (int64, int64) { return in, after(n, 6, out, 900) },
		"one in eight is large": func(n, in, out int64) (int64, int64) { return in, after(n%8, 7, out, 2000) },
		"long prompts":          func(n, in, out int64) (int64, int64) { return 5 * in, out },
	} {
		const limit = 5000
		m := s.metered(change)
		home := t.TempDir()
		if err := os.CopyFS(home, os.DirFS(template)); err != nil {
			t.Fatal(err)
		}
		r := s.morning(s.asked(home, "sim-next", "--max-tokens", fmt.Sprint(limit)))
		t.Logf("%s: %d calls, %d tokens, one of them %d; %q", name, m.calls, m.tokens, m.most, r.Warnings)
		if told := r.Spent.TokensIn + r.Spent.TokensOut; m.tokens > limit+m.most || m.calls == 0 || told != m.tokens {
			t.Errorf("%s: %d tokens were served under a cap of %d, at most %d by one call; told %d", name, m.tokens, limit, m.most, told)
		}
	}
}

// after is grown from the nth call on.
func after(n, from, out, grown int64) int64 {
	if n < from {
		return out
	}
	return grown
}
