package main

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
)

const (
	logNewest = 10 // versions that are shown without --all
	logWidth  = 80 // columns that a line has at most
)

// utf8 reports whether the terminal's locale says that it shows more than ASCII.
func (a *app) utf8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := a.Getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// A logRow is one text in the tree.
type logRow struct {
	id, parent string // "v3", or a candidate's SHA-256
	mark       string
	head       string
	lines      []string
}

// tree draws the versions and the candidates on trial, the newest first. newest
// bounds the versions, 0 for all.
func (l *skillLog) tree(newest int, fine bool) string {
	narrow := runewidth.Condition{} // the same in every locale
	end := "..."
	if fine {
		end = "…"
	}
	var b strings.Builder
	line := func(before, s string) {
		s = plain.Text(strings.TrimRight(before+s, " "))
		b.WriteString(narrow.Truncate(s, logWidth, end) + "\n")
	}
	switch {
	case l.Live == "":
		line("", l.Skill+" is not installed any more")
	case !l.Recorded && len(l.Versions) > 0:
		line("", fmt.Sprintf("%s was edited since: the live text %s is not recorded yet", l.Skill, plain.Short(l.Live)))
	}
	for _, t := range l.Edited {
		line("", fmt.Sprintf("the copy in %s was edited since: the next promote or rollback records that", t))
	}
	if len(l.Versions) == 0 {
		line("", fmt.Sprintf("no versions of %s yet; the first run records what is there", l.Skill))
	}
	rows, lost := l.rows(fine)
	older := 0
	if newest > 0 {
		shown := 0
		for i := range rows {
			if strings.HasPrefix(rows[i].id, "v") {
				shown++
			}
			if shown > newest {
				older = len(rows) - i
				rows = rows[:i]
				break
			}
		}
	}
	g := lanes{fine: fine}
	for _, r := range rows {
		join, first := g.enter(r.id, r.parent, r.mark)
		if join != "" {
			line(join, "")
		}
		line(first, r.head)
		for _, s := range r.lines {
			line(g.rest(), "  "+s)
		}
	}
	if older > 0 {
		line("", fmt.Sprintf("%s older: --all shows them", plain.Counted(older, "version")))
	}
	if lost > 0 {
		line("", fmt.Sprintf("%s lost or withdrawn: --json lists them", plain.Counted(lost, "candidate")))
	}
	return b.String()
}

// rows are what the tree shows, and how many candidates it leaves out because
// they have lost.
func (l *skillLog) rows(fine bool) (rows []logRow, lost int) {
	live, old, gone, trial := "*", "o", "x", "?"
	if fine {
		live, old, gone, trial = "●", "○", "×", "◌"
	}
	parent := func(n int) string {
		if n < 0 {
			return ""
		}
		return fmt.Sprintf("v%d", n)
	}
	for i := range l.Candidates {
		t := &l.Candidates[i]
		if t.Decision == string(pareto.Reject) || t.Decision == store.Withdrawn {
			lost++
			continue
		}
		r := logRow{id: t.SHA, parent: parent(t.parent), mark: trial}
		r.head = fmt.Sprintf("%s  %s  %s", plain.Short(t.SHA), t.Updated.UTC().Format("2006-01-02"), t.describe())
		r.lines = append(r.lines, t.Evidence.phrase())
		if t.Decision != string(pareto.Promote) && t.Evidence.Reason != "" {
			r.lines = append(r.lines, t.Evidence.Reason)
		}
		if t.Refused != "" {
			r.lines = append(r.lines, "promote refuses it: "+t.Refused)
		}
		rows = append(rows, r.with(t.words(nil)))
	}
	for i := range l.Versions {
		v := &l.Versions[i]
		r := logRow{id: parent(v.Version), parent: parent(v.parent), mark: old}
		switch {
		case v.Live:
			r.mark = live
		case v.RolledBack != nil:
			r.mark = gone
		}
		r.head = fmt.Sprintf("v%-2d %s  %s  %s", v.Version, plain.Short(v.SHA), v.Created.UTC().Format("2006-01-02"), v.describe())
		if narrow := (runewidth.Condition{}); narrow.StringWidth(r.head+v.Note) < logWidth-8 { // room for a few columns of lines
			r.head += note(v)
		} else {
			r = r.with(v.Note)
		}
		if v.Evidence != nil {
			r.lines = append(r.lines, v.Evidence.phrase())
		}
		if n := len(v.Certificates); n > 0 {
			r.lines = append(r.lines, v.Certificates[n-1].String())
		}
		rows = append(rows, r.with(v.words(v.Targets)))
	}
	return rows, lost
}

// with adds a line, where there is one.
func (r logRow) with(line string) logRow {
	if line != "" {
		r.lines = append(r.lines, line)
	}
	return r
}

// words say where a text is, what it was made from, and what that cost.
func (o *logOrigin) words(targets []string) string {
	var parts []string
	if len(targets) > 0 {
		parts = append(parts, "in "+strings.Join(targets, ", "))
	}
	if n := len(o.Cases); n > 0 {
		s := "taught by " + plain.Counted(n, "case")
		if k := len(o.Sessions); k > 0 {
			s += " of " + plain.Counted(k, "session")
		}
		parts = append(parts, s)
	}
	switch {
	case o.CostUSD != nil && *o.CostUSD > 0:
		parts = append(parts, fmt.Sprintf("run %s, %s", eval.FormatUSD(*o.CostUSD), plain.Counted(int(o.Rollouts), "rollout")))
	case o.Rollouts > 0:
		parts = append(parts, "run "+plain.Counted(int(o.Rollouts), "rollout"))
	}
	return strings.Join(parts, "; ")
}

// describe says how a version stands, who made it, and whether it is proven: what
// matters most first, for narrow lines.
func (v *logVersion) describe() string {
	var s []string
	if v.Live {
		s = append(s, "live")
	}
	if v.Pinned {
		s = append(s, "pinned")
	}
	if v.Alarm {
		s = append(s, "ALARM")
	}
	if v.RolledBack != nil {
		s = append(s, "rolled back "+v.RolledBack.UTC().Format("01-02"))
	}
	if v.Again != nil {
		s = append(s, fmt.Sprintf("again as v%d", *v.Again))
	}
	switch {
	case v.Author != "evolve":
	case v.Proven:
		s = append(s, "proven")
	default:
		s = append(s, "NOT proven")
	}
	if v.Simulated {
		s = append(s, "SIMULATED")
	}
	if v.SameText != nil {
		s = append(s, fmt.Sprintf("the text of v%d", *v.SameText))
	}
	switch {
	case v.Author == "evolve":
		s = append(s, v.Operator)
	case v.Note == "":
		s = append(s, v.Author, v.Operator)
	default:
		s = append(s, v.Author)
	}
	return strings.Join(s, ", ")
}

// note is a version's note behind its description.
func note(v *logVersion) string {
	if v.Note == "" {
		return ""
	}
	return ", " + v.Note
}

func (t *logTrial) describe() string {
	s := []string{t.Decision}
	switch {
	case t.Offer != "":
		s[0] = "proven: `" + t.Offer + "`"
	case t.Decision == string(pareto.Promote):
		s[0] = "proven"
	}
	if t.Simulated {
		s = append(s, "SIMULATED")
	}
	if !t.Current {
		s = append(s, "against an older text")
	}
	if t.Operator != "" {
		s = append(s, t.Operator)
	}
	return strings.Join(s, ", ")
}
