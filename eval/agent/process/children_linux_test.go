package process

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// childEnv makes the test binary a child of a test: see children.
const childEnv = "EVOLVE_PROCESS_TEST_CHILD"

var children = map[string]func(args []string) error{
	// dial prints what it receives from each address.
	"dial": func(args []string) error {
		for _, addr := range args {
			network := "tcp"
			if strings.HasPrefix(addr, "@") {
				network = "unix" // an abstract socket
			}
			c, err := net.DialTimeout(network, addr, 5*time.Second)
			if err != nil {
				fmt.Println("refused")
				continue
			}
			said, err := io.ReadAll(c)
			fmt.Printf("%s %v\n", said, err == nil && len(said) > 0)
			c.Close()
		}
		return nil
	},
	// get fetches over TLS, with the certificate of a file, and looks at what
	// it may do itself.
	"get": func(args []string) error {
		cert, err := os.ReadFile(args[1])
		if err != nil {
			return err
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(cert)
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
		resp, err := client.Get(args[0])
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if _, err := net.Listen("tcp", "127.0.0.1:81"); err == nil {
			return errors.New("it may listen below port 1024")
		}
		_, err = io.Copy(os.Stdout, resp.Body)
		return err
	},
	// run runs a shell that holds the named pipe open, for ever. Outside of a
	// sandbox nothing ends what a child has started, see Run.
	"run": func(args []string) error {
		c := sh(`trap '' TERM; exec 9>"$1"; echo $$ >&9; exec sleep 60`, args[1])
		if args[0] == "sandbox" {
			c.Args[1] = `trap '' TERM; exec 9>"$1"; echo $$ >&9; setsid sleep 60; sleep 60`
			c.Sandbox = &Sandbox{Writable: []string{filepath.Dir(args[1])}, Hosts: args[2:]}
		}
		_, err := Run(context.Background(), c)
		return err
	},
}

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		if err := children[name](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// goChild is a child of the test binary in a sandbox.
func goChild(t *testing.T, name string, box Sandbox, args ...string) Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	box.Readable = append(box.Readable, self)
	return Command{Path: self, Args: args, Env: []string{childEnv + "=" + name}, Sandbox: &box}
}

// greeter is a server on loopback that sends a word, and counts its connections.
func greeter(t *testing.T, network, addr, word string) (string, *atomic.Int64) {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	visits := new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			visits.Add(1)
			_, _ = io.WriteString(c, word)
			c.Close()
		}
	}()
	return l.Addr().String(), visits
}

// output runs a child that must end well.
func output(t *testing.T, c Command) string {
	t.Helper()
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Exit != 0 {
		t.Errorf("exit %d: %s", r.Exit, r.Stderr)
	}
	return string(r.Stdout)
}
