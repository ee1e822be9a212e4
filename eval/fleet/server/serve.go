package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/jwt/v2"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/problem"
)

const (
	maxPayload = 1 << 20  // bytes of a message; what is larger goes through the bucket
	maxMemory  = 64 << 20 // bytes of streams in memory: there are none
	startsIn   = 30 * time.Second
	looksEvery = 500 * time.Millisecond // for a change of the invitations

	graceful  = 200 * time.Millisecond // for members to end what they are writing
	closesAll = time.Second            // of connections, after that
)

// Options are what a server is started with.
type Options struct {
	Listen string   // host:port; port 0 is any free one
	Hosts  []string // names and addresses by which members reach it; nil for those of Listen
	TLS    bool     // on a loopback address too; on others TLS is always on

	Ready func(*Served)     // called when members can connect; it may be nil
	Log   func(line string) // gets the server's warnings and errors, one call at a time; it may be nil
}

// Served is where a server listens.
type Served struct {
	PID         int       `json:"pid"`
	URL         string    `json:"url"`                   // for members; several are separated by commas
	CA          string    `json:"ca,omitempty"`          // in PEM; "" without TLS
	Fingerprint string    `json:"fingerprint,omitempty"` // SHA-256 of the authority's certificate in hex
	Started     time.Time `json:"started"`
}

// served is where the server listens, or did last.
func (f *Folder) served() (*Served, error) {
	s := &Served{}
	err := f.read(servedFile, s)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, problem.Inputf("start `evolve fleet serve` first", "this fleet has no server yet, so an invitation could lead nowhere")
	}
	return s, err
}

// Serve runs the server until ctx ends. Invitations and revocations take effect while it
// runs. Of two servers on one folder the second is refused.
func (f *Folder) Serve(ctx context.Context, o Options) error {
	l := flock.New(filepath.Join(f.dir, serveLock), flock.SetPermissions(0o600))
	if ok, err := l.TryLock(); err != nil {
		return fmt.Errorf("lock the fleet's folder: %w", err)
	} else if !ok {
		return f.busy()
	}
	defer l.Close()
	r := &running{Folder: f, log: &log{}, resolver: &natsserver.MemAccResolver{}}
	if err := r.start(o); err != nil {
		return err
	}
	defer r.stop()
	r.log.listen(o.Log) // what it says before that is about its options
	if err := r.prepare(ctx); err != nil {
		return fmt.Errorf("prepare the server: %w", err)
	}
	at := r.at()
	if err := f.write(servedFile, at); err != nil {
		return err
	}
	if o.Ready != nil {
		o.Ready(at)
	}
	tick := time.NewTicker(looksEvery)
	defer tick.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			now := ""
			if err := r.refresh(); err != nil {
				now = err.Error()
			}
			if now != said && now != "" { // once, until it is another one
				r.log.Errorf("invitations and revocations do not take effect: %s", now)
			}
			said = now
		}
	}
}

func (f *Folder) busy() error {
	at, err := f.served()
	if err != nil {
		at = &Served{URL: "an address that is not known yet"}
	}
	return &problem.Error{Kind: problem.Busy, Err: fmt.Errorf("this fleet's server runs already: process %d, on %s", at.PID, at.URL),
		Hint: "end that one first; EVOLVE_HOME chooses another data folder"}
}

// A running server.
type running struct {
	*Folder
	log       *log
	resolver  *natsserver.MemAccResolver
	server    *natsserver.Server
	hosts     []string
	authority *tls.Certificate // nil without TLS
	current   atomic.Pointer[tls.Certificate]
	claims    string // of the account, as the server has them
	list      []Invited
}

// start starts the server: afterwards it accepts connections.
func (r *running) start(o Options) error {
	host, port, loopback, err := split(o.Listen)
	if err != nil {
		return err
	}
	if r.hosts, err = hostsOf(host, o.Hosts); err != nil {
		return err
	}
	opts := &natsserver.Options{Host: host, Port: port, ServerName: "evolve", MaxPayload: maxPayload, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: r.dir, JetStreamMaxMemory: maxMemory, DisableJetStreamBanner: true,
		LameDuckGracePeriod: graceful, LameDuckDuration: graceful + closesAll,
		// The server's addresses are in the invitations. It tells nobody of others.
		Cluster: natsserver.ClusterOpts{NoAdvertise: true}}
	if o.TLS || !loopback {
		if err := r.secure(opts); err != nil {
			return err
		}
	}
	op, systemID, system, err := r.trust()
	if err != nil {
		return fmt.Errorf("sign the fleet's accounts: %w", err)
	}
	opts.TrustedOperators, opts.SystemAccount, opts.AccountResolver = []*jwt.OperatorClaims{op}, systemID, r.resolver
	if err := r.resolver.Store(systemID, system); err != nil {
		return err
	}
	if err := r.refresh(); err != nil {
		return err
	}
	if r.server, err = natsserver.NewServer(opts); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	r.server.SetLoggerV2(r.log, false, false, false)
	r.server.Start()
	if why := r.log.fatal(); why != "" || !r.server.ReadyForConnections(startsIn) {
		r.server.Shutdown()
		return problem.Hinted(fmt.Errorf("the server could not start on %s: %s", o.Listen, why), "--listen HOST:PORT chooses another address")
	}
	return nil
}

// secure turns TLS on, from the first byte: not even the server's version is shown without.
func (r *running) secure(opts *natsserver.Options) error {
	cert, authority, err := r.certificate(r.hosts)
	if err != nil {
		return err
	}
	r.authority = authority
	r.current.Store(cert)
	opts.TLS, opts.TLSHandshakeFirst, opts.TLSTimeout = true, true, 5
	opts.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS13,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return r.current.Load(), nil }}
	return nil
}

// at is where members find the server.
func (r *running) at() *Served {
	s := &Served{PID: os.Getpid(), Started: r.now().UTC()}
	scheme, port := "nats", strconv.Itoa(r.server.Addr().(*net.TCPAddr).Port)
	if r.authority != nil {
		scheme = "tls"
		s.CA, s.Fingerprint = string(certificatePEM(r.authority.Certificate[0])), fingerprint(r.authority)
	}
	var urls []string
	for _, h := range r.hosts {
		urls = append(urls, scheme+"://"+net.JoinHostPort(h, port))
	}
	s.URL = strings.Join(urls, ",")
	return s
}

// prepare makes the streams, over a connection that leaves no process.
func (r *running) prepare(ctx context.Context) error {
	kp, err := nkeys.CreateUser()
	if err != nil {
		return err
	}
	id, err := kp.PublicKey()
	if err != nil {
		return err
	}
	user := jwt.NewUserClaims(id)
	user.Expires = r.now().Add(2 * startsIn).Unix()
	text, err := user.Encode(r.account)
	if err != nil {
		return err
	}
	nc, err := nats.Connect("", nats.InProcessServer(r.server), nats.UserJWT(func() (string, error) { return text, nil }, kp.Sign))
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startsIn)
	defer cancel()
	return fleet.Prepare(ctx, js)
}

// refresh gives the server the revocations that it does not have yet, which cuts those
// members off, and a new certificate before the present one expires.
func (r *running) refresh() error {
	list, err := Invitations(r.dir)
	if err != nil {
		return err
	}
	if r.claims == "" || !slices.Equal(list, r.list) {
		id, text, err := r.accountClaims(list)
		if err != nil {
			return fmt.Errorf("sign the fleet's account: %w", err)
		}
		if err := r.resolver.Store(id, text); err != nil {
			return err
		}
		if r.server != nil {
			if err := r.update(id, text); err != nil {
				return err
			}
		}
		r.claims, r.list = text, list
	}
	if cert := r.current.Load(); cert != nil && !r.fits(cert.Leaf, r.authority.Leaf, r.hosts) {
		if cert, _, err = r.certificate(r.hosts); err != nil {
			return err
		}
		r.current.Store(cert)
	}
	return nil
}

func (r *running) update(id, text string) error {
	claims, err := jwt.DecodeAccountClaims(text)
	if err != nil {
		return err
	}
	account, err := r.server.LookupAccount(id)
	if err != nil {
		return fmt.Errorf("find the fleet's account: %w", err)
	}
	r.server.UpdateAccountClaims(account, claims)
	return nil
}

// stop closes the listener, tells the members, and ends when everything is on disk.
func (r *running) stop() {
	r.server.LameDuckShutdown()
	r.server.Shutdown() // if it could not get so far
	r.server.WaitForShutdown()
}

// split reads the address to listen on.
func split(listen string) (host string, port int, loopback bool, err error) {
	host, text, err := net.SplitHostPort(listen)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil || port < 0 || port > 65535 {
		return "", 0, false, problem.Inputf("for example --listen 0.0.0.0:4222", "%q is not an address to listen on", listen)
	}
	if port == 0 {
		port = natsserver.RANDOM_PORT
	}
	switch host {
	case "localhost":
		host = "127.0.0.1"
	case "":
		host = "0.0.0.0"
	}
	ip := net.ParseIP(host)
	return host, port, ip != nil && ip.IsLoopback(), nil
}

// hostsOf are the names of the server: those that were given, or what it listens on.
func hostsOf(listen string, given []string) ([]string, error) {
	for _, h := range given {
		if h == "" || strings.ContainsAny(h, " \t\n,/@[]") || strings.Contains(h, ":") && net.ParseIP(h) == nil {
			return nil, problem.Inputf("for example --host build.example.com", "%q is not the name or the address of a host", h)
		}
	}
	if len(given) > 0 {
		return given, nil
	}
	if ip := net.ParseIP(listen); ip == nil || !ip.IsUnspecified() {
		return []string{listen}, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return nil, problem.Hinted(fmt.Errorf("find this machine's name: %w", err), "--host NAME says how other machines reach it")
	}
	return []string{name}, nil
}

// log keeps what the server says. The server's own would end the process.
type log struct {
	mu   sync.Mutex
	to   func(string)
	last string // what it could not start for
}

func (l *log) say(format string, args []any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to != nil {
		l.to(fmt.Sprintf(format, args...))
	}
}

func (l *log) listen(to func(string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = to
}

func (l *log) fatal() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

func (l *log) Fatalf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = fmt.Sprintf(format, args...)
}

func (l *log) Errorf(format string, args ...any) { l.say(format, args) }
func (l *log) Warnf(format string, args ...any)  { l.say(format, args) }
func (l *log) Noticef(string, ...any)            {}
func (l *log) Debugf(string, ...any)             {}
func (l *log) Tracef(string, ...any)             {}
