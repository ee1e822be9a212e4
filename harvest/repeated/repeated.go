// Package repeated finds how much of an agent's answers its tools had shown to it before
// anybody had said it: what a file or a page says is not what the user asked for.
package repeated

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/jsonl"
)

// A run is this many words in a row. An answer repeats a tool's result where both have the same
// run. Eight words in a row are hardly the same by chance; names, paths and error
// messages are shorter. Half of a short answer is fewer than eight words: its runs are of four.
const (
	long, short = 8, 4
	shortAnswer = 2 * long // words, below which an answer is short
)

const (
	maxAnswer = 12000    // characters of an answer that are looked for
	maxShown  = 64 << 20 // bytes of a session's results that are read
)

// Of gives the share of words of the answers in some turns of a session that stand in runs
// which a tool showed first: in its results before the agent or the user wrote them, and
// nowhere in the user's own words. A turn is missing if nothing of its answer does, or the
// transcript cannot be read any more.
func Of(s *harvest.Session, turns []int) map[int]float64 {
	r, err := harvest.Open(s.Path)
	if err != nil {
		return nil
	}
	defer r.Close()
	x := newIndex()
	for _, t := range turns {
		x.want(t, s.Turns[t].Answer)
	}
	for t := range s.Turns {
		x.read(s.Own(t), users)
	}
	x.transcript(r)
	return x.shares()
}

// Who wrote a run of words first.
type writer byte

const (
	nobody writer = iota
	users
	agents
	tools
)

// An index has the runs of words of answers, by their hashes.
type index struct {
	answers []answer
	runs    [2]map[uint64]writer // of short and of long ones
	left    int                  // bytes of results that are still read
}

type answer struct {
	turn, length int // of its runs
	words        []uint64
}

func newIndex() *index { return &index{runs: [2]map[uint64]writer{{}, {}}} }

func (x *index) of(length int) map[uint64]writer {
	if length == short {
		return x.runs[0]
	}
	return x.runs[1]
}

// want looks for an answer, unless it has no run.
func (x *index) want(turn int, text string) {
	a := answer{turn, long, hashes(harvest.Head(text, maxAnswer))}
	if len(a.words) < shortAnswer {
		a.length = short
	}
	a.each(func(_ int, run uint64) { x.of(a.length)[run] = nobody })
	x.answers = append(x.answers, a)
}

// each calls f with the first word and the hash of every run of the answer.
func (a *answer) each(f func(at int, run uint64)) {
	for i := 0; i+a.length <= len(a.words); i++ {
		f(i, hash(a.words[i:i+a.length]))
	}
}

func hash(words []uint64) uint64 {
	h := uint64(1)
	for _, w := range words {
		h = h*1099511628211 + w
	}
	return h
}

// read records who wrote each run of words in text first: by, unless an earlier text has the run.
func (x *index) read(text string, by writer) {
	words := hashes(text)
	for _, length := range []int{short, long} {
		runs := x.of(length)
		for i := 0; len(runs) > 0 && i+length <= len(words); i++ {
			h := hash(words[i : i+length])
			if first, ok := runs[h]; ok && first == nobody {
				runs[h] = by
			}
		}
	}
}

// Gemini CLI writes a tool's result into the agent's own message: as an object in its line, or, in
// a file that is one JSON document, on a line of its own.
var (
	responses = []byte(`{"functionResponse":`)
	response  = []byte(`"output":`)
)

// transcript reads who wrote the runs in its lines.
func (x *index) transcript(r io.Reader) {
	lines := jsonl.NewLines(r)
	x.left = maxShown
	for x.left > 0 {
		line, err := lines.Next()
		if err == jsonl.ErrLongLine {
			continue
		}
		if err != nil {
			return // what was read counts
		}
		if harvest.Shows(line) || bytes.HasPrefix(bytes.TrimLeft(line, " \t"), response) {
			x.shown(string(line))
			continue
		}
		for at := bytes.Index(line, responses); at >= 0; at = bytes.Index(line, responses) {
			x.read(unescaped(string(line[:at])), agents)
			m := jsonl.Object(line[at:])
			m.Next()
			result := m.Value()
			if result == nil { // it goes on in the next line
				result = m.Rest()
			}
			x.shown(string(result))
			line = m.Rest()[len(result):]
		}
		x.read(unescaped(string(line)), agents)
	}
}

// shown reads what a tool returned, as JSON.
func (x *index) shown(raw string) {
	x.left -= len(raw)
	text := unescaped(raw)
	x.read(text, tools)
	if strings.Contains(text, `\n`) { // some record a result as JSON within JSON
		x.read(unescaped(text), tools)
	}
}

// shares are the shares of the answers' words in runs of tools.
func (x *index) shares() map[int]float64 {
	out := map[int]float64{}
	for _, a := range x.answers {
		of, n := make([]bool, len(a.words)), 0
		a.each(func(at int, run uint64) {
			if x.of(a.length)[run] == tools {
				for i := at; i < at+a.length; i++ {
					of[i] = true
				}
			}
		})
		for _, is := range of {
			if is {
				n++
			}
		}
		if n > 0 {
			out[a.turn] = float64(n) / float64(len(a.words))
		}
	}
	return out
}

// unescaped is a JSON text with its escapes replaced; it need not be valid.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		switch i++; s[i] {
		case 'n', 'r', 't', 'b', 'f':
			b.WriteByte(' ')
		case 'u':
			n, err := strconv.ParseUint(s[i+1:min(len(s), i+5)], 16, 16)
			if err != nil || i+5 > len(s) {
				b.WriteByte(' ')
				continue
			}
			b.WriteRune(rune(n))
			i += 4
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// hashes are those of the words of a text: runs of letters and digits, in lower case. Where
// words have no spaces between them, each letter is one.
func hashes(text string) (out []uint64) {
	const offset, prime = 14695981039346656037, 1099511628211
	h, in := uint64(offset), false
	end := func() {
		if in {
			out = append(out, h)
		}
		h, in = offset, false
	}
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9'):
		case r >= 'A' && r <= 'Z':
			r += 'a' - 'A'
		case r < utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r):
			end()
			continue
		default:
			r = unicode.ToLower(r)
			if unspaced(r) {
				end()
			}
		}
		h, in = (h^uint64(r))*prime, true
		if unspaced(r) {
			end()
		}
	}
	end()
	return out
}

// unspaced reports whether r is of a script without spaces between words.
func unspaced(r rune) bool {
	return r >= 0xE00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
