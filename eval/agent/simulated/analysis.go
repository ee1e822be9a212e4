package simulated

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/skill-evolve/evolve/eval"
)

// compiled is a World prepared for answering: normalised phrases, lesson indexes, and
// caches of parsed texts. Safe for concurrent use.
type compiled struct {
	World
	id       string // over the whole definition: another world is another measurement
	seed     uint64
	lessons  []lesson
	harmful  []harm
	bloat    []string
	skills   cache[*analysis]
	requests cache[*request]
}

type lesson struct {
	Lesson
	phrase, says, outcome string   // normalised
	topics                []string // normalised
	requires, conflicts   []int
}

type harm struct {
	line   string // normalised
	breaks []int
}

func compile(w World) *compiled {
	def, err := json.Marshal(w)
	if err != nil {
		panic("simulated: a world is plain data: " + err.Error()) // NaN in a rate: a programming error
	}
	sum := sha256.Sum256(def)
	c := &compiled{World: w, id: hex.EncodeToString(sum[:6]), seed: binary.BigEndian.Uint64(sum[8:16])}
	index := map[string]int{}
	for i, l := range w.Lessons {
		index[l.ID] = i
	}
	resolve := func(ids []string) (out []int) {
		for _, id := range ids {
			if i, ok := index[id]; ok {
				out = append(out, i)
			}
		}
		return out
	}
	for _, l := range w.Lessons {
		n := lesson{Lesson: l, phrase: normalise(l.Phrase), says: normalise(l.Says), outcome: normalise(l.Outcome),
			requires: resolve(l.Requires), conflicts: resolve(l.Conflicts)}
		for _, t := range l.Topic {
			n.topics = append(n.topics, normalise(t))
		}
		c.lessons = append(c.lessons, n)
	}
	for _, h := range w.Harmful {
		c.harmful = append(c.harmful, harm{normalise(h.Line), resolve(h.Breaks)})
	}
	for _, b := range w.Bloat {
		c.bloat = append(c.bloat, normalise(b))
	}
	return c
}

// quoted reports whether a normalised text names the lesson in any of its forms.
func (l *lesson) quoted(n string) bool {
	return stands(n, l.says) || stands(n, l.phrase) || stands(n, l.outcome)
}

// normalise lower-cases s and replaces everything but letters and digits by one space,
// with one at either end: markup, bullets and line breaks do not matter, and a phrase
// is found at word borders only.
func normalise(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte(' ')
	gap := true
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteByte(byte(r))
			gap = false
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(unicode.ToLower(r))
			gap = false
		case !gap:
			b.WriteByte(' ')
			gap = true
		}
	}
	if !gap {
		b.WriteByte(' ')
	}
	return b.String()
}

// stands reports whether a normalised text contains a normalised phrase. An empty
// phrase is in no text.
func stands(text, phrase string) bool { return len(phrase) > 1 && strings.Contains(text, phrase) }

func contains(text, part string) bool { return part != "" && strings.Contains(text, part) }

func compilePattern(p string) (*regexp.Regexp, error) { return regexp.Compile(p) }

// An analysis is what a skill's text does to the agent.
type analysis struct {
	hash    uint64
	tokens  int
	taught  []bool
	follow  []float64 // chance to follow each lesson if it applies
	miss    float64
	bloat   int
	harmful int
}

func (c *compiled) analyse(text []byte) *analysis {
	if a, ok := c.skills.get(text); ok {
		return a
	}
	n := normalise(string(text))
	a := &analysis{hash: digest(text), tokens: tokens(len(text)),
		taught: make([]bool, len(c.lessons)), follow: make([]float64, len(c.lessons))}
	for i := range c.lessons {
		a.taught[i] = stands(n, c.lessons[i].phrase)
	}
	spoiled := make([]bool, len(c.lessons))
	for _, h := range c.harmful {
		if stands(n, h.line) {
			a.harmful++
			for _, i := range h.breaks {
				spoiled[i] = true
			}
		}
	}
	for _, b := range c.bloat {
		if stands(n, b) {
			a.bloat++
		}
	}
	a.miss = c.Noise + c.PerBloat*float64(a.bloat+a.harmful) + c.PerToken*float64(max(0, a.tokens-c.FreeTokens))
	most := c.MaxMiss
	if most == 0 {
		most = 0.6
	}
	a.miss = min(a.miss, most)
	for i := range c.lessons {
		a.follow[i] = c.followed(a, i, spoiled[i])
	}
	c.skills.put(text, a)
	return a
}

// followed is the chance that lesson i is followed if it applies.
func (c *compiled) followed(a *analysis, i int, spoiled bool) float64 {
	l := &c.lessons[i]
	p := l.Known
	works := a.taught[i]
	for _, j := range l.requires {
		works = works && a.taught[j]
	}
	if works {
		p = 1 - a.miss
	}
	for _, j := range l.conflicts {
		spoiled = spoiled || a.taught[j]
	}
	if spoiled {
		p *= 1 - c.Break
	}
	return p
}

// A request is what a case asks for: the lessons that apply to it.
type request struct {
	hash    uint64
	tokens  int
	lessons []int // ascending
}

func (r *request) applies(i int) bool {
	for _, j := range r.lessons {
		if i == j {
			return true
		}
	}
	return false
}

// request reads a case. The user's earlier messages are part of the request.
func (c *compiled) request(k *eval.Case) *request {
	text := k.Prompt
	for _, m := range k.Context {
		if m.Role == "user" {
			text += "\n" + m.Text
		}
	}
	key := []byte(text)
	if r, ok := c.requests.get(key); ok {
		return r
	}
	n := normalise(text)
	r := &request{hash: digest(key), tokens: tokens(len(key))}
	for i := range c.lessons {
		applies := len(c.lessons[i].topics) == 0
		for _, t := range c.lessons[i].topics {
			applies = applies || stands(n, t)
		}
		if applies {
			r.lessons = append(r.lessons, i)
		}
	}
	c.requests.put(key, r)
	return r
}

// tokens estimates the tokens of n bytes of text.
func tokens(n int) int { return (n + 3) / 4 }

func digest(b []byte) uint64 {
	s := sha256.Sum256(b)
	return binary.BigEndian.Uint64(s[:8])
}

// cacheSize limits each generation of a cache: a search has a few hundred live
// candidates and cases.
const cacheSize = 512

// A cache maps texts to the result of reading them. The key is the text itself, so that
// two texts are never confused. It keeps two generations and drops the older one when
// the younger is full. The zero value is ready.
type cache[V any] struct {
	mu         sync.RWMutex
	young, old map[string]V
}

func (c *cache[V]) get(key []byte) (V, bool) {
	c.mu.RLock()
	v, ok := c.young[string(key)]
	if !ok {
		v, ok = c.old[string(key)]
	}
	c.mu.RUnlock()
	return v, ok
}

func (c *cache[V]) put(key []byte, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young == nil || len(c.young) >= cacheSize {
		c.young, c.old = make(map[string]V, cacheSize), c.young
	}
	c.young[string(key)] = v
}
