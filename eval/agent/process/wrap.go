package process

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// Wrap prepares a command that other code starts, such as a library that starts its
// program by itself. Started as path, with args (more may follow) and env (more may be
// set), it runs under the rules of Run: in a group and, if c.Sandbox is set, a sandbox
// of its own, with the standard streams of its starter. path is this very program,
// which runs between them as a guard. It may be started once.
//
// stop ends what was started, as Run does when its context ends, and frees everything;
// it must be called, and may be called again. Everything also ends when the guard is
// signalled or killed and when this process ends. If a limit of the sandbox ended it, the
// error of stop is a LimitError. The guard's exit code is the child's, 128 + the signal if a signal ended the child, and 126 with a line on stderr if it
// could not be started.
//
// Stdin, Line, MaxOutput and Sandbox.Dial cannot be used and must be unset. On systems
// without process groups path is c.Path itself, and stop does nothing.
func Wrap(c Command) (path string, args, env []string, stop func() error, err error) {
	if c.Stdin != nil || c.Line != nil || c.MaxOutput != 0 || c.Sandbox != nil && c.Sandbox.Dial != nil {
		return "", nil, nil, nil, errors.New("wrap: Stdin, Line, MaxOutput and Dial are whoever's who starts it")
	}
	path, args, env, stop, err = wrap(c)
	if err != nil {
		err = fmt.Errorf("wrap %s: %w", c.Path, err)
	}
	return path, args, env, stop, err
}

// A leash connects us with a guard: two named pipes in a private folder.
type leash struct {
	Path    string
	Dir     string
	Grace   time.Duration
	Sandbox *Sandbox
	Tool    string   // the program that makes sandboxes, which need not be on the child's PATH
	Ours    []string // variables of ours that it needs for the sandbox, and the child does not get
	Folder  string
}

// alive is held open by us; when it ends, so does the guard.
func (l *leash) alive() string { return filepath.Join(l.Folder, "alive") }

// report carries the group's number, the limit that ended it, and "end" if the guard has
// ended it.
func (l *leash) report() string { return filepath.Join(l.Folder, "report") }

func newLeash(c Command) *leash {
	l := &leash{Path: c.Path, Dir: c.Dir, Grace: c.Grace, Sandbox: c.Sandbox}
	if c.Sandbox != nil {
		box := *c.Sandbox
		box.Limits = box.limits()
		l.Sandbox = &box
	}
	l.Ours = inherited("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
	if l.Grace <= 0 {
		l.Grace = defaultGrace
	}
	return l
}
