//go:build !unix

package process

import (
	"os"
	"time"
)

// interrupt gives the reader a moment for the rest in the pipe: there are no deadlines
// here.
func interrupt(r *os.File) { time.AfterFunc(time.Second, func() { _ = r.Close() }) }

func drain(*os.File, []byte, func([]byte)) {}
