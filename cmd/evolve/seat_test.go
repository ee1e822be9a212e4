//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/skill-evolve/evolve/eval/plain"
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

// Lines of a footer look like nothing else in evolve's output.
var footerLine = regexp.MustCompile(`^(\S+ )?(harvest|mining|search|trial|no skill|compare|stopping)( \[[#.]+\])? \d+(/\d+)? (rollouts|sessions|calls)`)

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

// look measures the footer, if there is one. p.mu is held.
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
		p.widest[s.width] = max(p.widest[s.width], plain.Width(strings.TrimRight(strings.Join(r.cells, ""), " ")))
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

// leavesPlain waits for the end of a program that prints progress in plain
// lines.
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
