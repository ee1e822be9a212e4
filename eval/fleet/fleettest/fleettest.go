// Package fleettest is for tests of fleets: a server of this process, and its members.
package fleettest

import (
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/skill-evolve/evolve/eval/fleet"
)

// A Server is a NATS server without users, in this process.
type Server struct {
	*server.Server
	opt *server.Options
	tb  testing.TB
}

// Serve starts a server and makes the streams.
func Serve(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{tb: tb, opt: &server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: tb.TempDir(), NoLog: true, NoSigs: true}}
	s.start()
	tb.Cleanup(s.Stop)
	c := s.Join("lead")
	if err := fleet.Prepare(tb.Context(), c.JS); err != nil {
		tb.Fatal(err)
	}
	return s
}

func (s *Server) start() {
	s.tb.Helper()
	srv, err := server.NewServer(s.opt)
	if err != nil {
		s.tb.Fatal(err)
	}
	srv.Start()
	if !srv.ReadyForConnections(10 * time.Second) {
		s.tb.Fatal("the server does not start")
	}
	s.Server = srv
	s.opt.Port = srv.Addr().(*net.TCPAddr).Port // the same one after a restart
}

// Stop ends it.
func (s *Server) Stop() {
	s.Shutdown()
	s.WaitForShutdown()
}

// Restart ends it, and starts it at the same address, with what it has stored.
func (s *Server) Restart() {
	s.Stop()
	s.start()
}

// Join connects a new member.
func (s *Server) Join(name string) *fleet.Conn {
	s.tb.Helper()
	return s.JoinAs(name, Seed())
}

// Seed makes the secret of a new member.
func Seed() string {
	key, err := nkeys.CreateUser()
	if err != nil {
		panic(err) // there is no randomness
	}
	seed, err := key.Seed()
	if err != nil {
		panic(err)
	}
	return string(seed)
}

// JoinAs connects a member that has been there before.
func (s *Server) JoinAs(name, seed string) *fleet.Conn {
	s.tb.Helper()
	c, err := fleet.Dial(s.tb.Context(), &fleet.Invitation{URL: s.ClientURL(), Name: name, Role: fleet.RoleWorker, Seed: seed})
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(c.Close)
	return c
}
