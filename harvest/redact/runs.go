package redact

import (
	"encoding/base64"
	"strings"

	"github.com/skill-evolve/evolve/harvest/redact/wordlike"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// runs finds what is a secret by its form alone: base64 of settings that hold one, a
// secret access key of Amazon's, and the words of a wallet. It looks at every run of
// base64, so it is for texts that are kept.
func runs(s string) (found []span) {
	const least = 24
	for i := 0; i+least <= len(s); {
		short := i + least - 1
		for short >= i && base64ish[s[short]] {
			short--
		}
		if short >= i { // runs before it are too short
			i = short + 1
			continue
		}
		end := run(s, i+least, base64ish)
		if sign := strings.LastIndexByte(strings.TrimRight(s[i:end], "="), '='); sign >= 0 { // NAME=value
			i += sign + 1
		}
		beside := i > 0 && (dashed[s[i-1]] || s[i-1] == '.') || end < len(s) && (dashed[s[end]] || s[end] == '.' && end+1 < len(s) && alnum[s[end+1]])
		switch n := end - i; {
		case n == least && i >= 2 && s[i-2:i] == "s." && (i == 2 || !word[s[i-3]] && s[i-3] != '.') && odd(s[i:end]) && strings.ContainsAny(s[i:end], digitBytes):
			found = append(found, span{i - 2, end, "vault-token", false})
		case beside:
		case n == 40 && accessKey(s[i:end]):
			found = append(found, span{i, end, "aws-secret", true})
		case hides(s[i:end]):
			found = append(found, span{i, end, "base64-secret", false})
		}
		i = end
	}
	return append(append(found, mnemonics(s)...), printed(s)...)
}

const digitBytes = "0123456789"

// accessKey reports whether 40 digits of base64 are a secret access key: they are no
// hash and no path.
func accessKey(v string) bool {
	if !strings.ContainsAny(v, "0123456789") || strings.ToLower(v) == v || strings.ToUpper(v) == v || strings.Contains(v, "=") || published(v) {
		return false
	}
	n, size := wordlike.Unexplained(v)
	return 4*n >= 3*size && entropy(v) >= 4
}

// hides reports whether v is base64 of a text that holds a secret. Of long ones the
// beginning is looked at.
func hides(v string) bool {
	const far = 4096
	v = strings.TrimRight(v[:min(len(v), far)], "=")
	text, err := base64.RawStdEncoding.DecodeString(v[:len(v)/4*4])
	if err != nil || len(text) < 16 {
		return false
	}
	name := 0 // settings begin with a name and an equals sign, or are JSON or a key
	for name < len(text) && name < 48 && text[name] >= ' ' && text[name] < 0x7f && text[name] != '=' && text[name] != ':' {
		name++
	}
	if name == 48 || name == len(text) || text[name] != '=' && text[name] != ':' && text[name] != '\n' {
		return false
	}
	printable := 0
	for _, c := range text {
		if c == '\n' || c == '\r' || c == '\t' || c >= ' ' && c < 0x7f {
			printable++
		}
	}
	plain := string(text)
	if printable < len(text)*9/10 { // a value that is itself no text
		n := 0
		for n < len(text) && (text[n] == '\n' || text[n] >= ' ' && text[n] < 0x7f) {
			n++
		}
		plain = plain[:n]
		return secretSetting.MatchString(plain[:strings.LastIndexByte(plain, '=')+1])
	}
	return len(scan(plain)) > 0
}

// secretSetting is the name of a secret and an equals sign.
var secretSetting = lazyregexp.New(`(?i)(?:password|passwd|secret|token|_key|apikey|_pass|_pwd)=$`)

// mnemonics finds the words of a wallet: twelve or more in a row, of three to eight
// letters, none of which a sentence needs.
func mnemonics(s string) (found []span) {
	const least = 12
	words, from := 0, 0
	for i := 0; i < len(s); {
		end := i
		for end < len(s) && s[end] >= 'a' && s[end] <= 'z' {
			end++
		}
		if n := end - i; n < 3 || n > 8 || end < len(s) && s[end] != ' ' && (word[s[end]] || s[end] >= 0x80 || s[end] == '-' || s[end] == '(') ||
			i > 0 && (word[s[i-1]] || s[i-1] >= 0x80 || s[i-1] == '-') {
			words, i = 0, max(end, i+1)
			continue
		}
		if words == 0 {
			from = i
		}
		words++
		if goesOn := end+1 < len(s) && s[end] == ' ' && s[end+1] >= 'a' && s[end+1] <= 'z'; goesOn {
			i = end + 1
			continue
		}
		if words >= least && words <= 24 && words%3 == 0 && !sentence(s[from:end]) {
			found = append(found, span{from, end, "mnemonic", false})
		}
		words, i = 0, end+1
	}
	return found
}

// sentence reports whether words have one among them that holds sentences together; few
// of those are in the list of BIP 39.
func sentence(words string) bool {
	for w := range strings.SplitSeq(words, " ") {
		if strings.Contains(functionWords, " "+w+" ") {
			return true
		}
	}
	return false
}

const functionWords = " the and for with from was were are not but you your that this have has had will would should can could may been its into than then when where which who how why our their they them his her she him also only just any all each per via out off der die das und ist ein eine mit von auf des les une est que los las del con por una para per sono "
