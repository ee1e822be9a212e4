package process

import "sync"

// A Sandbox is what a child may reach. Everything else does not exist for it:
// no other process, no network, of the file system the system's own folders,
// read-only, and an empty /tmp of its own.
type Sandbox struct {
	Writable []string // folders, absolute; under the same names inside
	Readable []string // files and folders beyond the system's, absolute
	// Hosts are the only way out, as host:port. A loopback address is this
	// machine's own.
	Hosts []string
}

var available = sync.OnceValue(trySandbox)

// Available says why no sandbox can be made on this machine, in one line, and
// what to do about it; nil where one can. It tries once.
func Available() error { return available() }
