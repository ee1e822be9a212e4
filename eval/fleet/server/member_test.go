package server

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/problem"
)

// invited makes an invitation without a server.
func invited(t *testing.T, name, role string) *fleet.Invitation {
	t.Helper()
	f := open(t, t.TempDir())
	if err := f.write(servedFile, Served{URL: "nats://127.0.0.1:4222"}); err != nil {
		t.Fatal(err)
	}
	return also(t, f, name, role)
}

func also(t *testing.T, f *Folder, name, role string) *fleet.Invitation {
	t.Helper()
	i, _, err := f.Invite(name, role, 0)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestVerify(t *testing.T) {
	f := open(t, t.TempDir())
	if err := f.write(servedFile, Served{URL: "nats://127.0.0.1:4222"}); err != nil {
		t.Fatal(err)
	}
	worker, desk, other := also(t, f, "one", fleet.RoleWorker), also(t, f, "desk", fleet.RoleCoordinator), invited(t, "desk", fleet.RoleCoordinator)
	now := time.Now()
	m, err := worker.Verify(desk.JWT, now)
	if err != nil {
		t.Fatal(err)
	}
	if id, err := desk.ID(); err != nil || m.ID != id || m.Name != "desk" || m.Role != fleet.RoleCoordinator || !m.Expires.Equal(desk.Expires) {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err := desk.Verify(worker.JWT, now); err != nil || m.Role != fleet.RoleWorker {
		t.Errorf("%+v, %v", m, err)
	}
	head, rest, _ := strings.Cut(desk.JWT, ".")
	body, signature, _ := strings.Cut(rest, ".")
	_, others, _ := strings.Cut(strings.SplitN(worker.JWT, ".", 2)[1], ".")
	for what, c := range map[string]struct {
		rights string
		now    time.Time
	}{
		"another fleet's": {other.JWT, now}, "expired": {desk.JWT, desk.Expires}, "nothing": {"", now}, "another signature": {head + "." + body + "." + others, now},
		"a changed text": {head + "." + body[:len(body)-1] + "." + signature, now},
	} {
		if m, err := worker.Verify(c.rights, c.now); err == nil {
			t.Errorf("%s: %+v", what, m)
		}
	}
}

func TestReadInvitation(t *testing.T) {
	i := invited(t, "one", fleet.RoleWorker)
	path := filepath.Join(t.TempDir(), "one.json")
	var text bytes.Buffer
	if err := i.Write(&text); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := fleet.ReadInvitation(path); err != nil || *got != *i {
		t.Errorf("%+v, want %+v: %v", got, i, err)
	}
	for what, c := range map[string]struct {
		text string
		mode os.FileMode
		want string
		kind problem.Kind
	}{
		"its group may read it":   {text.String(), 0o640, "", 0},
		"others may read it":      {text.String(), 0o644, "other users may read", problem.Refused},
		"its group may change it": {text.String(), 0o660, "other users may read", problem.Refused},
		"empty":                   {"", 0o600, "is not an invitation", problem.Input},
		"another JSON":            {"{}", 0o600, "is missing or wrong", problem.Input},
		"another role":            {strings.Replace(text.String(), `"worker"`, `"owner"`, 1), 0o600, "is missing or wrong", problem.Input},
		"an account's key":        {strings.Replace(text.String(), i.Seed, accountSeed(t), 1), 0o600, "is missing or wrong", problem.Input},
		"large":                   {strings.Repeat(" ", 1<<20), 0o600, "larger than 64 KiB", problem.Failed},
	} {
		if err := os.WriteFile(path, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		_, err := fleet.ReadInvitation(path)
		kind, _ := problem.Of(err)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || kind != c.kind) {
			t.Errorf("%s: %v (%d), want %q", what, err, kind, c.want)
		}
	}
	if _, err := fleet.ReadInvitation(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("read a file that is not there")
	} else if kind, _ := problem.Of(err); kind != problem.NotFound {
		t.Errorf("a missing file: %v (%d)", err, kind)
	}
}

func accountSeed(t *testing.T) string {
	t.Helper()
	s, err := newSeeds()
	if err != nil {
		t.Fatal(err)
	}
	return s.Account
}
