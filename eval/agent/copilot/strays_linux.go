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

// environ is the beginning of a process' environment; nothing of another user's,
// or of one that has ended. A process can say that more memory is its environment.
func environ(dir string) []byte {
	f, err := bounded.Open(filepath.Join(dir, "environ"))
	if err != nil {
		return nil
	}
	defer f.Close()
	env, _ := io.ReadAll(io.LimitReader(f, 4<<20))
	return env
}

// killStrays kills what the program started in sessions of their own: its shells,
// which no kill of a group reaches, and which may have set their mind on staying.
// A process that has the home of the stage belongs to it, no other does.
func killStrays(home string) {
	want := []byte("HOME=" + home)
	for range 10 { // one may start another while we look
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
