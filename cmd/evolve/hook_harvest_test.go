package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
)

// TestHookHarvest: the end of a session has it read by a process that outlives all that
// started it.
func TestHookHarvest(t *testing.T) {
	t.Parallel()
	program := build(t)
	for name, test := range map[string]func(*testing.T, *endingPerson){"group": endsWithItsGroup, "other project": endsElsewhere, "replay": endsReplay,
		"busy": endsWhileBusy, "broken": endsBroken, "refused": endsRefused} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newHooked(t, program)
			p.TB = t
			test(t, &endingPerson{p, filepath.Join(t.TempDir(), "shop")})
		})
	}
}

type endingPerson struct {
	*hookedPerson
	project string
}

// session writes a transcript; its folder is that of the project.
func (p *endingPerson) session(id, folder string) string {
	p.Helper()
	path := filepath.Join(p.claude, "projects", "-shop", id+".jsonl")
	line := func(kind, uuid string, message any) string {
		b, err := json.Marshal(map[string]any{"type": kind, "uuid": uuid, "sessionId": id, "cwd": folder, "timestamp": "2026-11-23T10:00:00Z", "message": message})
		if err != nil {
			p.Fatal(err)
		}
		return string(b) + "\n"
	}
	text := line("user", "u1", map[string]any{"role": "user", "content": "draw the weeks"}) +
		line("assistant", "a1", map[string]any{"role": "assistant", "id": "msg_1", "model": "claude-x", "content": []any{map[string]any{"type": "text", "text": "Done."}}})
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.MkdirAll(p.project, 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		p.Fatal(err)
	}
	return path
}

func (p *endingPerson) end(id, path, folder string) string {
	b, err := json.Marshal(map[string]any{"session_id": id, "transcript_path": path, "cwd": folder, "hook_event_name": hook.SessionEnd, "reason": "other"})
	if err != nil {
		p.Fatal(err)
	}
	return string(b)
}

// stored are the ids of the sessions in the store.
func (p *endingPerson) stored() (ids []string) {
	p.Helper()
	path := datadir.Dir(p.home).Database()
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	db, err := store.OpenReadOnly(p.Context(), path)
	if err != nil {
		return nil // it is being made
	}
	defer db.Close()
	all, err := db.Sessions(p.Context(), store.SessionFilter{Bare: true})
	if err != nil {
		return nil
	}
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	return ids
}

// idle waits until done, and until no process harvests then.
func (p *endingPerson) idle(done func() bool) {
	p.Helper()
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if !done() { // the lock is not taken before, or a harvest that begins would find it taken
			continue
		}
		l := flock.New(datadir.Dir(p.home).QueueLock())
		free, err := l.TryLock()
		_ = l.Close()
		if err == nil && free {
			return
		}
	}
	log, _ := os.ReadFile(filepath.Join(p.home, "logs", "harvest.log"))
	p.Fatalf("the harvest did not end: stored %q, log %s", p.stored(), log)
}

func (p *endingPerson) queued() int {
	q, err := hook.Queue(p.home)
	if err != nil {
		p.Fatal(err)
	}
	return len(q)
}

// endsWithItsGroup runs the hook in a group of an agent's, which is killed at once.
func endsWithItsGroup(t *testing.T, p *endingPerson) {
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", p.project, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Skipf("git %q: %v: %s", args, err, out)
		}
	}
	path, more := p.session("s1", p.project), p.session("s2", p.project)
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "one")
	if code, _, errs := p.fire(hook.SessionStart, `{"session_id":"s1","cwd":"`+p.project+`","source":"startup"}`); code != 0 {
		t.Fatal(errs)
	}
	agent := exec.Command("sh", "-c", `"$0" hook SessionEnd; echo over; sleep 60`, p.program)
	agent.Env = p.command("").Env
	agent.Dir = p.project
	agent.Stdin = strings.NewReader(p.end("s1", path, p.project))
	agent.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := agent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("over\n"))); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(-agent.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = agent.Wait()
	p.idle(func() bool { return p.queued() == 0 && len(p.stored()) == 1 })
	if ids := p.stored(); ids[0] != "s1" {
		t.Errorf("stored %q, and %s was not to be read", ids, more)
	}
	var began, left *hook.Record
	for _, r := range p.records() {
		switch r.Phase {
		case hook.Began:
			began = &r
		case hook.Left:
			left = &r
		}
	}
	if began == nil || left == nil || len(began.Head) != 40 || began.Head != left.Head || left.Dirty == nil || *left.Dirty {
		t.Errorf("began %+v, left %+v", began, left)
	}
}

// endsElsewhere: of a project that may not be read nothing is started.
func endsElsewhere(t *testing.T, p *endingPerson) {
	d := new(consent.Decisions)
	if err := d.Write(datadir.Dir(p.home).Projects()); err != nil {
		t.Fatal(err)
	}
	path := p.session("s1", p.project)
	if code, _, errs := p.fire(hook.SessionEnd, p.end("s1", path, p.project)); code != 0 {
		t.Fatal(errs)
	}
	p.nothing()
}

// nothing fails if a harvest was started.
func (p *endingPerson) nothing() {
	p.Helper()
	time.Sleep(200 * time.Millisecond)
	for _, name := range []string{"queue.lock", filepath.Join("logs", "harvest.log"), "evolve.db"} {
		if _, err := os.Stat(filepath.Join(p.home, name)); err == nil {
			p.Errorf("%s is there", name)
		}
	}
}

// endsReplay: a session that evolve itself drove is not read.
func endsReplay(t *testing.T, p *endingPerson) {
	folder := filepath.Join(t.TempDir(), "evolve-case-1")
	path := p.session("s1", folder)
	if code, _, errs := p.fire(hook.SessionEnd, p.end("s1", path, folder)); code != 0 {
		t.Fatal(errs)
	}
	p.nothing()
}

// endsWhileBusy: while another process harvests, the entry stays for that process, and no
// second one is started.
func endsWhileBusy(t *testing.T, p *endingPerson) {
	l := flock.New(datadir.Dir(p.home).QueueLock())
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	path, more := p.session("s1", p.project), p.session("s2", p.project)
	if code, _, errs := p.fire(hook.SessionEnd, p.end("s1", path, p.project)); code != 0 {
		t.Fatal(errs)
	}
	if n := p.queued(); n != 1 {
		t.Errorf("%d queued", n)
	}
	// A hook that started a program has made its log by now.
	if _, err := os.Stat(filepath.Join(p.home, "logs", "harvest.log")); err == nil {
		t.Error("a second harvest was started beside the first")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := p.fire(hook.SessionEnd, p.end("s2", more, p.project)); code != 0 {
		t.Fatal(errs)
	}
	p.idle(func() bool { return p.queued() == 0 && len(p.stored()) == 2 })
}

// endsBroken: if nothing can be stored, the entry stays, and the log says why.
func endsBroken(t *testing.T, p *endingPerson) {
	if err := os.MkdirAll(datadir.Dir(p.home).Database(), 0o700); err != nil {
		t.Fatal(err)
	}
	path := p.session("s1", p.project)
	if code, _, errs := p.fire(hook.SessionEnd, p.end("s1", path, p.project)); code != 0 {
		t.Fatal(errs)
	}
	p.idle(func() bool {
		log, err := os.ReadFile(filepath.Join(p.home, "logs", "harvest.log"))
		return err == nil && strings.Contains(string(log), "Z session s1: ")
	})
	if p.queued() != 1 {
		t.Error("the entry is gone")
	}
}

// endsRefused: what the program says at its end has a time in the log, too.
func endsRefused(t *testing.T, p *endingPerson) {
	if err := os.MkdirAll(datadir.Dir(p.home).QueueLock(), 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(p.program, "harvest", "--ended")
	c.Env = p.command("").Env
	out, err := c.CombinedOutput()
	if err == nil || len(out) == 0 {
		t.Fatalf("a folder is no lock: %q", out)
	}
	for line := range strings.Lines(string(out)) {
		stamp, _, _ := strings.Cut(line, " ")
		if _, err := time.Parse(time.RFC3339, stamp); err != nil {
			t.Errorf("a line without a time: %s", line)
		}
	}
}
