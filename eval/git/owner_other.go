//go:build !unix

package git

import "io/fs"

// ours cannot tell here whose a file is.
func ours(fs.FileInfo, fs.FileInfo) bool { return true }
