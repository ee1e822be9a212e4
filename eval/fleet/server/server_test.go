package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/problem"
)

// A fleetHere is a fleet with a server in this process.
type fleetHere struct {
	*testing.T
	*Folder
	at   *Served
	stop func() error
}

func open(t *testing.T, dir string) *Folder {
	t.Helper()
	f, err := Open(dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// serve starts a server on a free port of loopback. It ends with the test, or by stop.
func serve(t *testing.T, f *Folder, o Options) *fleetHere {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan *Served, 1), make(chan error, 1)
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	o.Ready = func(s *Served) { ready <- s }
	o.Log = func(line string) { t.Log(line) }
	go func() { ended <- f.Serve(ctx, o) }()
	h := &fleetHere{T: t, Folder: f}
	stopped := false
	h.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if err := h.stop(); err != nil {
			t.Error(err)
		}
	})
	select {
	case h.at = <-ready:
	case err := <-ended:
		stopped = true
		cancel()
		t.Fatalf("the server ended: %v", err)
	}
	return h
}

func (h *fleetHere) invite(name, role string) *fleet.Invitation {
	h.Helper()
	i, _, err := h.Invite(name, role, 0)
	if err != nil {
		h.Fatal(err)
	}
	return i
}

// A member is a connection of somebody who was invited.
type member struct {
	*testing.T
	nc   *nats.Conn
	js   jetstream.JetStream
	id   string
	said chan error // what the server said besides its answers
}

func (h *fleetHere) join(i *fleet.Invitation) *member {
	h.Helper()
	m := &member{T: h.T, said: make(chan error, 100)}
	var err error
	if m.id, err = i.ID(); err != nil {
		h.Fatal(err)
	}
	opts, err := i.Options()
	if err != nil {
		h.Fatal(err)
	}
	opts = append(opts, nats.NoReconnect(), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { m.said <- err }))
	if m.nc, err = nats.Connect(i.URL, opts...); err != nil {
		h.Fatalf("%s: %v", i.Name, err)
	}
	h.Cleanup(m.nc.Close)
	if m.js, err = jetstream.New(m.nc); err != nil {
		h.Fatal(err)
	}
	return m
}

func (m *member) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

// refused checks that what was just sent is against the member's rights. The server says
// so before it answers the flush.
func (m *member) refused(does, subject string) {
	m.Helper()
	m.must(m.nc.Flush())
	if err := m.nc.LastError(); !errors.Is(err, nats.ErrPermissionViolation) || !strings.Contains(err.Error(), `"`+subject+`"`) {
		m.Errorf("%s %s was not refused: %v", does, subject, err)
	}
}

func TestWorkerRights(t *testing.T) {
	h := serve(t, open(t, t.TempDir()), Options{})
	one, two := h.join(h.invite("one", fleet.RoleWorker)), h.join(h.invite("two", fleet.RoleWorker))
	c := h.join(h.invite("desk", fleet.RoleCoordinator))
	ctx := t.Context()

	// The coordinator gives each a job, and makes their consumers.
	for _, w := range []*member{one, two} {
		_, err := c.js.CreateConsumer(ctx, jobsStream, jetstream.ConsumerConfig{Durable: w.id, FilterSubject: "evolve.job." + w.id + ".>", AckPolicy: jetstream.AckExplicitPolicy})
		c.must(err)
		_, err = c.js.Publish(ctx, "evolve.job."+w.id+"."+c.id+".k1", []byte("job of "+w.id))
		c.must(err)
	}
	results, err := c.js.CreateConsumer(ctx, resultsStream, jetstream.ConsumerConfig{Durable: c.id, FilterSubject: "evolve.result." + c.id + ".>", AckPolicy: jetstream.AckExplicitPolicy})
	c.must(err)
	if _, err := c.js.Publish(ctx, "evolve.job."+one.id+"."+c.id+".k1", nil); err == nil {
		t.Error("a job that waits was given twice")
	}

	// A worker's day: hello, job, blob, progress, result, order.
	hellos, err := c.nc.SubscribeSync("evolve.hello.*")
	c.must(err)
	c.must(c.nc.Flush())
	one.must(one.nc.Publish("evolve.hello."+one.id, nil))
	if _, err := hellos.NextMsgWithContext(ctx); err != nil {
		t.Fatal(err)
	}
	blobs, err := c.js.ObjectStore(ctx, blobsBucket)
	c.must(err)
	content := strings.Repeat("x", 300<<10) // several chunks
	_, err = blobs.PutString(ctx, "workspace", content)
	c.must(err)
	mine, err := one.js.ObjectStore(ctx, blobsBucket)
	one.must(err)
	if got, err := mine.GetString(ctx, "workspace"); err != nil || got != content {
		t.Errorf("a worker reads %d bytes of a blob: %v", len(got), err)
	}
	_, err = mine.PutString(ctx, "long result", content)
	one.must(err)
	if got, err := blobs.GetString(ctx, "long result"); err != nil || got != content {
		t.Errorf("the coordinator reads %d bytes of a blob: %v", len(got), err)
	}
	own, err := one.js.Consumer(ctx, jobsStream, one.id)
	one.must(err)
	job, err := own.Next()
	one.must(err)
	if string(job.Data()) != "job of "+one.id {
		t.Errorf("the job is %q", job.Data())
	}
	one.must(job.InProgress())
	_, err = one.js.Publish(ctx, "evolve.result."+c.id+"."+one.id+".k1", []byte("done"))
	one.must(err)
	one.must(job.DoubleAck(ctx))
	if got, err := results.Next(); err != nil || string(got.Data()) != "done" {
		t.Errorf("the result is %v, %v", got, err)
	}
	orders, err := one.nc.Subscribe("evolve.order."+one.id, func(m *nats.Msg) { _ = m.Respond([]byte("yes")) })
	one.must(err)
	one.must(one.nc.Flush())
	if answer, err := c.nc.RequestWithContext(ctx, "evolve.order."+one.id, nil); err != nil || string(answer.Data) != "yes" {
		t.Errorf("the order was answered with %v, %v", answer, err)
	}
	one.must(orders.Unsubscribe())
	one.must(one.nc.Flush())
	for _, m := range []*member{one, c} {
		if err := m.nc.LastError(); err != nil {
			t.Errorf("an ordinary day was refused: %v", err)
		}
	}

	for _, subject := range []string{
		"evolve.hello." + two.id, "evolve.result." + c.id + "." + two.id + ".k1", "evolve.job." + one.id + "." + c.id + ".k2", "evolve.order." + two.id,
		"$JS.API.CONSUMER.MSG.NEXT." + jobsStream + "." + two.id, "$JS.API.CONSUMER.INFO." + jobsStream + "." + two.id, "$JS.ACK." + jobsStream + "." + two.id + ".1.1.1.1.0",
		"$JS.API.STREAM.MSG.GET." + jobsStream, "$JS.API.DIRECT.GET." + jobsStream, "$JS.API.DIRECT.GET." + jobsStream + ".evolve.job." + two.id + "." + c.id + ".k1",
		"$JS.API.STREAM.DELETE." + jobsStream, "$JS.API.STREAM.PURGE." + jobsStream, "$JS.API.STREAM.PURGE." + blobsStream, "$JS.API.STREAM.DELETE." + blobsStream, "$JS.API.STREAM.UPDATE." + jobsStream,
		"$JS.API.STREAM.CREATE.OTHER", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.SNAPSHOT." + jobsStream,
		"$JS.API.CONSUMER.CREATE." + jobsStream + ".c", "$JS.API.CONSUMER.CREATE." + jobsStream + ".c.evolve.job.>", "$JS.API.CONSUMER.DURABLE.CREATE." + jobsStream + ".c", "$JS.API.CONSUMER.DELETE." + jobsStream + "." + two.id,
		"$JS.API.CONSUMER.CREATE." + resultsStream + ".c", "$JS.API.CONSUMER.CREATE." + blobsStream + ".c", "$JS.API.CONSUMER.CREATE." + blobsStream + ".c.$O." + blobsBucket + ".M.*",
		"_INBOX_" + two.id + ".x", "$SYS.REQ.SERVER.PING", "anything",
	} {
		one.must(one.nc.Publish(subject, nil))
		one.refused("publishing to", subject)
	}
	for _, subject := range []string{"evolve.>", "evolve.job.>", "evolve.job." + one.id + ".>", "evolve.hello.>", "evolve.result.>", "evolve.order." + two.id, "_INBOX_" + two.id + ".>", "_INBOX.>", "$JS.>", "$O.>", ">", "$SYS.>"} {
		_, err := one.nc.SubscribeSync(subject)
		one.must(err)
		one.refused("subscribing to", subject)
	}
	for _, subject := range []string{"$JS.API.STREAM.DELETE." + jobsStream, "$JS.API.STREAM.CREATE.OTHER", "$SYS.REQ.SERVER.PING", "_INBOX_" + one.id + ".x"} {
		c.must(c.nc.Publish(subject, nil))
		c.refused("the coordinator's publishing to", subject)
	}
}

// TestRevoked: a member that is connected is cut off, one that comes back is refused, and
// the others stay.
func TestRevoked(t *testing.T) {
	h := serve(t, open(t, t.TempDir()), Options{})
	gone, stays := h.invite("gone", fleet.RoleWorker), h.join(h.invite("stays", fleet.RoleWorker))
	m := h.join(gone)
	if err := open(t, h.dir).Revoke("gone"); err != nil { // as another process does
		t.Fatal(err)
	}
	says := func(err error, want string) {
		t.Helper()
		err = gone.Explain(err, time.Now())
		kind, hint := problem.Of(err)
		if err == nil || !strings.Contains(err.Error(), want) || kind != problem.Refused || !strings.Contains(hint, "evolve fleet invite gone") {
			t.Errorf("%v (%d, %q), want %q", err, kind, hint, want)
		}
	}
	says(<-m.said, "the invitation of gone was revoked")
	opts, err := gone.Options()
	if err != nil {
		t.Fatal(err)
	}
	_, err = nats.Connect(gone.URL, opts...)
	says(err, "it was revoked, or it is another fleet's")
	if err := stays.nc.Flush(); err != nil {
		t.Errorf("another member was cut off: %v", err)
	}
	if err := h.Revoke("gone"); err == nil || !strings.Contains(err.Error(), "is revoked already") {
		t.Errorf("revoking twice: %v", err)
	}
	if err := h.Revoke("stay"); err == nil {
		t.Error("a name that is not there was revoked")
	} else if _, hint := problem.Of(err); hint != "did you mean stays?" {
		t.Errorf("%v, %q", err, hint)
	}
	// Who is invited again gets another key, and the old one ends.
	if i, replaced, err := h.Invite("stays", fleet.RoleWorker, 0); err != nil || !replaced {
		t.Errorf("invited again: %v, %v", replaced, err)
	} else if again := h.join(i); again.id == stays.id {
		t.Error("an invitation was given twice")
	}
	if err := <-stays.said; !errors.Is(err, nats.ErrAuthRevoked) {
		t.Errorf("the replaced key ended with %v", err)
	}
}

// TestExpired: a key that is expired when it connects, and one that expires while it is
// connected.
func TestExpired(t *testing.T) {
	f := open(t, t.TempDir())
	h := serve(t, f, Options{})
	f.now = func() time.Time { return time.Now().Add(-2 * time.Hour) }
	old, _, err := f.Invite("old", fleet.RoleWorker, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	f.now = time.Now
	opts, err := old.Options()
	if err != nil {
		t.Fatal(err)
	}
	_, err = nats.Connect(old.URL, opts...)
	if err = old.Explain(err, time.Now()); err == nil || !strings.Contains(err.Error(), "the invitation of old has expired on ") {
		t.Errorf("connecting: %v", err)
	}
	if err := f.Revoke("old"); err == nil || !strings.Contains(err.Error(), "is expired already") {
		t.Errorf("revoking what has expired: %v", err)
	}
	soon, _, err := f.Invite("soon", fleet.RoleWorker, 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	m := h.join(soon)
	if err := soon.Explain(<-m.said, time.Now()); err == nil || !strings.Contains(err.Error(), "the invitation of soon has expired on ") {
		t.Errorf("connected: %v", err)
	}
}

func TestTLS(t *testing.T) {
	// 0.0.0.0 is not loopback, so TLS is on; the host is one that this machine reaches.
	h := serve(t, open(t, t.TempDir()), Options{Listen: "0.0.0.0:0", Hosts: []string{"127.0.0.1"}})
	i := h.invite("one", fleet.RoleWorker)
	if !strings.HasPrefix(i.URL, "tls://127.0.0.1:") || i.CA == "" || len(h.at.Fingerprint) != 64 {
		t.Fatalf("the invitation leads to %s, the authority is %q", i.URL, h.at.Fingerprint)
	}
	h.join(i)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(i.URL, "tls://"))
	if err != nil {
		t.Fatal(err)
	}
	connect := func(change func(*fleet.Invitation)) error {
		t.Helper()
		j := *i
		change(&j)
		opts, err := j.Options()
		if err != nil {
			t.Fatal(err)
		}
		nc, err := nats.Connect(j.URL, opts...)
		if err == nil {
			nc.Close()
		}
		return j.Explain(err, time.Now())
	}
	if err := connect(func(j *fleet.Invitation) { j.URL, j.CA = "nats://127.0.0.1:"+port, "" }); err == nil {
		t.Error("a plain connection was accepted")
	}
	other := serve(t, open(t, t.TempDir()), Options{TLS: true})
	if !strings.HasPrefix(other.at.URL, "tls://") {
		t.Errorf("TLS was asked for, and the server is at %s", other.at.URL)
	}
	if err := connect(func(j *fleet.Invitation) { j.CA = other.at.CA }); err == nil || !strings.Contains(err.Error(), "is not the server that this invitation is for") {
		t.Errorf("another fleet's authority: %v", err)
	}
	if err := connect(func(j *fleet.Invitation) { j.URL = "tls://localhost:" + port }); err == nil || !strings.Contains(err.Error(), "is for other names") {
		t.Errorf("another name: %v", err)
	}
	if err := connect(func(j *fleet.Invitation) { j.URL, j.CA = other.at.URL, other.at.CA }); err == nil || !strings.Contains(err.Error(), "another fleet's") {
		t.Errorf("another fleet's server: %v", err)
	}
	// Whoever does not begin with a handshake learns nothing, and old versions are refused.
	raw, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Write([]byte("CONNECT {}\r\nPING\r\n")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 512)
	if n, _ := raw.Read(got); strings.Contains(string(got[:n]), "INFO") {
		t.Errorf("the server said %q without TLS", got[:n])
	}
	if c, err := tls.Dial("tcp", "127.0.0.1:"+port, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}); err == nil {
		c.Close()
		t.Error("TLS 1.2 was accepted")
	}
}

// TestRestart: keys, certificates, streams and messages stay.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	h := serve(t, open(t, dir), Options{TLS: true})
	worker, desk := h.invite("one", fleet.RoleWorker), h.invite("desk", fleet.RoleCoordinator)
	c := h.join(desk)
	id, err := worker.ID()
	c.must(err)
	_, err = c.js.Publish(t.Context(), "evolve.job."+id+"."+c.id+".k1", []byte("wait for me"))
	c.must(err)
	before := h.at
	if err := open(t, dir).Serve(t.Context(), Options{Listen: "127.0.0.1:0"}); err == nil || !strings.Contains(err.Error(), "runs already: process ") || !strings.Contains(err.Error(), before.URL) {
		t.Errorf("a second server: %v", err)
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h = serve(t, open(t, dir), Options{Listen: strings.TrimPrefix(before.URL, "tls://"), TLS: true})
	if h.at.Fingerprint != before.Fingerprint {
		t.Error("the authority is another one")
	}
	c = h.join(desk)
	_, err = c.js.CreateConsumer(t.Context(), jobsStream, jetstream.ConsumerConfig{Durable: id, FilterSubject: "evolve.job." + id + ".>", AckPolicy: jetstream.AckExplicitPolicy})
	c.must(err)
	w := h.join(worker)
	own, err := w.js.Consumer(t.Context(), jobsStream, id)
	w.must(err)
	if job, err := own.Next(); err != nil || string(job.Data()) != "wait for me" {
		t.Errorf("the job is %v, %v", job, err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such bits")
	}
	dir := filepath.Join(t.TempDir(), "fleet")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	h := serve(t, open(t, dir), Options{TLS: true})
	h.invite("one", fleet.RoleWorker)
	files := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		switch {
		case err != nil:
			return err
		case path == filepath.Join(dir, "jetstream"):
			return fs.SkipDir // the server chooses, and nobody else gets into the folder
		case e.IsDir() && info.Mode().Perm() != 0o700, !e.IsDir() && info.Mode().Perm() != 0o600:
			t.Errorf("%s: %v", path, info.Mode())
		}
		files++
		return nil
	})
	if err != nil || files < 7 {
		t.Errorf("%d files: %v", files, err)
	}
}

func TestCertificateIsRenewed(t *testing.T) {
	f := open(t, t.TempDir())
	hosts := []string{"build.example.com", "10.0.0.7"}
	first, authority, err := f.certificate(hosts)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		hosts []string
		new   bool
	}{{0, hosts, false}, {certificateLasts - renewBefore - time.Hour, hosts, false}, {certificateLasts - renewBefore + time.Hour, hosts, true}, {0, []string{"other"}, true}} {
		f.now = func() time.Time { return time.Now().Add(c.after) }
		got, by, err := f.certificate(c.hosts)
		if err != nil || got.Leaf.Equal(first.Leaf) == c.new || !by.Leaf.Equal(authority.Leaf) || got.Leaf.CheckSignatureFrom(authority.Leaf) != nil {
			t.Errorf("after %v for %v: new %v, %v", c.after, c.hosts, !got.Leaf.Equal(first.Leaf), err)
		}
		first = got
	}
}

func TestServeRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	f := open(t, t.TempDir())
	if _, _, err := f.Invite("early", fleet.RoleWorker, 0); err == nil || !strings.Contains(err.Error(), "has no server yet") {
		t.Errorf("an invitation to nowhere: %v", err)
	}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Listen: taken.Addr().String()}, "address already in use"},
		{Options{Listen: "here"}, "is not an address to listen on"},
		{Options{Listen: "127.0.0.1:70000"}, "is not an address to listen on"},
		{Options{Listen: "127.0.0.1:0", Hosts: []string{"tls://x"}}, "is not the name or the address of a host"},
		{Options{Listen: "127.0.0.1:0", Hosts: []string{"a,b"}}, "is not the name or the address of a host"},
	} {
		if err := f.Serve(t.Context(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	if err := os.WriteFile(filepath.Join(f.dir, keysFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(f.dir, time.Now); err == nil || !strings.Contains(err.Error(), "keys.json is damaged") {
		t.Errorf("damaged keys: %v", err)
	}
}

func TestInvitationsList(t *testing.T) {
	f := open(t, t.TempDir())
	if err := f.write(servedFile, Served{URL: "nats://127.0.0.1:4222"}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "-x", "a b", "a.b", "ä", strings.Repeat("x", 64)} {
		if _, _, err := f.Invite(bad, fleet.RoleWorker, 0); err == nil {
			t.Errorf("%q is a name", bad)
		}
	}
	now := time.Now()
	f.now = func() time.Time { return now }
	for _, name := range []string{"b", "a", "b"} {
		if _, _, err := f.Invite(name, fleet.RoleWorker, 0); err != nil {
			t.Fatal(err)
		}
	}
	states := func() string {
		list, err := Invitations(f.dir)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, i := range list {
			b.WriteString(i.Name + " " + i.State(now) + ", ")
		}
		return b.String()
	}
	if got := states(); got != "a valid, b revoked, b valid, " {
		t.Error(got)
	}
	now = now.Add(InvitationLasts + time.Hour)
	if got := states(); got != "a expired, b revoked, b expired, " {
		t.Error(got)
	}
	if _, _, err := f.Invite("c", fleet.RoleWorker, 0); err != nil {
		t.Fatal(err)
	}
	if got := states(); got != "c valid, " { // an expired key is refused by its date
		t.Error(got)
	}
}
