//go:build !linux

package hook

import "os"

func passing(dir string) (f *os.File, remove func(), err error) { return named(dir) }
