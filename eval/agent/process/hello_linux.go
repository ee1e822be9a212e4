package process

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
)

// The relay dials an allowed host by its name. The server at its address may serve many other
// hosts. A client names the host that it wants in its first TLS message, which is not
// encrypted. The relay reads that message and passes it on unchanged; it decrypts nothing.

const (
	tlsPort   = "443"
	handshake = 22 // the first byte of TLS
	maxHello  = 64 << 10
)

// An otherNameError is a connection for another host than the one that it goes to.
type otherNameError struct{ host, asked string }

func (e *otherNameError) Error() string {
	return fmt.Sprintf("refused a connection to %s: it asked for %s", e.host, e.asked)
}

// opening reads the first bytes of a connection to host, and returns them, or an
// otherNameError. Only a named host has a name to compare. At other ports than that of
// TLS anything may be spoken.
func opening(in io.Reader, host string) ([]byte, error) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return nil, err
	}
	if _, err := netip.ParseAddr(name); err == nil || strings.EqualFold(name, "localhost") {
		return nil, nil
	}
	first := make([]byte, 1)
	if _, err := io.ReadFull(in, first); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if first[0] != handshake {
		if port == tlsPort {
			return nil, &otherNameError{host, "something without TLS"}
		}
		return first, nil
	}
	asked, read := serverName(io.MultiReader(bytes.NewReader(first), in))
	switch {
	case strings.EqualFold(asked, strings.TrimSuffix(name, ".")):
		return read, nil
	case asked == "":
		return nil, &otherNameError{host, "no host by name"}
	}
	return nil, &otherNameError{host, fmt.Sprintf("%.100q", asked)}
}

// serverName is the host that a client of TLS asks for, "" for none, and what was read to
// learn it.
func serverName(in io.Reader) (name string, read []byte) {
	var record bytes.Buffer
	seen := errors.New("seen")
	// It fails in any case.
	_ = tls.Server(recorded{Reader: io.TeeReader(io.LimitReader(in, maxHello), &record)}, &tls.Config{
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			name = hello.ServerName
			return nil, seen
		},
	}).Handshake()
	return name, record.Bytes()
}

// recorded is a connection of which only the first message is of interest.
type recorded struct {
	net.Conn // nil: nothing else is called
	io.Reader
}

func (r recorded) Read(b []byte) (int, error)  { return r.Reader.Read(b) }
func (r recorded) Write(b []byte) (int, error) { return len(b), nil }
