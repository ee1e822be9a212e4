package process

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// threadsEach is how many threads a process may have on average: a cgroup counts these, and
// a program of Node has a dozen.
const threadsEach = 16

// scopes is systemd-run, "" unless it bounds what it starts on this machine, which takes a
// manager of the user's, cgroups of version 2 and the right to use both.
var scopes = sync.OnceValue(findScopes)

func findScopes() string {
	tool, err := exec.LookPath("systemd-run")
	if err != nil || !knows("--clearenv") || !knows("--args") {
		return ""
	}
	r, w, err := os.Pipe()
	if err != nil {
		return ""
	}
	defer r.Close()
	_, _ = w.WriteString("inherited")
	w.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	l := Limits{MemoryGB: 1, Processes: 64}
	args := append(l.scope("evolve-probe-"+rand.Text()), "/bin/sh", "-c",
		`cd "/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)" && cat memory.max pids.max - <&3`)
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Env, cmd.ExtraFiles = busEnv(), []*os.File{r}
	if out, err := cmd.Output(); err != nil || string(out) != fmt.Sprintf("%d\n%d\ninherited", 1<<30, l.most()) {
		return ""
	}
	return tool
}

func (l Limits) most() int { return l.Processes * threadsEach }

func (l Limits) threads() string { return fmt.Sprintf("ran more than %d threads", l.most()) }

// newScope is the name of a unit for one sandbox, "" if there are none here.
func newScope() string {
	if scopes() == "" {
		return ""
	}
	return "evolve-" + rand.Text()
}

// busEnv is what systemd-run needs of our environment to find the user's manager.
func busEnv() []string { return inherited("PATH", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS") }

// scope are the arguments of systemd-run before a command.
func (l Limits) scope(unit string) []string {
	return []string{"--user", "--scope", "--quiet", "--collect", "--unit=" + unit,
		fmt.Sprintf("--property=MemoryMax=%d", inBytes(l.MemoryGB)), "--property=MemorySwapMax=0",
		fmt.Sprintf("--property=TasksMax=%d", l.most()), "--"}
}

// bounds is the command before bwrap that bounds it.
func (b *box) bounds() (args []string) {
	if b.scope != "" {
		args = append([]string{scopes()}, b.limits.scope(b.scope)...)
	}
	blocks := strconv.FormatInt(inBytes(b.limits.FileGB)/512, 10)
	// A lower limit that already holds cannot be raised, and need not be.
	return append(args, "/bin/sh", "-c", `ulimit -f "$1" 2>/dev/null; shift; exec "$@"`, "sh", blocks)
}

// environment is bwrap's arguments for the child's environment, which systemd-run's is not.
// They are in a file because all users can read a command line.
func environment(env []string) (*os.File, error) {
	fd, err := unix.MemfdCreate("environment", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "environment")
	args := []string{"--clearenv"}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		args = append(args, "--setenv", name, value)
	}
	if _, err = f.WriteString(strings.Join(args, "\x00") + "\x00"); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// overScope is the limit that the cgroup of a child in a scope has enforced; "" for none.
func (b *box) overScope(pid int) string {
	if b.scope == "" {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.group == "" {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
		for line := range strings.Lines(string(text)) {
			if at, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok && filepath.Base(at) == b.scope+".scope" {
				b.group = filepath.Join("/sys/fs/cgroup", at)
			}
		}
	}
	if oomKilled(b.group) {
		return b.limits.memory()
	}
	if count(b.group, "pids.events", "max") > 0 {
		return b.limits.threads()
	}
	return ""
}

// oomKilled reports whether the kernel has killed a process of a cgroup for its memory.
func oomKilled(group string) bool { return count(group, "memory.events", "oom_kill") > 0 }

// count is a counter of a cgroup.
func count(group, file, key string) int {
	if group == "" {
		return 0
	}
	text, _ := os.ReadFile(filepath.Join(group, file))
	for line := range strings.Lines(string(text)) {
		if name, n, _ := strings.Cut(strings.TrimSpace(line), " "); name == key {
			v, _ := strconv.Atoi(n)
			return v
		}
	}
	return 0
}

// limited is which limits hold, and which do not.
func limited(l Limits) (hold, lack []string) {
	by := "watched"
	if scopes() != "" {
		by = "a cgroup"
	}
	hold = []string{fmt.Sprintf("%s of memory and %d processes (%s)", gigabytes(l.MemoryGB), l.Processes, by), "files of " + gigabytes(l.FileGB)}
	if knows("--size") {
		hold = append(hold, "/tmp of "+gigabytes(l.TmpGB))
	} else {
		lack = append(lack, "/tmp, which takes bubblewrap 0.7")
	}
	return hold, lack
}
