package page

import (
	"cmp"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/report"
)

// How much of others' texts a page holds, so that it opens at once even with
// a thousand cases; the JSON has everything.
const (
	textBudget = 6_000_000 // bytes of prompts, answers and contexts, all together, as HTML
	mostRunes  = 20_000    // of one of them
	leastRunes = 400
	mostCalls  = 60  // of a trace
	callRunes  = 300 // of one of them
	checkRunes = 600
	mostFlips  = 15 // of either direction
	manyCases  = 150
)

// A caseList is a page's cases: those whose result changed by name, then all.
type caseList struct {
	Flips    []flipGroup
	Unlisted int // pairs of the evidence whose cases are not among these
	Groups   []caseGroup
	Cut      int    // runes that texts are cut at; 0 if none is
	Whole    string // the command that has them whole
}

// A decided says which cases count as changed.
type decided struct {
	split string // those of this split, "" for all
	// pairs are the evidence, if there is any: by cluster, whether the new text was
	// worse (-1), better (1) or the same (0).
	pairs map[string]int
}

type flipGroup struct {
	Title string
	Cases []caseView
	More  int
}

type caseGroup struct {
	Title, Note string
	Cases       []caseView
	Many        bool // so many that a browser should lay out only what is seen
}

// A caseView is one case as the page shows it: every text made plain, and
// cut.
type caseView struct {
	N                         int
	ID                        string
	Change, Direction, Prompt string
	Facts                     []string
	Context                   []eval.Message
	Full                      string // the prompt, whole as far as the budget goes
	Rubric                    []string
	Arms                      []armView
}

type armView struct {
	Label, Verdict, Failure, Answer, Same string
	Facts                                 []string
	Checks                                []checkView
	Trace                                 []string
	Calls                                 string
}

type checkView struct{ Class, Mark, Text string }

// listCases lays out cases; whole is the command that prints them uncut.
func listCases(all []report.Case, whole string, by decided) caseList {
	out := caseList{Whole: whole}
	most, cut := affordable(all)
	if cut {
		out.Cut = most
	}
	worse, better := flipGroup{Title: "Worse with the new text"}, flipGroup{Title: "Better with the new text"}
	at, late, listed := map[string]int{}, 0, map[string]bool{}
	for i := range all {
		c := &all[i]
		v := viewOf(c, most)
		g, known := at[c.Split]
		if !known {
			g = len(out.Groups)
			at[c.Split] = g
			title, note := splitTitle(c.Split)
			out.Groups = append(out.Groups, caseGroup{Title: title, Note: note})
		}
		out.Groups[g].Cases = append(out.Groups[g].Cases, v)
		if c.Late {
			late++
		}
		if c.Late || by.split != "" && c.Split != by.split {
			continue
		}
		changed := flip(c)
		if by.pairs != nil { // the cases of a cluster are one pair
			sign, known := by.pairs[clusterOf(c)]
			if !known || listed[clusterOf(c)] {
				continue
			}
			changed, listed[clusterOf(c)] = sign, true
		}
		flips := &better
		switch changed {
		case 0:
			continue
		case -1:
			flips = &worse
		}
		if len(flips.Cases) == mostFlips {
			flips.More++
			continue
		}
		flips.Cases = append(flips.Cases, v)
	}
	out.Unlisted = len(by.pairs) - len(listed)
	for i := range out.Groups {
		g := &out.Groups[i]
		n := fmt.Sprint(len(g.Cases))
		if held, _ := splitTitle(string(eval.Test)); late > 0 && g.Title == held {
			n += fmt.Sprintf("; %d in the evidence%s, %d measured beside them when it sufficed", len(g.Cases)-late, sessions(len(listed), len(g.Cases)-late), late)
		}
		g.Title, g.Many = fmt.Sprintf("%s (%s)", g.Title, n), len(g.Cases) > manyCases
	}
	for _, f := range []flipGroup{worse, better} {
		f.Title = fmt.Sprintf("%s (%d)", f.Title, len(f.Cases)+f.More)
		out.Flips = append(out.Flips, f)
	}
	return out
}

// sessions says of how many sessions cases are, if several are of one.
func sessions(n, cases int) string {
	if n == 0 || n == cases {
		return ""
	}
	return fmt.Sprintf(" (of %s)", plain.Counted(n, "session"))
}

// clusterOf names the pair that a case is a part of.
func clusterOf(c *report.Case) string { return cmp.Or(c.Cluster, c.ID) }

// affordable is the length, in runes, at which texts are cut so that all of
// them fit the budget; cut reports whether any is.
func affordable(all []report.Case) (most int, cut bool) {
	for most = mostRunes; ; most = max(most/2, leastRunes) {
		total := 0
		cut = false
		note := func(s string) {
			n := 0
			for _, r := range s {
				if n++; n > most {
					cut = true
					break
				}
				switch total += utf8.RuneLen(r); r {
				case '<', '>', '&', '\'', '"':
					total += 4 // as an entity
				}
			}
		}
		for i := range all {
			note(all[i].Prompt)
			for _, m := range all[i].Context {
				note(m.Text)
			}
			for _, a := range all[i].Arms {
				note(a.Answer)
			}
		}
		if total <= textBudget || most == leastRunes {
			return most, cut
		}
	}
}

func splitTitle(split string) (title, note string) {
	switch split {
	case "val":
		return "Requests that the search chose by", "(validation)"
	case "test":
		return "Requests that the search never saw", "(unseen) The evidence is of these alone."
	case "train":
		return "Requests that it learned from", "(training)"
	}
	return "No split", ""
}

func viewOf(c *report.Case, most int) caseView {
	v := caseView{N: c.N, ID: c.ID, Prompt: plain.Excerpt(c.Prompt, 160), Full: clip(c.Prompt, most)}
	if c.Prompt == "" {
		v.Prompt = "(the case is gone)"
	}
	for _, s := range []string{c.Origin, c.Outcome} {
		if s != "" {
			v.Facts = append(v.Facts, plain.Excerpt(s, 60))
		}
	}
	if c.Cluster != "" && c.Cluster != c.ID {
		v.Facts = append(v.Facts, "cluster "+plain.Excerpt(c.Cluster, 60))
	}
	if c.Trigger != nil {
		v.Facts = append(v.Facts, map[bool]string{true: "the skill should be loaded", false: "the skill should be left alone"}[*c.Trigger])
	}
	for _, m := range c.Context {
		v.Context = append(v.Context, eval.Message{Role: m.Role, Text: clip(m.Text, most)})
	}
	for _, k := range c.Checks {
		v.Rubric = append(v.Rubric, clip(k, checkRunes))
	}
	for i := range c.Arms {
		a := &c.Arms[i]
		av := armOf(a, most)
		for _, b := range c.Arms[:i] {
			if a.Answer != "" && a.Answer == b.Answer {
				av.Same = b.Label
				break
			}
		}
		v.Arms = append(v.Arms, av)
	}
	v.Change, v.Direction = change(c)
	return v
}

// change describes the change of quality, and whether it is up or down.
func change(c *report.Case) (text, direction string) {
	var qs []string
	for _, a := range c.Arms {
		if a.Label != "no skill" || len(c.Arms) == 1 {
			qs = append(qs, quality(a.Quality))
		}
	}
	if len(c.Arms) == 2 && c.Arms[0].Label == "no skill" { // of a comparison
		qs = []string{quality(c.Arms[0].Quality), quality(c.Arms[1].Quality)}
	}
	if len(qs) < 2 {
		return quality(firstQuality(c)), ""
	}
	sign := "="
	switch flip(c) {
	case -1:
		sign, direction = "▼", "down"
	case 1:
		sign, direction = "▲", "up"
	}
	return fmt.Sprintf("%s %s → %s", sign, qs[0], qs[1]), direction
}

// firstQuality is the quality of the first arm, nil if there is none.
func firstQuality(c *report.Case) *float64 {
	if len(c.Arms) == 0 {
		return nil
	}
	return c.Arms[0].Quality
}

func armOf(a *report.CaseArm, most int) armView {
	v := armView{Label: plain.Text(a.Label), Answer: clip(a.Answer, most), Failure: clip(a.Failure, checkRunes)}
	switch {
	case a.Quality == nil:
		v.Verdict = string(a.Status)
	case a.Trials > 1:
		v.Verdict = fmt.Sprintf("%.2f over %d trials; the first", *a.Quality, a.Trials)
	default:
		v.Verdict = fmt.Sprintf("%.2f", *a.Quality)
	}
	tokens := "tokens unknown"
	if a.Tokens != nil {
		tokens = plain.Thousands(*a.Tokens) + " tokens"
	}
	latency := "time unknown"
	if a.Latency != nil {
		ms := float64(*a.Latency)
		latency = secondsText(&ms)
	}
	cost := "cost unknown"
	if a.CostUSD != nil {
		cost = report.USD(a.CostUSD)
	}
	v.Facts = []string{latency, cost, tokens, fmt.Sprintf("retries %g", math.Round(a.Retries*100)/100)}
	if a.Invoked != nil {
		v.Facts = append(v.Facts, map[bool]string{true: "skill loaded", false: "skill not loaded"}[*a.Invoked])
	}
	for i := range a.Checks {
		k := &a.Checks[i]
		view := checkView{"up", "✓ passed", plain.Text(k.Type)}
		if !k.Passed() {
			view.Class, view.Mark = "down", "✗ failed"
		}
		if k.Score > 0 && k.Score < 1 {
			view.Mark += fmt.Sprintf(" (%.2f)", k.Score)
		}
		for _, s := range []string{k.Feedback, k.Evidence} {
			if s != "" {
				view.Text += ": " + clip(s, checkRunes)
			}
		}
		v.Checks = append(v.Checks, view)
	}
	for i, t := range a.Trace {
		if i == mostCalls {
			v.Trace = append(v.Trace, fmt.Sprintf("… and %d more", len(a.Trace)-i))
			break
		}
		s := t.Name + " " + t.Input
		if t.Failed {
			s = "failed: " + s
		}
		v.Trace = append(v.Trace, plain.Excerpt(s, callRunes))
	}
	v.Calls = plain.Counted(len(a.Trace), "tool call")
	return v
}

// clip is s without what reorders or hides text, cut at n runes.
func clip(s string, n int) string {
	most := plain.Head(s, 4*n+1024)
	r := []rune(plain.Text(most))
	if len(r) <= n && len(most) == len(s) {
		return string(r)
	}
	return string(r[:min(len(r), n)]) + " …"
}

// paired reports whether both texts have a score on a case.
func paired(c *report.Case) bool {
	return len(c.Arms) >= 2 && c.Arms[0].Quality != nil && c.Arms[1].Quality != nil && c.Arms[1].Label != "no skill"
}

// flip compares the first two arms of a case: -1 if the second is worse, +1
// if it is better, 0 for neither, or if one of them has no score.
func flip(c *report.Case) int {
	if !paired(c) {
		return 0
	}
	switch a, b := *c.Arms[0].Quality, *c.Arms[1].Quality; {
	case a-b > 1e-9:
		return -1
	case b-a > 1e-9:
		return 1
	}
	return 0
}
