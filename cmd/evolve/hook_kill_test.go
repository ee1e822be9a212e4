package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A post is a home with a hook whose processes are killed.
type post struct {
	t          *testing.T
	home, data string
	script     string
	key        string
	texts      [][]byte // v0 and v1
}

func newPost(t *testing.T) *post {
	home := t.TempDir()
	p := &post{t: t, home: home, data: filepath.Join(home, "data"), script: filepath.Join(home, "hooks", "no-force.sh"), key: "hook:~:hooks/no-force.sh"}
	for _, word := range []string{`"push --force"`, `"push"*--force`} {
		p.texts = append(p.texts, []byte("#!/bin/sh\n# kernel\nin=$(cat)\n# /kernel\ncase $in in *"+word+"*) echo \"push without force\" >&2; exit 2 ;; esac\n"+strings.Repeat("# why\n", 20)))
	}
	p.write(p.script, p.texts[0], 0o750)
	self, err := filepath.Abs(os.Args[0])
	if err := errors.Join(err, os.Mkdir(filepath.Join(home, "bin"), 0o700), os.Symlink(self, filepath.Join(home, "bin", "evolve"))); err != nil {
		t.Fatal(err)
	}
	p.write(filepath.Join(home, ".claude", "settings.json"), []byte(`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"~/hooks/no-force.sh"}]}]}}`), 0o600)
	return p
}

func (p *post) write(path string, text []byte, mode os.FileMode) {
	p.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, mode), os.Chmod(path, mode)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *post) open() *store.Store {
	p.t.Helper()
	db, err := store.Open(p.t.Context(), filepath.Join(p.data, "evolve.db"))
	if err != nil {
		p.t.Fatal(err)
	}
	return db
}

func (p *post) process(args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(p.home, "bin", "evolve"), args...) // by this name it is the program in a sandbox, too
	c.Dir = p.home
	c.Env = []string{"EVOLVE_HOME=" + p.data, "HOME=" + p.home, "PATH=" + os.Getenv("PATH")}
	return c
}

func (p *post) must(args ...string) {
	p.t.Helper()
	if out, err := p.process(args...).CombinedOutput(); err != nil {
		p.t.Fatalf("evolve %q: %v: %s", args, err, out)
	}
}

// holds is which text is in place, whole and executable.
func (p *post) holds(when string) int {
	p.t.Helper()
	text, err := os.ReadFile(p.script)
	info, err2 := os.Stat(p.script)
	at := slices.IndexFunc(p.texts, func(v []byte) bool { return bytes.Equal(v, text) })
	if errors.Join(err, err2) != nil || at < 0 || info.Mode().Perm() != 0o750 {
		p.t.Fatalf("%s: the script is no version, or has another mode: %v, %q", when, errors.Join(err, err2), text)
	}
	return at
}

// versions records v0 and a better v1.
func (p *post) versions() {
	p.t.Helper()
	_ = p.process("rollback", p.script).Run() // records v0; there is nothing before it
	db := p.open()
	defer db.Close()
	if _, err := db.SaveVersion(p.t.Context(), record.Version{Skill: p.key, SHA: skill.HashText(p.texts[1]), Parent: skill.HashText(p.texts[0]),
		Author: "you", Operator: "edit", Text: p.texts[1]}); err != nil {
		p.t.Fatal(err)
	}
}

// TestKillHook kills promotions of a script and rollbacks at random moments: 12 of them, 200 with
// EVOLVE_LONG=1. The script is one version or the other, whole and with its mode, at any time;
// the same command again finishes, and then the store agrees with the file.
func TestKillHook(t *testing.T) {
	kills := 12
	if os.Getenv("EVOLVE_LONG") == "1" {
		kills = 200
	}
	p := newPost(t)
	p.versions()
	rng := rand.New(rand.NewPCG(5, 6))
	commands := [][]string{{"promote", p.script + "@" + skill.HashText(p.texts[1])[:12], "-y"}, {"rollback", p.script}}
	took := time.Hour
	for i, args := range slices.Concat(commands, commands) {
		began := time.Now()
		p.must(args...)
		took = min(took, time.Since(began))
		if got := p.holds("at first"); got != 1-i%2 {
			t.Fatalf("%q put v%d in place", args, got)
		}
	}
	alive := 0
	for k := range kills {
		args, want := commands[k%2], 1-k%2
		c := p.process(args...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration((.3 + .9*rng.Float64()) * float64(took))) // the moment is what this test is about
		_ = c.Process.Kill()                                               // it may have ended
		if c.Wait() != nil {
			alive++
		}
		if p.holds("after a kill") != want {
			p.must(args...)
		} else {
			p.must("log", p.script) // what was done and not written down is settled by any command
		}
		if got := p.holds("after the next command"); got != want {
			t.Fatalf("kill %d of %q: v%d is in place", k, args, got)
		}
	}
	t.Logf("%d kills, %d of a living process", kills, alive)
	if alive == 0 {
		t.Error("no kill found a process")
	}
}

// Several processes that put versions in place at once leave one of them, whole.
func TestHookPromotedAtOnce(t *testing.T) {
	p := newPost(t)
	p.versions()
	var all sync.WaitGroup
	for i := range 8 {
		args := []string{"promote", p.script + "@" + skill.HashText(p.texts[1])[:12], "-y"}
		if i%2 == 1 {
			args = []string{"rollback", p.script}
		}
		all.Go(func() {
			c := p.process(args...)
			out, err := c.CombinedOutput()
			var ended *exec.ExitError
			if err != nil && (!errors.As(err, &ended) || !slices.Contains([]int{exitUsage, exitRefused}, ended.ExitCode())) {
				t.Errorf("%q: %v: %s", args, err, out)
			}
		})
	}
	all.Wait()
	at := p.holds("after eight at once")
	db := p.open()
	defer db.Close()
	places, err := db.Places(t.Context(), p.key)
	if err != nil || len(places) != 1 || places[0].SHA != skill.HashText(p.texts[at]) {
		t.Errorf("the store says %+v, %v, and v%d is in place", places, err, at)
	}
}

// TestKillHookRun kills the search for a better script. Each time the same command goes on, and
// a reply is paid for twice only if it was under way.
func TestKillHookRun(t *testing.T) {
	if err := process.Available(); err != nil {
		t.Skip(err)
	}
	p := newPost(t)
	calls := filepath.Join(p.home, "calls")
	program := filepath.Join(p.home, "model.sh")
	// Each reply is another script that is no better, so the search goes on to its last call.
	p.write(program, []byte(`#!/bin/sh
in=$(cat)
case $in in
*'"kind":"ping"'*) echo '{"ok":true,"name":"m","version":"1","model":"m"}'; exit ;;
esac
echo x >> "`+calls+`"
n=$(wc -l < "`+calls+`")
sleep 0.05
printf '{"text":"More.\\n\\n~~~sh\\n#!/bin/sh\\n# kernel\\nin=$(cat)\\n# /kernel\\ncase $in in *\\"none %s\\"*) exit 2 ;; esac\\n~~~\\n","usage":{"input":10,"output":10}}\n' "$n"
`), 0o755)
	for i, c := range []string{"git push origin --force", "git push -f"} {
		p.write(filepath.Join(p.home, "hooks", "cases", fmt.Sprintf("%d.json", i)), []byte(`{"decision":"block","event":{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"`+c+`"},"tool_use_id":"t"}}`), 0o600)
	}
	p.must("privacy", "agree", "command:model.sh", "mutate")
	args := []string{"--hook", "no-force", "--agent", "command", "--command", program, "--sandbox", "none", "--calls", "6", "-y"}
	rng := rand.New(rand.NewPCG(7, 8))
	kills := 0
	for k := range 40 {
		c := p.process(args...)
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %s", err, &out)
			}
		case <-time.After(time.Duration(300+150*k+rng.IntN(500)) * time.Millisecond): // the moment is what this test is about
			_ = c.Process.Kill()
			<-ended
			kills++
			continue
		}
		break
	}
	text, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	db := p.open()
	defer db.Close()
	runs, err := db.Runs(t.Context(), p.key)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "x"); n > 6+kills || len(runs) != 1 || runs[0].Status != record.Finished {
		t.Errorf("%d calls for 6 with %d kills; %d runs, %+v", n, kills, len(runs), runs)
	}
	t.Logf("%d kills", kills)
}
