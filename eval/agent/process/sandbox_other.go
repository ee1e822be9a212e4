//go:build !linux && !darwin

package process

import (
	"errors"
	"os/exec"
)

// A box is a sandbox that is prepared for one child.
type box struct{}

func openBox(*Command) (*exec.Cmd, *box, error) { return nil, nil, trySandbox() }
func (*box) started()                           {}
func (*box) watch(*child)                       {}
func (*box) terminate(int)                      {}
func (*box) failure(*Result) error              { return nil }
func (*box) close()                             {}

var sandboxTool = func() (string, error) { return "", trySandbox() }

func trySandbox() error { return errors.New("no sandbox is known for this system") }

func limited(Limits) (hold, lack []string) { return nil, nil }

// systemDirs hold the programs that every child sees: there is no sandbox.
var systemDirs []string
