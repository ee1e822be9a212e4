//go:build unix

package git

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a repository belongs to this user, to root, or to the owner of
// the folder from which it was found.
func ours(repository, folder fs.FileInfo) bool {
	r, known := repository.Sys().(*syscall.Stat_t)
	f, also := folder.Sys().(*syscall.Stat_t)
	return !known || !also || r.Uid == 0 || r.Uid == f.Uid || int(r.Uid) == os.Geteuid()
}
