package agenttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// A Reply is what the scripted model does with one request.
type Reply struct {
	Text   string // of the answer
	Finish string // "" is "stop"
	// Input includes Cached, as most protocols count; all 0 reports no usage.
	Input, Cached, Output int

	Status     int    // other than 0 and 200: an error
	Code       string // of the error, as the protocol words it
	Message    string
	RetryAfter string // the header, as it is

	Raw  string // sent as it is, with status 200
	Drop bool   // the connection is cut in the middle of the reply
	Hang bool   // nothing is sent until the client goes away
}

// A Protocol writes replies the way one API does.
type Protocol interface {
	Answer(r Reply) any
	Error(r Reply) any
}

// Key is the key that the scripted server takes. It refuses all others.
const Key = "sk-scripted-0123456789abcdef"

// A Server is a scripted model on loopback. It plays Script in order and
// repeats its last reply for ever.
type Server struct {
	URL    string // base address, with "/v1"
	Client *http.Client

	protocol Protocol
	arrived  chan struct{} // one token per request, as far as there is room

	mu     sync.Mutex
	script []Reply
	bodies [][]byte
}

// NewServer starts a server that ends with the test.
func NewServer(t *testing.T, p Protocol, script ...Reply) *Server {
	t.Helper()
	s := &Server{protocol: p, script: script, arrived: make(chan struct{}, 1<<10)}
	h := httptest.NewServer(s)
	s.URL, s.Client = h.URL+"/v1", h.Client()
	s.Client.Transport.(*http.Transport).MaxIdleConnsPerHost = 64
	t.Cleanup(func() {
		h.CloseClientConnections() // requests that hang end with them
		h.Close()
	})
	return s
}

// Bodies returns the requests so far, as they came.
func (s *Server) Bodies() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte(nil), s.bodies...)
}

func (s *Server) next(body []byte) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = append(s.bodies, body)
	r := s.script[0]
	if len(s.script) > 1 {
		s.script = s.script[1:]
	}
	return r
}

// ServeHTTP plays the next reply.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the client went away
	}
	r := s.next(body)
	select {
	case s.arrived <- struct{}{}:
	default:
	}
	if auth := req.Header.Get("Authorization"); auth != "Bearer "+Key && req.Header.Get("X-Api-Key") != Key {
		// Some servers repeat the key that they refuse; none of it may get on.
		r = Reply{Status: http.StatusUnauthorized, Code: "invalid_api_key", Message: "incorrect API key provided: " + auth}
	}
	if r.RetryAfter != "" {
		w.Header().Set("Retry-After", r.RetryAfter)
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Hang:
		<-req.Context().Done()
	case r.Drop:
		w.Header().Set("Content-Length", "10000")
		fmt.Fprint(w, `{"id":"x","choices":[`)
		if err := http.NewResponseController(w).Flush(); err != nil {
			panic(err)
		}
		panic(http.ErrAbortHandler)
	case r.Raw != "":
		fmt.Fprint(w, r.Raw)
	case r.Status != 0 && r.Status != http.StatusOK:
		w.WriteHeader(r.Status)
		write(w, s.protocol.Error(r))
	default:
		write(w, s.protocol.Answer(r))
	}
}

func write(w io.Writer, v any) {
	// A client that left in between is the scenario's business.
	_ = json.NewEncoder(w).Encode(v)
}

// ChatCompletions is OpenAI's chat protocol, which most servers speak.
type ChatCompletions struct{}

// Answer is a chat.completion object.
func (ChatCompletions) Answer(r Reply) any {
	finish := r.Finish
	if finish == "" {
		finish = "stop"
	}
	type object map[string]any
	out := object{
		"id": "chatcmpl-scripted", "object": "chat.completion", "created": 1, "model": "scripted",
		"choices": []object{{"index": 0, "finish_reason": finish,
			"message": object{"role": "assistant", "content": r.Text}}},
	}
	if r.Input+r.Output > 0 {
		out["usage"] = object{
			"prompt_tokens": r.Input, "completion_tokens": r.Output, "total_tokens": r.Input + r.Output,
			"prompt_tokens_details": object{"cached_tokens": r.Cached},
		}
	}
	return out
}

// Error is OpenAI's error object.
func (ChatCompletions) Error(r Reply) any {
	return map[string]any{"error": map[string]any{"message": r.Message, "type": r.Code, "code": r.Code}}
}
