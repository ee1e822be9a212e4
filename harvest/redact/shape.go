package redact

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/harvest/redact/wordlike"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

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
	if strings.Contains(v, "@@") || strings.Contains(v, "$$") || strings.Contains(v, "?v=") { // a mangled name
		return false
	}
	return !strings.Contains(v, "/") || !path(v)
}

// path reports whether v, which has a slash, is rather a path than base64.
func path(v string) bool {
	const noise = 16 // bytes that no word explains: base64 has them
	if len(v) < noise || strings.HasPrefix(v, "~") || strings.HasPrefix(v, ".") || strings.HasPrefix(v, "@") || 10*strings.Count(v, "/") > len(v) {
		return true
	}
	n, size := wordlike.Unexplained(v)
	first, _, _ := strings.Cut(strings.TrimPrefix(v, "/"), "/")
	return n < noise || 5*n < 3*size || strings.HasPrefix(v, "/") && strings.Count(v, "/") > 1 && len(first) > 1 && wordy(first) || extension.MatchString(v) || website.MatchString(v)
}

var (
	extension  = lazyregexp.New(`^[\w./@+~-]*\.[a-zA-Z]{1,6}\d?(?::\d+)*$`)
	website    = lazyregexp.New(`^(?:[a-z0-9-]+\.)+[a-z]{2,10}/|\.[a-z]+\d?\?[\w.-]+=`)
	identifier = lazyregexp.New(`^[a-z]+(?:[A-Z][a-z]{2,})+\d{0,4}$|^_Z[A-Z]|^[.#][a-zA-Z-]`)
	version    = lazyregexp.New(`^(?:[a-z]+[-@])?v?\d+(?:\.\d+)+(?:[-+.][\w.+-]*)?$`)
	pod        = lazyregexp.New(`^[a-z0-9-]+-[a-f0-9]{7,10}-[a-z0-9]{5}$`)
	address    = lazyregexp.New(`^[0-9a-fA-F]{0,4}(?:[:.-][0-9a-fA-F]{0,4}){3,}$`)
	publicKey  = lazyregexp.New(`^(?:AAAA[BCE][23][NVv][zj]|age1|pk_|xpub|[yz]pub|npub|h1:|sha\d+[-:]|SHA256:|data:|eyJ[\w-]*$|AKIA[A-Z0-9]*EXAMPLE|arn:|urn:|spotify:|cid:)`)
	machineID  = lazyregexp.New(`^(?:toolu|msg|req|call|resp|run|thread|asst|step|file|cus|evt|price|prod|acct|sub|ch|pi|seti|in|org|proj|batch|conv|ses|chatcmpl|fc|item|rs|wf|job|task|agent|session)[_-][\w-]+$`)
	ulid       = lazyregexp.New(`^0[0-9A-Z]{25}$|^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)
	advisory   = lazyregexp.New(`^(?:GHSA|CVE|RUSTSEC|PYSEC|OSV|SNYK)-|^[A-Z]{14}-[A-Z]{10}-[A-Z]$|^[a-z]{1,12}-(?:[0-9a-f]{8}|[0-9a-f]{17})$`)
	stamp      = lazyregexp.New(`^\d{4}-\d\d-\d\d(?:[T_-]|$)|^\d{8}[T_-]\d{4}`)
	colour     = lazyregexp.New(`^#(?:[0-9a-fA-F]{3,4}){1,2}$`)
	wallet     = lazyregexp.New(`^0x[0-9a-fA-F]{40}$|^[13][1-9A-HJ-NP-Za-km-z]{25,33}$|^bc1[0-9a-z]{39,59}$`)
	vehicle    = lazyregexp.New(`^[A-HJ-NPR-Z0-9]{11}\d{6}$|^[23456789CFGHJMPQRVWX]{4,8}\+[23456789CFGHJMPQRVWX]{2,4}$`)
)

// knownForm is true of versions, addresses, public keys, names of pods and ids.
func knownForm(v string) bool {
	for _, re := range [...]*lazyregexp.Regexp{version, pod, address, publicKey, machineID, ulid, stamp, advisory, colour, wallet, vehicle} {
		if re.MatchString(v) {
			return true
		}
	}
	return false
}

// Doubts returns what a person typed and only its shape makes suspicious: a long word of
// no language, no path and no identifier, of which no sentence says what it is. A hash
// that the transcript shows elsewhere is none.
func Doubts(s string) (out []string) {
	var found []span
	few := len(strings.Fields(s[:min(len(s), 1024)])) <= alone
	for w := range tokensOf(s) {
		if w.end-w.start < minLen || !suspicious(s[w.start:w.end]) {
			continue
		}
		for _, p := range valuesIn(s, w) {
			v := s[p.start:p.end]
			if !doubtful(v) && (!few || len(v) < minLen || !chosen(v, inTyped)) {
				continue
			}
			if digest := digest(v); digest && hashWord(s, p) || !digest && named.MatchString(s[max(0, p.start-40):p.start]) {
				continue
			}
			found = append(found, p)
		}
	}
	for _, p := range doubtless(s, own(s, found)) {
		out = append(out, s[p.start:p.end])
	}
	return out
}

// named are words before what has no meaning, and is no secret.
var named = lazyregexp.New(`(?i)(?:^|[\s(])(?:ids?|uid|etag|uuid|guid|slug|vin|symbol|constraint|index|mangled|nonce|ref|sku|isbn|hash|channel|video|playlist|sheet|commit|branch|tag|container|pod|image|cid|address|tx|contract|public key|pubkey|fingerprint|trace|request|tracking|vehicle|plus code|part|part number|number|model|serial|sequence|geohash|position|fen|class|module|chip|file|font|segment|plate|sensor|imei|pnr|booking|order|invoice|parcel|barcode|gene|compound|smiles|package|function|method|variable|exception|header|document|folder|resistor|device|product|item|case|build|event|resource|instance|volume|ray id|flight|fiscale)["'\x60:=]{0,2}\s(?:is |was |= )?(?:["'\x60]|W/"?)?$|W/"?$`)

// alone is how many words a message has that hands something over: "here: X".
const alone = 3

// doubtful reports whether v is suspicious by its shape alone.
func doubtful(v string) bool {
	least := 12
	if wordlike.Signs(v) > 0 && mixed(v) {
		least = 8
	}
	if len(v) < least {
		return false
	}
	n, size := wordlike.Unexplained(v)
	signs := wordlike.Signs(v)
	made := n+2*signs >= 8 && (mixed(v) || n >= 9 || signs > 1) && 2*(n+2*signs) >= size && n >= 4 && !extension.MatchString(v)
	if (len(v) < 16 || !mixed(v)) && strings.ToUpper(v) == v { // a part's number, a sequence
		return false
	}
	switch {
	case digest(v):
		made = len(v) >= 32 && !uuid(v) && !strings.Contains(v, ":") && !strings.HasPrefix(v, "0x")
	case !made && !hexWithDashes(v):
		return false
	case encodedWords(v), entropy(v) < 2.5, identifier.MatchString(v):
		made = false
	case hexWithDashes(v):
		made = true
	}
	return made && plainToken(v) && !harmless(v) && !published(v) && !strings.Contains(v, open) && !knownForm(v)
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
	for w := range tokensOf(text) {
		if w.end-w.start < minLen || !madeUp(text[w.start:w.end]) {
			continue
		}
		for _, p := range valuesIn(text, w) {
			if v := text[p.start:p.end]; (mixed(v) || wordlike.Signs(v) > 0) && (chosen(v, inProse) || doubtful(v)) && !digest(v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// madeUp reports whether v has a figure or a sign, as no word has.
func madeUp(v string) bool {
	for i := range len(v) {
		if c := v[i]; c <= '9' && c >= '0' || wordlike.Sign(c) {
			return true
		}
	}
	return false
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
	words := slices.Collect(tokensOf(text))
	if len(words) > few {
		return text, n
	}
	var found []span
	for _, w := range words {
		v := text[w.start:w.end]
		made := strings.ContainsAny(v, digitBytes) && (len(v) >= 6 || len(v) >= 4 && !mixed(v) && len(words) <= alone) && plainToken(v) && !knownForm(v) || strings.Count(v, "-") >= 2 && plainToken(v) || odd(v)
		if made && !harmless(v) && !algorithm(v) {
			found = append(found, span{w.start, w.end, "secret", true})
			s.Learn(v, "secret")
		}
	}
	if len(found) > 0 {
		return replace(text, found), n + len(found)
	}
	return text, n
}
