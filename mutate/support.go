package mutate

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Support decides, hunk by hunk, which parts of a reflection's edit answer
// the evidence that it was shown. Reflections carry passengers: a line of
// background added, a good line lost while copying. On a handful of cases a
// passenger cannot be told from noise, so it is removed before anything is
// paid for: a change is kept only if it shares a specific word with the
// feedback. A word is specific if it is in few of the run's feedback lines; a
// word in all of them ("answer", "must") supports nothing.
type Support struct {
	lines []map[string]bool // words of each feedback line shown
	freq  map[string]int    // in how many corpus lines a word occurs
	total int
}

// NewSupport indexes the feedback that a proposal answers. corpus is all the
// feedback that the run has seen; shown is added to it if it is missing.
func NewSupport(shown, corpus []string) *Support {
	s := &Support{freq: map[string]int{}}
	seen := map[string]bool{}
	for _, line := range append(append([]string{}, corpus...), shown...) {
		if seen[line] {
			continue
		}
		seen[line] = true
		s.total++
		for w := range words(line) {
			s.freq[w]++
		}
	}
	for _, line := range shown {
		s.lines = append(s.lines, words(line))
	}
	return s
}

// Answers returns the indexes of the shown feedback lines that text shares a
// specific word with.
func (s *Support) Answers(text string) []int {
	var out []int
	ws := words(text)
	for i, line := range s.lines {
		for w := range ws {
			if line[w] && s.specific(w) {
				out = append(out, i)
				break
			}
		}
	}
	return out
}

// Stated reports whether some block of a view already states what shown line
// i asks for. A failure that repeats although its rule is stated is not cured
// by stating it again.
func (s *Support) Stated(i int, view string) bool {
	for _, block := range blocksOf(view) {
		if s.Says(i, block) {
			return true
		}
	}
	return false
}

// Says reports whether text holds at least half of the specific words of shown
// line i.
func (s *Support) Says(i int, text string) bool { return s.says(i, words(text)) }

// Said returns the indexes of the shown lines that text Says.
func (s *Support) Said(text string) []int {
	var out []int
	ws := words(text)
	for i := range s.lines {
		if s.says(i, ws) {
			out = append(out, i)
		}
	}
	return out
}

// same reports whether two texts, by their words, say what one shown line asks for.
func (s *Support) same(a, b map[string]bool) bool {
	for i := range s.lines {
		if s.says(i, a) && s.says(i, b) {
			return true
		}
	}
	return false
}

func (s *Support) says(i int, ws map[string]bool) bool {
	asked, said := 0, 0
	for w := range s.lines[i] {
		if s.specific(w) {
			asked++
			if ws[w] {
				said++
			}
		}
	}
	return said > 0 && 2*said >= asked
}

func (s *Support) specific(w string) bool {
	return s.total < 3 || s.freq[w]*3 <= s.total || s.freq[w] == 1
}

// An edit is the smallest change that can be kept or undone alone: a block
// removed, added, or replaced by another.
type edit struct{ del, add string } // "" for none

// Filter returns child with the unsupported parts of its edit undone, and the indexes of the
// shown feedback lines that the rest answers. doubted are the blocks of parent that the undone
// parts removed or reworded, and agreed those of an earlier reflection: feedback seldom
// quotes the line that is in its way, but a line that two take out was not lost while copying,
// nor was one in whose place there is an answer to the feedback.
// kept is false if nothing of the edit is supported; view then is
// parent.
func (s *Support) Filter(parent, child string, agreed []string) (view string, answers []int, doubted []string, kept bool) {
	a, b := blocksOf(parent), blocksOf(child)
	hs := hunks(a, b)
	var out strings.Builder
	seen := map[int]bool{}
	i := 0
	for _, h := range hs {
		for _, blk := range a[i:h.A0] {
			out.WriteString(blk)
		}
		i = h.A1
		es, room := edits(a[h.A0:h.A1], b[h.B0:h.B1]), 0
		for _, e := range es {
			if e.del == "" && len(s.Answers(e.add)) > 0 {
				room++ // it may stand in the place of a block that has none of its words
			}
		}
		for _, e := range es {
			supports := s.Answers(e.add + "\n" + e.del)
			del := strings.TrimSpace(e.del)
			if len(supports) == 0 && del != "" && e.add == "" && room > 0 {
				room--
				kept = true
				continue
			}
			if len(supports) == 0 && del != "" {
				doubted = append(doubted, del)
			}
			if len(supports) == 0 && (del == "" || !slices.Contains(agreed, del)) {
				out.WriteString(e.del) // undo: restore what was there
				continue
			}
			kept = true
			out.WriteString(e.add)
			for _, x := range supports {
				if !seen[x] {
					seen[x] = true
					answers = append(answers, x)
				}
			}
		}
	}
	for _, blk := range a[i:] {
		out.WriteString(blk)
	}
	if !kept {
		return parent, nil, doubted, false
	}
	return out.String(), answers, doubted, true
}

// withoutPassengers returns child without the unsupported blocks that it
// added and that are like no block of parent.
func (s *Support) withoutPassengers(parent, child string) string {
	a, b := blocksOf(parent), blocksOf(child)
	var out strings.Builder
	j := 0
	for _, h := range hunks(a, b) {
		out.WriteString(strings.Join(b[j:h.B0], ""))
		for _, add := range b[h.B0:h.B1] {
			known := len(s.Answers(add)) > 0 || strings.HasPrefix(strings.TrimSpace(add), "#")
			for _, was := range a {
				known = known || similarity(was, add) >= 0.3
			}
			if known {
				out.WriteString(add)
			}
		}
		j = h.B1
	}
	out.WriteString(strings.Join(b[j:], ""))
	return out.String()
}

// edits pairs what a hunk removed with what it added: a removed block and the
// most similar added one are a replacement, the rest are single. The order is
// the child's, with removals before their replacements.
func edits(dels, adds []string) []edit {
	usedDel := make([]bool, len(dels))
	pair := make([]int, len(adds)) // index into dels, or -1
	for j, add := range adds {
		best, at := 0.5, -1
		for i, del := range dels {
			if sim := similarity(del, add); !usedDel[i] && sim >= best {
				best, at = sim, i
			}
		}
		pair[j] = at
		if at >= 0 {
			usedDel[at] = true
		}
	}
	var out []edit
	for i, del := range dels {
		if !usedDel[i] {
			out = append(out, edit{del: del})
		}
	}
	for j, add := range adds {
		e := edit{add: add}
		if pair[j] >= 0 {
			e.del = dels[pair[j]]
		}
		out = append(out, e)
	}
	return out
}

// similarity is the Jaccard index of the words of two texts, 1 if neither has any.
func similarity(a, b string) float64 {
	wa, wb := words(a), words(b)
	if len(wa)+len(wb) == 0 {
		return 1
	}
	return jaccard(wa, wb)
}

// jaccard is the share of the words of a or b that both have, 0 if there are none.
func jaccard(a, b map[string]bool) float64 {
	both := shared(a, b)
	return float64(both) / float64(max(1, len(a)+len(b)-both))
}

// stop holds English words that do not tell a sentence's subject.
var stop = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a an and are as at be been but by can do does for from had has have he her his
		how i if in into is it its just me more most must my no nor not of on only or our out over own she should so
		some such than that the their them then there these they this those to too under up use used user users using
		very was we were what when where which while who will with would you your said says answer answers always never
		all any each every again also case agent skill rule rules make please want wants`) {
		m[w] = true
	}
	return m
})

// words returns the content words of s in lower case, numbers included; words
// of the same stem (a shared prefix of five letters, plural s) count as one.
func words(s string) map[string]bool {
	m := map[string]bool{}
	for w := range allWords(s) {
		if !stop()[w] {
			m[stem(w)] = true
		}
	}
	return m
}

// allWords returns all words of s in lower case.
func allWords(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	}) {
		m[w] = true
	}
	return m
}

// stem cuts the commonest English endings; other scripts pass unchanged.
func stem(w string) string {
	for _, end := range []string{"ations", "ation", "ings", "ing", "ically", "ical", "ies", "ed", "es", "ly", "s"} {
		if cut, ok := strings.CutSuffix(w, end); ok && len(cut) >= 4 {
			return cut
		}
	}
	if cut, ok := strings.CutSuffix(w, "s"); ok && len(cut) >= 3 {
		return cut
	}
	return w
}
