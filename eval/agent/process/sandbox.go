package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Sandbox is what a child may reach. Everything else does not exist for it: there is
// no other process, no network, only the system's own folders, read-only, and an empty
// /tmp of its own. Names resolve only by its own /etc/hosts. It runs without
// privileges, not as root, and without a terminal.
//
// On Linux, through bwrap, its environment is Command.Env and PWD. SIGTERM reaches only
// the program itself; whatever it started ends with it.
type Sandbox struct {
	// Writable are folders, absolute; under the same names inside. Writing anywhere
	// else but in /tmp fails, and /tmp is removed at the end.
	Writable []string
	// Readable are files and folders beyond the system's, absolute.
	Readable []string
	// Hosts are the only way out, as host:port, exactly. A loopback address is this
	// machine's own. A name is resolved outside, when it is dialled.
	Hosts []string
	// Limits are on Linux alone.
	Limits Limits
	// Dial makes a connection of a Host; nil dials the network, through the
	// proxy that the environment asks for (HTTPS_PROXY, NO_PROXY).
	Dial func(ctx context.Context, host string) (net.Conn, error) `json:"-"`
}

var available = sync.OnceValue(trySandbox)

// Available returns why no sandbox can be made on this machine, in one line, and what
// to do about it; nil if one can. It tries once.
func Available() error { return available() }

// check refuses settings that would open the sandbox by mistake.
func (s *Sandbox) check() error {
	home, _ := os.UserHomeDir()
	for _, p := range slices.Concat(s.Writable, s.Readable) {
		if !filepath.IsAbs(p) || p != filepath.Clean(p) {
			return fmt.Errorf("sandbox: %q is no clean absolute path", p)
		}
		if p == "/" || home != "" && within(p, home) {
			return fmt.Errorf("sandbox: %s holds the whole home folder", p)
		}
	}
	_, err := routes(s.Hosts)
	return err
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// A route leads from an address inside of a sandbox to a host outside.
type route struct {
	host   string     // host:port, as it is allowed and dialled
	name   string     // for /etc/hosts; "" if the host is an address
	addr   netip.Addr // its address inside
	port   uint16
	assign bool // addr is not one of the loopback interface's own
}

// routes gives every named host a loopback address of its own. A host that is an
// address keeps it, so that programs need not be changed.
func routes(hosts []string) ([]route, error) {
	var out []route
	add := func(r route) { // an address has one listener
		if !slices.ContainsFunc(out, func(o route) bool { return o.addr == r.addr && o.port == r.port }) {
			out = append(out, r)
		}
	}
	names := make(map[string]netip.Addr)
	for _, h := range slices.Compact(slices.Sorted(slices.Values(hosts))) {
		name, service, err := net.SplitHostPort(h)
		if err != nil {
			return nil, fmt.Errorf("sandbox: host %q is no host:port: %w", h, err)
		}
		port, err := strconv.ParseUint(service, 10, 16)
		if err != nil || port == 0 {
			return nil, fmt.Errorf("sandbox: host %q has no port", h)
		}
		r := route{host: h, port: uint16(port)}
		if ip, err := netip.ParseAddr(name); err == nil {
			r.addr, r.assign = ip, !ip.IsLoopback()
			if ip.IsUnspecified() || ip.IsMulticast() || ip.Zone() != "" || r.assign && !ip.Is4() {
				return nil, fmt.Errorf("sandbox: %s cannot be reached from inside: give it a name", h)
			}
			add(r)
			continue
		}
		if strings.EqualFold(name, "localhost") {
			r.addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
			add(r)
			r.addr = netip.IPv6Loopback()
			add(r)
			continue
		}
		if !hostname(name) {
			return nil, fmt.Errorf("sandbox: %q is no host name", name)
		}
		addr, ok := names[name]
		if !ok {
			if len(names) == 200 {
				return nil, errors.New("sandbox: more than 200 hosts")
			}
			addr = netip.AddrFrom4([4]byte{127, 0, 0, byte(len(names) + 2)})
			names[name] = addr
			r.name = name
		}
		r.addr = addr
		add(r)
	}
	return out, nil
}

// hostname makes sure that only a name is written into /etc/hosts.
func hostname(s string) bool {
	return s != "" && len(s) <= 253 && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789-._") == ""
}
