//go:build unix

package term

import (
	"os"
	"os/signal"
	"syscall"
)

// onResize tells when the terminal has another size, until end is called.
func onResize() (resized <-chan os.Signal, end func()) {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGWINCH)
	return ch, func() { signal.Stop(ch) }
}
