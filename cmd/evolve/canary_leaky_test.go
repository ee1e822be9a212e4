package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A leaky is a server that answers as the simulated model does, with secrets
// in its answers, and records every request.
type leaky struct {
	world http.Handler
	f     *field
	mu    sync.Mutex
	n     int
	seen  [][]byte
	fail  bool // refuse the key, and repeat it
	// look, if any, is called amid some of the requests: the program waits.
	look func()
	// beside has the mutator's secrets stand beside the text only, which is then taken.
	beside atomic.Bool
}

func (l *leaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	l.mu.Lock()
	l.n++
	n, fail := l.n, l.fail
	l.seen = append(l.seen, slices.Concat([]byte(r.URL.String()+"\n"), body))
	l.mu.Unlock()
	if l.look != nil && n%60 == 30 {
		l.look()
	}
	if key := r.Header.Get("Authorization"); fail || n%23 == 5 {
		status := http.StatusInternalServerError
		if fail {
			status = http.StatusUnauthorized
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, "refused: "+strings.TrimPrefix(key, "Bearer ")+" and "+l.f.plant("provider error", n))
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	rec := httptest.NewRecorder()
	l.world.ServeHTTP(rec, r)
	var reply map[string]any
	if json.Unmarshal(rec.Body.Bytes(), &reply) == nil && n%3 != 0 {
		if choices, ok := reply["choices"].([]any); ok && len(choices) > 0 {
			m := choices[0].(map[string]any)["message"].(map[string]any)
			if s, ok := m["content"].(string); ok {
				m["content"] = l.leak(string(body), s, n)
			}
		}
		out, _ := json.Marshal(reply)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(rec.Code)
		_, _ = w.Write(out)
		return
	}
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes())
}

// leak puts a secret into a reply without spoiling its form.
func (l *leaky) leak(asked, reply string, n int) string {
	switch {
	case strings.Contains(reply, `"score"`):
		secret, _ := json.Marshal(l.f.plant("judge reply", n))
		return strings.Replace(reply, `"reason":"`, `"reason":"`+strings.Trim(string(secret), `"`)+". ", 1)
	case strings.Contains(asked, `instructions (\"skill\")`): // the mutator, in its text and beside it
		fence := strings.LastIndex(reply, "\n```")
		if fence < 0 {
			return reply
		}
		if l.beside.Load() {
			return l.f.plant("mutator reply", n) + "\n\n" + reply
		}
		return l.f.plant("mutator reply", n) + "\n\n" + reply[:fence] + "\n- use a log scale: " +
			strings.ReplaceAll(l.f.plant("mutator text", n), "\n", " ") + reply[fence:]
	case strings.Contains(reply, "```json"):
		return l.f.plant("miner reply", n) + "\n" + reply
	}
	return reply + "\n" + l.f.plant("agent answer", n)
}
