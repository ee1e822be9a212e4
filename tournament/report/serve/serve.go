// Package serve shows evolve's data as pages on this machine alone, and lets
// their owner decide: the status of all skills, runs in progress, nights,
// versions, cases, blind reviews, and open decisions. Every action of a page
// calls a command's own function (see Program).
//
// All texts come from others: users, models, agents. They pass html/template,
// and no page may run anything but the server's own script.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/tournament/report/page"
)

// A Server shows one user's skills. New makes one.
type Server struct {
	program Program
	guard   *guard
	port    string
	handler http.Handler
	// Every is how often the store is polled while somebody looks at a run.
	Every time.Duration
	// Explain adds a hint to an error of the program; nil shows it as it is.
	Explain func(error) *Error
	// Fleet shows the page of the fleet in the navigation.
	Fleet bool
	// Bug gets a panic; the page reports only that there was one.
	Bug func(value any, stack []byte)

	deciding sync.Mutex // one write at a time
	readTime time.Duration
	skips    skips
	streams  chan struct{} // a place for each open stream
	closing  chan struct{}
}

// openStreams is the largest number of progress streams: browsers open no
// more than six to one host.
const openStreams = 12

// New makes a server for a listener's port. Nothing is served before Serve.
func New(p Program, port int) *Server {
	s := &Server{program: p, port: strconv.Itoa(port), Every: time.Second, streams: make(chan struct{}, openStreams), closing: make(chan struct{}), readTime: readTime}
	s.guard = newGuard(s.port)
	s.handler = s.recovering(s.guarded(s.routes()))
	return s
}

// Address is the server's URL, with the token that lets a browser in.
func (s *Server) Address() string { return s.Base() + "/?token=" + s.guard.token }

// Base is the server's URL.
func (s *Server) Base() string { return "http://127.0.0.1:" + s.port }

func (s *Server) routes() *http.ServeMux {
	m := http.NewServeMux()
	get := func(path string, h http.HandlerFunc) { m.HandleFunc("GET "+path, h) }
	get("/{$}", s.status("status.html"))
	get("/runs", s.runs)
	get("/runs/{run}", s.run)
	get("/runs/{run}/report", s.report)
	get("/runs/{run}/events", s.events)
	get("/nights", s.nights)
	get("/nights/{night}", s.night)
	get("/fleet", s.fleet)
	get("/queue", s.status("queue.html"))
	get("/skills/{skill}", s.skill)
	get("/skills/{skill}/diff", s.diff)
	get("/skills/{skill}/corrections", s.corrections)
	get("/skills/{skill}/run", s.forecast)
	get("/skills/{skill}/cases", s.cases)
	get("/skills/{skill}/case", s.oneCase)
	get("/skills/{skill}/case/edit", s.editForm)
	m.HandleFunc("POST /skills/{skill}/case/edit", s.edit)
	get("/skills/{skill}/case/drop", s.dropForm)
	m.HandleFunc("POST /skills/{skill}/case/drop", s.drop)
	get("/skills/{skill}/review", s.review)
	m.HandleFunc("POST /skills/{skill}/review", s.answer)
	for _, act := range []Act{Approve, Reject, Promote, Rollback} {
		get("/skills/{skill}/"+string(act), s.plan(act))
		m.HandleFunc("POST /skills/{skill}/"+string(act), s.do(act))
	}
	for _, path := range []string{"/runs", "/nights", "/queue", "/fleet"} { // as they may be typed
		m.Handle("GET "+path+"/{$}", http.RedirectHandler(path, http.StatusMovedPermanently))
	}
	get("/favicon.svg", asset("image/svg+xml", file("favicon.svg")))
	get("/style.css", asset("text/css; charset=utf-8", page.Style()+file("serve.css")))
	get("/live.js", asset("text/javascript; charset=utf-8", file("live.js")))
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, http.StatusNotFound, &Error{Message: "there is no such page"})
	})
	return m
}

// alone calls the program while no other decision or record is being made.
func alone[T any](s *Server, ask func() (T, error)) (T, error) {
	s.deciding.Lock()
	defer s.deciding.Unlock() // a panic is answered, and the next request too
	return ask()
}

func asset(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write([]byte(text)) // who is gone needs no answer
	}
}

// recovering answers a panic with a page that does not show the panic's
// value.
func (s *Server) recovering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if s.Bug != nil {
				s.Bug(v, debug.Stack())
			}
			s.fail(w, r, http.StatusInternalServerError, &Error{Message: "this is a bug in evolve", Hint: "the terminal where `evolve serve` runs says where"})
		}()
		next.ServeHTTP(w, r)
	})
}

// How long a request may take. A page is made from the store: a report of
// many runs takes seconds, and an installation may have to wait for another
// one.
const (
	headTime  = 5 * time.Second
	readTime  = 15 * time.Second
	writeTime = 90 * time.Second
	idleTime  = 2 * time.Minute
	// graceTime is how long requests may take to end once the server stops.
	graceTime = 5 * time.Second
)

// Serve answers on l until ctx ends, and finishes requests that have begun.
func (s *Server) Serve(ctx context.Context, l net.Listener, logTo *log.Logger) error {
	var silent silent
	srv := &http.Server{Handler: s.handler, ReadHeaderTimeout: headTime, ReadTimeout: s.readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: 32 << 10, ErrorLog: logTo, ConnState: silent.state}
	stopped := make(chan error, 1)
	end := context.AfterFunc(ctx, func() {
		close(s.closing)
		silent.close()
		soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTime)
		defer cancel()
		err := srv.Shutdown(soon)
		if err != nil {
			err = errors.Join(err, srv.Close())
		}
		stopped <- err
	})
	err := srv.Serve(l)
	if !end() {
		err = <-stopped
	}
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// silent are the connections without a request so far. Browsers open some in
// advance, and a server that shuts down in order waits seconds for each of
// them.
type silent struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
	ended bool
}

func (k *silent) state(c net.Conn, is http.ConnState) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case is != http.StateNew:
		delete(k.conns, c)
	case k.ended:
		c.Close()
	default:
		if k.conns == nil {
			k.conns = map[net.Conn]bool{}
		}
		k.conns[c] = true
	}
}

func (k *silent) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = true
	for c := range k.conns {
		c.Close()
	}
}
