package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skill-evolve/evolve/tournament/status"
)

// bill is a proxy between a station and its world, which writes the usage of
// the nth call, from 1 on, into each reply. calls counts them.
func (s *station) bill(usage func(n int64) any) (calls *atomic.Int64) {
	calls = new(atomic.Int64)
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		s.world.ServeHTTP(rec, r)
		var reply map[string]any
		if err := json.Unmarshal(rec.Body.Bytes(), &reply); err != nil || reply["choices"] == nil {
			rw.WriteHeader(rec.Code)
			rw.Write(rec.Body.Bytes())
			return
		}
		reply["usage"] = usage(calls.Add(1))
		json.NewEncoder(rw).Encode(reply)
	}))
	s.t.Cleanup(srv.Close)
	s.url = srv.URL + "/v1"
	return calls
}

func usageOf(in, out int) any {
	return map[string]any{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
}

// printed is what a command prints for people.
func printed(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	var args []string
	for _, a := range c.Args {
		if a != "--json" {
			args = append(args, a)
		}
	}
	c.Args = args
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// A server that tells nothing of its calls is held to a cap in dollars all the
// same, by a run and by a night; what they cost stays unknown.
func TestSilentServersAreHeld(t *testing.T) {
	t.Parallel()
	s := newStation(t, 0)
	for name, usage := range map[string]any{"null": nil, "zero": usageOf(0, 0), "negative": usageOf(-100, -10), "nearly nothing": usageOf(-100, 101)} {
		calls := s.bill(func(int64) any { return usage })
		out, _ := s.command(s.home(), append(s.start(), "--price-in", "1", "--price-out", "1", "--max-cost-usd", "0.03", "--concurrency", "2")...).Output()
		var r runResult
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatalf("%s: %v in %s", name, err, out)
		}
		t.Logf("%s: %d calls, %q", name, calls.Load(), r.Warnings)
		// $0.03 buy 30,000 tokens, and no call is expected to take less than 1,000.
		if n := calls.Load(); n == 0 || n > 30 || r.Spent.CostKnown || r.Spent.CostUSD > 0.03 {
			t.Errorf("%s: %d calls, spent %+v", name, n, r.Spent)
		}
		if w := strings.Join(r.Warnings, "\n"); !strings.Contains(w, "calls reported no usage: --max-cost-usd counted $0.0") || strings.Contains(w, "no price") || strings.Contains(w, "price table") {
			t.Errorf("%s: warnings\n%s", name, w)
		}
	}
	calls := s.bill(func(int64) any { return nil })
	home := s.restless()
	night := s.night(home)
	night.Args = append(night.Args, "--price-in", "1", "--price-out", "1", "--max-cost-usd", "0.03")
	said := printed(t, night)
	t.Logf("a night of %d calls:\n%s", calls.Load(), said)
	if n := calls.Load(); n == 0 || n > 30 || !strings.Contains(said, "\n  warning "+s.cases[0].Skill+": ") || !strings.Contains(said, "calls reported no usage)") ||
		!strings.Contains(said, "--max-cost-usd counted $0.0") {
		t.Errorf("%d calls in a night that says:\n%s", n, said)
	}
}

// A night whose server was cheap until it was not reports by how much its cap
// was exceeded: on the terminal, in its JSON and page, and in the status.
func TestANightSaysWhatItsCapDidNotHold(t *testing.T) {
	t.Parallel()
	s := newStation(t, 0)
	lull := func(n int64) any {
		if n > 100 {
			return usageOf(210_000, 10_000)
		}
		return usageOf(100, 10)
	}
	dear := []string{"--price-in", "1", "--price-out", "1", "--max-cost-usd", "0.2"}
	for _, asJSON := range []bool{true, false} {
		s.bill(lull)
		home := s.restless()
		c := s.night(home)
		c.Args = append(c.Args, dear...)
		var said string
		var r status.Night
		if asJSON {
			out, err := c.Output()
			if err == nil {
				err = json.Unmarshal(out, &r)
			}
			if err != nil {
				t.Fatalf("%v in %s", err, out)
			}
			if r.Spent.CostUSD <= 0.2 {
				t.Fatalf("spent %+v: the cap was not exceeded, and this shows nothing", r.Spent)
			}
			said = strings.Join(r.Warnings, "\n")
			page, err := os.ReadFile(r.Report)
			if err != nil || !bytes.Contains(page, []byte("--max-cost-usd $0.20 was exceeded by $")) {
				t.Errorf("the page does not tell: %v", err)
			}
		} else {
			said = printed(t, c)
		}
		status := s.command(home, "sleep", "status")
		status.Args = status.Args[:len(status.Args)-4] // but for --skills-dir, --json and --quiet
		t.Log(said)
		for what, text := range map[string]string{"night": said, "status": printed(t, status)} {
			if !strings.Contains(text, s.cases[0].Skill+": ") || !strings.Contains(text, "--max-cost-usd $0.20 was exceeded by $") {
				t.Errorf("json %v: %s says:\n%s", asJSON, what, text)
			}
		}
	}
}

// Without a cap on tokens or dollars, a run that took far more than its
// forecast warns of it.
func TestFarBeyondTheForecast(t *testing.T) {
	t.Parallel()
	s := newStation(t, 0)
	for _, tokens := range []int{100, 60_000} {
		s.bill(func(int64) any { return usageOf(tokens, tokens/10) })
		r := s.result(s.command(s.home(), append(s.start(), "--max-tokens", "0")...))
		w := strings.Join(r.Warnings, "\n")
		if far := strings.Contains(w, "tokens were used where about"); far != (tokens > 10_000) {
			t.Errorf("%d tokens a call, spent %+v: warnings\n%s", tokens, r.Spent, w)
		}
	}
}
