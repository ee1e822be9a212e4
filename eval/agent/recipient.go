package agent

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/agent/process"
)

// A Recipient gets the text that a role is asked with. This machine is none.
type Recipient struct {
	Vendor string `json:"vendor"` // as owners allow it, never ""
	// Host and Port are its server's; "" if they are not known.
	Host string `json:"host,omitempty"`
	Port string `json:"-"`
}

// Address is the recipient's host, with its port if that is not 443; "" if the host is
// not known.
func (r Recipient) Address() string {
	if r.Host == "" || r.Port == "443" {
		return r.Host
	}
	return net.JoinHostPort(r.Host, r.Port)
}

// The kinds of requests, by what they are for.
const (
	Replay = "replay" // an agent does what a case asks for
	Mutate = "mutate" // a model writes a text of a skill
	Judge  = "judge"  // a model grades an answer, or reads what a candidate changes
	Mine   = "mine"   // a model writes cases, or reads what a user replied
)

// Setup is what replays load of their owner. It goes along with requests of the kind Replay to
// the agent's own vendor, and to those for which the owner agreed to this, too.
const Setup = "setup"

// Requests are all kinds of requests.
var Requests = []string{Replay, Mutate, Judge, Mine}

// vendors are who has the servers of a domain. Of any other host the name is the vendor.
var vendors = []struct{ domain, vendor string }{
	{"anthropic.com", "anthropic"},
	{"openai.com", "openai"},
	{"chatgpt.com", "openai"},
	{"github.com", "github"},
	{"githubcopilot.com", "github"},
	{"githubusercontent.com", "github"},
	{"generativelanguage.googleapis.com", "google"},
	{"openrouter.ai", "openrouter"},
}

// Vendors are the names of the vendors that have known servers.
func Vendors() (out []string) {
	for _, v := range vendors {
		out = append(out, v.vendor)
	}
	return slices.Compact(out)
}

// At are the recipients behind an address: a base URL, a host or host:port. An address of
// this machine has none, as far as can be known: a server on it may forward what it gets.
func At(address string) []Recipient {
	host, port := address, "443"
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		if host = u.Hostname(); u.Scheme == "http" {
			port = "80"
		}
		port = cmp.Or(u.Port(), port)
	} else if h, p, err := net.SplitHostPort(address); err == nil {
		host, port = h, p
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if process.Loopback(host) {
		return nil
	}
	for _, v := range vendors {
		if host == v.domain || strings.HasSuffix(host, "."+v.domain) {
			return []Recipient{{v.vendor, host, port}}
		}
	}
	return []Recipient{{host, host, port}}
}

// HTTP is a client for one server: that of a base URL. It waits 30 s for a connection and,
// because a model may think for long, without limit for an answer. It follows no redirect,
// and reaches a server of this machine without a proxy.
func HTTP(base string) *http.Client {
	host := ""
	if u, err := url.Parse(base); err == nil {
		host = u.Hostname()
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = process.Dialer(host).DialContext
	if process.Loopback(host) {
		t.Proxy = nil
	}
	t.MaxIdleConnsPerHost = 64 // the default of 2 would reconnect all the time
	return &http.Client{Transport: t, CheckRedirect: func(to *http.Request, _ []*http.Request) error {
		return fmt.Errorf("the server redirects to %s, and only the address that you named is asked: name the other one if you mean it", to.URL.Host)
	}}
}

// Server is the Kind.Asks of a backend that asks one server: that of its base URL, else
// the vendor's own.
func Server(own string) func(*Opening) []Recipient {
	return func(o *Opening) []Recipient {
		if o.BaseURL != "" {
			return At(o.BaseURL)
		}
		return At(own)
	}
}

// Recipients are who gets the text of requests if the backend is opened so; none if it
// stays on this machine, or goes to a person. A backend that does not tell is a vendor of
// its own name.
func (k *Kind) Recipients(o *Opening) []Recipient {
	switch {
	case k.ByHand, k.Simulated:
		return nil
	case k.Asks == nil:
		return []Recipient{{Vendor: k.Name}}
	}
	return k.Asks(o)
}
