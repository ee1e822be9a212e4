package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/problem"
)

// A Conn is a member's connection to the server of its fleet. It is made again when it
// breaks, for as long as it takes.
type Conn struct {
	ID   string // the member's public key
	Key  nkeys.KeyPair
	Nats *nats.Conn
	JS   jetstream.JetStream
}

// Dial connects a member. The traffic is encrypted unless the server is on this machine.
func Dial(ctx context.Context, in *Invitation) (*Conn, error) {
	if !in.Expires.IsZero() && time.Now().After(in.Expires) {
		return nil, problem.Inputf("`evolve fleet invite "+in.Name+"` makes a new one, where the fleet is served", "the invitation of %s has expired on %s", in.Name, in.Expires.Local().Format("2006-01-02"))
	}
	u, err := url.Parse(in.URL)
	if err != nil || u.Host == "" {
		return nil, problem.Inputf("it looks like tls://host:4222", "%q is no address of a NATS server", in.URL)
	}
	key, err := nkeys.FromSeed([]byte(in.Seed))
	if err != nil {
		return nil, fmt.Errorf("the key of %s: %w", in.Name, err)
	}
	id, err := key.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("the key of %s: %w", in.Name, err)
	}
	opts := []nats.Option{nats.Name("evolve " + in.Role + " " + in.Name), nats.CustomInboxPrefix(InboxPrefix(id)),
		nats.MaxReconnects(-1), nats.ReconnectWait(500 * time.Millisecond), nats.ReconnectJitter(200*time.Millisecond, time.Second),
		nats.RetryOnFailedConnect(false), nats.Timeout(5 * time.Second), nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2),
		nats.NoCallbacksAfterClientClose()}
	if in.JWT != "" {
		opts = append(opts, nats.UserJWT(func() (string, error) { return in.JWT, nil }, key.Sign))
	}
	local := process.Loopback(u.Hostname())
	if u.Scheme == "tls" || !local {
		if u.Scheme != "tls" {
			return nil, problem.Inputf("use tls://"+u.Host, "%s is another machine, and what is sent there must be encrypted", u.Host)
		}
		conf := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: u.Hostname()}
		if in.CA != "" {
			conf.RootCAs = x509.NewCertPool()
			if !conf.RootCAs.AppendCertsFromPEM([]byte(in.CA)) {
				return nil, errors.New("the invitation has no certificate")
			}
		}
		opts = append(opts, nats.Secure(conf))
	}
	conn, err := nats.Connect(in.URL, opts...)
	if err != nil {
		return nil, dialing(in, err)
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
	return &Conn{ID: id, Key: key, Nats: conn, JS: js}, nil
}

// dialing says what went wrong, and what to do.
func dialing(in *Invitation, err error) error {
	again := "`evolve fleet invite " + in.Name + "` makes a new invitation, where the fleet is served"
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return problem.Inputf(again, "%s does not let %s in: the invitation has been revoked, or is another fleet's", in.URL, in.Name)
	case errors.As(err, &unknown):
		return problem.Inputf(again, "%s is not the server that made the invitation: its certificate is another one", in.URL)
	}
	return fmt.Errorf("connect to the fleet at %s: %w", in.URL, err)
}

// Close ends the connection.
func (c *Conn) Close() { c.Nats.Close() }
