package fleet

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/problem"
)

// A Conn is a member's connection to the server of its fleet. It is made again when it
// breaks, for as long as it takes.
type Conn struct {
	ID   string // the member's public key
	Key  *Key
	In   *Invitation
	Nats *nats.Conn
	JS   jetstream.JetStream

	known sync.Map // members by their rights, which were verified
}

// Dial connects a member. The traffic is encrypted unless the server is on this machine.
func Dial(ctx context.Context, in *Invitation) (*Conn, error) {
	for at := range strings.SplitSeq(in.URL, ",") {
		u, err := url.Parse(at)
		if err != nil || u.Host == "" {
			return nil, problem.Inputf("it looks like tls://host:4222", "%q is no address of a NATS server", at)
		}
		if u.Scheme != "tls" && in.CA == "" && !process.Loopback(u.Hostname()) {
			return nil, problem.Inputf("use tls://"+u.Host, "%s is another machine, and what is sent there must be encrypted", u.Host)
		}
	}
	key, err := NewKey(in.Seed)
	if err != nil {
		return nil, fmt.Errorf("the invitation of %s: %w", in.Name, err)
	}
	opts, err := in.Options()
	if err != nil {
		return nil, err
	}
	opts = append(opts, nats.MaxReconnects(-1), nats.ReconnectWait(500*time.Millisecond), nats.ReconnectJitter(200*time.Millisecond, time.Second),
		nats.Timeout(5*time.Second), nats.PingInterval(5*time.Second), nats.MaxPingsOutstanding(2), nats.NoCallbacksAfterClientClose(),
		nats.IgnoreAuthErrorAbort(),
		// What cannot be sent fails: sent when the server is back, a job would reach workers that
		// it was taken from meanwhile.
		nats.ReconnectBufSize(-1))
	conn, err := nats.Connect(in.URL, opts...)
	if err != nil {
		if said := in.Explain(err, time.Now()); said != err {
			return nil, said
		}
		return nil, problem.Hinted(fmt.Errorf("connect to the fleet at %s: %w", in.URL, err), "is `evolve fleet serve` running there?")
	}
	if err := ctx.Err(); err != nil {
		conn.Close()
		return nil, err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &Conn{ID: key.ID, Key: key, In: in, Nats: conn, JS: js}, nil
}

// Knows returns the name of a member whose rights this fleet has signed, with a role. A fleet
// of tests has no rights, and takes a member by the name that it says.
func (c *Conn) Knows(id, rights, role, says string) (name string, err error) {
	if c.In.JWT == "" {
		return says, nil
	}
	m, known := c.known.Load(rights)
	if !known || !time.Now().Before(m.(*Member).Expires) {
		fresh, err := c.In.Verify(rights, time.Now())
		if err != nil {
			return "", err
		}
		c.known.Store(rights, fresh)
		m = fresh
	}
	return m.(*Member).is(id, role)
}

func (m *Member) is(id, role string) (name string, err error) {
	if m.ID != id || m.Role != role {
		return "", fmt.Errorf("%s is no %s of this fleet", Short(id), role)
	}
	return m.Name, nil
}

// Hello reads what a worker says; nil if it cannot be believed.
func (c *Conn) Hello(m *nats.Msg) *Hello {
	id := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	h := new(Hello)
	if err := Open(id, m.Subject, m.Header, m.Data, h); err != nil || h.Worker != id {
		return nil
	}
	var err error
	if h.Name, err = c.Knows(id, h.Rights, RoleWorker, h.Name); err != nil {
		return nil
	}
	return h
}

// Close ends the connection.
func (c *Conn) Close() { c.Nats.Close() }
