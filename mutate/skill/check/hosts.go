package check

import (
	"net/netip"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// Top-level domains that are endings of files as well, and those that are names of fields. A
// host that ends in a field is found with a path or a port only; of those that end like files
// doubtful-tld of firewall.yaml has the usual ones.
var (
	endings = setOf("sh py rs md pl pm cc zip so ps ml mm mk tf sv mov app java bz properties pub")
	fields  = setOf("id name date data map total read show")
)

func setOf(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// ofNetworks are names for the inside of a network, which no registry has.
var ofNetworks = map[string]bool{"internal": true, "local": true, "lan": true, "corp": true, "intranet": true, "localdomain": true}

var dots = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".")

// publicHost reports whether a dotted name is that of a host: it ends in a public suffix that is
// neither a file extension nor in except, or in the name of a private network. A name before
// "_" or "(" is code.
func publicHost(s string, except map[string]bool) bool {
	host := strings.ToLower(dots.Replace(s))
	if strings.HasSuffix(host, "(") || strings.HasSuffix(host, "_") {
		return false
	}
	if ascii, err := idna.ToASCII(host); err == nil {
		host = ascii
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if ofNetworks[last] {
		return true
	}
	suffix, known := publicsuffix.PublicSuffix(host)
	name := strings.TrimSuffix(strings.TrimSuffix(host, suffix), ".")
	return known && !endings[last] && !except[last] && strings.ContainsFunc(name, unicode.IsLetter)
}

// ipv6 distinguishes an address from a time, a range and the names of a program.
func ipv6(s string) bool {
	a, err := netip.ParseAddr(strings.Trim(s, " \t\n\"'`(=,<>"))
	return err == nil && a.Is6() && strings.ContainsFunc(s, unicode.IsDigit)
}
