//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory is the largest resident set that a process had, in MB.
func peakMemory(p *os.ProcessState) float64 {
	r, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return float64(r.Maxrss) / 1e6 // bytes there, kilobytes elsewhere
	}
	return float64(r.Maxrss) / 1e3
}
