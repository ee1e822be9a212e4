package redact

import (
	"net/url"
	"strings"
)

// element finds the value of <password>X</password>, whose name is s[at:close]
// with close at its '>'.
func (n secretName) element(s string, at, close int) (start, end int, ok bool) {
	const longest = 512
	from := at
	for from > 0 && at-from < 32 && (dotted[s[from-1]] || s[from-1] == ':') {
		from--
	}
	if from == 0 || s[from-1] != '<' {
		return 0, 0, false
	}
	const literally = "<![CDATA["
	start = skip(s, close+1, " \t\r\n", 32)
	if strings.HasPrefix(s[start:], literally) {
		start += len(literally)
	}
	end = run(s[:min(len(s), start+longest)], start, elementText)
	if strings.HasPrefix(s[end:], ">") && strings.HasSuffix(s[start:end], "]]") {
		end -= len("]]")
	} else if !strings.HasPrefix(s[skip(s, end, " \t\r\n", 32):], "</") {
		return 0, 0, false
	}
	v := s[start:end]
	return start, end, n.plain(v) && strings.ContainsAny(v, "0123456789!@#%^&*+?~-_.")
}

var elementText = func() *class {
	c := new(class)
	for b := ' ' + 1; b < 256; b++ {
		c[b] = b != '<' && b != '>' && b != '"'
	}
	return c
}()

// plain reports whether v, without anything around it, may be the value of such a
// name.
func (n secretName) plain(v string) bool {
	return len(v) >= 6 && known(v) && !codeLike(v, false) && !algorithm(v) &&
		(!n.weak || len(v) >= 12 && mixed(v) && entropy(v) >= 3)
}

// below finds the value that stands alone on the line behind `password:`, as YAML
// has it folded. s[at] begins the name, s[after] is what follows the sign.
func (n secretName) below(s string, at, after int) (start, end int, ok bool) {
	i := skip(s, after, "|>-+", 2) // a block of YAML
	i = skip(s, i, " \t\r", 8)
	if i == len(s) || s[i] != '\n' {
		return 0, 0, false
	}
	start, end = argument(s, skip(s, i, " \t\r\n", 64))
	stop := skip(s, skip(s, end, "\"'`", 1), " \t\r", 16)
	if stop < len(s) && s[stop] != '\n' { // more than one word
		return 0, 0, false
	}
	v := s[start:end]
	if !n.plain(v) || !mixed(v) || strings.HasSuffix(v, ":") {
		return 0, 0, false
	}
	return start, end, strong(v) || begins(s, at)
}

// begins reports whether the name that goes on at s[at] is the first of its line,
// as in a list of settings and unlike in `if password:`.
func begins(s string, at int) bool {
	for at > 0 && dotted[s[at-1]] {
		at--
	}
	for at > 0 && strings.IndexByte(" \t\"'-#>", s[at-1]) >= 0 {
		at--
	}
	return at == 0 || s[at-1] == '\n'
}

// column finds the first value below the head of a table's column, in Markdown
// and as the clients of databases print it.
func (n secretName) column(s string, at int) (start, end int, ok bool) {
	const widest, rows = 1024, 200
	from := max(0, at-widest)
	if i := strings.LastIndexByte(s[from:at], '\n'); i >= 0 {
		from += i + 1
	}
	line, next := lineAt(s, from, at-from+widest)
	sign := "|"
	for _, c := range [...]string{"\t", ";", ","} { // what separates the cells of CSV
		if !strings.Contains(line, sign) {
			sign = c
		}
	}
	if next < 0 || !strings.Contains(line, sign) {
		return 0, 0, false
	}
	cells := strings.Count(line, sign)
	if sign == "|" {
		first := next
		if line, next = lineAt(s, next, widest); !ruled(line) {
			if s[from] != '|' || cells < 4 || strings.Count(line, sign) != cells {
				return 0, 0, false
			}
			next = first // typed without a rule
		}
	} else if run(line, 0, csvHead) < len(line) || next >= len(s) || cells == 0 {
		return 0, 0, false
	}
	nth := strings.Count(s[from:at], sign)
	for row := 0; row < rows && next >= 0; row++ {
		from := next
		if line, next = lineAt(s, from, widest); strings.Count(line, sign) != cells && (sign != "|" || !strings.Contains(line, sign)) || ruled(line) {
			break
		}
		cell := line
		for range nth {
			_, cell, _ = strings.Cut(cell, sign)
		}
		start := from + len(line) - len(cell)
		cell, _, _ = strings.Cut(cell, sign)
		start += len(cell) - len(strings.TrimLeft(cell, aside))
		v := strings.Trim(cell, aside)
		if mixed(v) && !strings.HasPrefix(v, open) && !strings.ContainsAny(v, " \t") && n.plain(v) {
			return start, start + len(v), true
		}
	}
	return 0, 0, false
}

// csvHead is what a line of names of columns is made of.
var csvHead = bytesOf("A-Za-z0-9_ .,;	\"'-")

const aside = " \t\r*`\"'" // what stands beside the value in its cell

// ruled reports whether a line divides a table's head from its body, or ends it.
func ruled(line string) bool {
	return strings.Contains(line, "-") && strings.Trim(line, "-+|:= \t\r") == ""
}

// lineAt is the line that begins at s[from], and where the next one does: -1 if
// none does within limit bytes.
func lineAt(s string, from, limit int) (line string, next int) {
	s = s[:min(len(s), from+limit)]
	i := strings.IndexByte(s[from:], '\n')
	if i < 0 {
		return s[from:], -1
	}
	return s[from : from+i], from + i + 1
}

// percent is the byte that is percent-encoded at s[at], once or more, and the
// place behind it.
func percent(s string, at int) (c byte, behind int, ok bool) {
	if at >= len(s) || s[at] != '%' {
		return 0, at, false
	}
	for at++; strings.HasPrefix(s[at:], "25") && at+3 < len(s) && isHex(s[at+2]) && isHex(s[at+3]); {
		at += 2
	}
	if at+1 >= len(s) || !isHex(s[at]) || !isHex(s[at+1]) {
		return 0, at, false
	}
	return unhex(s[at])<<4 | unhex(s[at+1]), at + 2, true
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// encoded finds the value of password%3DX, whose name ends at s[at].
func (n secretName) encoded(s string, at int) (start, end int, ok bool) {
	const longest = 512
	c, i, ok := percent(s, at)
	if ok && (c == '"' || c == '\'') {
		c, i, ok = percent(s, i)
	}
	if !ok || c != '=' && c != ':' {
		return 0, 0, false
	}
	for range 4 { // blanks and a quote
		i = skip(s, i, "+", 1)
		c, next, ok := percent(s, i)
		if !ok || c != ' ' && c != '"' && c != '\'' {
			break
		}
		i = next
	}
	start, end = i, i
	for end < len(s) && end-start < longest {
		if unreserved[s[end]] {
			end++
			continue
		}
		c, next, ok := percent(s, end)
		if !ok || c <= ' ' || strings.IndexByte("&;,\"'}<>", c) >= 0 {
			break
		}
		end = next
	}
	v := decoded(s[start:end])
	return start, end, len(v) >= 6 && secretValue(v, n.weak, false, true) && known(v) && !strings.HasSuffix(v, "...")
}

var unreserved = bytesOf("A-Za-z0-9_.~!*+-")

// decoded is s without percent-encoding, however often it was applied.
func decoded(s string) string {
	for range 3 {
		plain, err := url.PathUnescape(s)
		if err != nil || plain == s {
			break
		}
		s = plain
	}
	return s
}

// encodedUserinfo finds the password of scheme%3A%2F%2Fuser%3Apassword%40host.
func encodedUserinfo(s string, at int) (start, end int, ok bool) {
	if at == 0 || !alnum[s[at-1]] {
		return 0, 0, false
	}
	sign := "%"
	if strings.HasPrefix(s[at:], "%25") {
		sign = "%25"
	}
	from := at + 3*len(sign) + len("3a2f2f")
	low := strings.ToLower(s[from:run(s[:min(len(s), from+512)], from, encodedURL)])
	if i := strings.Index(low, sign+"2f"); i >= 0 {
		low = low[:i]
	}
	last := strings.LastIndex(low, sign+"40")
	if last < 0 {
		return 0, 0, false
	}
	colon := strings.Index(low[:last], sign+"3a")
	if colon < 0 {
		return 0, 0, false
	}
	start, end = from+colon+len(sign)+2, from+last
	v := decoded(s[start:end])
	return start, end, len(v) >= 3 && !harmless(v)
}

var encodedURL = bytesOf("A-Za-z0-9._~%!$*+=:@-")

// customHeader reports whether the word at s[at] ends the name of a header like
// X-Vault-Token, whose value is secret; tokens of pages are not.
func customHeader(s string, at int) bool {
	from := at
	for from > 0 && at-from < 32 && dashed[s[from-1]] {
		from--
	}
	name := strings.ToLower(s[from:at])
	if !strings.HasPrefix(name, "x-") || !strings.HasSuffix(name, "-") {
		return false
	}
	for _, other := range []string{"page", "next", "continu", "sync", "cursor"} {
		if strings.Contains(name, other) {
			return false
		}
	}
	return true
}

// signature finds what signs an address for whoever has it: X-Amz-Signature=….
func signature(s string, at int) (start, end int, ok bool) {
	i := skip(s, run(s, at, dashed), "\"'\\ ", 4)
	if c, next, ok := percent(s, i); ok && c == '=' {
		i = next
	} else if i < len(s) && (s[i] == '=' || s[i] == ':') {
		i++
	} else {
		return 0, 0, false
	}
	start = skip(s, i, "\"'\\ ", 4)
	const far = 4096
	head := run(s[:min(len(s), start+far)], start, signatureText)
	if !mixed(s[start:head]) { // not read to its end: the keyword may stand in it over and over
		return 0, 0, false
	}
	end = run(s, head, signatureText)
	v := s[start:end]
	return start, end, len(v) >= 32 && mixed(v) && !harmless(v)
}

var signatureText = bytesOf("A-Za-z0-9%+/=_-")
