package harvest

import (
	"io/fs"
	"syscall"
	"time"
)

// identity is what only the system can set: the file's device and inode, and when
// anything of it was last changed.
func identity(info fs.FileInfo) (device, inode uint64, changed time.Time) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, time.Time{}
	}
	return uint64(s.Dev), uint64(s.Ino), time.Unix(s.Ctim.Unix())
}
