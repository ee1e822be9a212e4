package mutate

import (
	"cmp"
	"slices"
	"strings"
)

// A complaint is feedback that asks for the same in one or in several cases.
type complaint struct {
	lines []string // as the cases have them, each once; the first stands for all
	in    []int    // indexes of the cases, each once
}

// alikeComplaints is the share of specific words from which two lines of feedback
// are about the same.
const alikeComplaints = 0.4

// complaintsOf groups the feedback on the failures, the most frequent complaint
// first. Lines that are about the same come together: one reflection then sees
// the rule whole, and both sides of a contradiction.
func complaintsOf(ev []Evidence, corpus []string) (out []complaint) {
	var lines []string
	for _, e := range ev {
		for _, f := range e.feedback() {
			lines = append(lines, gist(f))
		}
	}
	support := NewSupport(lines, corpus)
	specific := func(line string) map[string]bool {
		m := map[string]bool{}
		for w := range words(line) {
			if support.specific(w) {
				m[w] = true
			}
		}
		return m
	}
	var about []map[string]bool // by complaint, the words of its first line
	for i, e := range ev {
		fb := e.feedback()
		if len(fb) == 0 {
			fb = []string{""} // the agent failed: a complaint of its own
		}
		for _, f := range fb {
			ws, at, best := specific(gist(f)), -1, alikeComplaints
			for k := range out {
				if f == "" || out[k].lines[0] == "" {
					continue
				}
				sim := jaccard(ws, about[k])
				if slices.Contains(out[k].lines, f) {
					sim = 1
				}
				if sim >= best {
					at, best = k, sim
				}
			}
			if at < 0 {
				at, out, about = len(out), append(out, complaint{}), append(about, ws)
			}
			c := &out[at]
			if !slices.Contains(c.lines, f) {
				c.lines = append(c.lines, f)
			}
			if !slices.Contains(c.in, i) {
				c.in = append(c.in, i)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b complaint) int { return cmp.Compare(len(b.in), len(a.in)) })
	return out
}

// gist is a line of feedback without what is particular to one answer: a judge's
// reason, and the quotation of the correction behind it.
func gist(line string) string {
	line, _, _ = strings.Cut(strings.TrimSpace(line), "\n")
	body, _ := cutTail(line)
	return body
}

// Divide shares the failures of one parent among at most n reflections, so that each
// rule that the text lacks is written by one of them: each answers other complaints,
// and is shown up to group failures that have them. If there are few complaints and
// many failures, several answer the same complaint on different failures. failing is
// in random order; corpus is as in Input. The inputs have Evidence and Failing only.
func Divide(failing []Evidence, corpus []string, n, group int) (out []Input) {
	all := complaintsOf(failing, corpus)
	if len(all) == 0 {
		return nil
	}
	n = min(n, max(len(all), (len(failing)+group-1)/group))
	shares := make([][]complaint, n)
	for k := range max(n, len(all)) {
		c := all[k%len(all)]
		shares[k%n] = append(shares[k%n], c)
	}
	used := make([]int, len(failing)) // how many reflections are shown it
	for _, share := range shares {
		var in Input
		for _, c := range share {
			t := Tally{Feedback: gist(c.lines[0])}
			for _, i := range c.in {
				t.Cases = append(t.Cases, failing[i].Case.ID)
			}
			if t.Feedback != "" {
				in.Failing = append(in.Failing, t)
			}
		}
		for _, i := range cover(share, group, used) {
			used[i]++
			in.Evidence = append(in.Evidence, failing[i].only(share))
		}
		out = append(out, in)
	}
	return out
}

// cover chooses up to n failures that have as many of the complaints as possible,
// first those that no other reflection is shown.
func cover(share []complaint, n int, used []int) (chosen []int) {
	left := slices.Clone(share)
	for len(chosen) < n {
		score := map[int]int{}
		for _, c := range left {
			for _, i := range c.in {
				if !slices.Contains(chosen, i) {
					score[i]++
				}
			}
		}
		best := -1
		for i := range used {
			if s := score[i]; s > 0 && (best < 0 || s > score[best] || s == score[best] && used[i] < used[best]) {
				best = i
			}
		}
		if best < 0 {
			if len(left) == len(share) {
				break
			}
			left = slices.Clone(share) // every complaint is shown: show more of each
			continue
		}
		chosen = append(chosen, best)
		left = slices.DeleteFunc(left, func(c complaint) bool { return slices.Contains(c.in, best) })
	}
	return chosen
}

// only is a failure with the feedback that belongs to the complaints.
func (e Evidence) only(share []complaint) Evidence {
	all := e.feedback()
	e.Only = []string{}
	for _, f := range all {
		if slices.ContainsFunc(share, func(c complaint) bool { return slices.Contains(c.lines, f) }) {
			e.Only = append(e.Only, f)
		}
	}
	return e
}
