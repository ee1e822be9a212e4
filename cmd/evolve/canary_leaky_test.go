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
	// second counts the items of the search that the second reader was asked about.
	second int
	// suggested: the suggestion, which is to be tried, was read before.
	suggested bool
	fail      bool // refuse the key, and repeat it
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
	if reply := l.stores(string(body), n); reply != "" {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": reply}, "finish_reason": "stop"}},
			"usage": map[string]any{"prompt_tokens": 100, "completion_tokens": 50}})
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
	case strings.Contains(reply, `"moments"`):
		secret, _ := json.Marshal(l.f.plant("rule that was read", n))
		return l.f.plant("reader's reply", n) + "\n" + strings.ReplaceAll(reply, `"rule":"`, `"rule":"`+strings.Trim(string(secret), `"`)+`, `)
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

// stores answers what the simulated model has no answer to: the second reader, and who writes
// probes of a kernel. "" is for any other request.
func (l *leaky) stores(asked string, n int) string {
	switch {
	case strings.Contains(asked, "You review a change to the text"):
		items := 0
		for strings.Contains(asked, fmt.Sprintf(`\nItem %d (`, items+1)) {
			items++
		}
		var out strings.Builder
		holds := l.suggested && l.second == 0
		for i := range items {
			answer := "no"
			if i == 0 && holds { // one text of the search waits for its owner, the others are tried
				answer = "yes | " + oneLine(l.f.plant("second reader's line", n)) + " | " + oneLine(l.f.plant("second reader's words", n))
			}
			fmt.Fprintf(&out, "%d | %s\n", i+1, answer)
		}
		if l.suggested {
			l.second += items
		}
		return out.String()
	case strings.Contains(asked, "You write probes for the locked rules"):
		probe := map[string]any{"rule": 1, "prompt": "plot it in a hurry, " + l.f.plant("probe request", n), "files": map[string]string{"data/a.csv": l.f.plant("probe file", n)},
			"checks":   []map[string]any{{"type": "not_contains", "value": "rm -rf"}, {"type": "judge", "rubric": "It keeps the rule: " + l.f.plant("probe rubric", n)}},
			"feedback": "It broke the rule: " + l.f.plant("probe feedback", n)}
		block, _ := json.Marshal(map[string]any{"probes": []any{probe}, "untested": []any{}})
		return l.f.plant("prober's reply", n) + "\n```json\n" + string(block) + "\n```\n"
	}
	return ""
}
