package redact

import (
	"math"
	"strings"

	"github.com/skill-evolve/evolve/harvest/redact/wordlike"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// secretName is a word that, in the name of a variable or a field, says that
// the value is secret.
type secretName struct {
	word string // lower case
	kind string
	weak bool // so common in code and prose that the value must look random
}

// A row has the words of one kind, separated by spaces; nnwort is Kennwort, seña contraseña:
// a word that begins rarely costs clean text nothing.
var secretNames = []secretName{
	{"password passwd passphrase _pwd _pass pgpass passcode passwort nnwort seña mysql_pwd", "password", false},
	{"motdepasse mot_de_passe wachtwoord contrasena adgangskode passord losenord lösenord salasana jelszo haslo heslo parola= parola: senha lozinka пароль", "password", false},
	{"pwd pass", "password", true},
	{"client_secret clientsecret secret_key secretkey x-secret", "secret", false},
	{"secret private_key signing_key encryption_key auth_key credential connection_string _salt", "secret", true},
	{"api_key api-key apikey x-api-key x-auth-key x-access-key subscription-key", "api-key", false},
	{"access_key", "api-key", true},
	{"access_token auth_token token", "token", true},
	{"totp", "otp-secret", true},
	{"x-auth x-token private-token", "token", false},
}

// assigned matches name=value, name: value, "name": "value" and the like, and
// the ways of around.go.
func (n secretName) assigned(s string, at int) (int, int, bool) {
	const longest = 4096                                               // value; a cap also keeps hostile text from costing its square
	i := run(s[:min(len(s), at+len(n.word)+32)], at+len(n.word), word) // the rest of the name: _ID, s, Value
	tail := s[at+len(n.word) : i]
	i = skip(s, i, "\"'`\\]", 4)
	j := skip(s, i, " \t", 64)
	if j == len(s) {
		return 0, 0, false
	}
	switch s[j] { // other ways to say which value is whose
	case '>':
		return n.element(s, at, j)
	case '%':
		if notSecret(strings.ToLower(tail)) {
			return 0, 0, false
		}
		return n.encoded(s, j)
	case '|', '\n', '\r':
		if notSecret(strings.ToLower(tail)) || strings.HasSuffix(s[:at], open) { // a placeholder heads no column
			return 0, 0, false
		}
		return n.column(s, at)
	case ',', ';', '\t':
		if start, end, ok := n.column(s, at); ok {
			return start, end, ok
		}
		return n.argued(s, at, i, j)
	}
	spaced := j > i
	sign := s[j]
	if sign == ':' && !spaced && strings.Contains(s[max(0, at-80):at], "arn:") {
		return 0, 0, false // secret:NAME in the name of a resource
	}
	switch {
	case strings.HasPrefix(s[j:], ":="), strings.HasPrefix(s[j:], "=>"):
		j += 2
	case strings.HasPrefix(s[j:], "=="), strings.HasPrefix(s[j:], "::"), strings.HasPrefix(s[j:], ":/"):
		return 0, 0, false
	case sign == '=' || sign == ':':
		j++
	default:
		return n.argued(s, at, i, j)
	}
	k := skip(s, j, " \t", 8)
	spaced = spaced || k > j
	if k < len(s) && strings.IndexByte("\n\r|>", s[k]) >= 0 {
		if len(tail) > 24 || notSecret(strings.ToLower(tail)) {
			return 0, 0, false
		}
		return n.below(s, at, k)
	}
	quoted := false
	for quotes := 0; k < len(s) && quotes < 4 && strings.IndexByte("\"'`\\", s[k]) >= 0; quotes++ {
		quoted = quoted || s[k] != '\\'
		k++
	}
	in := unquotedValue
	if quoted {
		in = quotedValue
	} else if start, end, ok := wrapped(s, k); ok && !notSecret(strings.ToLower(tail)) {
		return start, end, ok
	}
	end := run(s[:min(len(s), k+longest+1)], k, in)
	if strings.HasSuffix(s[k:end], "...") { // sk-ant-...: left out on purpose
		return 0, 0, false
	}
	if !quoted { // punctuation of the sentence or the statement
		end = k + len(strings.TrimRight(s[k:end], ".,;:!?)"))
	}
	v := s[k:end]
	if strings.HasSuffix(n.word, "pwd") && isPath(v) { // where a program is: PWD, OLDPWD
		return 0, 0, false
	}
	if n.word == "pwd" && sign == ':' && strong(v) {
		return k, end, tail == "" && (at == 0 || !word[s[at-1]])
	}
	if n.word == "pw" && at > 0 && (alnum[s[at-1]] && (s[at] != 'P' || s[at+1] != 'w') || s[at-1] == '-') { // the end of another word
		return 0, 0, false
	}
	// Server=db;Pwd=… is a field of a connection string.
	weak := n.weak && (at == 0 || s[at-1] != ';') && !(tail == "" && customHeader(s, at))
	if strings.HasSuffix(n.word, "pass") && (tail != "" || at > 0 && letter[s[at-1]] && s[at] == 'p') { // passed, bypass
		return 0, 0, false
	}
	// What it looks like is seen from its beginning. Hostile text begins a value
	// at every other word, and each is as long as the rest.
	look := v[:min(len(v), 256)]
	if at > 0 && s[at-1] == ';' && sign == '=' && !spaced && len(v) >= 4 && len(v) <= longest && connects.MatchString(s[max(0, at-160):at]) {
		return k, end, !harmless(look) && !codeLike(look, quoted)
	}
	ok := len(v) >= 6 && len(tail) <= 24 && len(v) <= longest &&
		(secretValue(look, weak, quoted, sign == '=' && !spaced) || !weak && diceware(look)) && !notSecret(strings.ToLower(tail)) && !harmless(look)
	return k, end, ok
}

// connects are fields beside which a password belongs to a connection string: whatever it
// looks like, it is one.
var connects = lazyregexp.New(`(?i)server=|data source=|host=|uid=|user id=|user=|username=|dsn=`)

// The bytes that a value goes on with, in quotes and without.
var quotedValue, unquotedValue = func() (quoted, unquoted *class) {
	quoted, unquoted = new(class), new(class)
	for c := ' ' + 1; c < 256; c++ {
		quoted[c] = strings.IndexByte("\"`'\\", byte(c)) < 0
		unquoted[c] = quoted[c] && strings.IndexByte(",;&|)}<>", byte(c)) < 0
	}
	return quoted, unquoted
}()

// notSecret is true of name endings that turn a secret's name into something
// else: token_count, password_field, secretName.
func notSecret(tail string) bool {
	tail = strings.Trim(tail, "_")
	switch tail {
	case "s", "", "value", "raw", "hash", "prod", "dev", "staging", "test", "live", "key", "str", "string", "new", "old", "base64", "b64":
		return false
	}
	for _, other := range []string{"count", "size", "len", "limit", "budget", "usage", "type", "name", "field", "label", "input",
		"id", "url", "uri", "path", "file", "dir", "expir", "ttl", "policy", "manager", "ring", "reset", "min", "max", "per", "iz",
		"regex", "pattern", "prompt", "hint", "placeholder", "index", "ref", "env", "var", "strength", "required", "length", "details"} {
		if strings.HasPrefix(tail, other) {
			return true
		}
	}
	return false
}

// secretValue weighs the value against the form of the assignment: NAME=value
// is taken at its word, prose ("the password: it must be long") hardly at all.
func secretValue(v string, weak, quoted, env bool) bool {
	digit := strings.ContainsAny(v, "0123456789")
	if weak && !digit || codeLike(v, quoted) || quoted && wordyPath(v) || !digit && identifier.MatchString(v) {
		return false
	}
	switch {
	case weak:
		n, size := wordlike.Unexplained(v)
		return digit && mixed(v) && len(v) >= 12 && entropy(v) >= 3 && (4*n >= size || wordlike.Signs(v) > 0 || uuid(v) || digest(v) && len(v) >= 16) // not PASS: TestE2E_Rewind
	case env && !quoted && algorithm(v) && len(v) < 14:
		return false
	case quoted || env:
		return digit || strings.ContainsAny(v, "!@#%^&*+?~-_.") || len(v) >= 8 && entropy(v) >= 2.5
	default:
		return digit && !algorithm(v) && (mixed(v) || len(v) >= 8 && entropy(v) >= 2.5)
	}
}

// diceware reports whether v is words that say nothing together: river-copper-window.
func diceware(v string) bool {
	words := 0
	for w := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == '-' || r == '.' }) {
		if words++; len(w) < 3 || len(w) > 10 || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" || strings.Contains(ofNames, " "+w+" ") {
			return false
		}
	}
	return words >= 3 && len(v) >= 14
}

// ofNames are words in the names of things, and in what takes the place of a password.
const ofNames = functionWords + "secret secrets password passwords pass passphrase key keys token tokens credential credentials name ref file new old current not none change enter example default reset forgot field input type policy strength hash prod production staging dev test tests testing user users auth login service config store manager provider env value admin app api web data base server client main build release branch page form view check update create delete read write only same code error "

// isPath reports whether v begins as an absolute path does.
func isPath(v string) bool {
	return strings.HasPrefix(v, "/") && !keyNotPath(v) || len(v) > 2 && v[1] == ':' && v[2] == '\\' || strings.HasPrefix(v, "~/")
}

// wordyPath reports whether v is a path or a name of names and numbers: src/lexer2/scan.go:120.
func wordyPath(v string) bool {
	n, size := wordlike.Unexplained(v)
	return strings.Contains(v, "/") && len(v) >= 6 && 4*n < size && !strings.ContainsAny(v, "!#$%^&*?=+")
}

// algorithm is true of the names with digits that stand behind the word
// password and say what becomes of it: argon2id, SHA-256, base64.
func algorithm(v string) bool {
	low := strings.ToLower(v)
	for _, name := range []string{"sha1", "sha2", "sha3", "sha5", "sha-", "md5", "argon2", "pbkdf2", "bcrypt", "scrypt", "base64", "base32",
		"hmac", "utf8", "utf-8", "oauth2", "aes1", "aes2", "aes-", "ed25519", "x509", "2fa"} {
		if strings.HasPrefix(low, name) {
			return true
		}
	}
	switch strings.TrimRight(low, digitBytes) { // types, and what signs a token
	case "float", "int", "uint", "varchar", "char", "complex", "rs", "es", "hs", "ps":
		return len(low) < 9
	}
	return false
}

// codeLike is true of expressions: os.Getenv("X"), process.env.KEY, cfg[…].
func codeLike(v string, quoted bool) bool {
	if strings.ContainsAny(v, "([{") || strings.Contains(v, "->") || strings.Contains(v, "::") {
		return !quoted || strings.ContainsAny(v, "({")
	}
	if quoted {
		return strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") || strings.HasPrefix(v, "file:") || strings.HasPrefix(v, "http")
	}
	return strings.HasPrefix(v, "/") || strings.HasPrefix(v, "./") || identifiers(v)
}

// identifiers is true of a dotted path of names without digits: config.db.password.
func identifiers(v string) bool {
	if !strings.Contains(v, ".") {
		return false
	}
	for part := range strings.SplitSeq(v, ".") {
		if part == "" || strings.ContainsAny(part, "0123456789-+/=!@#%^&*") {
			return false
		}
	}
	return true
}

// harmless is true of references, examples and filler: ${TOKEN}, <token>,
// YOUR_API_KEY, ****, changeme, and of our own placeholders.
func harmless(v string) bool {
	if v == "" || v[0] == '$' || v[0] == '<' || v[0] == '%' && strings.HasSuffix(v, "%") || strings.HasPrefix(v, "{{") ||
		strings.HasPrefix(v, "...") || strings.Contains(v, "…") || monotone(v) || bare(v) {
		return true
	}
	low := strings.ToLower(v)
	for _, w := range []string{"your_", "your-", "yourpass", "yourkey", "yourtoken", "my_password", "mypassword", "example", "placeholder",
		"changeme", "change_me", "change-me", "replace_me", "replace-me", "replaceme", "redacted", "xxxx", "****", "todo", "dummy",
		"<", "process.env", "os.environ", "getenv", "secrets.", "env.", "vault:", "op://", "ssm:", "arn:aws"} {
		if strings.Contains(low, w) && (len(low) < len(w)+2 || len(strings.Trim(low[len(w):], digitBytes)) > 0) {
			return true
		}
	}
	switch low {
	case "password", "passwd", "secret", "string", "required", "optional", "undefined", "missing", "invalid", "token",
		"bearer", "boolean", "number", "integer", "default", "enabled", "disabled", "forgot", "incorrect", "postgres", "function":
		return true
	}
	return false
}

// entropy is Shannon's, in bits per byte.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	h := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			h -= p * math.Log2(p)
		}
	}
	return h
}
