package redact

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/harvest/redact/spelled"
	"github.com/skill-evolve/evolve/harvest/redact/wordlike"
)

// A Session redacts the texts of one session: what was redacted in one of them is a
// secret in all of them, whatever is around it there. It holds the values that it found
// in memory, and in nothing else. It is not safe for concurrent use.
type Session struct {
	red    Redactor
	values map[string]string // kinds
	forms  int               // values that are in known
	known  *byValue
}

var _ Redactor = (*Session)(nil)

// NewSession returns a Session that finds secrets as red does; nil is the Detector. A
// Session goes on as it is.
func NewSession(red Redactor) *Session {
	if s, ok := red.(*Session); ok {
		return s
	}
	if red == nil {
		red = Detector{}
	}
	return &Session{red: red, values: map[string]string{}}
}

// A finder is a Redactor that tells what it finds.
type finder interface {
	redact(s string, look lookFor, found func(value, kind string)) (string, int)
}

// lookFor says what a text is, which says what may be a secret in it.
type lookFor int

const (
	inAnything lookFor = iota
	inProse            // of an agent
	inTyped            // by a person
	inOutput           // of a tool
)

// Redact implements Redactor, for the output of tools and all that is no prose.
func (s *Session) Redact(text string) (string, int) { return s.redact(text, inOutput) }

// Said redacts what an agent said.
func (s *Session) Said(text string) (string, int) { return s.redact(text, inProse) }

// Typed redacts what a person typed, see Typed.
func (s *Session) Typed(text string) (string, int) { return s.redact(text, inTyped) }

func (s *Session) redact(text string, look lookFor) (string, int) {
	f, ok := s.red.(finder)
	if !ok {
		return s.red.Redact(text)
	}
	return f.redact(text, look, s.Learn)
}

// Learn adds a secret by its value. A plain word is none elsewhere.
func (s *Session) Learn(value, kind string) {
	value = strings.TrimSpace(value)
	if len(value) < 6 || strings.Contains(value, open) || !invented(value) && (len(value) < 16 || strings.Count(value, "-") < 2) {
		return
	}
	if n, size := wordlike.Unexplained(value); 4*n < size && strings.Contains(value, "_") { // a name in code
		return
	}
	if _, ok := s.values[value]; !ok && len(s.values) < maxValues {
		s.values[value] = kind
	}
	if i := strings.IndexAny(value, ":="); i > 0 && len(value)-i > minLen && invented(value[i+1:]) { // user:password, NAME=value
		if rest := value[i+1:]; s.values[rest] == "" && len(s.values) < maxValues {
			s.values[rest] = kind
		}
	}
}

// Again replaces the secrets that were found in any text of the session, and what a cut
// at the end of a text left of one.
func (s *Session) Again(text, cut string) (string, int) {
	if len(s.values) == 0 || text == "" {
		return text, 0
	}
	if s.forms != len(s.values) {
		var forms []spelled.Spelling
		for _, value := range slices.Sorted(maps.Keys(s.values)) {
			var texts []string
			for _, text := range [...]string{value, url.QueryEscape(value), url.PathEscape(value), spelled.JSON(value, true), spelled.JSON(value, false)} {
				if !slices.Contains(texts, text) {
					texts = append(texts, text)
					forms = append(forms, spelled.Spelling{Text: text, Kind: s.values[value], Whole: len(value) < 12})
				}
			}
		}
		s.known = &byValue{spelled.NewIndex(forms)}
		s.forms = len(s.values)
	}
	text, n := s.known.replace(text)
	if whole, ok := strings.CutSuffix(text, cut); ok && cut != "" {
		for value, kind := range s.values {
			for k := min(len(value)-1, len(whole)); k >= minLen; k-- {
				if strings.HasSuffix(whole, value[:k]) {
					return whole[:len(whole)-k] + open + kind + "]" + cut, n + 1
				}
			}
		}
	}
	return text, n
}
