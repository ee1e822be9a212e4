//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/skill-evolve/evolve/tournament/report"
)

// A seat is a person's terminal with the program in it.
type seat struct {
	t   *testing.T
	tty *os.File
	cmd *exec.Cmd

	mu     sync.Mutex
	screen *screen
	shown  []string // what was to be seen after each frame
	from   int      // the one of shown that await looks at first
	raw    bytes.Buffer
	widest map[int]int // of the footer's lines, by the terminal's width
	tall   int         // lines of the tallest footer
	frames int
	gone   chan struct{} // closed when the program has closed the terminal
}

// Lines of a footer look like nothing else that evolve says.
var footerLine = regexp.MustCompile(`^(\S+ )?(harvest|mining|search|gate|no-skill arm|compare|stopping)( \[[#.]+\])? \d+(/\d+)? (rollouts|sessions|calls)`)

var runningFigure = regexp.MustCompile(`^validation \d\.\d\d (→|\()`)

func (s *station) sit(width int, home string, args []string, env ...string) *seat {
	s.t.Helper()
	c := exec.Command(os.Args[0], append(args, "--skills-dir", s.skills)...)
	c.Env = append([]string{"EVOLVE_TEST_AS_MAIN=1", "EVOLVE_HOME=" + home, "HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color"}, env...)
	tty, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: uint16(width)})
	if err != nil {
		s.t.Fatal(err)
	}
	p := &seat{t: s.t, tty: tty, cmd: c, screen: newScreen(width, 24), widest: map[int]int{}, gone: make(chan struct{})}
	go func() {
		defer close(p.gone)
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf)
			p.mu.Lock()
			p.raw.Write(buf[:n])
			for i := range n { // one read may bring many frames, which a person would have seen
				inFrame := !p.screen.wrap
				p.screen.Write(buf[i : i+1]) // never fails
				if inFrame && p.screen.wrap {
					p.look()
					p.shown = append(p.shown, p.screen.seen())
				}
			}
			p.look()
			p.shown = append(p.shown, p.screen.seen())
			p.mu.Unlock()
			if err != nil {
				return // EIO: nobody has it open any more
			}
		}
	}()
	s.t.Cleanup(func() {
		c.Process.Kill() // it may have ended
		tty.Close()
	})
	return p
}

// look measures the footer, if one stands there. p.mu is held.
func (p *seat) look() {
	s := p.screen
	if s.pending != "" || s.y >= len(s.rows) || !s.wrap {
		return // in the middle of a frame
	}
	if !footerLine.MatchString(strings.Join(s.rows[s.y].cells, "")) {
		return
	}
	p.frames++
	p.tall = max(p.tall, len(s.rows)-s.y)
	for _, r := range s.rows[s.y:] {
		p.widest[s.width] = max(p.widest[s.width], report.Width(strings.TrimRight(strings.Join(r.cells, ""), " ")))
	}
}

// await waits until what is on the screen matches, or was there since the last match.
func (p *seat) await(pattern string) string {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(30 * time.Second); ; {
		ended := false
		select {
		case <-p.gone:
			ended = true
		case <-time.After(5 * time.Millisecond):
		}
		p.mu.Lock()
		seen := ""
		for ; p.from < len(p.shown); p.from++ {
			if seen = p.shown[p.from]; re.MatchString(seen) {
				p.mu.Unlock()
				return seen
			}
		}
		p.mu.Unlock()
		if ended {
			p.t.Fatalf("the program ended before %q was seen:\n%s", pattern, seen)
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%q was never seen:\n%s", pattern, seen)
		}
	}
}

// press types what a person types.
func (p *seat) press(keys string) {
	p.t.Helper()
	if _, err := p.tty.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

const ctrlC = "\x03"

// leaves waits for the end, and demands the exit code and that nothing of the
// view is left: every line was said, the cursor is there, lines wrap again.
func (p *seat) leaves(code int) []string {
	p.t.Helper()
	select {
	case <-p.gone:
	case <-time.After(60 * time.Second):
		p.t.Fatalf("the program does not end:\n%s", p.screen.seen())
	}
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := p.screen.lines()
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("exit code %d, want %d:\n%s", got, code, strings.Join(lines, "\n"))
	}
	for _, l := range lines {
		if footerLine.MatchString(l) || runningFigure.MatchString(l) || strings.Contains(l, " left") {
			p.t.Errorf("left behind: %q", l)
		}
	}
	if !p.screen.cursor || !p.screen.wrap {
		p.t.Errorf("the terminal is left with cursor %v, wrapping %v", p.screen.cursor, p.screen.wrap)
	}
	for _, r := range p.screen.rows {
		if said := strings.Join(r.cells, ""); r.goesOn && !strings.Contains(said, "/") { // a path is not cut
			p.t.Errorf("longer than the terminal is wide: %q", said)
		}
	}
	if len(p.screen.unknown) > 0 {
		p.t.Errorf("sequences that no terminal here knows: %q", p.screen.unknown)
	}
	return lines
}

func has(t *testing.T, lines []string, pattern string) []string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	for _, l := range lines {
		if m := re.FindStringSubmatch(l); m != nil {
			return m
		}
	}
	t.Fatalf("nothing matches %q in\n%s", pattern, strings.Join(lines, "\n"))
	return nil
}

// TestTerminalRun looks at a whole run at the two widths.
func TestTerminalRun(t *testing.T) {
	for _, width := range []int{80, 40} {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			t.Parallel()
			s := newStation(t, 20*time.Millisecond)
			p := s.sit(width, s.home(), append(s.start(), "--concurrency", "4"))
			seen := p.await(`search .*\d+/260 rollouts[\s\S]*validation [\d.]+ \(\d+ cases\)[\s\S]*tokens`)
			for l := range strings.SplitSeq(seen, "\n") {
				if report.Width(l) > width {
					t.Errorf("%d columns: %q", report.Width(l), l)
				}
			}
			p.await(`gate .*\d+/260 rollouts[\s\S]*validation [\d.]+ → [\d.]+ \(\d+ cases\)[\s\S]*held-out case \d+ of 24`)
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

// TestTerminalCtrlC stops a run with one key and goes on with what it says.
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

// alive reports whether a process runs: one that has ended and that nobody has
// waited for does not.
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

// leavesPlain waits for the end where progress is said in lines that stay.
func (p *seat) leavesPlain() []string {
	p.t.Helper()
	<-p.gone
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("%v:\n%s", err, p.screen.seen())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.screen.lines()
}
