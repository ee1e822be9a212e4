package process

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestSandboxReachesItsHostsOnly(t *testing.T) {
	needSandbox(t)
	canary, seen := greeter(t, "tcp", "127.0.0.1:0", "canary")
	allowed, _ := greeter(t, "tcp", "127.0.0.1:0", "welcome")
	abstract, heard := greeter(t, "unix", fmt.Sprintf("@evolve-canary-%d", os.Getpid()), "canary")
	for _, hosts := range [][]string{nil, {allowed}} {
		want := "refused"
		if hosts != nil {
			want = "welcome true"
		}
		got := output(t, goChild(t, "dial", Sandbox{Hosts: hosts}, canary, allowed, "[::1]:"+port(canary), abstract))
		if got != "refused\n"+want+"\nrefused\nrefused\n" {
			t.Errorf("with hosts %q a program of Go reaches %q", hosts, got)
		}
		c := Command{Path: "/bin/bash", Args: []string{"-c", `
			for p in "$@"; do cat < "/dev/tcp/127.0.0.1/$p" || echo -n refused; echo; done`, "bash", port(canary), port(allowed)},
			Env: []string{"PATH=/usr/bin:/bin"}, Sandbox: &Sandbox{Hosts: hosts}}
		if got := output(t, c); got != "refused\n"+strings.TrimSuffix(want, " true")+"\n" {
			t.Errorf("with hosts %q a shell reaches %q", hosts, got)
		}
	}
	if seen.Load() != 0 || heard.Load() != 0 {
		t.Errorf("the canaries had %d and %d visitors", seen.Load(), heard.Load())
	}
}

func port(addr string) string {
	_, p, _ := net.SplitHostPort(addr)
	return p
}

// A named host is met at its own port below 1024, TLS goes through end to end,
// and what is dialled is decided outside.
func TestSandboxNamedHost(t *testing.T) {
	needSandbox(t)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "hello "+r.Host)
	}))
	defer s.Close()
	cert := filepath.Join(t.TempDir(), "cert.pem")
	if err := os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	var dialled atomic.Pointer[string]
	box := Sandbox{Hosts: []string{"other.example.com:443", "example.com:443"}, Readable: []string{cert}}
	box.Dial = func(ctx context.Context, host string) (net.Conn, error) {
		dialled.Store(&host)
		return new(net.Dialer).DialContext(ctx, "tcp", s.Listener.Addr().String())
	}
	if got := output(t, goChild(t, "get", box, "https://example.com/", cert)); got != "hello example.com" {
		t.Errorf("answer %q", got)
	}
	if d := dialled.Load(); d == nil || *d != "example.com:443" {
		t.Errorf("dialled %v", d)
	}
}

// An address of another network stays what it is.
func TestSandboxAddress(t *testing.T) {
	needSandbox(t)
	word, _ := greeter(t, "tcp", "127.0.0.1:0", "vllm")
	box := Sandbox{Hosts: []string{"192.0.2.7:8000"}}
	box.Dial = func(ctx context.Context, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", word)
	}
	if got := output(t, goChild(t, "dial", box, "192.0.2.7:8000", "192.0.2.7:8001")); got != "vllm true\nrefused\n" {
		t.Errorf("reached %q", got)
	}
}

// Connections that have ended make room for others.
func TestSandboxManyConnections(t *testing.T) {
	needSandbox(t)
	allowed, visits := greeter(t, "tcp", "127.0.0.1:0", "welcome")
	n := 2*relayMost + 1
	got := output(t, goChild(t, "dial", Sandbox{Hosts: []string{allowed}}, slices.Repeat([]string{allowed}, n)...))
	if strings.Count(got, "welcome true\n") != n || visits.Load() != int64(n) {
		t.Errorf("%d of %d connections, %d arrived", strings.Count(got, "welcome true\n"), n, visits.Load())
	}
}

// A host that does not answer looks like one that is not there.
func TestSandboxHostDown(t *testing.T) {
	needSandbox(t)
	box := Sandbox{Hosts: []string{"down.example.com:80"}}
	box.Dial = func(context.Context, string) (net.Conn, error) { return nil, errors.New("down") }
	if got := output(t, goChild(t, "dial", box, "down.example.com:80")); got != " false\n" && got != "refused\n" {
		t.Errorf("reached %q", got)
	}
}

func TestSandboxHides(t *testing.T) {
	needSandbox(t)
	home, other, work := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("EVOLVE_CANARY", "canary")
	for _, dir := range []string{home, other} {
		if err := os.WriteFile(filepath.Join(dir, "canary"), []byte("canary"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := sh(`
		for f in "$1/canary" "$2/canary" /etc/shadow /proc/$3/environ; do cat "$f" 2>/dev/null && echo "READ $f"; done
		env | grep -i canary && echo "INHERITED"
		for d in "$1" "$2" /root /home /sys /mnt; do test -e "$d" && echo "THERE $d"; done
		for f in "$2/x" /usr/x /etc/x /x /home/x; do (: > "$f") && echo "WRITTEN $f"; done 2>/dev/null
		kill -0 $3 2>/dev/null && echo "SIGNALLED"
		set -- /proc/[0-9]*; test $# -gt 4 && echo "PROCESSES $*"
		echo note > /tmp/note && cat /tmp/note
		echo made > made; id -u; tty; grep -v ':.0*$' /proc/self/status | grep -E 'Cap(Inh|Prm|Eff|Amb)'
		ls /dev | grep -E 'sd|vd|kvm|mem' && echo DEVICES
		grep NoNewPrivs /proc/self/status`, home, other, fmt.Sprint(os.Getpid()))
	c.Dir = work
	for _, hosts := range [][]string{nil, {"example.com:443", "127.0.0.1:1234", "192.0.2.7:80"}} {
		c.Sandbox = &Sandbox{Writable: []string{work}, Hosts: hosts}
		r, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := identity()
		want := fmt.Sprintf("note\n%d\nnot a tty\nNoNewPrivs:\t1\n", uid)
		if string(r.Stdout) != want {
			t.Errorf("with hosts %q: %s", hosts, r.Stdout)
		}
		if b, err := os.ReadFile(filepath.Join(work, "made")); err != nil || string(b) != "made\n" {
			t.Errorf("the workspace has %q, %v", b, err)
		}
		if err := os.Remove(filepath.Join(work, "made")); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(other); len(left) != 1 {
		t.Errorf("something was written outside: %v", left)
	}
	if _, err := os.Stat("/tmp/note"); err == nil {
		t.Error("/tmp is the system's")
	}
}

// Without a session of its own the child could type into the owner's terminal.
func TestSandboxHasNoTerminal(t *testing.T) {
	needSandbox(t)
	c := sh("true")
	c.Sandbox = &Sandbox{}
	cmd, b, err := openBox(&c)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	defer b.started()
	if !cmd.SysProcAttr.Setsid && !slices.Contains(cmd.Args, "--new-session") {
		t.Errorf("it stays in our session: %q", cmd.Args)
	}
}

// Of all that holds a file open only what belongs inside is there.
func TestSandboxHasNoFileOfOurs(t *testing.T) {
	needSandbox(t)
	f, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// As if the program that started evolve had left it open.
	if _, _, e := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_SETFD, 0); e != 0 {
		t.Fatal(e)
	}
	for _, box := range []*Sandbox{nil, {}, {Hosts: []string{"example.com:443"}}} {
		c := sh(`for f in /proc/$$/fd/*; do echo -n "${f##*/} "; done`)
		c.Sandbox = box
		if got := output(t, c); got != "0 1 2 " && !strings.HasPrefix(got, "0 1 2 255") && got != "0 1 2 3 " {
			t.Errorf("in %+v files %q are open", box, got)
		}
	}
}

func TestSandboxReadable(t *testing.T) {
	needSandbox(t)
	dir := t.TempDir()
	inner := filepath.Join(dir, "inner")
	if err := os.Mkdir(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	c := sh(`ls "$1"; echo x > "$1/made" || echo refused; echo x > "$1/inner/made"`, dir)
	c.Sandbox = &Sandbox{Readable: []string{dir}, Writable: []string{inner}}
	if got := output(t, c); got != "inner\nrefused\n" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(inner, "made")); err != nil {
		t.Error(err)
	}
}

func TestSandboxRefuses(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, s := range []Sandbox{
		{Writable: []string{"relative"}}, {Readable: []string{"/a/../b"}}, {Readable: []string{"/"}},
		{Readable: []string{home}}, {Writable: []string{filepath.Dir(home)}},
		{Hosts: []string{"example.com"}}, {Hosts: []string{"example.com:0"}}, {Hosts: []string{"a b:80"}},
		{Hosts: []string{"0.0.0.0:80"}}, {Hosts: []string{"[2001:db8::1]:80"}}, {Hosts: []string{"x\n127.0.0.1 y:80"}},
	} {
		c := sh("true")
		c.Sandbox = &s
		if r, err := Run(t.Context(), c); r != nil || err == nil || !strings.Contains(err.Error(), "sandbox: ") {
			t.Errorf("%+v is allowed: %+v, %v", s, r, err)
		}
	}
}

// What goes wrong with the sandbox is no exit code of the program.
func TestSandboxFails(t *testing.T) {
	needSandbox(t)
	for _, hosts := range [][]string{nil, {"example.com:443"}} {
		for name, c := range map[string]Command{
			"no such file":     {Path: "/no/such"},
			"find source path": {Path: "/bin/true", Sandbox: &Sandbox{Readable: []string{"/no/such"}}},
			"chdir":            {Path: "/bin/true", Dir: "/no/such"},
		} {
			if c.Sandbox == nil {
				c.Sandbox = new(Sandbox)
			}
			c.Sandbox.Hosts = hosts
			r, err := Run(t.Context(), c)
			if err == nil || !strings.Contains(strings.ToLower(err.Error()), name) {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
		}
		c := sh("exit 1")
		c.Sandbox = &Sandbox{Hosts: hosts}
		if r, err := Run(t.Context(), c); err != nil || r.Exit != 1 {
			t.Errorf("a program that fails: %+v, %v", r, err)
		}
		c.Args[1] = "kill -9 $$"
		if r, err := Run(t.Context(), c); err != nil || r.Exit != 128+9 {
			t.Errorf("a program that is killed: %+v, %v", r, err)
		}
	}
}

func TestSandboxContext(t *testing.T) {
	needSandbox(t)
	for _, hosts := range [][]string{nil, {"example.com:443"}} {
		for name, k := range map[string]struct {
			script string
			lines  []string
		}{
			"SIGTERM first":   {`trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done`, []string{"ready", "bye"}},
			"ignores SIGTERM": {`trap '' TERM; echo ready; setsid sleep 60 & while :; do sleep 1; done`, []string{"ready"}},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			c := sh(k.script)
			c.Grace, c.Sandbox = 300*time.Millisecond, &Sandbox{Hosts: hosts}
			if len(k.lines) == 2 {
				c.Grace = time.Minute
			}
			var lines []string
			c.Line = func(line []byte) error {
				lines = append(lines, string(line))
				cancel()
				return nil
			}
			begun := time.Now()
			_, err := Run(ctx, c)
			if !errors.Is(err, context.Canceled) || !slices.Equal(lines, k.lines) || time.Since(begun) > 30*time.Second {
				t.Errorf("%s, hosts %q: lines %q, %v after %v", name, hosts, lines, err, time.Since(begun))
			}
			cancel()
		}
	}
}

// When evolve itself is killed, nothing stays.
func TestKilledParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"bare"}, {"sandbox"}, {"sandbox", "example.com:443"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			if args[0] == "sandbox" {
				needSandbox(t)
			}
			fifo := filepath.Join(t.TempDir(), "held")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self, slices.Insert(slices.Clone(args), 1, fifo)...)
			cmd.Env = append(os.Environ(), childEnv+"=run")
			cmd.Stderr = t.Output()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			r, err := os.Open(fifo) // when the shell has opened it too
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			buf := make([]byte, 16)
			if _, err := r.Read(buf); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			_ = r.SetReadDeadline(time.Now().Add(10 * time.Second))
			if rest, err := io.ReadAll(r); err != nil {
				t.Errorf("somebody still holds the pipe: %q, %v", rest, err)
			}
		})
	}
}

func TestSandboxHostsFile(t *testing.T) {
	rs, err := routes([]string{"b.example.com:443", "a.example.com:443", "b.example.com:80", "localhost:11434", "127.0.0.1:11434", "b.example.com:443"})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for _, r := range rs {
		fmt.Fprintln(&got, r.host, r.name, r.addr, r.port, r.assign)
	}
	want := `127.0.0.1:11434  127.0.0.1 11434 false
a.example.com:443 a.example.com 127.0.0.2 443 false
b.example.com:443 b.example.com 127.0.0.3 443 false
b.example.com:80  127.0.0.3 80 false
localhost:11434  ::1 11434 false
`
	if got.String() != want {
		t.Errorf("routes:\n%s", &got)
	}
	hosts := etc(rs, 1000, 1000, []string{"HOME=/work"})[0].text
	if !strings.HasSuffix(hosts, "127.0.0.2 a.example.com\n127.0.0.3 b.example.com\n") {
		t.Errorf("hosts:\n%s", hosts)
	}
}
