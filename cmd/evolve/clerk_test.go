package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/harvest"
)

// A clerk is a proxy between a station and its world: it reads corrections
// itself, takes a while for that, and records the usage of everything that it
// served.
type clerk struct {
	mu     sync.Mutex
	calls  int64 // of every kind
	read   int64 // corrections and labels
	tokens int64
	asked  map[string]int // times that the same was asked, of what was read
	// hold is the call from which on none is answered, so that a command cannot end
	// before it is killed; 0 for none.
	hold int64
}

// The usage in every reply of a clerk; reading takes 20 ms.
const clerkIn, clerkOut = 1000, 100

// clerk makes the station's server one that keeps accounts.
func (s *station) clerk() *clerk {
	c := &clerk{asked: map[string]int{}}
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || strings.HasSuffix(r.URL.Path, "/models") {
			s.world.ServeHTTP(rw, r)
			return
		}
		var q struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.Unmarshal(body, &q); err != nil {
			rw.WriteHeader(http.StatusBadRequest)
			return
		}
		said := c.says(q.Messages[0].Content, string(body))
		for c.held() {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(time.Millisecond):
			}
		}
		if said == "" {
			r.Body = io.NopCloser(bytes.NewReader(body))
			rec := httptest.NewRecorder()
			s.world.ServeHTTP(rec, r)
			var answer map[string]any
			if err := json.Unmarshal(rec.Body.Bytes(), &answer); err != nil || answer["choices"] == nil {
				rw.WriteHeader(rec.Code)
				rw.Write(rec.Body.Bytes())
				return
			}
			answer["usage"] = usageOf(clerkIn, clerkOut)
			reply(rw, answer)
			return
		}
		time.Sleep(20 * time.Millisecond)
		reply(rw, map[string]any{"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": said}}},
			"usage": usageOf(clerkIn, clerkOut)})
	}))
	s.t.Cleanup(srv.Close)
	s.url = srv.URL + "/v1"
	return c
}

// says is the answer to a request to read something, "" for any other one.
func (c *clerk) says(system, body string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	c.tokens += clerkIn + clerkOut
	said := ""
	switch {
	case strings.HasPrefix(system, "You turn a user's correction"):
		said = "```json\n{\"checks\":[{\"type\":\"contains\",\"value\":\"Sorted\",\"feedback\":\"it must say so\"}]}\n```"
		if c.read%3 == 0 {
			said = "I would rather not." // remembered as useless, and asked for no more
		}
	case strings.HasPrefix(system, "You read what people said"):
		said = "```json\n{\"moments\":[]}\n```"
	default:
		return ""
	}
	c.read++
	c.asked[body]++
	return said
}

func (c *clerk) holdFrom(call int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold = call
}

func (c *clerk) held() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hold > 0 && c.calls >= c.hold
}

func (c *clerk) served() (calls, read, tokens int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls, c.read, c.tokens
}

// twice are the requests to read something that came more than once.
func (c *clerk) twice() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.asked {
		n += k - 1
	}
	return n
}

// corrected gives a home so many uses that were corrected in plain English, and so
// many of which only a model can tell.
func (s *station) corrected(home string, plain, foreign int) {
	db := s.open(home)
	defer db.Close()
	for i := range plain + foreign {
		at := time.Now().Add(-time.Duration(i+1) * time.Minute)
		said := fmt.Sprintf("no, that is wrong: sort it by column %d", i)
		if i >= plain {
			said = fmt.Sprintf("bitte nach Spalte %d sortieren", i)
		}
		ses := &harvest.Session{ID: fmt.Sprint("corrected", i), Agent: "claude-code", Path: fmt.Sprint("/c", i), Started: at, Turns: []harvest.Turn{
			{ID: "1", Time: at, Prompt: fmt.Sprintf("Make the table number %d of data/revenue.csv", i), Answer: "Made."},
			{ID: "2", Time: at, Prompt: said, Answer: "Sorted."}, {ID: "3", Time: at, Prompt: "thanks, perfect", Answer: "You're welcome."}},
			Invocations: []harvest.Invocation{{ID: fmt.Sprint("u", i), Skill: s.cases[0].Skill, Explicit: true, Signal: harvest.SkillToolUse, Time: at}}}
		harvest.Assess(ses)
		if err := db.SaveSession(context.Background(), ses); err != nil {
			s.t.Fatal(err)
		}
	}
}

// killWhen starts a command and kills it once the server has come that far.
func (s *station) killWhen(c *exec.Cmd, far func() bool) {
	s.t.Helper()
	if s.killedBefore(c, far) {
		return
	}
	s.t.Fatal("the command ended before it could be killed")
}

// killedBefore is killWhen for a command that may end by itself, without an error,
// before the server has come that far: then it reports false.
func (s *station) killedBefore(c *exec.Cmd, far func() bool) bool {
	s.t.Helper()
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(time.Minute); !far(); {
		select {
		case err := <-ended:
			if err != nil {
				s.t.Fatalf("the command failed before it could be killed: %v", err)
			}
			return false
		case <-deadline:
			s.t.Fatal("the command does not come that far")
		case <-tick.C:
		}
	}
	if err := c.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	<-ended
	return true
}

// tookAtLeast is how many milliseconds must be on the bill for so many calls of 20 ms
// each. A process that is killed has not written down what came after its last
// record of the time: no more calls than fit in between, and the one in flight.
func tookAtLeast(calls, kills int64) int64 {
	const betweenRecords = 100 // see tournament/campaign
	return 20 * (calls - kills*(betweenRecords/20+1))
}
