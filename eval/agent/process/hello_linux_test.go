package process

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// slow writes one byte at a time.
type slow struct{ net.Conn }

func (s slow) Write(b []byte) (int, error) {
	for i := range b {
		if _, err := s.Conn.Write(b[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(b), nil
}

func init() {
	// ask gets a page from an address, for each name that it says: "-" says none, "plain"
	// speaks no TLS, "slow:" before a name sends bytes one by one.
	children["ask"] = func(args []string) error {
		for _, name := range args[1:] {
			page, err := ask(args[0], name)
			if err != nil {
				page = "refused"
			}
			fmt.Printf("%s: %s\n", name, page)
		}
		return nil
	}
}

func ask(addr, name string) (string, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	name, slowly := strings.CutPrefix(name, "slow:")
	if slowly {
		c = slow{c}
	}
	if name != "plain" {
		c = tls.Client(c, &tls.Config{ServerName: strings.Trim(name, "-"), InsecureSkipVerify: true})
	}
	if _, err := fmt.Fprintf(c, "GET / HTTP/1.0\r\nHost: x\r\n\r\n"); err != nil {
		return "", err
	}
	page, err := io.ReadAll(c)
	_, body, _ := strings.Cut(string(page), "\r\n\r\n")
	return body, err
}

// A host is met under its own name alone, although its server has others.
func TestSandboxOtherName(t *testing.T) {
	needSandbox(t)
	var requests atomic.Int64
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		name := "plain"
		if r.TLS != nil {
			name = r.TLS.ServerName
		}
		_, _ = io.WriteString(w, "hello "+name)
	})
	secure, plain := httptest.NewTLSServer(page), httptest.NewServer(page)
	defer secure.Close()
	defer plain.Close()
	first, _ := greeter(t, "tcp", "127.0.0.1:0", "welcome")
	box := Sandbox{Hosts: []string{"model.example.com:443", "model.example.com:8443", "model.example.com:80", "192.0.2.7:443", "first.example.com:25"}}
	box.Dial = func(ctx context.Context, host string) (net.Conn, error) {
		to := secure
		switch host {
		case "model.example.com:80":
			to = plain
		case "first.example.com:25":
			return new(net.Dialer).DialContext(ctx, "tcp", first)
		}
		return new(net.Dialer).DialContext(ctx, "tcp", to.Listener.Addr().String())
	}
	const own, other, upper = "model.example.com", "other.example.com", "Model.EXAMPLE.com"
	for _, k := range []struct {
		addr string
		asks []string
		want string
		came int64 // requests that arrive
	}{
		{"model.example.com:443", []string{own, other, "-", "plain", upper, "slow:" + own, "slow:" + other},
			"hello " + own + "|refused|refused|refused|hello " + upper + "|hello " + own + "|refused", 3},
		{"model.example.com:8443", []string{own, other, "-"}, "hello " + own + "|refused|refused", 1},
		{"model.example.com:80", []string{"plain", other}, "hello plain|refused", 1},
		{"192.0.2.7:443", []string{"-", other}, "hello |hello " + other, 2}, // whoever it is, it was allowed
	} {
		requests.Store(0)
		r, err := Run(t.Context(), goChild(t, "ask", box, append([]string{k.addr}, k.asks...)...))
		if err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for i, page := range strings.Split(k.want, "|") {
			fmt.Fprintf(&want, "%s: %s\n", k.asks[i], page)
		}
		if string(r.Stdout) != want.String() || requests.Load() != k.came {
			t.Errorf("%s: %d requests\n%s, want\n%s", k.addr, requests.Load(), r.Stdout, &want)
		}
		told := strings.Contains(r.Stderr, fmt.Sprintf("evolve: refused a connection to %s: it asked for %q\n", k.addr, other))
		if told != strings.Contains(want.String(), "refused") {
			t.Errorf("%s: it is told %q", k.addr, r.Stderr)
		}
	}
	if got := output(t, goChild(t, "dial", box, "first.example.com:25")); got != "welcome true\n" {
		t.Errorf("a server that speaks first says %q", got)
	}
}

func FuzzOpening(f *testing.F) {
	for _, name := range []string{"model.example.com", "other.example.com", ""} {
		f.Add(helloOf(name), true)
	}
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), false)
	f.Add([]byte{}, true)
	f.Fuzz(func(t *testing.T, sent []byte, secure bool) {
		host := "model.example.com:80"
		if secure {
			host = "model.example.com:443"
		}
		read, err := opening(bytes.NewReader(sent), host)
		if err != nil {
			var other *otherNameError
			if !errors.As(err, &other) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("error %q", err)
			}
			return
		}
		if !bytes.HasPrefix(sent, read) {
			t.Error("it passes on what was not sent")
		}
		if len(sent) > 0 && (secure || sent[0] == handshake) {
			if name, _ := serverName(bytes.NewReader(sent)); !strings.EqualFold(name, "model.example.com") {
				t.Errorf("a connection for %q passes", name)
			}
		}
	})
}

// helloOf is the first message of a client that asks for a name.
func helloOf(name string) []byte {
	var sent bytes.Buffer
	_ = tls.Client(sink{sent: &sent}, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake()
	return sent.Bytes()
}

// sink is a connection that keeps what is written.
type sink struct {
	net.Conn
	sent *bytes.Buffer
}

func (s sink) Write(b []byte) (int, error) { return s.sent.Write(b) }
func (sink) Read([]byte) (int, error)      { return 0, io.EOF }
