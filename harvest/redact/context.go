package redact

import (
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/harvest/redact/spelled"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// contextRules are the secrets whose shape alone says little: they are known by
// what stands around them.
func contextRules() []rule {
	rules := []rule{
		{kind: "private-key", word: "-----BEGIN ", exact: true, match: pem},
		{kind: "private-key", word: "-----END ", exact: true, match: pemTail},
		{kind: "private-key", word: "Private-Lines:", exact: true, match: putty},
		{kind: "jwt", word: "eyJ", exact: true, match: jwt},
		{kind: "url-password", word: "://", exact: true, match: userinfo},
		{kind: "url-password", word: "%3a%2f%2f", match: encodedUserinfo},
		{kind: "url-password", word: "%253a%252f%252f", match: encodedUserinfo},
		{kind: "signature", word: "x-amz-signature", match: signature},
		{kind: "signature", word: "x-goog-signature", match: signature},
		{kind: "token", word: "x-amz-security-token", match: signature},
		{kind: "authorization", word: "authorization", vague: true, match: header},
		{kind: "authorization", word: "bearer ", vague: true, match: bearer},
		{kind: "mailchimp-key", word: "-us", exact: true, match: mailchimp},
		{kind: "airtable-token", word: "pat", exact: true, match: airtable},
		{kind: "resend-key", word: "re_", exact: true, match: resend},
		{kind: "telegram-token", word: ":AA", exact: true, match: telegram},
		{kind: "azure-secret", word: "7Q~", exact: true, match: azureSecret},
		{kind: "azure-secret", word: "8Q~", exact: true, match: azureSecret},
		{kind: "azure-secret", word: "9Q~", exact: true, match: azureSecret},
		{kind: "azure-key", word: "accountkey=", match: after(base64ish, 40)},
		{kind: "azure-key", word: "sharedaccesskey=", match: after(base64ish, 40)},
		{kind: "azure-sas", word: "&sig=", match: after(bytesOf("A-Za-z0-9%+/=_-"), 40)},
		{kind: "azure-sas", word: "?sig=", match: after(bytesOf("A-Za-z0-9%+/=_-"), 40)},
		{kind: "aws-secret", word: "aws_secret_access_key", match: awsSecret},
		{kind: "aws-secret", word: "secretaccesskey", match: awsSecret},
		{kind: "aws-secret", word: "aws_secret_key", match: awsSecret},
	}
	// Discord's bot tokens begin with their account's number in base64.
	for _, three := range discordHeads() {
		rules = append(rules, rule{kind: "discord-token", word: three, exact: true, match: discord})
	}
	for _, n := range secretNames {
		for w := range strings.FieldsSeq(n.word) {
			n.word = w
			rules = append(rules, rule{kind: n.kind, word: w, vague: true, match: n.value})
		}
	}
	rules = append(rules, rule{kind: key.kind, word: key.word, vague: true, match: key.ofKey})
	return rules
}

// after matches what follows the keyword, up to its sign of assignment.
func after(c *class, least int) func(string, int) (int, int, bool) {
	return func(s string, at int) (int, int, bool) {
		from := at + 1 + strings.IndexByte(s[at:], '=')
		end := run(s, from, c)
		return from, end, end-from >= least
	}
}

// pem takes in a whole private key, armour included, even if its line feeds
// are escaped, and up to the end of the text where the last line is missing.
func pem(s string, at int) (int, int, bool) {
	const begin, far = "-----BEGIN ", 1 << 16
	label := s[at+len(begin):]
	stop := strings.Index(label[:min(len(label), 80)], "-----")
	if stop < 0 || !strings.Contains(label[:stop], "PRIVATE KEY") {
		return 0, 0, false
	}
	body := at + len(begin) + stop + 5
	rest := s[body:min(len(s), body+far)]
	const last = "-----END "
	if i := strings.Index(rest, last); i >= 0 {
		tail := rest[i+len(last):]
		if j := strings.Index(tail[:min(len(tail), 80)], "-----"); j >= 0 {
			return at, body + i + len(last) + j + 5, true
		}
		return at, body + i + len(last), true
	}
	// Cut off.
	end := body
	for at := body; at-body < far; {
		next, blank, ok := keyLine(s, at)
		if !ok {
			break
		}
		at = next
		if !blank {
			end = next
		}
	}
	return at, end, end-body >= 32
}

// keyLine returns the end of the line of an armoured key that begins at s[at]:
// base64 or a header of it, behind the quotes, the margin, the line feed (escaped
// or not) and the signs of concatenation of whatever it is written in.
func keyLine(s string, at int) (end int, blank, ok bool) {
	const longest = 256
	limit := min(len(s), at+longest)
	i := skip(s, numberedMargin(s, at), margin, 32)
	for _, header := range []string{"Proc-Type:", "DEK-Info:", "Version:", "Comment:"} {
		if hasWord(s[i:limit], header, true) {
			return run(s[:limit], i, armourHeader), false, true
		}
	}
	end = run(s[:limit], i, base64ish)
	if end == at || end > i && !keyLike(s[i:end]) {
		return at, false, false
	}
	return end, end == i, true
}

// numberedMargin passes over what numbers a line, as cat -n, grep -n and agents' read
// tools do it: blanks, a file's name, the number and a sign.
func numberedMargin(s string, at int) int {
	const longest = 160
	m := lineNumber.FindStringIndex(s[at:min(len(s), at+longest)])
	if m == nil {
		return at
	}
	return at + m[1]
}

var lineNumber = lazyregexp.New(`^\s*(?:[\w./-]+:)?\d{1,6}(?:\t|: ?|\||\x{2192}|\x{2502})`)

const margin = spelled.Margin

var armourHeader = bytesOf("A-Za-z0-9+/=,:; .-")

// keyLike tells a line of base64 from a word: it is long, or the last one.
func keyLike(v string) bool {
	return len(v) >= 40 && mixed(v) || strings.HasSuffix(v, "=") || len(v) > 2 && mixed(v) && entropy(v) > 2
}

// pemTail takes in the end of a private key whose beginning is not in the text.
func pemTail(s string, at int) (int, int, bool) {
	const end, far = "-----END ", 1 << 14
	label := s[at+len(end):]
	stop := strings.Index(label[:min(len(label), 80)], "-----")
	if stop < 0 || !strings.Contains(label[:stop], "PRIVATE KEY") {
		return 0, 0, false
	}
	start := at
	for start > 0 && at-start < far {
		i := start
		if i >= 2 && s[i-2] == '\\' && (s[i-1] == 'n' || s[i-1] == 'r') {
			i--
		}
		for i > 0 && strings.IndexByte(margin, s[i-1]) >= 0 && start-i < 32 {
			i--
		}
		j := i
		for j > 0 && base64ish[s[j-1]] && i-j < 256 {
			j--
		}
		if j == i || !keyLike(s[j:i]) {
			break
		}
		start = j
	}
	return start, at + len(end) + stop + 5, at-start >= 16
}

func putty(s string, at int) (int, int, bool) {
	from := at + len("Private-Lines:")
	end := run(s, from, bytesOf("A-Za-z0-9+/= \r\n\\"))
	return from, end, end-from >= 40
}

// jwt wants header and claims in JSON and, as it is a credential only then, a
// signature; or the five parts of an encrypted one.
func jwt(s string, at int) (int, int, bool) {
	if !boundary(s, at) || at > 0 && (s[at-1] == '-' || s[at-1] == '_') {
		return 0, 0, false // within a longer run of base64
	}
	head := run(s, at, dashed)
	if head-at < 16 || head == len(s) || s[head] != '.' {
		return 0, 0, false
	}
	if !strings.HasPrefix(s[head:], ".ey") {
		return jwe(s, at, head)
	}
	claims := run(s, head+1, dashed)
	if claims == len(s) || s[claims] != '.' || claims-head < 12 {
		return 0, 0, false
	}
	end := run(s, claims+1, dashed)
	return at, end, end-claims > 8
}

// jwe is a token that is encrypted: a header, a key that may be empty, and three parts.
func jwe(s string, at, end int) (int, int, bool) {
	for part := 1; part <= 4; part++ {
		if end == len(s) || s[end] != '.' {
			return 0, 0, false
		}
		from := end + 1
		if end = run(s, from, dashed); end-from < 8 && part > 1 {
			return 0, 0, false
		}
	}
	return at, end, true
}

// userinfo finds the password of scheme://user:password@host, or the token that is
// there alone.
func userinfo(s string, at int) (int, int, bool) {
	if at == 0 || !alnum[s[at-1]] {
		return 0, 0, false
	}
	from := at + len("://")
	colon, last := -1, -1 // a password may hold an @ itself: the last one ends it
scan:
	for i := from; i < len(s) && i-from < 512; i++ {
		switch c := s[i]; {
		case c == '@':
			if colon < 0 {
				return from, i, i-from >= 16 && run(s, from, dashed) == i && random(s[from:i])
			}
			last = i
		case c == ':' && colon < 0:
			colon = i
		case c <= ' ' || strings.IndexByte("/\"'<>`)?,;", c) >= 0 && (last >= 0 || strings.IndexByte("?,;", c) < 0):
			break scan
		}
	}
	if last-colon < 4 || harmless(s[colon+1:last]) {
		ok := colon-from >= 16 && last > colon && placeholder(s, colon+1) == last && run(s, from, dashed) == colon && random(s[from:colon])
		return from, colon, ok // beside a password that is redacted
	}
	return colon + 1, last, true
}

// header finds the value of an Authorization header, scheme aside.
func header(s string, at int) (int, int, bool) {
	i := at + len("authorization")
	i = skip(s, i, "\"'\\ ", 4)
	if i == len(s) || s[i] != ':' && s[i] != '=' {
		return 0, 0, false
	}
	i = skip(s, i+1, "\"'\\ ", 6)
	for _, scheme := range []string{"bearer ", "basic ", "token ", "bot ", "apikey ", "digest "} {
		if hasWord(s[i:], scheme, false) {
			i += len(scheme)
			break
		}
	}
	end := run(s, i, credential)
	return i, end, end-i >= 12 && plausible(s[i:end])
}

func bearer(s string, at int) (int, int, bool) {
	if !boundary(s, at) {
		return 0, 0, false
	}
	from := at + len("bearer ")
	end := run(s, from, credential)
	return from, end, end-from >= 16 && plausible(s[from:end])
}

// credential is what RFC 6750 and RFC 7617 allow in a header's value.
var credential = bytesOf("A-Za-z0-9._~+/=-")

func plausible(v string) bool { return mixed(v) && !harmless(v) }

// telegram wants number:AA… with the lengths that the bot API gives.
func telegram(s string, at int) (int, int, bool) {
	start := at
	for start > 0 && s[start-1] >= '0' && s[start-1] <= '9' {
		start--
	}
	end := run(s, at+1, dashed)
	digits, body := at-start, end-at-1
	return start, end, digits >= 8 && digits <= 11 && body >= 33 && body <= 36
}

// azureSecret is a client secret: three bytes, the generation "8Q~", and more.
func azureSecret(s string, at int) (int, int, bool) {
	body := bytesOf("A-Za-z0-9_~.-")
	end := run(s, at+3, body)
	ok := at >= 3 && end-at-3 >= 30 && run(s, at-3, body) >= at
	return at - 3, end, ok
}

func awsSecret(s string, at int) (int, int, bool) {
	i := run(s, at, dashed)
	i = skip(s, i, "\"'\\ \t", 6)
	if i == len(s) || s[i] != '=' && s[i] != ':' {
		return 0, 0, false
	}
	i = skip(s, i+1, "\"'\\ \t=>", 6)
	end := run(s, i, base64ish)
	return i, end, end-i >= 40 && !harmless(s[i:end])
}

// discordHeads are the first three letters of the base64 of every number of at
// least three digits: a snowflake.
func discordHeads() []string {
	const abc = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var heads []string
	for a := byte('1'); a <= '9'; a++ {
		for b := byte('0'); b <= '9'; b++ {
			for c := byte('0'); c <= '9'; c++ {
				heads = append(heads, string([]byte{abc[a>>2], abc[(a&3)<<4|b>>4], abc[(b&15)<<2|c>>6]}))
			}
		}
	}
	slices.Sort(heads)
	return slices.Compact(heads)
}

func discord(s string, at int) (int, int, bool) {
	if !boundary(s, at) {
		return 0, 0, false
	}
	id := run(s[:min(len(s), at+32)], at, dashed)
	if id-at < 23 || id-at > 28 || id == len(s) || s[id] != '.' {
		return 0, 0, false
	}
	stamp := run(s, id+1, dashed)
	if stamp-id != 7 || stamp == len(s) || s[stamp] != '.' {
		return 0, 0, false
	}
	end := run(s, stamp+1, dashed)
	return at, end, end-stamp-1 >= 27
}

// skip passes over at most n bytes of set.
func skip(s string, at int, set string, n int) int {
	for ; n > 0 && at < len(s) && strings.IndexByte(set, s[at]) >= 0; n-- {
		at++
	}
	return at
}
