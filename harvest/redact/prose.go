package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/harvest/ownwords"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// nouns are what people call a secret, in the languages that they write to agents in.
// strong ones are called so only if the next value is meant to be kept.
var (
	strongNoun = lazyregexp.New(`(?i)pass(?:word|wd|phrase|code|wort)s?\b|\bpass\b|\bpwd?\b|kennwort|zugangsdaten|zugangsschl\x{fc}ssel|mots? de passe|contrase\x{f1}as?|\bclave\b|\bsenhas?\b|parola|` +
		`parole|credentials?|\bcreds\b|\blogins?\b|\blog ?(?:in|on) |\bsign ?in |\bssh in\b|wachtwoord|has\x{142}[oa]|l\x{f6}senord|salasana|heslo|\x{15f}ifre|\x{43f}\x{430}\x{440}\x{43e}\x{43b}|` + // пароль
		`\x{5bc6}\x{7801}|\x{53e3}\x{4ee4}|\x{30d1}\x{30b9}\x{30ef}\x{30fc}\x{30c9}|\x{be44}\x{bc00}\x{bc88}\x{d638}`)
	weakNoun = lazyregexp.New(`(?i)\b(?:secrets?|tokens?|auth|api[ -]?keys?|keys?|auth[ -]?id)\b|schl\x{fc}ssel|\bcl[e\x{e9}]f?\b|\bchaves?\b|\bchiav[ei]\b|\bllaves?\b|\bsleutel\b|\bklucz|\bnyckel|\x{43a}\x{43b}\x{44e}\x{447}|` + // ключ
		`\x{5bc6}\x{94a5}|\x{30ad}\x{30fc}|\x{9375}|\x{d0a4}`)
	notKey = lazyregexp.New(`(?i)(?:primary|foreign|cache|public|sort|partition|unique|composite|idempotency|object|map|dict|json|host|hot|arrow|enter|shift|ctrl|translation|i18n|message|max|min|input|output|next|page|deploy public)[ -]$`)
	// pin, and what a safe opens with.
	pin = lazyregexp.New(`(?i)\b(?:pin|puk|otp|2fa|mfa|passcode|code|totp)\b(?: (?:of|for|code|is|with|the|my|our|to|from|are|was|number|now|[a-z]+ is))*\W{0,3}\s*(\d{4,8})\b`)
	// recovery codes, which come in lists.
	recovery = lazyregexp.New(`(?i)(?:recovery|backup|scratch|emergency)(?: \w+){0,2} (?:codes?|keys?)\b[^\n]{0,40}?[\s:]((?:\[redacted:[a-z-]+\][\s,]*)*)(\d{6,10}|[A-Za-z0-9]{4,6}(?:-[A-Za-z0-9]{4,6})+)`)
	// words as a password: hyphenated, quoted, or what a colon stands before.
	phraseAfter  = lazyregexp.New(`(?i)(?:passphrase|password|passwort|kennwort)\b(?: (?:of|for|to|the|my|our|a|[a-z0-9_.@-]+)){0,6}? ?(?:\b(?:is|was|type|enter|lautet|ist)\b:?|:|=)? ["\x60']?([a-z]+(?:-[a-z0-9]+){2,})`)
	phraseBefore = lazyregexp.New(`(?i)["\x60']?\b([a-z]+(?:-[a-z0-9]+){2,})["\x60']? (?:as|for|is) (?:[a-z]+ ){0,4}(?:passphrase|password)`)
	phraseQuoted = lazyregexp.New(`(?i)(?:passphrase|password)(?: \w+){0,4}? ?(?:is|was|:)? ?["\x{201c}\x60]([a-z0-9-]+(?: [a-z0-9-]+){2,})["\x{201d}\x60]`)
	phraseLine   = lazyregexp.New(`(?im)passphrase(?: (?:of|for|to) [^:\n]{1,30})?: ?([a-z0-9]+(?:[ -][a-z0-9]+){2,})(?: \(|[.,;]|$)`)
	// four times four letters, as Google makes passwords for programs.
	fours = lazyregexp.New(`\b[a-z]{4} [a-z]{4} [a-z]{4} [a-z]{4}\b`)
	// a user and a password, as people write both down.
	userAnd = lazyregexp.New(`(?i)(?:^|[\s(:"'\x60*])(?:[\w.+-]+@[\w.-]+|[a-z][\w.-]{1,20})["'\x60*]{0,3}(?: / | ?/ ?["'\x60*]{1,3}|/|:)["'\x60*]{0,3}([^\s"'\x60<>|,;]{6,100})`)
	users   = lazyregexp.New(`(?i)(?:^|[\s(:"'\x60*])(?:admin|administrator|root|user|test|guest|pi|sa|postgres|ubuntu|deploy|demo|[\w.+-]+@[\w.-]+)["'\x60*]{0,3} ?[/:]`)
	// asks is a question that only a secret answers.
	asks = lazyregexp.New(`(?i)(?:` + strongNoun.String() + `|` + weakNoun.String() + `|\bpin\b)[^\n]{0,120}[?:]\s*$|(?:need|give|enter|send|provide|paste|tell)[^\n]{0,60}(?:` + strongNoun.String() + `|api[ -]?key|token|\bpin\b)[^\n]{0,80}$`)
	// hashed are words before a hash or an id.
	hashed = lazyregexp.New(`(?i)(?:commit|sha-?\d*|hash|digest|checksum|revert|pick|rebase|bisect|merge|rev|revision|tag|branch|md5|etag|trace|request|session|run|job|build|image|container|uuid|guid|ids?|tx|transaction|block|fingerprint|checkpoint|deployment|since|at|from|to|and|version|integrity)\W{0,3}$`)
)

// sums are words that a hash is near to.
var sums = lazyregexp.New(`(?i)\b(?:commits?|sha-?\d+|hash(?:es)?|digest|checksum|md5|fingerprint|etag|integrity)\b[^.\n]*$`)

// Asks reports whether a text of the agent's ends in a question that a secret answers.
func Asks(text string) bool {
	const tail = 300
	text = strings.TrimRight(text, " \t\r\n*`_")
	return asks.MatchString(text[max(0, len(text)-tail):])
}

// prose finds the secrets that a sentence gives away.
func prose(s string, look lookFor) (found []span) {
	if look == inAnything {
		return nil
	}
	for _, part := range own(s, look) {
		for _, p := range proseIn(s[part.start:part.end], look) {
			found = append(found, span{part.start + p.start, part.start + p.end, p.kind, true})
		}
	}
	return found
}

// own are the parts of a text that are sentences: of a person's, those that they did
// not paste.
func own(s string, look lookFor) (parts []span) {
	if look == inProse {
		return []span{{0, len(s), "", false}}
	}
	at := 0
	for _, p := range ownwords.Parts(s) {
		if p.Own {
			parts = append(parts, span{at, at + len(p.Text), "", false})
		}
		at += len(p.Text)
	}
	return parts
}

func proseIn(s string, look lookFor) (found []span) {
	add := func(start, end int, kind string) {
		if v := s[start:end]; end > start && !strings.Contains(v, open) && !harmless(v) && !published(v) {
			found = append(found, span{start, end, kind, true})
		}
	}
	words := tokensOf(s)
	for i, nouns := range [][][]int{strongNoun.FindAllStringIndex(s, 200), weakNoun.FindAllStringIndex(s, 200)} {
		for _, noun := range nouns {
			if i == 1 && notKey.MatchString(s[max(0, noun[0]-24):noun[0]]) {
				continue
			}
			if strings.HasSuffix(s[:noun[0]], open) {
				continue
			}
			for _, w := range words {
				if !near(s, noun, w) {
					continue
				}
				for _, v := range valuesIn(s, w) {
					if chosen(s[v.start:v.end], look) || look == inTyped && keyDigest(s, v, noun) {
						add(v.start, v.end, map[bool]string{true: "password", false: "secret"}[i == 0])
					}
				}
			}
		}
	}
	for _, m := range userAnd.FindAllStringSubmatchIndex(s, 50) {
		v := strings.TrimRight(s[m[2]:m[3]], ".,;:?)*")
		spaced := strings.Contains(s[m[0]:m[2]], " / ")
		if len(v) >= 6 && !strings.ContainsAny(v, "/\\({[") && (spaced || users.MatchString(s[m[0]:m[2]])) && chosen(v, look) {
			add(m[2], m[2]+len(v), "password")
		}
	}
	for _, m := range recovery.FindAllStringSubmatchIndex(s, 20) {
		if v := s[m[4]:m[5]]; strings.ContainsAny(v, "0123456789") {
			add(m[4], m[5], "recovery-code")
		}
	}
	for _, re := range []*lazyregexp.Regexp{phraseAfter, phraseBefore, phraseQuoted, phraseLine} {
		for _, m := range re.FindAllStringSubmatchIndex(s, 20) {
			add(m[2], m[3], "password")
		}
	}
	for _, m := range fours.FindAllStringIndex(s, 20) {
		strange := 0
		for w := range strings.FieldsSeq(s[m[0]:m[1]]) {
			if !wordlike(w) {
				strange++
			}
		}
		if strange >= 2 {
			add(m[0], m[1], "google-app-password")
		}
	}
	if look == inTyped {
		for _, m := range pin.FindAllStringSubmatchIndex(s, 20) {
			if v := s[m[2]:m[3]]; !strings.HasPrefix(v, "20") || len(v) != 4 {
				add(m[2], m[3], "pin")
			}
		}
	}
	return found
}

// near reports whether a word may be what a noun speaks of: it is in the same sentence,
// at most eight words behind it or four before.
func near(s string, noun []int, w span) bool {
	const behind, before = 110, 70
	var between string
	switch {
	case w.start >= noun[1]:
		if w.start-noun[1] > behind {
			return false
		}
		between = s[noun[1]:w.start]
	case w.end <= noun[0]:
		if noun[0]-w.end > before {
			return false
		}
		if between = s[w.end:noun[0]]; strings.Contains(between, "\n") {
			return false
		}
	default:
		return true // "password=…" is one word
	}
	if i := strings.Index(between, ". "); i >= 0 {
		next := strings.ToLower(strings.TrimLeft(between[i+2:], " "))
		goesOn := false
		for _, it := range [...]string{"it is", "it's", "its ", "this one", "try ", "the new", "new one", "use "} {
			goesOn = goesOn || strings.HasPrefix(next, it)
		}
		if !goesOn {
			return false
		}
	}
	return strings.Count(between, "\n") <= 1 && len(strings.Fields(between)) <= 14
}

// tokensOf are the words of a text, as blanks, quotes and other scripts end them.
func tokensOf(s string) (out []span) {
	from := -1
	flush := func(end int) {
		if from < 0 {
			return
		}
		start := from
		from = -1
		for start < end && strings.IndexByte("*_#-", s[start]) >= 0 && end-start > 1 && s[start] == s[end-1] { // **X**
			start, end = start+1, end-1
		}
		for end > start && strings.IndexByte(".,:;?)", s[end-1]) >= 0 {
			end--
		}
		if end > start {
			out = append(out, span{start, end, "", false})
		}
	}
	for i, r := range s {
		if r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\'' || r == '"' || r == '`' || r == ',' || r == ';' || r == '|' || r == '<' || r == '>' ||
			r == '(' || r == ')' || r >= 0x2000 && (unicode.IsPunct(r) || unicode.IsSymbol(r) || unicode.IsSpace(r) || r >= 0x2e80 && r < 0x1f000) {
			flush(i)
			continue
		}
		if from < 0 {
			from = i
		}
	}
	flush(len(s))
	return out
}

// valuesIn is a word, or the value in it: NAME=value, user:value, user/value.
func valuesIn(s string, w span) []span {
	v := s[w.start:w.end]
	if strings.Contains(v, "://") || strings.Contains(v, open) {
		return nil
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
	n, _ := unexplained(name)
	return n < 4
}

// chosen reports whether a person or a program made v up to be a secret, in a sentence
// that speaks of one.
func chosen(v string, look lookFor) bool {
	if len(v) < 6 || !plainToken(v) || digest(v) || knownForm(v) || !known(v) || algorithm(v) {
		return false
	}
	n, size := unexplained(v)
	signs := signsOf(v)
	if look == inTyped && strings.ContainsAny(v, "!#$^&*?%") && mixed(v) && signs > 0 && len(v) >= 8 && !strings.ContainsAny(v, "/\\") {
		return true
	}
	least := 6
	if look == inTyped {
		least = 4
	}
	return mixed(v) && n+2*signs >= least && 2*(n+2*signs) >= size || n >= 8 && 2*n >= size || signs >= 2 && mixed(v)
}

// signsOf counts the characters that identifiers and words do not have.
func signsOf(v string) (n int) {
	for i := range len(v) {
		if strings.IndexByte("!#$%^&*?~+@", v[i]) >= 0 {
			n++
		}
	}
	return n
}

// plainToken is true of what is neither code nor a path nor an address.
func plainToken(v string) bool {
	if strings.ContainsAny(v, "(){}[]\\<>") || strings.Contains(v, "://") || strings.Contains(v, "...") || !utf8.ValidString(v) {
		return false
	}
	for _, r := range v {
		if r >= 0x80 && unicode.IsLetter(r) { // a word
			return false
		}
	}
	if at := strings.LastIndexByte(v, '@'); at > 0 && strings.Contains(v[at:], ".") { // an address of mail
		return false
	}
	return !strings.Contains(v, "/") || !path(v)
}

// path reports whether v, which has a slash, is rather a path than base64.
func path(v string) bool {
	n, size := unexplained(v)
	return strings.HasPrefix(v, "/") && strings.Count(v, "/") > 1 && 2*n < size || strings.HasPrefix(v, "~") || strings.HasPrefix(v, ".") || strings.HasPrefix(v, "@") || extension.MatchString(v) || 5*n < 3*size || n < 16
}

var (
	extension = lazyregexp.New(`^[\w./@+~-]*\.[a-zA-Z]{1,6}\d?(?::\d+)*$`)
	version   = lazyregexp.New(`^(?:[a-z]+[-@])?v?\d+(?:\.\d+)+(?:[-+.][\w.+-]*)?$`)
	pod       = lazyregexp.New(`^[a-z0-9-]+-[a-f0-9]{7,10}-[a-z0-9]{5}$`)
	address   = lazyregexp.New(`^[0-9a-fA-F]{0,4}(?:[:.-][0-9a-fA-F]{0,4}){3,}$`)
	publicKey = lazyregexp.New(`^(?:AAAA[BCE][23][NVv][zj]|age1|pk_|xpub|[yz]pub|npub|h1:|sha\d+[-:]|SHA256:|data:|eyJ[\w-]*$|AKIA[A-Z0-9]*EXAMPLE|arn:|urn:|spotify:|cid:)`)
	machineID = lazyregexp.New(`^(?:toolu|msg|req|call|resp|run|thread|asst|step|file|cus|evt|price|prod|acct|sub|ch|pi|seti|in|org|proj|batch|conv|ses|chatcmpl|fc|item|rs|wf|job|task|agent|session)[_-][\w-]+$`)
	ulid      = lazyregexp.New(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`)
	stamp     = lazyregexp.New(`^\d{4}-?\d\d-?\d\d[T_-]\d\d[:.-]?\d\d`)
)

// knownForm is true of versions, addresses, public keys, names of pods and ids.
func knownForm(v string) bool {
	for _, re := range [...]*lazyregexp.Regexp{version, pod, address, publicKey, machineID, ulid, stamp} {
		if re.MatchString(v) {
			return true
		}
	}
	return false
}

// keyDigest reports whether hexadecimal digits are a key: a noun speaks of one, and
// nothing before them of a hash.
func keyDigest(s string, v span, noun []int) bool {
	text := s[v.start:v.end]
	return digest(text) && len(text) >= 16 && !strings.Contains(text, ":") && v.start >= noun[1]-len(text)-80 && !hashWord(s, v)
}

// hashWord reports whether the word before v says that it is a hash or an id.
func hashWord(s string, v span) bool {
	if sums.MatchString(s[max(0, v.start-64):v.start]) {
		return true
	}
	before := strings.TrimRight(s[max(0, v.start-32):v.start], " \t`'\"(:=@#")
	m := hashed.FindStringIndex(before)
	if m == nil {
		return false
	}
	switch strings.ToLower(strings.Trim(before[m[0]:], " ")) {
	case "to", "from", "and", "at":
		return !uuid(s[v.start:v.end]) && v.end-v.start == 40
	}
	return m[0] == 0 || !alnum[before[m[0]-1]]
}

// Doubts returns what a person typed and only its shape makes suspicious: a long word of
// no language, no path and no identifier, of which no sentence says what it is. A hash
// that the transcript shows elsewhere is none.
func Doubts(text string) (out []string) {
	for _, part := range own(text, inTyped) {
		s := text[part.start:part.end]
		words := tokensOf(s)
		for _, w := range words {
			for _, p := range valuesIn(s, w) {
				v := s[p.start:p.end]
				if (doubtful(v) || len(words) <= alone && len(v) >= minLen && chosen(v, inTyped)) && !(digest(v) && hashWord(s, p)) {
					out = append(out, v)
				}
			}
		}
	}
	return out
}

// alone is how many words a message has that hands something over: "here: X".
const alone = 3

// doubtful reports whether v is suspicious by its shape alone.
func doubtful(v string) bool {
	const least = 12
	if len(v) < least || !plainToken(v) || knownForm(v) || harmless(v) || published(v) || strings.Contains(v, open) {
		return false
	}
	if digest(v) {
		return len(v) >= 32 && !uuid(v) && !strings.Contains(v, ":") && !strings.HasPrefix(v, "0x")
	}
	n, size := unexplained(v)
	signs := signsOf(v)
	return !extension.MatchString(v) && n+2*signs >= 8 && (mixed(v) || n >= 9 || signs > 1) && 2*(n+2*signs) >= size && n >= 4
}

// Typed redacts what a person typed, if there is no transcript to explain it.
func Typed(red Redactor, text string) (string, int) {
	s := NewSession(red)
	text, n := s.Typed(text)
	for _, v := range Doubts(text) {
		s.Learn(v, "secret")
	}
	text, more := s.Again(text, "")
	return text, n + more
}

// Suspects returns the words of an agent's text that are secrets if a tool printed them
// as such.
func Suspects(text string) (out []string) {
	for _, w := range tokensOf(text) {
		for _, p := range valuesIn(text, w) {
			if v := text[p.start:p.end]; len(v) >= minLen && (chosen(v, inProse) || doubtful(v)) && !digest(v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// Hides reports whether a secret of the text is, or holds, the value.
func Hides(text, value string) (yes bool) {
	Detector{}.redact(text, inAnything, func(v, _ string) { yes = yes || strings.Contains(v, value) })
	return yes
}

// Digest reports whether a word has the form of a hash or an id.
func Digest(v string) bool { return digest(v) }

// Answered redacts what a person typed when they were asked for a secret: most likely
// it is in it.
func (s *Session) Answered(text string) (string, int) {
	text, n := s.Typed(text)
	if Has(text) {
		return text, n
	}
	const few = 12
	for _, part := range own(text, inTyped) {
		t := text[part.start:part.end]
		words := tokensOf(t)
		if len(words) > few {
			continue
		}
		var found []span
		for _, w := range words {
			v := t[w.start:w.end]
			made := strings.ContainsAny(v, "0123456789") && len(v) >= 4 && plainToken(v) && !knownForm(v) ||
				strings.Count(v, "-") >= 2 && plainToken(v) || odd(v)
			if made && !harmless(v) && !algorithm(v) {
				found = append(found, span{w.start, w.end, "secret", true})
				s.Learn(v, "secret")
			}
		}
		if len(found) > 0 {
			return text[:part.start] + replace(t, found) + text[part.end:], n + len(found)
		}
	}
	return text, n
}
