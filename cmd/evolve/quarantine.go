package main

import (
	"os/user"
)

const ()

// whoami is the name of the user who types.
func whoami() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}
