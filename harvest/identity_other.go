//go:build !linux && !darwin

package harvest

import (
	"io/fs"
	"time"
)

// identity is not known here, so the last line of a file is compared.
func identity(fs.FileInfo) (device, inode uint64, changed time.Time) { return 0, 0, time.Time{} }
