package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	// hog takes megabytes and keeps them; with a second argument, in so many processes.
	children["hog"] = func(args []string) error {
		if n, _ := strconv.Atoi(args[1]); n > 1 {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			for range n - 1 {
				if err := exec.Command(self, args[0], "1").Start(); err != nil {
					return err
				}
			}
		}
		mb, _ := strconv.Atoi(args[0])
		block := make([]byte, mb<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		fmt.Println("full")
		time.Sleep(time.Minute)
		return nil
	}
	// forbidden tries what the filter of system calls answers.
	children["forbidden"] = func([]string) error {
		_, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
		fmt.Println("vsock:", err)
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
		fmt.Println("clone:", cmd.Run())
		fmt.Println("unshare:", exec.Command("unshare", "--user", "/bin/true").Run())
		_, _, e := syscall.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
		fmt.Println("io_uring:", e)
		_, _, e = syscall.Syscall(unix.SYS_CLONE3, 0, 0, 0)
		fmt.Println("clone3:", e)
		return nil
	}
}

// hosts are a sandbox without and with a way out.
var withAndWithout = [][]string{nil, {"example.com:443"}}

// What uses more than it may is ended, and its end says why.
func TestLimitsEnd(t *testing.T) {
	needSandbox(t)
	small := Limits{MemoryGB: 0.3, Processes: 40, FileGB: 0.01, TmpGB: 0.05}
	hog := func(mb, processes int) Command {
		return goChild(t, "hog", Sandbox{}, strconv.Itoa(mb), strconv.Itoa(processes))
	}
	for _, k := range []struct {
		name, want string
		limits     Limits
		command    Command
	}{
		{"memory", "used more than 0.3 GB of memory: ended", small, hog(400, 1)},
		{"memory of many", "used more than 0.3 GB of memory: ended", small, hog(100, 4)},
		// A few hundred: without an end they take the machine's last process where the watcher is late.
		{"processes", "ran more than 40 processes: ended", small, sh(`i=0; while [ $i -lt 300 ]; do sleep 60 & i=$((i+1)); done; wait`)},
		{"fork bomb", "ran more than 40 processes: ended", small, sh(`b() { [ $1 -gt 0 ] && { b $(($1-1)) & b $(($1-1)) & }; sleep 60; }; b 8`)},
		{"left the session", "ran more than 40 processes: ended", small, sh(`i=0; while [ $i -lt 300 ]; do setsid sleep 60 & i=$((i+1)); done; wait`)},
		{"a file", "wrote a file of more than 0.01 GB: ended", small, sh(`exec head -c 20000000 /dev/zero > big`)},
		{"a hole", "wrote a file of more than 2 GB: ended", Limits{}, sh(`exec truncate -s 3G big`)},
		{"behind a hole", "wrote a file of more than 2 GB: ended", Limits{}, sh(`exec dd if=/dev/zero of=big bs=1M seek=3000 count=1`)},
	} {
		for _, hosts := range withAndWithout {
			t.Run(fmt.Sprint(k.name, len(hosts)), func(t *testing.T) {
				c := k.command
				box := Sandbox{Limits: k.limits, Hosts: hosts, Writable: []string{t.TempDir()}}
				if c.Sandbox != nil {
					box.Readable = c.Sandbox.Readable
				}
				c.Dir, c.Sandbox = box.Writable[0], &box
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				r, err := Run(ctx, c)
				if err != nil || r.Limit != k.want {
					t.Errorf("%+v, %v, want %q", r, err, k.want)
				}
			})
		}
	}
}

// A guard tells the limit, too.
func TestLimitsOfWrapped(t *testing.T) {
	needSandbox(t)
	c := sh(`while :; do sleep 60 & done`)
	c.Sandbox = &Sandbox{Limits: Limits{Processes: 40}}
	path, args, env, stop, err := Wrap(c)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = env
	if err := cmd.Run(); err == nil {
		t.Error("it ended well")
	}
	var limit LimitError
	if err := stop(); !errors.As(err, &limit) || limit != "ran more than 40 processes: ended" {
		t.Errorf("stop says %v", err)
	}
}

// What stays below is as before.
func TestLimitsLeaveAlone(t *testing.T) {
	needSandbox(t)
	small := Limits{MemoryGB: 0.3, Processes: 40, FileGB: 0.01, TmpGB: 0.05}
	for _, hosts := range withAndWithout {
		dir := t.TempDir()
		c := sh(`for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.3 & done; wait
			head -c 9000000 /dev/zero > big; head -c 9000000 /dev/zero > /tmp/big; head -c 9000000 /dev/zero > /dev/shm/big
			echo x > /dev/null; ls -l big /tmp/big /dev/shm/big | wc -l`)
		c.Dir, c.Sandbox = dir, &Sandbox{Limits: small, Hosts: hosts, Writable: []string{dir}}
		r, err := Run(t.Context(), c)
		if err != nil || r.Exit != 0 || r.Limit != "" || string(r.Stdout) != "3\n" {
			t.Errorf("%+v %s, %v", r, r.Stdout, err)
		}
	}
}

// Files that processes map are no memory of theirs: the kernel can drop it.
func TestLimitsLeaveFilesAlone(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "mapped"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size, part = 250 << 20, 200 << 20
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	had, hadOwn := resident("/proc/self"), own("/proc/self")
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(b) }()
	if more := resident("/proc/self") - had; more < part {
		t.Errorf("the file takes %d bytes", more)
	}
	if more := own("/proc/self") - hadOwn; more > part {
		t.Errorf("the file counts for %d bytes", more)
	}
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(memory) }()
	if more := own("/proc/self") - hadOwn; more < part {
		t.Errorf("memory counts for %d bytes", more)
	}
}

// The folders in memory are bounded, and no other can be written.
func TestLimitsOfMemoryFolders(t *testing.T) {
	needSandbox(t)
	if !knows("--size") {
		t.Skip("this bwrap knows no --size")
	}
	for _, hosts := range withAndWithout {
		c := sh(`for d in /tmp /dev/shm; do
				for i in 1 2 3 4 5 6 7; do head -c 9000000 /dev/zero > $d/$i || echo full; done 2>/dev/null | uniq
			done
			for d in /dev /etc /run /; do (: > $d/made) 2>/dev/null && echo "written $d"; done; true`)
		c.Sandbox = &Sandbox{Limits: Limits{TmpGB: 0.05}, Hosts: hosts}
		if got := output(t, c); got != "full\nfull\n" {
			t.Errorf("%q", got)
		}
	}
}

func TestForbiddenCalls(t *testing.T) {
	needSandbox(t)
	for _, hosts := range withAndWithout {
		c := goChild(t, "forbidden", Sandbox{Hosts: hosts})
		c.Env = append(c.Env, "PATH=/usr/bin:/bin")
		want := "vsock: operation not permitted\nclone: fork/exec /bin/true: operation not permitted\nunshare: exit status 1\n" +
			"io_uring: function not implemented\nclone3: function not implemented\n"
		if got := output(t, c); got != want {
			t.Errorf("with hosts %q:\n%s", hosts, got)
		}
	}
}

func TestLimitsCheck(t *testing.T) {
	if err := (Limits{}).Check(); err != nil {
		t.Error(err)
	}
	if err := defaultLimits.Check(); err != nil {
		t.Error(err)
	}
	for _, l := range []Limits{{MemoryGB: 0.01}, {MemoryGB: -1}, {Processes: 1}, {FileGB: 1e12}, {TmpGB: -0.5}} {
		if err := l.Check(); err == nil {
			t.Errorf("%+v is allowed", l)
		}
	}
}

// The environment of a child in a scope is its own, whatever is in it.
func TestScope(t *testing.T) {
	needSandbox(t)
	if !knows("--clearenv") {
		t.Skip("this bwrap knows no --clearenv")
	}
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/evolve")
	dir := t.TempDir()
	tool := filepath.Join(dir, "systemd-run")
	log := filepath.Join(dir, "log")
	script := fmt.Sprintf("#!/bin/sh\necho \"$XDG_RUNTIME_DIR\" \"$@\" > %s\nwhile [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n", log)
	if err := os.WriteFile(tool, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	old := scopes
	defer func() { scopes = old }()
	scopes = func() string { return tool }
	given := []string{"A=1", "B=two\nlines = two", "C=", "D=" + strings.Repeat("long", 3000), "PATH=/usr/bin:/bin"}
	for _, hosts := range withAndWithout {
		c := Command{Path: "/usr/bin/env", Args: []string{"-0"}, Env: given, Sandbox: &Sandbox{Hosts: hosts}}
		got := strings.Split(strings.TrimSuffix(output(t, c), "\x00"), "\x00")
		slices.Sort(got)
		want := slices.Sorted(slices.Values(append(slices.Clone(given), "PWD=/")))
		if !slices.Equal(got, want) {
			t.Errorf("environment %q", got)
		}
		said, err := os.ReadFile(log)
		if err != nil || !strings.HasPrefix(string(said), "/run/user/evolve --user --scope ") ||
			!strings.Contains(string(said), " --property=MemoryMax=4294967296 --property=MemorySwapMax=0 --property=TasksMax=8192 -- ") ||
			strings.Contains(string(said), "longlong") {
			t.Errorf("systemd-run got %s, %v", said, err)
		}
	}
}

// What a scope has enforced is told.
func TestScopeCounters(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{"memory.events": "low 0\nmax 12\noom 1\noom_kill 1\n", "pids.events": "max 3\n"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !oomKilled(dir) || count(dir, "pids.events", "max") != 3 || oomKilled(t.TempDir()) || oomKilled("") {
		t.Error("counters are misread")
	}
	b := &box{scope: "evolve-x", group: dir, limits: defaultLimits}
	if got := b.overScope(os.Getpid()); got != "used more than 4 GB of memory" {
		t.Errorf("%q", got)
	}
	if got := (&box{group: dir, limits: defaultLimits}).limit(137); got != "used more than 4 GB of memory: ended" {
		t.Errorf("%q", got)
	}
	if err := os.Remove(filepath.Join(dir, "memory.events")); err != nil {
		t.Fatal(err)
	}
	if got := b.overScope(os.Getpid()); got != "ran more than 8192 threads" {
		t.Errorf("%q", got)
	}
	if other := (&box{scope: "evolve-x", limits: defaultLimits}); other.overScope(os.Getpid()) != "" || other.group != "" {
		t.Error("a cgroup that is another's counts")
	}
}

// A systemd-run that bounds nothing is not used.
func TestScopeThatBoundsNothing(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "systemd-run"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if tool := findScopes(); tool != "" {
		t.Errorf("%s is used", tool)
	}
}
