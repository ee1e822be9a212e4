package fleet_test

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A wire is the network between a member and the server.
type wire struct {
	net.Listener
	to string

	passes sync.RWMutex // held while nothing passes
	mu     sync.Mutex
	conns  map[net.Conn]bool
	cut    bool
}

func newWire(tb testing.TB, to string) *wire {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	w := &wire{Listener: ln, to: to, conns: map[net.Conn]bool{}}
	go w.serve()
	tb.Cleanup(func() {
		_ = ln.Close()
		w.drop()
	})
	return w
}

func (w *wire) url() string { return "nats://" + w.Addr().String() }

func (w *wire) serve() {
	for {
		a, err := w.Accept()
		if err != nil {
			return
		}
		b, err := net.Dial("tcp", w.to)
		if err != nil {
			_ = a.Close()
			continue
		}
		w.mu.Lock()
		if w.cut {
			_, _ = a.Close(), b.Close()
		}
		w.conns[a], w.conns[b] = true, true
		w.mu.Unlock()
		go w.copy(a, b)
		go w.copy(b, a)
	}
}

func (w *wire) copy(to, from net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			w.passes.RLock()
			_, err2 := to.Write(buf[:n])
			w.passes.RUnlock()
			err = errors.Join(err, err2)
		}
		if err != nil {
			break
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = to.Close(), from.Close()
	delete(w.conns, to)
	delete(w.conns, from)
}

// freeze has nothing pass for a while: the connections stay, and nobody notices.
func (w *wire) freeze(d time.Duration) {
	w.passes.Lock()
	time.Sleep(d)
	w.passes.Unlock()
}

// drop breaks the connections.
func (w *wire) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		_ = c.Close()
	}
}

// away breaks them, and lets none through for a while.
func (w *wire) away(d time.Duration) {
	w.set(true)
	w.drop()
	time.Sleep(d)
	w.set(false)
}

func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
}

// A disk is what the server writes to.
type disk struct {
	dir   string
	small bool // it is a file system of its own
}

func newDisk(tb testing.TB) *disk {
	d := &disk{dir: tb.TempDir()}
	if d.small = syscall.Mount("tmpfs", d.dir, "tmpfs", 0, "size=48m,mode=700") == nil; d.small {
		tb.Cleanup(func() {
			if err := syscall.Unmount(d.dir, syscall.MNT_DETACH); err != nil {
				tb.Error(err)
			}
		})
	}
	return d
}

// fill leaves the server no room, as far as that can be done here: else its files may not grow.
func (d *disk) fill(pid int) error {
	if !d.small {
		return unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1, Max: unix.RLIM_INFINITY}, nil)
	}
	f, err := os.Create(filepath.Join(d.dir, "ballast"))
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = io.Copy(f, zeros{}); errors.Is(err, syscall.ENOSPC) {
		err = nil
	}
	return err
}

// empty makes room again.
func (d *disk) empty() error {
	if !d.small {
		return nil // the next server has no limit
	}
	return os.Remove(filepath.Join(d.dir, "ballast"))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
