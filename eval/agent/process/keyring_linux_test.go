package process

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// keyName and keySecret are a key in the session keyring of the user who runs evolve.
const (
	keyName   = "evolve-test-ticket"
	keySecret = "a-ticket-of-nobody"
)

func init() {
	// keyring-owner puts keys into a session keyring of its own and the user's, and
	// becomes a process whose threads all have it.
	children["keyring-owner"] = func(args []string) error {
		runtime.LockOSThread()
		if _, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0); err != nil {
			return fmt.Errorf("no keyrings: %w", err)
		}
		// As pam_keyinit does; what is in it is the session's, too.
		if _, err := unix.KeyctlInt(unix.KEYCTL_LINK, unix.KEY_SPEC_USER_KEYRING, unix.KEY_SPEC_SESSION_KEYRING, 0, 0); err != nil {
			return fmt.Errorf("no keyrings: %w", err)
		}
		serials := []string{}
		for _, ring := range []int{unix.KEY_SPEC_SESSION_KEYRING, unix.KEY_SPEC_USER_KEYRING} {
			serial, err := unix.AddKey("user", keyName, []byte(keySecret), ring)
			if err != nil {
				return fmt.Errorf("no keyrings: %w", err)
			}
			// All of its user's processes may read it, as they may the cache of Kerberos.
			if err := unix.KeyctlSetperm(serial, 0x3f3f0000); err != nil {
				return err
			}
			serials = append(serials, strconv.Itoa(serial))
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		return syscall.Exec(self, append(append([]string{self}, serials...), args...), append(inherited("PATH"), childEnv+"=keyring-runner"))
	}
	// keyring-runner is evolve: it can read the keys, and runs a child in a sandbox.
	children["keyring-runner"] = func(args []string) error {
		for _, serial := range args[:2] {
			n, err := strconv.Atoi(serial)
			if err != nil {
				return err
			}
			if got := readKey(n); got != keySecret {
				return fmt.Errorf("outside the key reads %q", got)
			}
		}
		defer unix.KeyctlInt(unix.KEYCTL_CLEAR, unix.KEY_SPEC_SESSION_KEYRING, 0, 0, 0)
		defer func() {
			if n, err := strconv.Atoi(args[1]); err == nil {
				_, _ = unix.KeyctlInt(unix.KEYCTL_UNLINK, n, unix.KEY_SPEC_USER_KEYRING, 0, 0)
			}
		}()
		self, err := os.Executable()
		if err != nil {
			return err
		}
		r, err := Run(context.Background(), Command{Path: self, Args: args[:2], Env: []string{childEnv + "=keyring-thief"},
			Sandbox: &Sandbox{Readable: []string{self}, Hosts: args[2:]}})
		if err != nil {
			return err
		}
		fmt.Printf("%s%s", r.Stdout, r.Stderr)
		return nil
	}
	// keyring-thief prints the keys that it finds.
	children["keyring-thief"] = func(args []string) error {
		runtime.LockOSThread()
		for _, serial := range args {
			n, _ := strconv.Atoi(serial)
			fmt.Printf("by number: %s\n", readKey(n))
		}
		for _, ring := range []int{unix.KEY_SPEC_SESSION_KEYRING, unix.KEY_SPEC_USER_KEYRING, unix.KEY_SPEC_USER_SESSION_KEYRING,
			unix.KEY_SPEC_PROCESS_KEYRING, unix.KEY_SPEC_THREAD_KEYRING} {
			n, err := unix.KeyctlSearch(ring, "user", keyName, 0)
			fmt.Printf("by name: %v %s\n", err, readKey(n))
			_, err = unix.AddKey("user", "evolve-test-left", []byte("x"), ring)
			fmt.Printf("added: %v\n", err)
		}
		n, err := unix.RequestKey("user", keyName, "", unix.KEY_SPEC_SESSION_KEYRING)
		fmt.Printf("requested: %v %s\n", err, readKey(n))
		_, err = unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)
		fmt.Printf("joined: %v\n", err)
		for _, file := range []string{"/proc/keys", "/proc/key-users"} {
			list, _ := os.ReadFile(file)
			fmt.Printf("listed: %t\n", len(list) > 0)
		}
		return nil
	}
}

// readKey is the content of a key, "" if it cannot be read.
func readKey(serial int) string {
	b := make([]byte, 256)
	n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, serial, b, 0)
	if err != nil {
		return ""
	}
	return string(b[:min(n, len(b))])
}

// What the keyrings of the session and the user hold (tickets of Kerberos, tokens
// of file systems) is nothing of a child's in a sandbox, with and without hosts.
func TestSandboxHasNoKeyring(t *testing.T) {
	needSandbox(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, hosts := range [][]string{nil, {"example.com:443"}} {
		r, err := Run(t.Context(), Command{Path: self, Args: hosts, Env: append(inherited("PATH"), childEnv+"=keyring-owner")})
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(r.Stderr, "no keyrings: ") {
			t.Skip(r.Stderr) // a container's filter, or a kernel without them
		}
		if r.Exit != 0 {
			t.Fatalf("exit %d: %s", r.Exit, r.Stderr)
		}
		want := slices.Concat(slices.Repeat([]string{"by number: "}, 2),
			slices.Repeat([]string{"by name: function not implemented ", "added: function not implemented"}, 5),
			[]string{"requested: function not implemented ", "joined: function not implemented", "listed: false", "listed: false", ""})
		if got := string(r.Stdout); got != strings.Join(want, "\n") {
			t.Errorf("with hosts %q the child finds:\n%s", hosts, got)
		}
	}
}
