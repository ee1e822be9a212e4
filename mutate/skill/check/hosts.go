package check

import (
	"net/netip"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

var dots = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".")

// publicHost reports whether a dotted name is that of a host: it ends in a public suffix that
// files do not end in, or in the name of a private network. A name before "_" or "(" is code.
// One that ends like a field (order.id) is none unless it is reached, by a path or a port.
func publicHost(s string, reached bool) bool {
	host := strings.ToLower(dots.Replace(s))
	if strings.HasSuffix(host, "(") || strings.HasSuffix(host, "_") {
		return false
	}
	if ascii, err := idna.ToASCII(host); err == nil {
		host = ascii
	}
	if patternOf("private-network").MatchString(host) {
		return true
	}
	suffix, known := publicsuffix.PublicSuffix(host)
	name := strings.TrimSuffix(strings.TrimSuffix(host, suffix), ".")
	return known && strings.ContainsFunc(name, unicode.IsLetter) && !patternOf("file-ending").MatchString(host) &&
		(reached || !patternOf("field-name").MatchString(host))
}

// ipv6 distinguishes an address from a time, a range and the names of a program.
func ipv6(s string) bool {
	a, err := netip.ParseAddr(strings.Trim(s, " \t\n\"'`(=,<>"))
	return err == nil && a.Is6() && strings.ContainsFunc(s, unicode.IsDigit)
}
