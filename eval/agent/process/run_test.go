//go:build unix

package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sh is a command of the shell, with the system's folders on its PATH.
func sh(script string, args ...string) Command {
	return Command{Path: "/bin/sh", Args: append([]string{"-c", script, "sh"}, args...),
		Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}, Grace: 200 * time.Millisecond}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("EVOLVE_TEST_CANARY", "inherited")
	c := sh(`cat; pwd; env; echo oops >&2; exit 3`)
	c.Dir, c.Stdin = dir, []byte("asked\n")
	c.Env = append(c.Env, "GIVEN=yes")
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	out := string(r.Stdout)
	if r.Exit != 3 || r.Stderr != "oops\n" || r.Overflow || r.Wall <= 0 || !strings.HasPrefix(out, "asked\n"+dir+"\n") {
		t.Errorf("result = %+v\n%s", r, out)
	}
	if !strings.Contains(out, "\nGIVEN=yes\n") || strings.Contains(out, "EVOLVE_TEST_CANARY") {
		t.Errorf("environment:\n%s", out)
	}
}

func TestEnvIsWhatIsGiven(t *testing.T) {
	env, err := exec.LookPath("env")
	if err != nil {
		t.Skip(err)
	}
	for _, given := range [][]string{nil, {"A=1", "B=two words"}} {
		r, err := Run(t.Context(), Command{Path: env, Dir: t.TempDir(), Env: given})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Fields(strings.ReplaceAll(string(r.Stdout), " ", "_")); len(got) != len(given) {
			t.Errorf("environment %q, want %q", got, given)
		}
	}
}

func TestNotStarted(t *testing.T) {
	r, err := Run(t.Context(), Command{Path: filepath.Join(t.TempDir(), "none"), Stdin: []byte("x")})
	if r != nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := Run(ctx, sh("true")); r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestSignalled(t *testing.T) {
	r, err := Run(t.Context(), sh("kill -9 $$"))
	if err != nil || r.Exit != -1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// pid reads a number that a child printed.
func pid(t *testing.T, line []byte) int {
	t.Helper()
	n, err := strconv.Atoi(string(bytes.TrimSpace(line)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// wantGone waits until a process has ended: SIGKILL is not at once.
func wantGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

// zombie reports whether a process has ended and was not reaped yet: a slow init is no
// failure of ours.
func zombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := bytes.Cut(b, []byte(") "))
	return bytes.HasPrefix(rest, []byte("Z"))
}

func TestContextEndsTheGroup(t *testing.T) {
	for _, k := range []struct {
		name, script string
		setsid       bool // the last process leaves the group: found on Linux only
	}{
		{"hangs", `echo $$; echo $$; exec sleep 60`, false},
		{"ignores SIGTERM", `trap '' TERM; echo $$; echo $$; while :; do sleep 60; done`, false},
		{"a grandchild hangs", `echo $$; sleep 60 & echo $!; wait`, false},
		{"a grandchild ignores SIGTERM", `echo $$; sh -c 'trap "" TERM; echo $$; while :; do sleep 60; done' & wait`, false},
		{"a grandchild left the group", `setsid sh -c 'trap "" TERM; echo $$; echo $$; while :; do sleep 60; done' & trap '' TERM; wait`, true},
		{"a grandchild left with stdout", `echo $$; setsid sh -c 'echo $$; exec sleep 60' & wait`, true},
	} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var pids []int
			c := sh(k.script)
			c.Line = func(line []byte) error {
				if pids = append(pids, pid(t, line)); len(pids) == 2 {
					cancel()
				}
				return nil
			}
			begun := time.Now()
			r, err := Run(ctx, c)
			if !errors.Is(err, context.Canceled) || r == nil {
				t.Fatalf("%+v, %v", r, err)
			}
			if d := time.Since(begun); d > 30*time.Second {
				t.Errorf("it took %v", d)
			}
			wantGone(t, pids[0])
			if k.setsid && runtime.GOOS != "linux" {
				_ = syscall.Kill(pids[1], syscall.SIGKILL)
				return
			}
			wantGone(t, pids[1])
		})
	}
}

func TestSIGTERMFirst(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := sh(`trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done`)
	c.Grace = time.Minute
	var lines []string
	c.Line = func(line []byte) error {
		lines = append(lines, string(line))
		cancel()
		return nil
	}
	r, err := Run(ctx, c)
	if !errors.Is(err, context.Canceled) || r.Exit != 0 || !slices.Equal(lines, []string{"ready", "bye"}) {
		t.Errorf("%+v, %v, lines %q", r, err, lines)
	}
}

func TestNormalEndKillsTheRest(t *testing.T) {
	r, err := Run(t.Context(), sh(`trap '' TERM; sleep 60 & echo $!`))
	if err != nil || r.Exit != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	wantGone(t, pid(t, r.Stdout))
}

// A process that left the group cannot be found, but must not hold us.
func TestNormalEndWithPipesHeld(t *testing.T) {
	c := sh(`setsid sh -c 'echo $$ > "$1"; exec sleep 60' sh "$1" & until test -s "$1"; do sleep 0.01; done; seq 1 5000`, filepath.Join(t.TempDir(), "pid"))
	c.Stdin = make([]byte, 1<<20) // nobody reads it
	r, err := Run(t.Context(), c)
	if err != nil || r.Exit != 0 || !bytes.HasSuffix(r.Stdout, []byte("\n5000\n")) || r.Wall > 30*time.Second {
		t.Errorf("exit %d after %v, %v: %.80q", r.Exit, r.Wall, err, r.Stdout)
	}
	b, err := os.ReadFile(c.Args[3])
	if err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(pid(t, b), syscall.SIGKILL)
}

func TestLines(t *testing.T) {
	var lines []string
	c := sh(`printf 'one\n\ntwo'; printf 'more\r\nlast'`)
	c.Line = func(line []byte) error { lines = append(lines, string(line)); return nil }
	r, err := Run(t.Context(), c)
	if err != nil || !slices.Equal(lines, []string{"one", "", "twomore\r", "last"}) || r.Stdout != nil || r.Cut != 0 {
		t.Errorf("lines %q, %+v, %v", lines, r, err)
	}
}

func TestLineError(t *testing.T) {
	enough, calls := errors.New("enough"), 0
	c := sh(`yes; exit 7`)
	c.Line = func([]byte) error { calls++; return enough }
	r, err := Run(t.Context(), c)
	if !errors.Is(err, enough) || calls != 1 || r.Overflow {
		t.Errorf("%d calls, %+v, %v", calls, r, err)
	}
	// Of the last line, which has no LF, too.
	calls = 0
	c = sh(`printf x`)
	c.Line = func([]byte) error { calls++; return enough }
	if r, err := Run(t.Context(), c); !errors.Is(err, enough) || calls != 1 || r.Exit != 0 {
		t.Errorf("%d calls, %+v, %v", calls, r, err)
	}
}

func TestLongLine(t *testing.T) {
	var sizes []int
	c := sh(`head -c 100000000 /dev/zero | tr '\0' x; echo; echo short`)
	c.MaxOutput = 1 << 30
	c.Line = func(line []byte) error { sizes = append(sizes, len(line)); return nil }
	r, err := Run(t.Context(), c)
	if err != nil || !slices.Equal(sizes, []int{MaxLine, 5}) || r.Cut != 1 {
		t.Errorf("sizes %d, cut %d, %v", sizes, r.Cut, err)
	}
}

func TestOverflow(t *testing.T) {
	var got int
	for _, lines := range []bool{false, true} {
		c := sh(`trap '' TERM; while :; do echo 0123456789; done`)
		c.MaxOutput = 1 << 20
		if lines {
			c.Line = func(line []byte) error { got += len(line) + 1; return nil }
		}
		r, err := Run(t.Context(), c)
		if err != nil || !r.Overflow {
			t.Fatalf("%+v, %v", r, err)
		}
		if !lines {
			got = len(r.Stdout)
		}
		if got > 1<<20 || got < 1<<20-11 {
			t.Errorf("%d bytes were kept of 1 MiB", got)
		}
		got = 0
	}
}

func TestStderrIsATail(t *testing.T) {
	r, err := Run(t.Context(), sh(`seq 1 100000 >&2; echo end >&2`))
	if err != nil || len(r.Stderr) != stderrKept || !strings.HasSuffix(r.Stderr, "\n100000\nend\n") {
		t.Errorf("%d bytes, %v", len(r.Stderr), err)
	}
}
