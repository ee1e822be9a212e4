package redact

import (
	"encoding/base64"
	"strings"

	"github.com/skill-evolve/evolve/harvest/redact/wordlike"
)

// encodedWords reports whether v is base64 of words: a name that a program wrote so.
func encodedWords(v string) bool {
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(v, "="))
	if err != nil || len(text) < 9 {
		return false
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	n, size := wordlike.Unexplained(string(text))
	return 4*n < size
}
