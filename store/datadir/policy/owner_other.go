//go:build !unix

package policy

import (
	"errors"
	"io/fs"
)

// byRoot returns an error: there is no root here.
func byRoot(fs.FileInfo) error { return errors.New("policies are read on Unix alone") }
