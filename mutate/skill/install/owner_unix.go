//go:build unix

package install

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner and the group of the file that it will replace.
// It is an error if that is not allowed: a file that changes its owner may
// become unreadable for the old one.
func keepOwner(f *os.File, like fs.FileInfo) error {
	was, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if is, ok := info.Sys().(*syscall.Stat_t); ok && is.Uid == was.Uid && is.Gid == was.Gid {
		return nil
	}
	if err := f.Chown(int(was.Uid), int(was.Gid)); err != nil {
		return fmt.Errorf("keep its owner (user %d, group %d): %w", was.Uid, was.Gid, err)
	}
	return nil
}
