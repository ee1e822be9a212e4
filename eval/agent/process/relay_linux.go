package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// relayMost limits the connections of one sandbox at a time, so that a child cannot use
// up our files. Further ones wait to be accepted.
const relayMost = 128

// A relay carries connections out of a sandbox. The listening sockets belong to the
// sandbox's network: they are opened inside, and sent out to us over a socket, before
// the program starts. So no process of ours has to run beside it, and it can reach the
// hosts with a listener, and no others.
type relay struct {
	routes []route
	dial   func(context.Context, string) (net.Conn, error)
	conn   *net.UnixConn // ours of the pair
	ctx    context.Context
	stop   context.CancelFunc
	work   sync.WaitGroup
	slots  chan struct{} // one for each open connection

	mu     sync.Mutex
	open   map[io.Closer]struct{} // nil when closed
	report error                  // what went wrong inside
	heard  chan struct{}          // closed when the sandbox has reported

	refused []string // lines on connections for another host than the one that was dialled
}

// listen makes the relay, and returns the sandbox's end of the pair.
func (b *box) listen(rs []route, dial func(context.Context, string) (net.Conn, error)) (*os.File, error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make socket pair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "relay"), os.NewFile(uintptr(pair[1]), "relay")
	defer ours.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		theirs.Close()
		return nil, err
	}
	if dial == nil {
		dial = dialOut
	}
	r := &relay{routes: rs, dial: dial, conn: conn.(*net.UnixConn), open: make(map[io.Closer]struct{}), heard: make(chan struct{}),
		slots: make(chan struct{}, relayMost)}
	r.ctx, r.stop = context.WithCancel(context.Background())
	r.work.Go(r.receive)
	b.relay = r
	return theirs, nil
}

// receive waits for the sandbox's report: its listeners, or why there are none.
func (r *relay) receive() {
	defer close(r.heard)
	text, rights := make([]byte, 1024), make([]byte, syscall.CmsgSpace(4*len(r.routes)))
	n, m, flags, _, err := r.conn.ReadMsgUnix(text, rights)
	if err != nil || n == 0 {
		r.report = errors.New("sandbox: it ended before it was ready")
		return
	}
	var fds []int
	if msgs, err := syscall.ParseSocketControlMessage(rights[:m]); err == nil {
		for i := range msgs {
			if some, err := syscall.ParseUnixRights(&msgs[i]); err == nil {
				fds = append(fds, some...)
			}
		}
	}
	files := make([]*os.File, len(fds))
	for i, fd := range fds {
		syscall.CloseOnExec(fd)
		files[i] = os.NewFile(uintptr(fd), "listener")
		defer files[i].Close()
	}
	var said struct {
		Error string `json:"error"`
		OK    []int  `json:"ok"` // the routes that the files belong to
	}
	switch err := json.Unmarshal(text[:n], &said); {
	case err != nil || flags&syscall.MSG_CTRUNC != 0 || len(said.OK) != len(files):
		r.report = errors.New("sandbox: it reported nonsense")
		return
	case said.Error != "":
		r.report = fmt.Errorf("sandbox: %s", said.Error)
		return
	}
	for i, f := range files {
		l, err := net.FileListener(f)
		if err != nil {
			r.report = err
			return
		}
		if !r.keep(l) {
			return
		}
		host := r.routes[said.OK[i]].host
		r.work.Go(func() { r.accept(l, host) })
	}
}

// keep registers c to be closed by close; false if close was already called.
func (r *relay) keep(c io.Closer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		c.Close()
		return false
	}
	r.open[c] = struct{}{}
	return true
}

func (r *relay) drop(c io.Closer) {
	c.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, c)
}

func (r *relay) accept(l net.Listener, host string) {
	for {
		c, err := l.Accept()
		if err == nil {
			if !r.keep(c) {
				return
			}
			select {
			case r.slots <- struct{}{}:
			case <-r.ctx.Done():
				return // close has closed c
			}
			r.work.Go(func() {
				r.carry(c, host)
				<-r.slots
			})
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		// Probably no file is free: others will end.
		select {
		case <-time.After(50 * time.Millisecond):
		case <-r.ctx.Done():
			return
		}
	}
}

// carry connects a connection of the child's with its host. If the host cannot be
// reached, the child's connection is reset, as if there were no listener.
func (r *relay) carry(in net.Conn, host string) {
	defer r.drop(in)
	out, err := r.dial(r.ctx, host)
	if err != nil {
		reset(in)
		return
	}
	if !r.keep(out) {
		return
	}
	defer r.drop(out)
	var back sync.WaitGroup
	back.Go(func() { pour(in, out) })
	first, err := opening(in, host)
	if err == nil {
		_, err = out.Write(first)
	}
	var other *otherNameError
	if errors.As(err, &other) {
		r.refuse(other)
	}
	if err != nil {
		reset(in)
		_ = out.Close()
	} else {
		pour(out, in)
	}
	back.Wait()
}

// reset closes a connection with a TCP reset, as a port without a server does.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

// refuse notes a connection that was refused, the first few.
func (r *relay) refuse(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if line := "evolve: " + why.Error() + "\n"; len(r.refused) < 5 && !slices.Contains(r.refused, line) {
		r.refused = append(r.refused, line)
	}
}

// said is what the relay has to say of a sandbox that has ended.
func (r *relay) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.refused, "")
}

// pour copies until the source ends, and then closes the other side for writing.
func pour(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite()
		return
	}
	// Half of a broken connection is of no use.
	_ = to.Close()
	_ = from.Close()
}

// failure is why the sandbox's side was never ready. The child must have ended.
func (r *relay) failure() error {
	<-r.heard
	return r.report
}

// close ends all connections.
func (r *relay) close() {
	r.stop()
	_ = r.conn.Close()
	r.mu.Lock()
	open := r.open
	r.open = nil
	r.mu.Unlock()
	for c := range open {
		_ = c.Close()
	}
	r.work.Wait()
}
