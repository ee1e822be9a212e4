//go:build unix

package process

import (
	"os"
	"syscall"
	"time"
)

// drainMost is more than a pipe holds (Linux: at most 1 MiB without privilege), so that
// a process that continues to write cannot delay us for ever.
const drainMost = 2 << 20

// interrupt ends a read that waits.
func interrupt(r *os.File) { _ = r.SetReadDeadline(time.Now()) }

// drain reads what is in the pipe, without waiting.
func drain(r *os.File, buf []byte, feed func([]byte)) {
	_ = r.SetReadDeadline(time.Time{})
	raw, err := r.SyscallConn()
	if err != nil {
		return
	}
	for total := 0; total < drainMost; {
		var n int
		err := raw.Read(func(fd uintptr) bool {
			for {
				n, err = syscall.Read(int(fd), buf)
				if err != syscall.EINTR {
					return true
				}
			}
		})
		if err != nil || n <= 0 {
			return
		}
		feed(buf[:n])
		total += n
	}
}
