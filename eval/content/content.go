// Package content compares what cases ask: equal content, prints of it, near repeats.
package content

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
	"math"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// Alike is the share of common runs of words (Jaccard) from which two cases count as
// asking the same.
const Alike = .8

// Of is the content of a case, whatever its name: its context and its prompt, as words
// in lower case without the punctuation around them, then the words of its files, and
// whether it is a trigger case, which asks for something else. "" if it asks nothing.
func Of(c *eval.Case) string {
	words := asked(c)
	if len(words) == 0 {
		return ""
	}
	var b strings.Builder
	if c.IsTrigger() {
		b.WriteString("trigger\x00")
	}
	b.WriteString(strings.Join(words, " "))
	b.WriteString(filesOf(c))
	return b.String()
}

// Print is a fingerprint of what a case asks, "#" and an HMAC-SHA-256 of its content in
// hex: two cases that ask the same have the same print, and without the key nobody can
// test a guess of the content. "" if the case asks nothing.
func Print(key []byte, c *eval.Case) string {
	text := Of(c)
	if text == "" {
		return ""
	}
	return PrintOf(key, "content", text)
}

// PrintOf is the print of another text about a case; of is the kind of that text.
func PrintOf(key []byte, of, text string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(of + "\x00" + text)) // never fails
	return "#" + hex.EncodeToString(h.Sum(nil))
}

// asked are the words of context and prompt: "commit" after two different conversations
// is two requests.
func asked(c *eval.Case) []string {
	var words []string
	for _, m := range c.Context {
		words = append(words, strings.Fields(strings.ToLower(m.Text))...)
	}
	words = append(words, strings.Fields(strings.ToLower(c.Prompt))...)
	plain := make([]string, 0, len(words))
	for _, w := range words {
		if w = strings.Trim(w, `.,;:!?…"'`); w != "" {
			plain = append(plain, w)
		}
	}
	if len(plain) == 0 {
		return words // a prompt of punctuation alone has a meaning, too
	}
	return plain
}

// filesOf are the files' names and words, in order.
func filesOf(c *eval.Case) string {
	var b strings.Builder
	paths := make([]string, 0, len(c.Files))
	for path := range c.Files {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		b.WriteString("\x00" + path + "\x00" + strings.Join(strings.Fields(strings.ToLower(c.Files[path])), " "))
	}
	return b.String()
}

// Repeats calls pair for every two cases (i < j, j not below from) that ask nearly the
// same: Alike of the runs of three words in context and prompt. Two cases that each
// bring files ask the same only if the files are equal: one request about two tables is
// two requests. Cases of two skills never ask the same, nor do a trigger case and an
// ordinary one. same reports that two cases are known to belong together; these are not
// compared. It may be nil.
//
// Of n runs, in one order for all cases (rare ones first), the first n−⌈Alike·n⌉+1
// share one with every set that is alike. That avoids comparing every two (Bayardo et
// al., "Scaling up all pairs similarity search", WWW 2007).
func Repeats(cases []eval.Case, from int, same func(i, j int) bool, pair func(i, j int)) {
	seed := maphash.MakeSeed()
	sets := make([][]uint64, len(cases))
	files := make([]uint64, len(cases)) // 0: none
	freq := make(map[uint64]int)
	for i := range cases {
		sets[i] = runs(seed, &cases[i])
		for _, key := range sets[i] {
			freq[key]++
		}
		if f := filesOf(&cases[i]); f != "" {
			files[i] = max(1, maphash.String(seed, f))
		}
	}
	posted := make(map[uint64][]int)
	met := make([]int, len(cases)) // the last case, counted from 1, that this one was compared with
	for j := range cases {
		for _, key := range rarest(sets[j], freq) {
			if freq[key] == 1 {
				continue // no other case has it
			}
			for _, i := range posted[key] {
				if j < from || met[i] == j+1 {
					continue
				}
				met[i] = j + 1
				switch {
				case same != nil && same(i, j):
				case files[i] != 0 && files[j] != 0 && files[i] != files[j]:
				case jaccard(sets[i], sets[j]) >= Alike:
					pair(i, j)
				}
			}
			posted[key] = append(posted[key], j)
		}
	}
}

// runs are the hashes of the runs of three words of what a case asks, in order, each
// once. Each includes the skill and the kind of case.
func runs(seed maphash.Seed, c *eval.Case) []uint64 {
	words := asked(c)
	if len(words) == 0 {
		return nil
	}
	const run = 3
	kind := c.Skill + "\x00"
	if c.IsTrigger() {
		kind += "trigger"
	}
	var h maphash.Hash
	h.SetSeed(seed)
	set := make([]uint64, 0, len(words))
	for i := 0; i == 0 || i+run <= len(words); i++ {
		h.Reset()
		h.WriteString(kind)
		for _, w := range words[i:min(i+run, len(words))] {
			h.WriteByte(0)
			h.WriteString(w)
		}
		set = append(set, h.Sum64())
	}
	slices.Sort(set)
	return slices.Compact(set)
}

func rarest(set []uint64, freq map[uint64]int) []uint64 {
	keys := slices.Clone(set)
	slices.SortFunc(keys, func(a, b uint64) int { return cmp.Or(cmp.Compare(freq[a], freq[b]), cmp.Compare(a, b)) })
	if len(keys) == 0 {
		return nil
	}
	return keys[:len(keys)-int(math.Ceil(Alike*float64(len(keys))))+1]
}

// jaccard is the share of common elements of two ordered sets.
func jaccard(a, b []uint64) float64 {
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}
