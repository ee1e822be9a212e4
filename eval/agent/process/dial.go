package process

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

const (
	dialTimeout = 30 * time.Second
	// connectTimeout bounds a proxy's answer to CONNECT.
	connectTimeout = 30 * time.Second
)

// Loopback reports whether a host is this machine by its name alone. Another name, one below
// localhost too, is whatever a proxy or the DNS makes of it.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || strings.EqualFold(strings.TrimSuffix(host, "."), "localhost")
}

// Dialer dials a host; one that is Loopback at an address of loopback alone.
func Dialer(host string) *net.Dialer {
	d := &net.Dialer{Timeout: dialTimeout}
	if Loopback(host) {
		d.Control = func(_, address string, _ syscall.RawConn) error {
			if at, _, err := net.SplitHostPort(address); err != nil || !net.ParseIP(at).IsLoopback() {
				return fmt.Errorf("%s is %s, which is not this machine", host, address)
			}
			return nil
		}
	}
	return d
}

// dialOut connects to host:port as the owner's other programs do: through the proxy
// that the environment names, or directly.
func dialOut(ctx context.Context, host string) (net.Conn, error) {
	return dialThrough(ctx, host, http.ProxyFromEnvironment)
}

func dialThrough(ctx context.Context, host string, proxy func(*http.Request) (*url.URL, error)) (net.Conn, error) {
	scheme := "https"
	name, port, _ := net.SplitHostPort(host)
	if port == "80" {
		scheme = "http"
	}
	via, err := proxy(&http.Request{URL: &url.URL{Scheme: scheme, Host: host}})
	if err != nil {
		return nil, fmt.Errorf("find proxy: %w", err)
	}
	d := Dialer(name)
	if via == nil || Loopback(name) {
		return d.DialContext(ctx, "tcp", host)
	}
	return connect(ctx, d, via, host)
}

// connect asks an HTTP proxy for a tunnel (RFC 9110, section 9.3.6).
func connect(ctx context.Context, d *net.Dialer, via *url.URL, host string) (c net.Conn, err error) {
	port := via.Port()
	switch {
	case via.Scheme != "http" && via.Scheme != "https":
		return nil, fmt.Errorf("proxy %s: only http and https are known", via.Redacted())
	case port == "" && via.Scheme == "https":
		port = "443"
	case port == "":
		port = "80"
	}
	addr := net.JoinHostPort(via.Hostname(), port)
	if via.Scheme == "https" {
		c, err = (&tls.Dialer{NetDialer: d, Config: &tls.Config{ServerName: via.Hostname()}}).DialContext(ctx, "tcp", addr)
	} else {
		c, err = d.DialContext(ctx, "tcp", addr)
	}
	if err != nil {
		return nil, fmt.Errorf("dial proxy: %w", err)
	}
	give := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	_ = c.SetDeadline(time.Now().Add(connectTimeout))
	err = tunnel(c, via, host)
	if !give() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("proxy %s: %w", via.Redacted(), err)
	}
	return c, c.SetDeadline(time.Time{})
}

func tunnel(c net.Conn, via *url.URL, host string) error {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: host}, Host: host, Header: make(http.Header)}
	if u := via.User; u != nil {
		password, _ := u.Password()
		req.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)))
	}
	if err := req.Write(c); err != nil {
		return err
	}
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	// The client speaks first in every protocol that we carry.
	if r.Buffered() > 0 {
		return errors.New("the host spoke before it was asked")
	}
	return nil
}
