package agenttest

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Key is the key that the scripted server accepts, as a bearer token and as X-Api-Key.
// It refuses all others.
const Key = "sk-scripted-0123456789abcdef"

// Config determines how a Server answers.
type Config struct {
	// Script is played in order; its last reply is repeated for ever.
	Script []Reply
	// Answer, if set, replaces Script: a function of the conversation, so
	// that many agents can share a server. It is called concurrently.
	Answer func(Request) Reply
	// Side, if set, is the answer to requests that declare no tools, by which agents
	// with tools get titles and summaries. These are recorded but neither counted nor
	// scripted.
	Side string
	// Names are placeholders in ops and their values, in addition to "{workspace}/".
	Names map[string]string
	// Protocol, if set, formats plain answers and errors in place of the wire.
	Protocol Protocol
}

// A Protocol formats plain replies as one API does.
type Protocol interface {
	Answer(r Reply) any
	Error(r Reply) any
}

// A Server is a scripted model on loopback. It serves every wire, chosen by the path,
// plain and streamed.
type Server struct {
	URL    string // base address, with "/v1"; OpenAI's clients take it
	Root   string // base address without "/v1"; Anthropic's clients take it
	Client *http.Client

	config  Config
	arrived chan struct{} // one token per counted request, as far as there is room

	mu       sync.Mutex
	script   []Reply
	requests []Request
	ids      int64
}

// NewServer starts a server that ends with the test. If p is nil, the path determines
// the format.
func NewServer(t testing.TB, p Protocol, script ...Reply) *Server {
	t.Helper()
	return Start(t, Config{Protocol: p, Script: script})
}

// New returns a server that is not listening yet.
func New(c Config) *Server {
	return &Server{config: c, script: c.Script, arrived: make(chan struct{}, 1<<10)}
}

// Start starts a server that ends with the test.
func Start(t testing.TB, c Config) *Server {
	t.Helper()
	s := New(c)
	h := httptest.NewServer(s)
	s.Root, s.URL, s.Client = h.URL, h.URL+"/v1", h.Client()
	s.Client.Transport.(*http.Transport).MaxIdleConnsPerHost = 64
	t.Cleanup(func() {
		h.CloseClientConnections() // requests that hang end with them
		h.Close()
	})
	return s
}

// Requests returns the requests for an answer so far, in order, including side
// requests.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Counted returns the requests so far, without side requests.
func (s *Server) Counted() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return s.side(&r) })
}

// Bodies returns the counted requests' bodies so far, unchanged.
func (s *Server) Bodies() [][]byte {
	var out [][]byte
	for _, r := range s.Counted() {
		out = append(out, r.Body)
	}
	return out
}

// Arrived yields one value for each counted request, as it comes.
func (s *Server) Arrived() <-chan struct{} { return s.arrived }

// CloseIdle closes the server's idle connections and those of s.Client.
func (s *Server) CloseIdle() {
	s.Client.CloseIdleConnections()
}

func (s *Server) side(q *Request) bool { return s.config.Side != "" && q.Side }

// next records a request and decides on its reply; id names the reply.
func (s *Server) next(q *Request) (r Reply, id int64) {
	s.mu.Lock()
	s.requests = append(s.requests, *q)
	s.ids++
	id = s.ids
	if s.side(q) {
		s.mu.Unlock()
		return Reply{Text: s.config.Side, Input: 1, Output: 1}, id
	}
	if s.config.Answer == nil {
		r = s.script[0]
		if len(s.script) > 1 {
			s.script = s.script[1:]
		}
	}
	s.mu.Unlock()
	if s.config.Answer != nil {
		r = s.config.Answer(*q)
	}
	select {
	case s.arrived <- struct{}{}:
	default:
	}
	return r, id
}

// ServeHTTP plays the next reply.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var wire Wire
	path := strings.TrimSuffix(req.URL.Path, "/")
	switch {
	case req.Method == http.MethodHead:
		return
	case path == playerHangs:
		s.arrived <- struct{}{}
		<-req.Context().Done()
		return
	case req.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		writeJSON(w, models)
		return
	case strings.HasSuffix(path, "/messages"):
		wire = Messages
	case strings.HasSuffix(path, "/responses"):
		wire = Responses
	case strings.HasSuffix(path, "/chat/completions"):
		wire = Chat
	case !strings.HasSuffix(path, "/count_tokens"):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		writeJSON(w, object{"error": object{"type": "not_found_error", "message": "no route " + path}})
		return
	}
	body, err := read(req)
	if err != nil {
		return // the client went away
	}
	if wire == "" {
		writeJSON(w, object{"input_tokens": max(1, len(body)/4)})
		return
	}
	q := parse(wire, body)
	q.Path, q.Header = req.URL.Path, req.Header.Clone()
	q.Header.Del("Authorization")
	q.Header.Del("X-Api-Key")
	r, id := s.next(&q)
	if auth := req.Header.Get("Authorization"); auth != "Bearer "+Key && req.Header.Get("X-Api-Key") != Key {
		// Some servers repeat the key that they refuse; no part of it may be passed on.
		r = Reply{Status: http.StatusUnauthorized, Code: "invalid_api_key",
			Message: "incorrect API key provided: " + auth + req.Header.Get("X-Api-Key")}
	}
	s.play(w, req.Context(), &q, r.prepare(wire), id)
}

// read returns the body, unpacked.
func read(req *http.Request) ([]byte, error) {
	if req.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(req.Body)
	}
	z, err := gzip.NewReader(req.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// A speaker writes replies on one wire. id makes unique names.
type speaker interface {
	plain(q *Request, r Reply, calls []call, id int64) any
	stream(q *Request, r Reply, calls []call, id int64) []event
	failure(r Reply, h http.Header) any
}

var speakers = map[Wire]speaker{Messages: messages{}, Responses: responses{}, Chat: chat{}}

func (s *Server) play(w http.ResponseWriter, ctx context.Context, q *Request, r Reply, id int64) {
	if r.RetryAfter != "" {
		w.Header().Set("Retry-After", r.RetryAfter)
	}
	w.Header().Set("Content-Type", "application/json")
	say := speakers[q.Wire]
	var calls []call
	for _, op := range r.Tools {
		calls = append(calls, q.call(op.named(s.config.Names)))
	}
	switch {
	case r.Hang:
		<-ctx.Done()
	case r.Raw != "":
		if strings.HasPrefix(r.Raw, "data:") || strings.HasPrefix(r.Raw, "event:") {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		fmt.Fprint(w, r.Raw)
	case r.Status != 0 && r.Status != http.StatusOK:
		failure := say.failure(r, w.Header())
		if s.config.Protocol != nil {
			failure = s.config.Protocol.Error(r)
		}
		w.WriteHeader(r.Status)
		writeJSON(w, failure)
	case q.Stream:
		stream(ctx, w, say.stream(q, r, calls, id), r)
	case r.Drop:
		w.Header().Set("Content-Length", "10000")
		fmt.Fprint(w, `{"id":"x","choices":[`)
		cut(w)
	case s.config.Protocol != nil:
		writeJSON(w, s.config.Protocol.Answer(r))
	default:
		writeJSON(w, say.plain(q, r, calls, id))
	}
}

// An event is one of a stream of server-sent events.
type event struct {
	name string // "" if the wire names none
	data any    // nil ends a chat stream
	text bool   // a part of the answer's text
}

func stream(ctx context.Context, w http.ResponseWriter, events []event, r Reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	flush := http.NewResponseController(w)
	for i, e := range events {
		if r.Drop && i >= len(events)/2 {
			cut(w)
		}
		if r.Slow > 0 && e.text {
			select {
			case <-time.After(r.Slow):
			case <-ctx.Done():
				return
			}
		}
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		data := "[DONE]"
		if e.data != nil {
			data = compact(e.data)
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
			return // the client went away
		}
		if err := flush.Flush(); err != nil {
			return
		}
	}
}

// cut breaks the connection after what was written.
func cut(w http.ResponseWriter) {
	if err := http.NewResponseController(w).Flush(); err != nil {
		panic(err)
	}
	panic(http.ErrAbortHandler)
}

// parts splits a text as a stream does: into pieces of a few words, at most a
// few dozen of them.
func parts(s string) []string {
	n := max(24, len(s)/48)
	var out []string
	for len(s) > n {
		end := n
		for end < len(s) && s[end]&0xC0 == 0x80 { // never within a rune
			end++
		}
		out, s = append(out, s[:end]), s[end:]
	}
	return append(out, s)
}

func compact(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // only our own objects come here
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func writeJSON(w io.Writer, v any) {
	// A client that has left is part of the scenario.
	_ = json.NewEncoder(w).Encode(v)
}

// playerHangs is the path by which a player reports that it has reached the point at
// which the real program waits for a reply that never comes.
const playerHangs = "/player/hangs"

// created is the time in all replies; it is fixed, so that recordings are stable.
const created = 1767225600

// models is the answer to GET /v1/models.
var models = func() object {
	var list []object
	for _, id := range []string{"scripted", "gpt-5.5", "gpt-5-codex", "claude-sonnet-4-5"} {
		list = append(list, object{"id": id, "object": "model", "type": "model", "display_name": id,
			"created": created, "created_at": "2026-01-01T00:00:00Z", "owned_by": "scripted"})
	}
	return object{"object": "list", "data": list, "has_more": false}
}()
