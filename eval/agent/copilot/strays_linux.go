package copilot

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// environ is the beginning of a process' environment; nil for another user's process,
// or one that has ended. A process can claim any amount of memory as its environment.
func environ(dir string) []byte {
	f, err := bounded.Open(filepath.Join(dir, "environ"))
	if err != nil {
		return nil
	}
	defer f.Close()
	env, _ := io.ReadAll(io.LimitReader(f, 4<<20))
	return env
}

// killStrays kills what the program started in sessions of their own: its shells, which
// killing the group does not reach, and which may ignore SIGTERM. A process with the
// stage's home in its environment belongs to the stage, no other does.
func killStrays(home string) {
	want := []byte("HOME=" + home)
	for range 10 { // one may start another meanwhile
		found := false
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range dirs {
			pid, err := strconv.Atoi(filepath.Base(dir))
			if err != nil || pid == os.Getpid() {
				continue
			}
			env := environ(dir)
			for part := range bytes.SplitSeq(env, []byte{0}) {
				if bytes.Equal(part, want) {
					found = syscall.Kill(pid, syscall.SIGKILL) == nil || found
					break
				}
			}
		}
		if !found {
			return
		}
	}
}
