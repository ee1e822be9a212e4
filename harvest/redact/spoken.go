package redact

import "strings"

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
	add("password", userFlag, " -u ", "--user ", "--user=")
	add("password", mysqlFlag, "mysql ", "mysqldump ", "mariadb ", "mysqladmin ")
	add("password", sshpass, "sshpass -p")
	add("password", netrc, "login ")
	add("password", said, "password", "passwd", "passphrase", "passcode", "passwort", "nnwort", "seña")
	add("password", said, "pw is ", "pw was ")
	add("token", told, "token is ", "token was ")
	add("secret", told, "secret is ", "secret was ")
	add("api-key", told, "api key is ", "api-key is ", "apikey is ")
	add("password", secretName{word: "pw"}.assigned, "pw:", "pw=", "pw =", "pw\"", "pw'")
	add("password", oracle, "e:thin:", "e:oci:")
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
	flag := at >= 2 && isFlag(s, at)
	j := skip(s, i, "\"'`*", 2)
	j = skip(s, j, " \t", 4)
	if j == i || j < len(s) && (s[j] == '=' || s[j] == ':') {
		return 0, 0, false
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

// told finds `token is X`, where X is no word but a value.
func told(s string, at int) (int, int, bool) {
	i := at + strings.LastIndex(s[at:at+min(len(s)-at, 11)], "s ") + 2
	start, end := argument(s, i)
	v := strings.TrimRight(s[start:end], ".,;:?!)")
	end = start + len(v)
	return start, end, len(v) >= 16 && mixed(v) && entropy(v) >= 3 && known(v) && !algorithm(v)
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

// oracle finds the password of jdbc:oracle:thin:user/password@host.
func oracle(s string, at int) (int, int, bool) {
	i := at + len("e:")
	i += strings.IndexByte(s[i:], ':') + 1
	slash := run(s[:min(len(s), i+128)], i, bytesOfLogin)
	if slash == i || slash == len(s) || s[slash] != '/' {
		return 0, 0, false
	}
	end := slash + 1
	for end < len(s) && end-slash < 512 && s[end] > ' ' && strings.IndexByte("@'\"`\\<>", s[end]) < 0 {
		end++
	}
	v := s[slash+1 : end]
	return slash + 1, end, end < len(s) && s[end] == '@' && len(v) >= 4 && known(v)
}

// isFlag reports whether s[at] stands in a word that begins with two dashes.
func isFlag(s string, at int) bool {
	for i := at - 1; i >= 1 && at-i < 24; i-- {
		if s[i] == '-' && s[i-1] == '-' {
			return i < 2 || s[i-2] <= ' '
		}
		if s[i] != '-' && !letter[s[i]] {
			return false
		}
	}
	return false
}

// userFlag finds the password of -u user:password. Two numbers are a user and
// a group.
func userFlag(s string, at int) (int, int, bool) {
	i := at + strings.IndexAny(s[at+1:], " =") + 2
	start, end := argument(s, i)
	user, password, ok := strings.Cut(s[start:end], ":")
	if !ok || user == "" || strings.ContainsAny(user, "/$") || len(password) < 6 || !mixed(password) || !known(password) {
		return 0, 0, false
	}
	return end - len(password), end, true
}

// mysqlFlag finds the password that MySQL's programs take behind -p without a
// blank.
func mysqlFlag(s string, at int) (int, int, bool) {
	line := s[at:min(len(s), at+256)]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	i := strings.Index(line, " -p")
	if i < 0 {
		return 0, 0, false
	}
	start, end := argument(s, at+i+3)
	v := s[start:end]
	return start, end, len(v) >= 5 && mixed(v) && known(v)
}

func sshpass(s string, at int) (int, int, bool) {
	start, end := argument(s, skip(s, at+len("sshpass -p"), " ", 2))
	return start, end, end-start >= 4 && known(s[start:end])
}

// netrc finds login NAME password VALUE.
func netrc(s string, at int) (int, int, bool) {
	i := at + len("login ")
	name := run(s[:min(len(s), i+128)], i, bytesOfLogin)
	j := skip(s, name, " \t\r\n", 8)
	if name == i || j == name || !hasWord(s[j:], "password ", true) {
		return 0, 0, false
	}
	start, end := argument(s, j+len("password "))
	v := s[start:end]
	return start, end, len(v) >= 6 && mixed(v) && known(v)
}

var bytesOfLogin = bytesOf("A-Za-z0-9._@+-")

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
			(len(v) >= 16 && entropy(v) >= 3 || session(s[i:name])) && known(v) && !published(v) {
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

// session is true of the names of cookies that log somebody in.
func session(name string) bool {
	name = strings.ToLower(name)
	for _, w := range []string{"sess", "sid", "auth", "token", "jwt", "login", "remember"} {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

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
