//go:build unix

package process

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// wrapped starts c as a library would, which adds an argument and a variable.
func wrapped(t *testing.T, c Command) (cmd *exec.Cmd, out *bufio.Reader, in io.WriteCloser, stop func() error) {
	t.Helper()
	path, args, env, stop, err := Wrap(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stop() })
	cmd = exec.Command(path, append(args, "--stdio")...)
	cmd.Env = append(env, "ADDED=1")
	cmd.Stderr = t.Output()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewReader(stdout), stdin, stop
}

func readLine(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("read a line: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// boxes runs a test without a sandbox and, if sandboxes work, in one.
func boxes(t *testing.T, f func(t *testing.T, box *Sandbox)) {
	t.Run("bare", func(t *testing.T) { f(t, nil) })
	t.Run("sandbox", func(t *testing.T) {
		needSandbox(t)
		f(t, &Sandbox{})
	})
}

func needSandbox(t testing.TB) {
	t.Helper()
	if err := Available(); err != nil {
		t.Skip(err)
	}
}

func TestWrapTalks(t *testing.T) {
	boxes(t, func(t *testing.T, box *Sandbox) {
		c := sh(`echo "$1 $ADDED $GIVEN $EVOLVE_PROCESS_GUARD"; while read x; do echo "got $x"; done; exit 3`)
		c.Env, c.Sandbox = append(c.Env, "GIVEN=2"), box
		cmd, out, in, stop := wrapped(t, c)
		if s := readLine(t, out); s != "--stdio 1 2 " {
			t.Errorf("arguments and environment: %q", s)
		}
		if _, err := io.WriteString(in, "ping\n"); err != nil {
			t.Fatal(err)
		}
		if s := readLine(t, out); s != "got ping" {
			t.Errorf("%q", s)
		}
		in.Close()
		if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 3 {
			t.Errorf("%v", cmd.ProcessState)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// The four ways in which it may end, with a child that ignores SIGTERM and has
// one of its own.
func TestWrapEnds(t *testing.T) {
	for name, end := range map[string]func(cmd *exec.Cmd, stop func() error) error{
		"stop":            func(cmd *exec.Cmd, stop func() error) error { return stop() },
		"killed, stop":    func(cmd *exec.Cmd, stop func() error) error { _ = cmd.Process.Kill(); return stop() },
		"terminated":      func(cmd *exec.Cmd, stop func() error) error { return cmd.Process.Signal(syscall.SIGTERM) },
		"stop, and again": func(cmd *exec.Cmd, stop func() error) error { _ = stop(); return stop() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			boxes(t, func(t *testing.T, box *Sandbox) {
				c := sh(`trap '' TERM; sleep 61 & echo $$ $!; while :; do sleep 1; done`)
				c.Sandbox = box
				cmd, out, _, stop := wrapped(t, c)
				pids := strings.Fields(readLine(t, out))
				if err := end(cmd, stop); err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, out) // until the last holder of the pipe is gone
				_ = cmd.Wait()
				for _, p := range pids {
					if box == nil { // in a sandbox they are the sandbox's numbers
						wantGone(t, pid(t, []byte(p)))
					}
				}
			})
		})
	}
}

func TestWrapNeverStarted(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	_, _, _, stop, err := Wrap(sh("true"))
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) != 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestWrapCannotStart(t *testing.T) {
	boxes(t, func(t *testing.T, box *Sandbox) {
		path, args, env, stop, err := Wrap(Command{Path: "/no/such", Sandbox: box})
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		cmd := exec.Command(path, args...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err == nil || !bytes.Contains(bytes.ToLower(out), []byte("no such file")) {
			t.Errorf("%v: %s", err, out)
		}
	})
}

func TestWrapRefuses(t *testing.T) {
	if _, _, _, _, err := Wrap(Command{Path: "/bin/true", Stdin: []byte("x")}); err == nil {
		t.Error("Stdin was taken, and would be lost")
	}
}
