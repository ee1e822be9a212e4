package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// probeScript tries what a sandbox must allow and then what it must refuse.
const probeScript = `
cat "$1" && echo x > "$2" && (exec 3<>"/dev/tcp/127.0.0.1/$3") && echo allowed
cat "$4"
echo x > "$5"
(exec 3<>"/dev/tcp/127.0.0.1/$6" && read -r -t 1 -u 3)
exit 0
`

// probe runs a script through run, in a sandbox, and returns an error unless the script could
// do what the sandbox allows and nothing else: read another file, write another file, reach
// another server. What was refused is seen from outside, not told by the script.
func probe(run func(context.Context, Command) (*Result, error)) (err error) {
	root, err := os.MkdirTemp("", "evolve-probe-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	inside, outside := filepath.Join(root, "inside"), filepath.Join(root, "outside")
	shared, secret := rand.Text(), rand.Text()
	for dir, text := range map[string]string{inside: shared, outside: secret} {
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "text"), []byte(text), 0o600)); err != nil {
			return err
		}
	}
	open, err := listenLocal()
	if err != nil {
		return err
	}
	defer open.Close()
	shut, err := listenLocal()
	if err != nil {
		return err
	}
	defer shut.Close()
	port := func(l *net.TCPListener) string { return strconv.Itoa(l.Addr().(*net.TCPAddr).Port) }

	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r, err := run(ctx, Command{
		Path: "/bin/bash",
		Args: []string{"-c", probeScript, "probe", filepath.Join(inside, "text"), filepath.Join(inside, "written"), port(open), filepath.Join(outside, "text"), filepath.Join(outside, "written"), port(shut)},
		Env:  []string{"PATH=/usr/bin:/bin"}, MaxOutput: 1 << 16,
		Sandbox: &Sandbox{Writable: []string{inside}, Hosts: []string{open.Addr().String()}},
	})
	if err != nil {
		return err
	}
	_, missing := os.Stat(filepath.Join(inside, "written"))
	if out := string(r.Stdout); missing != nil || !strings.Contains(out, shared) || !strings.Contains(out, "allowed") {
		return fmt.Errorf("programs cannot work in the sandbox: exit %d: %s", r.Exit, strings.TrimSpace(r.Stderr))
	}
	if strings.Contains(string(r.Stdout), secret) {
		return errors.New("the sandbox does not hold: a program in it read a file of yours")
	}
	if _, err := os.Stat(filepath.Join(outside, "written")); err == nil {
		return errors.New("the sandbox does not hold: a program in it wrote a file of yours")
	}
	// A connection that was made waits to be accepted; the script gave a way out a second to make it.
	if err := shut.SetDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		return err
	}
	if c, err := shut.Accept(); err == nil {
		return errors.Join(errors.New("the sandbox does not hold: a program in it reached another server"), c.Close())
	}
	return nil
}

func listenLocal() (*net.TCPListener, error) {
	return net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
}
