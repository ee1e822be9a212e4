package redact

import (
	"iter"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/harvest/ownwords"
	"github.com/skill-evolve/evolve/harvest/redact/wordlike"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// nouns are what people call a secret, in the languages that they write to agents in,
// letters of ASCII in lower case; an asterisk stands for the rest of a word. The strong
// ones are called so only of what is meant to be kept.
const (
	strongNouns = "palavra-passe* palavra~passe* passw~ phrase~secr* phrase~de~passe la~phrase~est kodew* frase~seg* frase~sec* \u0444\u0440\u0430\u0437* \u043a\u043e\u0434\u043e\u0432* wachtzin* toegangscode* zugangscode* sicherheitswort* \u5408\u8a00\u8449* \u5bc6\u78bc* parola~d'ordine* l\u00f6senfras* hemmeligt~ord* clave~secreta* pasword* passwr* passowr* passwod* psw~ psw: pswd* mdp~ mdp: magic~word contra~ contra: ww~ ww: haslo* has\u0142* adgangskode* passord* l\u00f6sen~ jelsz\u00f3* lozink* zugang~ sandi~ m\u1eadt~kh\u1ea9u* \ube44\ubc88* \uc554\ud638* \u03ba\u03c9\u03b4\u03b9\u03ba* \u05e1\u05d9\u05e1\u05de* \u0643\u0644\u0645\u0629* \u092a\u093e\u0938\u0935\u0930\u094d\u0921* password* passwd* passphrase* passcode* passwort* passw\u00f6rter kennwort* zugangsdaten zugangsschl\u00fcssel pass~ pass: pwd~ pwd: pw~ pw: pw, credential* creds~ creds: login* " +
		"log~in~ log~on~ sign~in~ ssh~in~ connect~as~ mot~de~passe mots~de~passe contrase\u00f1a* clave~ clave: senha* parola* parole~ wachtwoord* has\u0142o has\u0142a l\u00f6senord* salasana* heslo* \u015fifre* " +
		"\u043f\u0430\u0440\u043e\u043b* \u041f\u0430\u0440\u043e\u043b* \u5bc6\u7801* \u53e3\u4ee4* \u30d1\u30b9\u30ef\u30fc\u30c9* \u6697\u8a3c\u756a\u53f7* \ube44\ubc00\ubc88\ud638*"
	weakNouns = "secret secrets token tokens auth api-key apikey key keys schl\u00fcssel* cl\u00e9 cl\u00e9s chave chaves chiave chiavi llave llaves sleutel klucz* nyckel* \u043a\u043b\u044e\u0447* \u041a\u043b\u044e\u0447* " +
		"\u5bc6\u94a5* \u91d1\u9470* \u30ad\u30fc* \u9375* \ud0a4*"
)

// A noun is a word for a secret; longer says that a word may go on behind it.
type noun struct {
	word           string
	strong, longer bool
}

var nouns = sync.OnceValue(func() *index {
	var rules []rule
	for i, list := range [...]string{strongNouns, weakNouns} {
		for w := range strings.FieldsSeq(list) {
			word, longer := strings.CutSuffix(strings.ReplaceAll(w, "~", " "), "*")
			n := noun{word, i == 0, longer || strings.HasSuffix(word, " ")}
			rules = append(rules, rule{kind: map[bool]string{true: "password", false: "secret"}[n.strong], word: word, match: n.match})
		}
	}
	return newIndex(rules)
})

func (n noun) match(s string, at int) (start, end int, ok bool) {
	end = at + len(n.word)
	if letter[s[at]] && at > 0 && (alnum[s[at-1]] || s[at-1] == '[' || s[at-1] == ':' && strings.HasSuffix(s[:at], open)) {
		return 0, 0, false
	}
	if at > 0 && s[at-1] == '-' && placeholderAround(s, at, end) >= 0 { // no word of the text's
		return 0, 0, false
	}
	if !n.longer && letter[n.word[len(n.word)-1]] && end < len(s) && alnum[s[end]] {
		return 0, 0, false
	}
	if end < len(s) && s[end] == '_' && notSecret(strings.ToLower(s[end:run(s, end, word)])) {
		return 0, 0, false
	}
	return at, end, true
}

var (
	// words as a password: hyphenated, quoted, or what a colon stands before.
	phraseQuoted = lazyregexp.New(`(?i)(?:passphrase|password)(?: \w+){0,4}? ?(?:is|was|:)? ?["\x{201c}\x60]([a-z0-9-]+(?: [a-z0-9-]+){2,})["\x{201d}\x60]`)
	phraseLine   = lazyregexp.New(`(?im)passphrase(?: (?:of|for|to) [^:\n]{1,30})?: ?([a-z0-9]+(?:[ -][a-z0-9]+){2,})(?: \(|[.,;]|$)`)
	fours        = lazyregexp.New(`\b[a-z]{4} [a-z]{4} [a-z]{4} [a-z]{4}\b`)
	// asks is a question that only a secret answers.
	asks = lazyregexp.New(`(?i)(?:need|give|enter|send|provide|paste|tell)[^\n]{0,60}(?:password|passphrase|credential|login|api[ -]?key|token|\bpin\b)[^\n]{0,80}$`)
	// hashed are words before a hash or an id.
	hashed = lazyregexp.New(`(?i)(?:commit|sha-?\d*|hash|digest|checksum|revert|pick|rebase|bisect|merge|rev|revision|tag|branch|md5|etag|tree|object|parent|blob|trace|request|session|run|job|build|image|container|uuid|guid|ids?|tx|transaction|block|fingerprint|checkpoint|deployment|since|at|from|to|and|version|integrity|\x{30b3}\x{30df}\x{30c3}\x{30c8}|\x{30cf}\x{30c3}\x{30b7}\x{30e5}|\x{cee4}\x{bc0b}|\x{63d0}\x{4ea4}|\x{54c8}\x{5e0c}|\x{43a}\x{43e}\x{43c}\x{43c}\x{438}\x{442}\S*|\x{445}[\x{435}\x{44d}]\x{448}\S*)\W{0,3}$`)
)

// isCommit is what may follow a hash.
var isCommit = lazyregexp.New(`(?i)^["'\x60)]*\s(?:is|was)\s[^.\n]{0,20}\b(?:commit|hash|revision|checksum)`)

// sums are words that a hash is near to.
var sums = lazyregexp.New(`(?i)\b(?:commits?|sha-?\d+|hash(?:es)?|digest|checksum|md5|fingerprint|etag|integrity)\b[^\n]*$`)

// Asks reports whether a text of the agent's ends in a question that a secret answers.
func Asks(text string) bool {
	const tail = 300
	text = strings.TrimRight(text, " \t\r\n*`_")
	text = text[max(0, len(text)-tail):]
	text = text[strings.LastIndexByte(text, '\n')+1:]
	if len(nouns().find(text)) == 0 {
		return false
	}
	question := strings.HasSuffix(text, "?") || strings.HasSuffix(text, ":") || strings.HasSuffix(text, "\uff1f") || strings.HasSuffix(text, "\uff1a")
	return question || asks.MatchString(text)
}

// own are those spans of a text that are not in what a person pasted.
func own(s string, spans []span) (out []span) {
	if len(spans) == 0 || !strings.ContainsAny(s, "\n<>\"`\u201c\u201d\u201e\u00ab\u00bb") { // nothing quotes
		return spans
	}
	at := 0
	for _, p := range ownwords.Parts(s) {
		for _, v := range spans {
			if p.Own && v.start < at+len(p.Text) && v.end > at {
				out = append(out, v)
			}
		}
		at += len(p.Text)
	}
	return out
}

// passphrases finds secrets of several words.
func passphrases(s string, look lookFor) (found []span) {
	if look != inTyped && look != inProse {
		return nil
	}
	for _, n := range nouns().find(s) {
		if !hasWord(s[n.start:], "pass", false) {
			continue
		}
		for _, re := range [...]*lazyregexp.Regexp{phraseQuoted, phraseLine} {
			if m := re.FindStringSubmatchIndex(s[n.start:min(len(s), n.end+behind)]); m != nil && !harmless(s[n.start+m[2]:n.start+m[3]]) {
				found = append(found, span{n.start + m[2], n.start + m[3], "password", true})
			}
		}
	}
	if look == inTyped {
		found = own(s, append(found, fourByFour(s)...))
	}
	return found
}

// fourByFour finds four times four letters, as Google makes passwords for programs.
func fourByFour(s string) (found []span) {
	if !strings.Contains(s, "mail") && !strings.Contains(s, "oogle") && !strings.Contains(s, "app") && !strings.Contains(s, "smtp") {
		return nil
	}
	for _, m := range fours.FindAllStringIndex(s, 20) {
		strange := 0
		for w := range strings.FieldsSeq(s[m[0]:m[1]]) {
			if !wordlike.Word(w) {
				strange++
			}
		}
		if strange >= 2 {
			found = append(found, span{m[0], m[1], "google-app-password", true})
		}
	}
	return found
}

// How far a noun is from the value that it speaks of, in bytes.
const behind, before = 110, 70

// suspicious is a quick look at a word: it has a figure, a sign or capitals, or is long.
func suspicious(v string) bool {
	if len(v) < 6 {
		return false
	}
	for i := range len(v) {
		if c := v[i]; c < 'a' || c > 'z' {
			return true
		}
	}
	return len(v) >= 12
}

// tokensOf are the words of a text, as blanks, quotes and other scripts end them.
func tokensOf(s string) iter.Seq[span] {
	return func(yield func(span) bool) {
		for i := 0; i < len(s); {
			if endsWord[s[i]] {
				i++
				continue
			}
			start, next := i, 0
			i, next = wordEnd(s, i)
			end := i
			i += next
			for end-start > 1 && emphasis[s[start]] && s[start] == s[end-1] { // **X**
				start, end = start+1, end-1
			}
			if end > start && s[start] == '[' && s[end-1] == ']' && placeholder(s, start) < 0 {
				start, end = start+1, end-1
			}
			for end > start && punctuation[s[end-1]] {
				end--
			}
			if end > start && !yield(span{start, end, "", false}) {
				return
			}
		}
	}
}

// wordEnd is the end of the word at s[i], and the length of the character that ends it.
func wordEnd(s string, i int) (end, next int) {
	for i < len(s) {
		if s[i] < utf8.RuneSelf {
			if endsWord[s[i]] {
				return i, 1
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if foreign(r) {
			return i, n
		}
		i += n
	}
	return i, 0
}

var (
	endsWord    = bytesOf(" \n\t\r'\"`,;|<>()")
	emphasis    = bytesOf("*_#-")
	punctuation = bytesOf(".,:;?)")
)

// foreign is true of what ends a word of ASCII: punctuation beyond it, and letters of
// scripts that are written without blanks.
func foreign(r rune) bool {
	return r >= 0x2000 && (unicode.IsPunct(r) || unicode.IsSymbol(r) || unicode.IsSpace(r) || r >= 0x2e80 && r < 0x1f000)
}

// valuesIn is a word, or the value in it: NAME=value, user:value, user/value.
func valuesIn(s string, w span) []span {
	v := s[w.start:w.end]
	if strings.Contains(v, "://") || strings.Contains(v, open) || strings.HasSuffix(s[:w.start], "base64,") || strings.HasPrefix(s[w.end:], "  ") && digest(v) {
		return nil // the last is how programs print sums
	}
	if publicKey.MatchString(v) {
		return []span{w}
	}
	for _, sign := range [...]string{"=", ":"} {
		name, value, ok := strings.Cut(v, sign)
		if ok && len(value) >= 6 && name != "" && len(name) <= 24 && !strings.ContainsAny(value, "/\\") && wordy(name) {
			return []span{{w.end - len(value), w.end, "", false}}
		}
	}
	return []span{w}
}

func wordy(name string) bool {
	n, _ := wordlike.Unexplained(name)
	return n < 4
}

// chosen reports whether a person or a program made v up to be a secret, in a sentence
// that speaks of one.
func chosen(v string, look lookFor) bool {
	if len(v) < 6 {
		return false
	}
	n, size := wordlike.Unexplained(v)
	signs, least := wordlike.Signs(v), 6
	if look == inTyped {
		least = 4
	}
	strange := n + 2*signs
	made := 2*strange >= size && strange >= least && mixed(v) || n >= 8 && 2*n >= size && (mixed(v) || !strings.ContainsAny(v, "-_.")) || signs > 1 && mixed(v)
	if look == inTyped && !made {
		made = mixed(v) && (ragged(v) || signs > 0 && len(v) >= minLen && !strings.Contains(v, "/"))
	}
	return (made && !digest(v) || hexWithDashes(v)) && plainToken(v) && known(v) && !algorithm(v) && !knownForm(v)
}

// hashWord reports whether the word before v says that it is a hash or an id.
func hashWord(s string, v span) bool {
	if sums.MatchString(s[max(0, v.start-64):v.start]) {
		return true
	}
	before := strings.TrimRight(s[max(0, v.start-32):v.start], " \t`'\"(:=@#")
	m := hashed.FindStringIndex(before)
	if behind := s[v.end:min(len(s), v.end+40)]; isCommit.MatchString(behind) {
		return true
	}
	if m == nil {
		return false
	}
	switch strings.ToLower(strings.Trim(before[m[0]:], " ")) {
	case "to", "from", "and", "at":
		return !uuid(s[v.start:v.end]) && v.end-v.start == 40
	}
	return m[0] == 0 || !alnum[before[m[0]-1]]
}
