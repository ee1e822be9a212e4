//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/store/datadir"
)

// TestTerminalRun looks at a whole run at the two widths.
func TestTerminalRun(t *testing.T) {
	for _, width := range []int{80, 40} {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			t.Parallel()
			s := newStation(t, 20*time.Millisecond)
			p := s.sit(width, s.home(), append(s.start(), "--concurrency", "4"))
			seen := p.await(`search .*\d+/260 rollouts[\s\S]*validation [\d.]+ \(\d+ cases\)[\s\S]*tokens`)
			for l := range strings.SplitSeq(seen, "\n") {
				if plain.Width(l) > width {
					t.Errorf("%d columns: %q", plain.Width(l), l)
				}
			}
			p.await(`trial .*\d+/260 rollouts[\s\S]*validation [\d.]+ → [\d.]+ \(\d+ cases\)[\s\S]*request \d+ of 24`)
			lines := p.leaves(exitDone)
			has(t, lines, `^  verdict `)
			if p.screen.clipped > 0 {
				t.Errorf("%d characters did not fit", p.screen.clipped)
			}
			if p.widest[width] == 0 || p.widest[width] >= width || p.tall > 3 {
				t.Errorf("the view takes %d columns and %d lines", p.widest[width], p.tall)
			}
			if p.screen.painted == 0 {
				t.Error("no colour on a terminal that has them")
			}
			t.Logf("%d frames, widest %d, tallest %d", p.frames, p.widest[width], p.tall)
		})
	}
}

// TestTerminalCompare: a comparison has the same view, and a result that fits.
func TestTerminalCompare(t *testing.T) {
	for _, width := range []int{80, 40} {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			t.Parallel()
			s := newStation(t, 40*time.Millisecond)
			p := s.sit(width, s.home(), []string{"compare", s.cases[0].Skill, "none", "--agent", "openai", "--base-url", s.url, "--model", "sim-task",
				"--max-retries", "0", "--concurrency", "2"})
			p.await(`compare \[[#.]+\] \d+/48 rollouts`)
			lines := p.leaves(exitDone)
			if width == 80 {
				has(t, lines, `^objective +A +B +B against A`)
				has(t, lines, `^quality +[\d.]+ +[\d.]+ +(~|[+-][\d.]+) `)
			} else {
				has(t, lines, `^quality (~|[+-][\d.]+)$`)
				has(t, lines, `^  A [\d.]+, B [\d.]+$`)
			}
		})
	}
}

// TestTerminalResize makes the window narrower and wider again while it runs.
func TestTerminalResize(t *testing.T) {
	for _, reflow := range []bool{false, true} {
		t.Run(fmt.Sprintf("reflow=%v", reflow), func(t *testing.T) {
			t.Parallel()
			s := newStation(t, 20*time.Millisecond)
			p := s.sit(80, s.home(), append(s.start(), "--concurrency", "4"))
			p.mu.Lock()
			p.screen.reflow = reflow
			p.mu.Unlock()
			p.await(`validation [\d.]+ `)
			for _, width := range []int{40, 100, 25, 80} {
				p.mu.Lock()
				p.screen.resize(width)
				before := p.frames
				p.mu.Unlock()
				if err := pty.Setsize(p.tty, &pty.Winsize{Rows: 24, Cols: uint16(width)}); err != nil {
					t.Fatal(err)
				}
				for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(2 * time.Millisecond) {
					p.mu.Lock()
					n := p.frames
					p.mu.Unlock()
					if n > before+1 {
						break
					}
					if time.Now().After(deadline) {
						t.Fatalf("nothing is drawn at %d columns", width)
					}
				}
			}
			has(t, p.leaves(exitDone), `^  verdict `)
		})
	}
}

// TestTerminalCtrlC stops a run with one key and continues with the command
// that it prints.
func TestTerminalCtrlC(t *testing.T) {
	for _, width := range []int{80, 40} {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			t.Parallel()
			s := newStation(t, 20*time.Millisecond)
			home := s.home()
			p := s.sit(width, home, append(s.start(), "--concurrency", "4"))
			p.await(`validation [\d.]+ → [\d.]+ \(`)
			p.press(ctrlC)
			lines := p.leaves(exitInterrupted)
			has(t, lines, `^interrupted; everything measured is`)
			id := has(t, lines, "^(?:saved; go on with)?`evolve --resume (\\S+)`$")[1]

			before := s.world.AgentCalls.Load()
			p = s.sit(width, home, []string{"--resume", id})
			p.await(`rollouts`)
			if width >= 61 {
				p.await(`\d+ from before`)
			}
			has(t, p.leaves(exitDone), `^  verdict `)
			if again := s.world.AgentCalls.Load() - before; again == 0 {
				t.Error("the run had ended already: nothing was tried")
			}
		})
	}
}

// TestTerminalSIGTERM is the same by `kill`.
func TestTerminalSIGTERM(t *testing.T) {
	t.Parallel()
	s := newStation(t, 20*time.Millisecond)
	p := s.sit(80, s.home(), append(s.start(), "--quiet"))
	for s.world.AgentCalls.Load() < 20 {
		time.Sleep(5 * time.Millisecond)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	lines := p.leaves(exitInterrupted)
	has(t, lines, "^interrupted; ")
	has(t, lines, "`evolve --resume ")
	if p.frames > 0 {
		t.Error("--quiet draws")
	}
}

// stubborn is an agent that ends when it is killed and not before, and so does
// what it starts.
const stubborn = `#!/bin/sh
trap '' TERM INT HUP
case $(cat) in
*'"kind":"ping"'*) echo '{"ok":true,"name":"stubborn","version":"1","model":"none"}';;
*) sleep 300 & echo "$$ $!" >>"$(dirname "$0")/pids"; wait; sleep 300;;
esac
`

// TestTerminalTwice stops a run whose agent does not let itself be stopped.
func TestTerminalTwice(t *testing.T) {
	t.Parallel()
	s := newStation(t, 0)
	home, dir := s.home(), t.TempDir()
	agent := filepath.Join(dir, "agent.sh")
	if err := os.WriteFile(agent, []byte(stubborn), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := outgoing.Agree(string(datadir.Dir(home).Projects()), "command:agent.sh", "replay"); err != nil {
		t.Fatal(err)
	}
	p := s.sit(80, home, []string{"--skill", s.cases[0].Skill, "--no-harvest", "--agent", "command", "--command", "sh " + agent, "--sandbox", "none"})
	pids := filepath.Join(dir, "pids")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if b, _ := os.ReadFile(pids); bytes.Count(b, []byte("\n")) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no agent was started:\n%s", p.screen.seen())
		}
	}
	p.await(`search`)
	p.press(ctrlC)
	p.await(`once more stops at once`)
	pressed := time.Now()
	p.press(ctrlC)
	lines := p.leaves(exitInterrupted)
	if took := time.Since(pressed); took > 1500*time.Millisecond {
		t.Errorf("at once took %v", took)
	}
	has(t, lines, `^stopping, and saving`)
	b, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(5 * time.Second); alive(pid); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Errorf("process %d lives on", pid)
				break
			}
		}
	}
	db := s.open(home)
	defer db.Close()
	if runs, err := db.Runs(context.Background(), s.cases[0].Skill); err != nil || len(runs) != 1 {
		t.Errorf("the store holds %d runs, %v", len(runs), err)
	}
}

// alive reports whether a process runs: one that has ended but was not waited
// for does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !bytes.Contains(stat, []byte(") Z "))
}

// TestTerminalAnswer: a question can be left with Ctrl-C, and answered.
func TestTerminalAnswer(t *testing.T) {
	t.Parallel()
	s := newStation(t, 0)
	dear := append(s.start(), "--price-in", "900", "--price-out", "900")
	p := s.sit(40, s.home(), dear)
	p.await(`Spend up to about \$\S+ \[y/N\]`)
	p.press(ctrlC)
	has(t, p.leaves(exitInterrupted), `^evolve: interrupted`)
	p = s.sit(40, s.home(), dear)
	p.await(`\[y/N\]`)
	p.press("No\n")
	has(t, p.leaves(exitStopped), `^evolve: nothing was spent`)
	if n := s.world.AgentCalls.Load(); n > 0 {
		t.Errorf("%d calls were made before anybody had agreed", n)
	}
	p = s.sit(40, s.home(), dear)
	p.await(`\[y/N\]`)
	p.press("Yes\n")
	has(t, p.leaves(exitDone), `^  verdict `)
}

// TestTerminalPlain: terminals that cannot draw, and people who do not want it.
func TestTerminalPlain(t *testing.T) {
	for _, k := range []struct {
		env, phase    string
		drawn, colour bool
	}{
		{"NO_COLOR=1", "", true, false},
		{"TERM=dumb", "", false, false},
		{"CI=true", "", false, false},
	} {
		t.Run(k.env, func(t *testing.T) {
			t.Parallel()
			s := newStation(t, 15*time.Millisecond)
			p := s.sit(80, s.home(), append(s.start(), "--concurrency", "4"), k.env)
			has(t, p.leavesPlain(), `^  verdict `)
			raw := p.raw.String()
			if (p.frames > 0) != k.drawn {
				t.Errorf("%d frames", p.frames)
			}
			if strings.Contains(raw, "\x1b[1m") != k.colour {
				t.Errorf("colour: %v", !k.colour)
			}
			if !k.drawn && strings.Contains(raw, "\x1b") {
				t.Errorf("an escape sequence in %q", raw)
			}
		})
	}
}
