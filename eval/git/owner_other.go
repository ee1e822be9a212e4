//go:build !unix

package git

import "io/fs"

// ours cannot determine a file's owner here.
func ours(fs.FileInfo, fs.FileInfo) bool { return true }
