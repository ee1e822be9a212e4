package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Memory and processes are counted for a whole sandbox. A cgroup of systemd's bounds them
// exactly where there is one. Everywhere a watcher looks at the processes themselves, and
// ends the sandbox that has too many, or uses too much. Limits that a process inherits
// cannot do that: those of memory are per process and of addresses (Node reserves more
// than there is), that of processes is per user.

// watchEvery is short because memory can be filled at some gigabytes a second.
const watchEvery = 100 * time.Millisecond

// watch ends the child when it passes a limit.
func (b *box) watch(k *child) {
	b.watcher.Go(func() {
		t := time.NewTicker(watchEvery)
		defer t.Stop()
		init := 0
		for {
			select {
			case <-k.done:
				return
			case <-t.C:
			}
			if init == 0 {
				init = b.state().Init
			}
			why := b.overScope(k.cmd.Process.Pid)
			if why == "" && init != 0 {
				why = b.over(fmt.Sprintf("/proc/%d/root/proc", init))
			}
			if why != "" {
				b.mu.Lock()
				b.ended = why
				b.mu.Unlock()
				k.signal(func() { killGroup(k.group) })
				return
			}
		}
	})
}

// over is the limit that the processes in a sandbox's own /proc have passed; "" for none.
func (b *box) over(proc string) string {
	ours, err := os.Stat("/proc")
	if err != nil {
		return ""
	}
	if theirs, err := os.Stat(proc); err != nil || os.SameFile(ours, theirs) {
		return "" // bwrap has not made it yet
	}
	dir, err := os.Open(proc)
	if err != nil {
		return ""
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []string
	for _, n := range names {
		if n[0] >= '0' && n[0] <= '9' {
			pids = append(pids, filepath.Join(proc, n))
		}
	}
	if len(pids) > b.limits.Processes {
		return b.limits.processes()
	}
	most := inBytes(b.limits.MemoryGB)
	if sum(pids, resident) > most && sum(pids, own) > most {
		return b.limits.memory()
	}
	return ""
}

func sum(pids []string, of func(string) int64) (n int64) {
	for _, p := range pids {
		n += of(p)
	}
	return n
}

var pageSize = int64(os.Getpagesize())

// resident is the memory of a process, with what it shares with others.
func resident(proc string) int64 {
	b, _ := os.ReadFile(filepath.Join(proc, "statm"))
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.ParseInt(fields[1], 10, 64)
	return n * pageSize
}

// own is the memory of a process, with its part of what it shares, and without files,
// which the kernel can drop. It is slow to find out.
func own(proc string) (n int64) {
	b, _ := os.ReadFile(filepath.Join(proc, "smaps_rollup"))
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) > 1 && (f[0] == "Pss_Anon:" || f[0] == "Pss_Shmem:" || f[0] == "SwapPss:") {
			kb, _ := strconv.ParseInt(f[1], 10, 64)
			n += kb << 10
		}
	}
	return n
}

// limit is what ended the child, "" if it was no limit. The child must have ended.
func (b *box) limit(exit int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.ended != "":
	case oomKilled(b.group):
		b.ended = b.limits.memory()
	case exit == 128+int(unix.SIGXFSZ):
		b.ended = "wrote a file of more than " + gigabytes(b.limits.FileGB)
	default:
		return ""
	}
	return b.ended + ": ended"
}

func (l Limits) memory() string    { return "used more than " + gigabytes(l.MemoryGB) + " of memory" }
func (l Limits) processes() string { return fmt.Sprintf("ran more than %d processes", l.Processes) }
