package process

import (
	"os"
	"sync"
)

// The kernel keeps keys for a session and for a user: tickets of Kerberos, tokens of
// file systems, whatever pam_keyinit links. No namespace separates them. A child with
// an empty session keyring of its own could still read by their numbers all keys that
// the user's processes may read. So it may make no system call for keys: these fail as
// on a kernel without keys, which programs are prepared for.

// hiddenKeys covers the lists of keys, whose descriptions show their purpose.
var hiddenKeys = sync.OnceValue(func() (args []string) {
	for _, list := range []string{"/proc/keys", "/proc/key-users"} {
		if _, err := os.Stat(list); err == nil {
			args = append(args, "--ro-bind", "/dev/null", list)
		}
	}
	return args
})
