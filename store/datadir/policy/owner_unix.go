//go:build unix

package policy

import (
	"errors"
	"io/fs"
	"syscall"
)

// byRoot returns an error if a file is not root's alone to write.
func byRoot(info fs.FileInfo) error {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.Uid != 0 {
		return errors.New("it does not belong to root")
	}
	if info.Mode().Perm()&0o022 != 0 {
		return errors.New("others than root can write it")
	}
	return nil
}
