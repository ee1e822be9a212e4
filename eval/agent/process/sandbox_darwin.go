package process

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// The sandbox of macOS is sandbox-exec with a profile. The authors have never run it: it is
// used only on a machine on which the probe passes. It is weaker than that
// of Linux in two ways. A profile cannot name hosts: if a Host is not this machine, its
// port is open to every host. And the folders of the system are the real ones, /tmp
// included, in which only what is named can be read.

var sandboxTool = sync.OnceValues(func() (string, error) { return exec.LookPath("/usr/bin/sandbox-exec") })

// A box is a sandbox that is prepared for one child.
type box struct{}

func openBox(c *Command) (*exec.Cmd, *box, error) {
	if err := c.Sandbox.check(); err != nil {
		return nil, nil, err
	}
	if c.Sandbox.Dial != nil {
		return nil, nil, errors.New("sandbox: nothing is dialled from outside on macOS")
	}
	text, err := profile(c.Sandbox)
	if err != nil {
		return nil, nil, err
	}
	tool, err := sandboxTool()
	if err != nil {
		return nil, nil, trySandbox()
	}
	cmd := exec.Command(tool, append([]string{"-p", text, c.Path}, c.Args...)...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would inherit ours
	}
	return cmd, new(box), nil
}

func (*box) started()              {}
func (*box) watch(*child)          {}
func (*box) close()                {}
func (*box) terminate(group int)   { terminateGroup(group) }
func (*box) failure(*Result) error { return nil }

// systemDirs hold the programs that every child sees.
var systemDirs = []string{"/usr", "/bin", "/sbin", "/System", "/Library/Apple", "/Library/Developer/CommandLineTools", "/opt/homebrew"}

// profile is the sandbox in the profile language (SBPL): the last rule that fits
// decides.
func profile(s *Sandbox) (string, error) {
	rs, err := routes(s.Hosts)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(`(version 1)
(deny default)
(allow process-fork process-exec*)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read mach-lookup ipc-posix-shm*)
(allow pseudo-tty)
(allow file-read-metadata)
(allow file-read* file-map-executable
  (literal "/")
  (subpath "/usr") (subpath "/bin") (subpath "/sbin") (subpath "/System") (subpath "/Library/Apple")
  (subpath "/Library/Developer/CommandLineTools") (subpath "/opt/homebrew") (subpath "/private/etc/ssl")
  (subpath "/private/var/db/dyld") (subpath "/private/var/db/timezone")
  (literal "/private/etc/hosts") (literal "/private/etc/resolv.conf") (literal "/private/etc/protocols")
  (literal "/private/etc/services") (literal "/private/etc/localtime"))
(allow file-read* file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random")
  (literal "/dev/urandom") (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/(fd|ttys)"))
`)
	for _, p := range s.Readable {
		fmt.Fprintf(&b, "(allow file-read* file-map-executable%s)\n", subpaths(p))
	}
	for _, p := range s.Writable {
		fmt.Fprintf(&b, "(allow file-read* file-write* file-map-executable%s)\n", subpaths(p))
	}
	for _, r := range rs {
		where := "*"
		if r.addr.IsLoopback() && r.name == "" {
			where = "localhost"
		}
		fmt.Fprintf(&b, "(allow network-outbound (remote tcp \"%s:%d\"))\n", where, r.port)
		if where == "*" {
			b.WriteString("(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n")
		}
	}
	return b.String(), nil
}

// subpaths names a path and its target after following links, which is what the system
// compares.
func subpaths(p string) string {
	out := " (subpath " + quote(p) + ")"
	if real, err := filepath.EvalSymlinks(p); err == nil && real != p {
		out += " (subpath " + quote(real) + ")"
	}
	return out
}

// quote makes a string of the profile language.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// trySandbox makes one and has it proved on this machine that it holds: until then, nothing is
// replayed here.
func trySandbox() error {
	if _, err := sandboxTool(); err != nil {
		return errors.New("no sandbox-exec in /usr/bin, which comes with macOS")
	}
	return probe(Run)
}

func limited(Limits) (hold, lack []string) {
	return nil, []string{"memory", "processes", "files", "/tmp"}
}
