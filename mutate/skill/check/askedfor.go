package check

import (
	"strings"
	"unicode/utf8"
)

// AskedFor reports whether the finding is a command or a path that text, the owner's own
// words, asks for. A search may try a candidate with such a finding; only the owner installs it.
//
// The command or the path must stand there literally, in a sentence that forbids nothing.
// A path that continues is another path. What deletes, or runs whatever follows, is not
// asked for by its name alone.
func (f Finding) AskedFor(text string) bool {
	if f.Rule != newCommand && f.Rule != newPath || f.Phrase == "" || patternOf("open-ended").MatchString(f.Phrase) {
		return false
	}
	at := 0
	for _, end := range append(sentenceEnd.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		said, want := text[at:end[0]], f.Phrase
		at = end[1]
		normal := plain(said)
		if f.Rule == newCommand {
			said, want = normal, plain(want)
		}
		if holdsWord(said, want, wordByte) && !patternOf("forbids").MatchString(normal) {
			return true
		}
	}
	return false
}

// wordByte reports whether c may continue a command or a path.
func wordByte(c byte) bool {
	return c >= utf8.RuneSelf || hostByte(c) || 'A' <= c && c <= 'Z' || strings.IndexByte(`_/\~$%{}@+*`, c) >= 0
}
