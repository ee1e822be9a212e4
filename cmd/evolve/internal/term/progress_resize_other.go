//go:build !unix

package term

import "os"

// onResize tells nothing: the next draw asks for the size anyway.
func onResize() (resized <-chan os.Signal, end func()) { return nil, func() {} }
