package copilot

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// killStrays kills what the program started in sessions of their own: its shells,
// which no kill of a group reaches, and which may have set their mind on staying.
// Whoever has the home of the stage belongs to it; nobody else does.
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
			env, err := os.ReadFile(filepath.Join(dir, "environ"))
			if err != nil || len(env) == 0 { // another user's, or one that has ended
				continue
			}
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
