package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/madeup"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/status"
)

// A bedroom is a home with the demo's sessions and skill, and a clock that is
// a day after the last of them.
type bedroom struct {
	t      *testing.T
	env    map[string]string
	now    time.Time
	demo   bool
	stderr bytes.Buffer
}

func newBedroom(t *testing.T) *bedroom {
	dir := t.TempDir()
	if err := copyTree(demoHome, "demodata/home", dir, 0); err != nil {
		t.Fatal(err)
	}
	b := &bedroom{t: t, demo: true, env: map[string]string{"EVOLVE_HOME": filepath.Join(dir, "evolve"), "CLAUDE_CONFIG_DIR": filepath.Join(dir, ".claude")}}
	b.now = time.Now()
	allowEverything(t, b.env["EVOLVE_HOME"])
	b.run(exitDone, "harvest", "--source", "claude")
	db := b.store()
	defer db.Close()
	uses, err := db.Invocations(t.Context(), demoSkill)
	if err != nil || len(uses) == 0 {
		t.Fatalf("%d uses, %v", len(uses), err)
	}
	b.now = uses[len(uses)-1].Time.Add(24 * time.Hour)
	return b
}

func (b *bedroom) store() *store.Store {
	db, err := store.Open(b.t.Context(), filepath.Join(b.env["EVOLVE_HOME"], "evolve.db"))
	if err != nil {
		b.t.Fatal(err)
	}
	return db
}

// run carries out a command and demands its exit code; it returns stdout.
func (b *bedroom) run(code int, args ...string) string {
	b.t.Helper()
	var out bytes.Buffer
	b.stderr.Reset()
	a := newGlobal(strings.NewReader(""), &out, &b.stderr)
	a.Getenv, a.Now, a.demo.sandboxed = func(k string) string { return b.env[k] }, func() time.Time { return b.now }, b.demo
	a.demo.review = madeup.Reviews(simulated.Demo(), func(string, ...any) {})
	root := newRoot(a)
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&b.stderr)
	err := root.ExecuteContext(context.Background())
	if e := a.close(); err == nil {
		err = e
	}
	if got := a.fail(err); got != code {
		b.t.Fatalf("evolve %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(), b.stderr.String())
	}
	return out.String()
}

func (b *bedroom) night(code int, args ...string) (r status.Night) {
	b.t.Helper()
	out := b.run(code, append([]string{"sleep", "run", "--agent", "simulated", "--source", "claude", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		b.t.Fatalf("%v in %s", err, out)
	}
	b.now = b.now.Add(24 * time.Hour)
	return r
}

func (b *bedroom) live() []byte {
	text, err := os.ReadFile(filepath.Join(b.env["CLAUDE_CONFIG_DIR"], "skills", demoSkill, "SKILL.md"))
	if err != nil {
		b.t.Fatal(err)
	}
	return text
}

// TestNights: a first night finds and proves a better text. Without a
// confirmed kernel, or with the policy stage, it waits for its owner, and the
// next night searches for nothing and makes no call.
func TestNights(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"stage", "auto"} {
		b := newBedroom(t)
		v0 := b.live()
		dry := b.run(exitDone, "sleep", "run", "--dry-run", "--agent", "simulated", "--source", "claude")
		if !strings.Contains(dry, demoSkill+"  search  planned") {
			t.Errorf("the dry run says:\n%s", dry)
		}
		r := b.night(exitDone, "--policy", policy, "--max-rollouts", "420")
		if r.Spent.Rollouts == 0 || r.Spent.Rollouts > 420 {
			t.Errorf("%s: %d rollouts of 420", policy, r.Spent.Rollouts)
		}
		want := map[string]string{"stage": "policy stage", "auto": "locked lines were never confirmed"}[policy]
		if len(r.Waiting) != 1 || !strings.Contains(r.Waiting[0], want) || !bytes.Equal(b.live(), v0) {
			t.Errorf("%s: waiting %q, live text changed: %v; want it to wait (%s)", policy, r.Waiting, !bytes.Equal(b.live(), v0), want)
		}
		if r := b.night(exitDone, "--policy", policy); r.Spent.AgentCalls+r.Spent.MutatorCalls+r.Spent.MinerCalls != 0 || len(r.Waiting) != 1 {
			t.Errorf("%s: the night after spent %+v and left %q", policy, r.Spent, r.Waiting)
		}
	}
}

// TestNightInstalls: with the policy auto and a confirmed kernel, what is proved
// is in place in the morning, watched from then on, and one command away from v0.
// Outside of the demo's folders simulated evidence installs nothing.
func TestNightInstalls(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	v0 := b.live()
	b.run(exitDone, "kernel", "confirm", demoSkill)
	b.demo = false
	if r := b.night(exitDone, "--policy", "auto", "--max-rollouts", "420"); len(r.Waiting) != 1 || !strings.Contains(r.Waiting[0], "simulated") || !bytes.Equal(b.live(), v0) {
		t.Errorf("simulated evidence: waiting %q, live text changed: %v", r.Waiting, !bytes.Equal(b.live(), v0))
	}

	b = newBedroom(t)
	b.run(exitDone, "kernel", "confirm", demoSkill)
	b.approveProbes()
	r := b.night(exitDone, "--policy", "auto", "--max-rollouts", "420")
	if bytes.Equal(b.live(), v0) || len(r.Waiting) != 0 {
		t.Fatalf("nothing was installed: %+v", r.Steps)
	}
	if again := b.night(exitDone, "--policy", "auto"); again.Spent.AgentCalls != 0 {
		t.Errorf("the night after spent %+v", again.Spent)
	}
	status := b.run(exitDone, "sleep", "status")
	if !strings.Contains(status, "in 2 nights together") || !strings.Contains(status, "waiting  nothing") {
		t.Errorf("status:\n%s", status)
	}
	b.run(exitDone, "rollback", demoSkill)
	if !bytes.Equal(b.live(), v0) {
		t.Error("the rollback is not v0")
	}
	if r := b.night(exitDone, "--policy", "auto"); len(r.Waiting) != 0 {
		t.Errorf("what was taken back waits again: %q", r.Waiting)
	}
}
