//go:build !unix

package install

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: files here belong to the user who may write the folder.
func keepOwner(*os.File, fs.FileInfo) error { return nil }
