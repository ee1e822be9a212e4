//go:build unix

package process

import "os"

// init lets this very program run as a guard or inside a sandbox: then main does not
// start. This includes test binaries.
func init() {
	if spec, ok := os.LookupEnv(guardEnv); ok {
		os.Exit(guard(spec))
	}
	errands()
}
