package redact

import (
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/harvest/redact/wordlike"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// generated reports whether v, an argument or an output next to the name of a secret, is
// one: a program made it, or a person with signs and figures.
func generated(v string) bool {
	if len(v) < 8 || !known(v) || algorithm(v) || isPath(v) || strings.Contains(v, "://") || uuid(v) || strings.HasPrefix(v, "sha256") {
		return false
	}
	n, size := wordlike.Unexplained(v)
	return mixed(v) && (4*n >= size && n >= 4 && !knownForm(v) || strong(v) && wordlike.Signs(v) > 0 || digest(v) && len(v) >= 32) || odd(v) && !strings.ContainsAny(v, "/.") && len(v) >= 12
}

// argued finds the value that follows a name as the next argument: --api-token X,
// ("password", "X"), .header('X-Api-Key', 'X'). s[i] is what is behind the name and its
// quotes, s[j] what is behind the blanks then.
func (n secretName) argued(s string, at, i, j int) (start, end int, ok bool) {
	if notSecret(strings.ToLower(s[at+len(n.word) : run(s[:i], at+len(n.word), word)])) {
		return 0, 0, false
	}
	switch {
	case s[j] == ',' && i > 0 && strings.IndexByte("\"'`", s[i-1]) >= 0:
		k := skip(s, j+1, " \t\r\n", 24)
		if k == len(s) || strings.IndexByte("\"'`\\", s[k]) < 0 {
			return 0, 0, false
		}
		start, end = argument(s, k)
		return start, end, generated(s[start:end])
	case s[j] == '(' && j+1 < len(s) && strings.IndexByte("\"'`", s[j+1]) >= 0:
		start, end = argument(s, j+1)
		return start, end, generated(s[start:end])
	case j > i && flagged(s, at):
		start, end = argument(s, j)
		v := s[start:end]
		return start, end, generated(v) || !n.weak && len(v) >= 6 && mixed(v) && known(v) && !isPath(v) && !algorithm(v)
	}
	return 0, 0, false
}

// flagged reports whether the name that goes on at s[at] is an option of a program.
func flagged(s string, at int) bool {
	from := at
	for from > 0 && at-from < 40 && dashed[s[from-1]] {
		from--
	}
	return strings.HasPrefix(s[from:at], "-") && (from == 0 || s[from-1] <= ' ' || strings.IndexByte("\"'[`", s[from-1]) >= 0)
}

// wrapped finds the value of a name in a call: []byte("X"), SecretStr('X').
func wrapped(s string, at int) (start, end int, ok bool) {
	const longest = 64
	i := run(s[:min(len(s), at+longest)], at, callee)
	if i+1 >= len(s) || s[i] != '(' || strings.IndexByte("\"'`", s[i+1]) < 0 {
		return 0, 0, false
	}
	start, end = argument(s, i+1)
	return start, end, odd(s[start:end]) && len(s[start:end]) >= 16 && generated(s[start:end])
}

var callee = bytesOf("A-Za-z0-9_.[]:&*")

// keyName reports whether the name whose last word "key" begins at s[at] is that of a
// secret key, and not that of an entry in a map.
func keyName(s string, at int) bool {
	to := at
	for to > 0 && (s[to-1] == '_' || s[to-1] == '-' || s[to-1] == '.' || s[to-1] == ' ') {
		to--
	}
	from := to
	for from > 0 && to-from < 24 && letter[s[from-1]] {
		from--
	}
	if name := s[from:to]; strings.ToUpper(name) != name { // of camelCase, the last hump
		from += max(0, strings.LastIndexFunc(name, unicode.IsUpper))
	}
	return to-from > 1 && strings.Contains(keyWords, " "+strings.ToLower(s[from:to])+" ")
}

const keyWords = " master routing integration signing sign encryption encrypt service license licence app application session webhook shared server write ingest ingestion admin account storage instrumentation secret security consumer project private api access auth crypto cipher aes hmac jwt unseal recovery product activation serial stream root read client partner merchant developer deploy cookie token user psk org team live prod "

// key is the name that ends in no other word for a secret.
var key = secretName{"key", "api-key", true}

// value finds the value of a name, in any of the ways in which names have one.
func (n secretName) value(s string, at int) (start, end int, ok bool) {
	if start, end, ok = n.assigned(s, at); ok {
		return start, end, ok
	}
	return n.cued(s, at)
}

func (n secretName) ofKey(s string, at int) (int, int, bool) {
	if keyName(s, at) {
		return n.value(s, at)
	}
	// Of a key that nothing else is known about, the value has to look like one.
	if at > 0 && s[at-1] != '_' && alnum[s[at-1]] {
		return 0, 0, false
	}
	start, end, ok := n.assigned(s, at)
	v := s[start:end]
	return start, end, ok && !otherKey.MatchString(s[max(0, at-24):at]) && len(v) >= 20 && odd(v) && !digest(v) && strings.ToLower(v) != v && strings.ToUpper(v) != v && !knownForm(v) && run(v, 0, base64ish) == len(v)
}

// otherKey ends in what makes a key no secret.
var otherKey = lazyregexp.New(`(?i)(?:public|pub|primary|foreign|cache|sort|partition|unique|object|host|known|translation|i18n|message|map|json|row|group|range|hash|dedup|dedupe|idempotency|lookup|index|storage|query|react|trusted|verify|verification|site|websocket)[ _.-]?$`)

// short finds what is behind an option of one letter that many programs take a secret
// with: -p X. Only what cannot be a port, a path or a name is one.
func short(s string, at int) (int, int, bool) {
	start, end := argument(s, at+len(" -p "))
	v := s[start:end]
	return start, end, generated(v) && !strings.ContainsAny(v, ":,/") && !digest(v)
}

// printed finds a secret that a program printed alone, below the command that asks for it
// or below a line that announces it.
func printed(s string) (found []span) {
	const few = 4 // lines that it may be in
	for at := 0; at < len(s); {
		end := strings.IndexByte(s[at:], '\n')
		if end < 0 {
			break
		}
		line, next := s[at:at+end], at+end+1
		at = next
		if end <= 4 || end >= 400 {
			continue
		}
		asked := strings.IndexByte("$>#%", line[0]) >= 0 && line[1] == ' ' && asksFor.MatchString(line)
		if last := strings.TrimRight(line, " \r*_"); !asked && (last == "" || last[len(last)-1] != ':' || len(nouns().find(last)) == 0 || !announces.MatchString(last)) {
			continue
		}
		for n := 0; n < few && next < len(s); n++ {
			line, behind := lineAt(s, next, 400)
			start, stop, more := lonely(line)
			if stop > start {
				found = append(found, span{next + start, next + stop, "secret", true})
			}
			if behind < 0 || !more || asked && n > 0 {
				break
			}
			if stop > start {
				n = 0 // a list goes on
			}
			next = behind
		}
	}
	return found
}

// lonely finds a secret that is alone on its line, or behind a name in a list; more says
// that the next line may hold one too.
func lonely(line string) (start, end int, more bool) {
	m := onItsLine.FindStringSubmatchIndex(line)
	if m == nil {
		return 0, 0, strings.IndexFunc(line, func(r rune) bool { return r < 0x80 && alnum[byte(r)] }) < 0 || strings.HasSuffix(strings.TrimRight(line, " \r"), "|") || !strings.Contains(strings.TrimSpace(line), " ")
	}
	start, end = m[2], m[3]
	v := line[start:end]
	if !generated(v) && !(len(v) >= 40 && odd(v)) || knownForm(v) || len(v) < 8 {
		return 0, 0, true
	}
	return start, end, true
}

// onItsLine is a value behind the margin of a log, the mark of a list and a name.
var onItsLine = lazyregexp.New("^(?:[\\w.-]{1,40}\\s*\\|)?\\s*(?:[-*]|\\d{1,2}[.)])?\\s*(?:`?[\\w.@-]{1,40}`?:\\s+)?[`\"'*]{0,2}([^\\s`\"']{8,200}?)[`\"'*]{0,2}[,.]?\\s*$")

// announces is true of a line that ends in a colon and speaks of a secret.
var announces = lazyregexp.New(`(?i)passw(?:or[dt]|ört)|passphrase|kennwort|mot de passe|contraseña|senha|unseal key|(?:api|secret|access|master|recovery|encryption) (?:key|token)|new (?:key|token|secret)|credentials`)

// asksFor are commands that print a secret.
var asksFor = lazyregexp.New(`(?i)passw|secret|token|credential|[ ._-]key\b|passphrase|\bauth\b|\bop read\b|\bpass (?:show )?\w+/|\bpwgen\b|openssl rand|htpasswd|\bcat \S*(?:login|auth|cred)\S*$|\b(?:bw|gopass|lpass|chamber|doppler|keyring) `)

// endsLine finds the value of "password for root@localhost: X".
func endsLine(s string, at int) (start, end int, ok bool) {
	const far = 60
	line, _, _ := strings.Cut(s[at:min(len(s), at+2*far)], "\n")
	i := strings.Index(line, ": ")
	if i < 0 || i > far || strings.ContainsAny(line[:i], "=\"'(){}") {
		return 0, 0, false
	}
	start, end = argument(s, at+i+2)
	return start, end, strings.TrimSpace(line[min(len(line), end-at):]) == "" && generated(s[start:end])
}

// cued finds a token that a program made, on the line of a name that says what it is, in
// whatever way they stand together: it is the last resort of every name. Another name
// between the two takes the token for itself.
func (n secretName) cued(s string, at int) (start, end int, ok bool) {
	const far = 120
	from := run(s[:min(len(s), at+len(n.word)+32)], at+len(n.word), word)
	if notSecret(strings.ToLower(s[at+len(n.word):from])) || strings.HasSuffix(s[:at], open) {
		return 0, 0, false
	}
	for i := from; i < len(s) && i-from < far && s[i] != '\n'; i++ {
		if !alnum[s[i]] {
			continue
		}
		end = run(s[:min(len(s), i+600)], i, cuedToken)
		v := strings.TrimRight(s[i:end], ".!")
		if len(v) >= 10 && mixed(v) && !strings.ContainsAny(v[:1], "./") {
			gap := s[from:i]
			near := closeTo.MatchString(gap)
			long := len(v) >= 20 && odd(v) && entropy(v) >= 3.5 && !strings.ContainsAny(v, "/.")
			if (long && !digest(v) || near && generated(v) && !n.weak || near && len(v) >= 32 && generated(v)) && generated(v) && !knownForm(v) && itsOwn(gap) && !hashWord(s, span{i, i + len(v), "", false}) {
				return i, i + len(v), true
			}
			if near {
				return 0, 0, false
			}
		}
		i = end
	}
	return 0, 0, false
}

var closeTo = lazyregexp.New("^[ \t\"'`:=>,(\\\\*-]*(?:(?:is|was|ist|to) [\"'`*]*)?$")

var cuedToken = bytesOf("A-Za-z0-9_+/=.~!#%^*@-")

// itsOwn reports whether no other name is between the name of a secret and a token.
func itsOwn(gap string) bool {
	i := strings.LastIndexAny(gap, ":=")
	if strings.Contains(gap, "ENC[") { // encrypted
		return false
	}
	if i < 0 {
		return !strings.ContainsAny(gap, "{}[];<")
	}
	name := strings.TrimRight(gap[:i], " \t\"'\\`")
	from := len(name)
	for from > 0 && dashed[name[from-1]] {
		from--
	}
	return name[from:] == "" || strings.Contains(" value val default new newvalue current is data raw plaintext decoded ", " "+strings.ToLower(name[from:])+" ")
}
