package redact

import (
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// spokenRules are the secrets that stand behind no sign of assignment: what is
// given to a program as an argument, in a header of cookies, in a netrc file, or
// said in a sentence.
func spokenRules() []rule {
	var rules []rule
	add := func(kind string, match func(string, int) (int, int, bool), words ...string) {
		for _, w := range words {
			rules = append(rules, rule{kind: kind, word: w, vague: true, match: match})
		}
	}
	add("cookie", cookies, "cookie: ", "cookie:", "--cookie ", " -b '", " -b \"")
	add("password", userFlag, " -u ", "--user ", "--user=", " -a ", "-user ", "--auth ", "--auth=", "--creds ")
	add("password", short, " -p ", " -w ", " -k ")
	add("password", said, "password", "passwd", "passphrase", "passcode", "passwort", "nnwort", "seña")
	add("password", said, "pw is ", "pw was ")
	add("password", secretName{word: "pw"}.assigned, "pw:", "pw=", "pw =", "pw\"", "pw'")
	add("password", secretName{word: "pw", kind: "password"}.column, "pw |", "pw|", "pw\t")
	add("password", selected, "select ")
	add("password", inserted, "insert into ")
	add("secret", aligned, "token  ", "token\n", "password  ", "password\n", "passwd  ", "secret  ", "secret\n", "api key  ")
	return rules
}

// argument returns the ends of the word that begins at s[at], quotes aside. Its
// length is bounded, so that hostile text does not cost its square.
func argument(s string, at int) (start, end int) {
	const longest = 512
	start = skip(s, at, "'\"`\\", 3)
	end = start
	for end < len(s) && end-start < longest && s[end] > ' ' && strings.IndexByte("'\"`\\<>|,", s[end]) < 0 {
		end++
	}
	return start, end
}

// strong reports whether v looks chosen as a password, to somebody who has no
// more than the word before it.
func strong(v string) bool {
	var low, high, digit, sign bool
	for i := range len(v) {
		switch c := v[i]; {
		case c >= 'a' && c <= 'z':
			low = true
		case c >= 'A' && c <= 'Z':
			high = true
		case c >= '0' && c <= '9':
			digit = true
		case strings.IndexByte("!@#$%^&*+?~", c) >= 0:
			sign = true
		}
	}
	return len(v) >= 8 && digit && (low || high) && (sign || low && high) && known(v)
}

// known reports whether v is a value in itself: no reference, expression or
// placeholder.
func known(v string) bool {
	return len(v) > 0 && strings.IndexByte("$<{(%/.-[", v[0]) < 0 && !strings.Contains(v, open) && !strings.ContainsAny(v, "({[") && !harmless(v)
}

// said finds `password is X`, `password X` and `--password X`.
func said(s string, at int) (int, int, bool) {
	i := run(s[:min(len(s), at+24)], at, phrase)
	flag := flagged(s, at)
	j := skip(s, i, "\"'`*", 2)
	j = skip(s, j, " \t", 4)
	if j == i || j < len(s) && (s[j] == '=' || s[j] == ':') {
		return 0, 0, false
	}
	if start, end, ok := endsLine(s, j); ok {
		return start, end, ok
	}
	plainly := false
	for _, verb := range []string{"is ", "was ", "to ", "is: ", "ist ", "est ", "es "} {
		if hasWord(s[j:], verb, false) {
			j += len(verb)
			plainly = true
			break
		}
	}
	quoted := j < len(s) && strings.IndexByte("\"'`", s[j]) >= 0
	start, end := argument(s, j)
	v := strings.TrimRight(s[start:end], ".,;:?)") // the sentence's
	end = start + len(v)
	if (flag || plainly && (quoted || final(s, end))) && len(v) >= 6 && mixed(v) && known(v) && !algorithm(v) {
		return start, end, true
	}
	return start, end, strong(v)
}

// phrase is what the words for a password are spelled with.
var phrase = bytesOf("A-Za-z\xc3\xb1")

// final reports whether a clause ends at s[at]: what the password is said to be
// was then one word, and no description.
func final(s string, at int) bool {
	if at < len(s) && strings.IndexByte(",;:!?)\"`<>|", s[at]) >= 0 {
		return true
	}
	if at < len(s) && s[at] == '\'' && (at+1 == len(s) || !letter[s[at+1]]) { // a quotation's end, not "x1's"
		return true
	}
	at = skip(s, at, ".", 3)
	at = skip(s, at, " \t", 8)
	if at == len(s) || s[at] == '\n' || s[at] == '\r' || s[at] == '\\' {
		return true
	}
	for _, more := range []string{"and ", "but ", "please", "thanks", "for ", "on "} {
		if hasWord(s[at:], more, false) {
			return true
		}
	}
	return at > 1 && s[at-1] == ' ' && s[at-2] == '.'
}

// userFlag finds the password of -u user:password. Two numbers are a user and
// a group.
func userFlag(s string, at int) (int, int, bool) {
	i := at + strings.IndexAny(s[at+1:], " =") + 2
	start, end := argument(s, i)
	user, password, ok := strings.Cut(s[start:end], ":")
	if !ok && end+1 < len(s) && s[end] == ',' && s[end+1] > ' ' {
		user = s[start:end]
		start, end = argument(s, end+1)
		password = s[start:end]
		ok = strong(password)
	}
	if sign := strings.IndexByte(user, '%'); !ok && sign > 0 {
		user, password = user[:sign], user[sign+1:]
		ok = strong(password)
	}
	if !ok || user == "" || strings.ContainsAny(user, "/$") || len(password) < 6 || !mixed(password) || !known(password) {
		return 0, 0, false
	}
	return end - len(password), end, true
}

// cookies finds the values in a header of cookies that look random: sessions,
// not settings. What lies between the first and the last goes with them, so
// that a long header costs one round.
func cookies(s string, at int) (start, end int, ok bool) {
	const far = 4096
	i := at + strings.IndexAny(s[at+3:], ": \"'") + 4
	quote := byte(0)
	if i = skip(s, i, " ", 2); i < len(s) && (s[i] == '\'' || s[i] == '"') {
		quote = s[i]
		i++
	} else if s[i-1] == '\'' || s[i-1] == '"' {
		quote = s[i-1]
	}
	limit := min(len(s), i+far)
	for n := 0; n < 64 && i < limit && s[i] != '\n' && (quote == 0 || s[i] != quote); n++ {
		name := run(s[:limit], i, cookieName)
		if name == i || name == limit || s[name] != '=' {
			return start, end, ok
		}
		stop := run(s[:limit], name+1, cookieValue)
		if v := s[name+1 : stop]; len(v) >= 8 && mixed(v) &&
			(len(v) >= 16 && entropy(v) >= 3 || session.MatchString(s[i:name])) && known(v) && !published(v) {
			if !ok {
				start = name + 1
			}
			end, ok = stop, true
		}
		// Attributes (Path=/; HttpOnly) may follow.
		i = skip(s, stop, " ;", 3)
		if i == stop {
			return start, end, ok
		}
	}
	return start, end, ok
}

// session are the names of cookies that log somebody in.
var session = lazyregexp.New(`(?i)sess|sid|auth|token|jwt|login|remember`)

var (
	cookieName  = bytesOf("A-Za-z0-9_.!#$%&*+^|~-")
	cookieValue = bytesOf("A-Za-z0-9_.!#$%&*+^|~:/=()@?-")
)

// mailchimp is a key of 32 hexadecimal digits with its data centre behind it.
func mailchimp(s string, at int) (int, int, bool) {
	start := at - 32
	end := run(s[:min(len(s), at+6)], at+3, bytesOf("0-9"))
	ok := start >= 0 && run(s[:at], start, hex) == at && boundary(s, start) && end-at >= 4 && end-at <= 5
	return start, end, ok
}

// airtable is a token of 17 bytes, a full stop and 64 hexadecimal digits.
func airtable(s string, at int) (int, int, bool) {
	dot := at + 17
	if !boundary(s, at) || dot >= len(s) || s[dot] != '.' || run(s[:dot], at, alnum) != dot {
		return 0, 0, false
	}
	end := run(s, dot+1, hex)
	return at, end, end-dot > 60
}

// resend is re_, eight bytes, an underline and more.
func resend(s string, at int) (int, int, bool) {
	from := at + len("re_")
	mid := run(s[:min(len(s), from+9)], from, alnum)
	if !boundary(s, at) || mid-from != 8 || mid == len(s) || s[mid] != '_' {
		return 0, 0, false
	}
	end := run(s, mid+1, alnum)
	return at, end, end-mid > 20 && mixed(s[mid:end])
}
