package process

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// aProxy is an HTTP proxy on loopback that answers CONNECT with the status and, if that
// is 200, echoes one line.
func aProxy(t *testing.T, status string) (*url.URL, <-chan *http.Request) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	asked := make(chan *http.Request, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		r := bufio.NewReader(c)
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		asked <- req
		if status == "" { // it never answers
			_, _ = r.ReadByte()
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 "+status+"\r\n\r\n")
		line, err := r.ReadString('\n')
		if err == nil {
			_, _ = io.WriteString(c, "echo "+line)
		}
	}()
	return &url.URL{Scheme: "http", User: url.UserPassword("me", "pass word"), Host: l.Addr().String()}, asked
}

func through(u *url.URL) func(*http.Request) (*url.URL, error) {
	return func(*http.Request) (*url.URL, error) { return u, nil }
}

func TestDialThroughProxy(t *testing.T) {
	proxy, asked := aProxy(t, "200 Connection established")
	c, err := dialThrough(t.Context(), "api.example.com:443", through(proxy))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if said, err := io.ReadAll(c); err != nil || string(said) != "echo hello\n" {
		t.Errorf("%q, %v", said, err)
	}
	req := <-asked
	if req.Method != http.MethodConnect || req.Host != "api.example.com:443" || req.RequestURI != "api.example.com:443" {
		t.Errorf("%s %s, host %s", req.Method, req.RequestURI, req.Host)
	}
	if got := req.Header.Get("Proxy-Authorization"); got != "Basic bWU6cGFzcyB3b3Jk" {
		t.Errorf("authorization %q", got)
	}
}

func TestDialProxyRefuses(t *testing.T) {
	proxy, _ := aProxy(t, "407 Proxy Authentication Required")
	_, err := dialThrough(t.Context(), "api.example.com:443", through(proxy))
	if err == nil || !strings.Contains(err.Error(), "407") || strings.Contains(err.Error(), "pass") {
		t.Errorf("err = %v, want the status and no password", err)
	}
	_, err = dialThrough(t.Context(), "api.example.com:443", through(&url.URL{Scheme: "socks5", Host: "127.0.0.1:1"}))
	if err == nil || !strings.Contains(err.Error(), "only http") {
		t.Errorf("err = %v", err)
	}
}

func TestDialProxyHangs(t *testing.T) {
	proxy, asked := aProxy(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	begun := time.Now()
	if _, err := dialThrough(ctx, "api.example.com:443", through(proxy)); err == nil || time.Since(begun) > 30*time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

func TestDialDirect(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var asked *url.URL
	c, err := dialThrough(t.Context(), l.Addr().String(), func(r *http.Request) (*url.URL, error) {
		asked = r.URL
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if asked.Scheme != "https" || asked.Host != l.Addr().String() {
		t.Errorf("asked for the proxy of %v", asked)
	}
	no := errors.New("no")
	if _, err := dialThrough(t.Context(), "h:80", func(r *http.Request) (*url.URL, error) { asked = r.URL; return nil, no }); !errors.Is(err, no) || asked.Scheme != "http" {
		t.Errorf("%v, %v", err, asked)
	}
}

// What is for this machine goes neither through a proxy nor to another address.
func TestDialThisMachine(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, host := range []string{"LOCALHOST", "127.0.0.1"} {
		c, err := dialThrough(t.Context(), net.JoinHostPort(host, port), func(*http.Request) (*url.URL, error) {
			return url.Parse("http://192.0.2.1:3128")
		})
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		c.Close()
	}
	d := Dialer("localhost")
	if err := d.Control("tcp", "192.0.2.1:80", nil); err == nil {
		t.Error("a name of this machine that the DNS leads elsewhere was dialled")
	}
}
