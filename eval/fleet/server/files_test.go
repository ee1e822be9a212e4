package server

import (
	"crypto/tls"
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
)

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
