package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// insideEnv makes this program run as the first program inside a sandbox, and holds its
// errand. Only openBox sets it.
const insideEnv = "EVOLVE_PROCESS_INSIDE"

// An errand is the work to be done inside before the child is started.
type errand struct {
	Socket   int    // where the listeners are sent
	Path     string // the child; its arguments are ours
	UID, GID int    // its user and group inside
	Listen   []netip.AddrPort
	Assign   []netip.Addr // addresses that the loopback interface must get first
	// Last has this program, as the child's user, become the child: the filter of
	// system calls is set when nothing of ours is left to do, because it also forbids the
	// namespace that the child gets.
	Last bool
}

// newErrand prepares the sandbox's side of the routes. caps are the capabilities that
// it needs, as arguments of bwrap.
func newErrand(rs []route) (e errand, caps []string) {
	// The last is for mapping root to another user.
	caps = []string{"--cap-add", "CAP_NET_BIND_SERVICE", "--cap-add", "CAP_SETFCAP"}
	for _, r := range rs {
		e.Listen = append(e.Listen, netip.AddrPortFrom(r.addr, r.port))
		if r.assign {
			e.Assign = append(e.Assign, r.addr)
		}
	}
	if e.Assign != nil {
		caps = append(caps, "--cap-add", "CAP_NET_ADMIN")
	}
	return e, caps
}

func (e errand) env() string {
	b, err := json.Marshal(e)
	if err != nil {
		panic("process: errand: " + err.Error()) // numbers and texts
	}
	return insideEnv + "=" + string(b)
}

// inside opens the listeners, sends them out, and runs the child to its end. It runs
// before main, and does not return.
//
// It runs as root of the user namespace that owns the network, because listening below
// port 1024 requires that. The child gets a user namespace below ours: it is an
// ordinary user there, without power over the network or over us.
func inside(spec string) {
	var e errand
	if err := json.Unmarshal([]byte(spec), &e); err != nil {
		fail(e.Socket, err)
	}
	keepFiles()
	if e.Last {
		become(e.Path)
	}
	for i, a := range e.Assign {
		if err := assign(fmt.Sprintf("lo:%d", i+1), a); err != nil {
			fail(e.Socket, fmt.Errorf("assign %v: %w", a, err))
		}
	}
	var fds, ok []int
	for i, a := range e.Listen {
		fd, err := listen(a)
		if err == unix.EAFNOSUPPORT || err == unix.EADDRNOTAVAIL && a.Addr().Is6() {
			continue // no IPv6 here
		}
		if err != nil {
			fail(e.Socket, fmt.Errorf("listen on %v: %w", a, err))
		}
		fds, ok = append(fds, fd), append(ok, i)
	}
	ended := make(chan os.Signal, 8)
	signal.Notify(ended, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	p, err := e.start()
	if err != nil {
		fail(e.Socket, fmt.Errorf("start %s: %w", e.Path, err))
	}
	// The child may connect before this: it then waits in the listener's queue.
	report, _ := json.Marshal(map[string]any{"ok": ok})
	if err := unix.Sendmsg(e.Socket, report, unix.UnixRights(fds...), nil, 0); err != nil {
		fail(e.Socket, fmt.Errorf("hand out listeners: %w", err))
	}
	unix.Close(e.Socket)
	for _, fd := range fds {
		unix.Close(fd)
	}
	go func() {
		for s := range ended {
			_ = p.Signal(s)
		}
	}()
	state, err := p.Wait()
	if err != nil {
		os.Exit(126)
	}
	if s := state.Sys().(syscall.WaitStatus); s.Signaled() {
		os.Exit(128 + int(s.Signal()))
	}
	os.Exit(state.ExitCode())
}

// start starts the child, and returns when it runs or why it does not.
func (e errand) start() (*os.Process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, insideEnv+"=") })
	p, err := os.StartProcess(insidePath, append([]string{e.Path}, os.Args[1:]...), &os.ProcAttr{
		Env:   append(env, errand{Path: e.Path, Last: true}.env()),
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr, w},
		Sys: &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: e.UID, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: e.GID, HostID: os.Getgid(), Size: 1}},
			Pdeathsig:   unix.SIGKILL,
		},
	})
	w.Close()
	if err != nil {
		return nil, err
	}
	why, err := io.ReadAll(r)
	if err == nil && len(why) > 0 {
		err = errors.New(string(why))
	}
	return p, err
}

// lastPipe is where become tells why it failed. It closes when the child runs.
const lastPipe = 3

// become makes this process the program at path, without the variable that brought it here.
func become(path string) {
	err := restrict()
	if err == nil {
		env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, insideEnv+"=") })
		err = syscall.Exec(path, append([]string{path}, os.Args[1:]...), env)
	}
	_, _ = unix.Write(lastPipe, []byte(err.Error()))
	os.Exit(126)
}

func fail(socket int, err error) {
	report, _ := json.Marshal(map[string]any{"error": err.Error()})
	_ = unix.Sendmsg(socket, report, nil, nil, 0)
	os.Exit(126)
}

func listen(a netip.AddrPort) (fd int, err error) {
	family, to := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()})
	if ip := a.Addr().Unmap(); ip.Is4() {
		family, to = unix.AF_INET, &unix.SockaddrInet4{Port: int(a.Port()), Addr: ip.As4()}
	}
	if fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return 0, err
	}
	if err = unix.Bind(fd, to); err == nil {
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	return fd, err
}

// assign gives the loopback interface one more address.
func assign(alias string, a netip.Addr) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq(alias)
	if err != nil {
		return err
	}
	ip := a.As4()
	if err := req.SetInet4Addr(ip[:]); err != nil {
		return err
	}
	return unix.IoctlIfreq(fd, unix.SIOCSIFADDR, req)
}
