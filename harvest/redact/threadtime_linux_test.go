package redact

import (
	"syscall"
	"testing"
	"time"
)

// threadTime is the processor time that this thread has used.
func threadTime(t *testing.T) time.Duration {
	const thisThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thisThread, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
