package server

import (
	"context"
	"errors"
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
