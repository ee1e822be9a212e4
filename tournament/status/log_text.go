package status

import (
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
)

const (
	LogNewest = 10 // versions that are shown without --all
	logWidth  = 80 // columns that a line has at most
	stateAt   = 36 // columns before the state
	noteAt    = 6  // columns before the lines below it
	logNarrow = 60 // with fewer columns the state has a line of its own
)

// Text lists the versions and the candidates on trial, the newest first, each with the
// version that it was made from. newest bounds the versions, 0 for all; width is that
// of the terminal, of which no more than 80 columns are used.
func (l *Log) Text(newest, width int) string {
	width = min(width, logWidth)
	narrow, room := width < logNarrow, width-stateAt // for a state
	if narrow {
		room = width - noteAt
	}
	var b strings.Builder
	line := func(format string, args ...any) {
		s := plain.Text(strings.TrimRight(fmt.Sprintf(format, args...), " "))
		b.WriteString(plain.Fold(s, width) + "\n")
	}
	more := func(lines ...string) {
		for _, s := range lines {
			if s != "" {
				line("%*s%s", noteAt, "", s)
			}
		}
	}
	switch {
	case l.Live == "":
		line("%s is not installed any more", l.Skill)
	case !l.Recorded && len(l.Versions) > 0:
		line("%s was edited since: the live text %s is not recorded yet", l.Skill, plain.Short(l.Live))
	}
	for _, t := range l.Edited {
		line("the copy in %s was edited since: the next promote or rollback records that", t)
	}
	if len(l.Versions) == 0 {
		line("no versions of %s yet; the first run records what is there", l.Skill)
	}
	if len(l.Versions)+len(l.Candidates) > 0 {
		state := "STATE"
		if narrow {
			state = ""
		}
		line("  %-3s %-12s  %-10s  %-4s  %s", "", "TEXT", "DATE", "FROM", state)
	}
	row := func(mark, name, sha string, at time.Time, parent int, words string) {
		from := "-"
		if parent >= 0 {
			from = fmt.Sprintf("v%d", parent)
		}
		below := ""
		if narrow {
			words, below = "", words
		}
		line("%s %-3s %s  %s  %-4s  %s", mark, name, plain.Short(sha), at.UTC().Format("2006-01-02"), from, words)
		more(below)
	}
	lost := 0
	for i := range l.Candidates {
		t := &l.Candidates[i]
		if t.Decision == pareto.Reject || t.Decision == store.Withdrawn {
			lost++
			continue
		}
		row(" ", "", t.SHA, t.Updated, t.parent, t.describe())
		more(t.Evidence.Phrase())
		if t.Decision != pareto.Promote {
			more(t.Evidence.Reason)
		}
		if t.Refused != "" {
			more("promote refuses it: " + t.Refused)
		}
		more(t.words(nil))
	}
	for i := range l.Versions {
		if newest > 0 && i == newest {
			line("%s older: --all shows them", plain.Counted(len(l.Versions)-i, "version"))
			break
		}
		v := &l.Versions[i]
		mark := " "
		if v.Live {
			mark = "*"
		}
		words, note := v.describe(), v.Note
		if all := words + ", " + note; note != "" && plain.Width(all) <= room {
			words, note = all, ""
		}
		row(mark, fmt.Sprintf("v%d", v.Version), v.SHA, v.Created, v.parent, words)
		more(note)
		if v.Trial != nil {
			more(v.Trial.String())
		}
		if v.Evidence != nil {
			more(v.Evidence.Phrase())
		}
		for _, c := range v.Compared {
			more(c.String())
		}
		more(v.words(v.Targets))
	}
	if lost > 0 {
		line("%s lost or withdrawn: --json lists them", plain.Counted(lost, "candidate"))
	}
	return b.String()
}

// words describe the places of a text, what it was made from, and its cost.
func (o *Origin) words(targets []string) string {
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

// describe gives a version's state, its author, and whether it is proven: the
// most important first, for narrow lines.
func (v *Version) describe() string {
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
	if v.TakenBack != nil {
		s = append(s, "taken back "+v.TakenBack.UTC().Format("01-02"))
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
		s = append(s, "better")
	case v.Trial != nil:
		s = append(s, "trial install")
	default:
		s = append(s, "NOT shown better")
	}
	if v.Simulated {
		s = append(s, "SIMULATED")
	}
	if v.SameText != nil {
		s = append(s, fmt.Sprintf("the text of v%d", *v.SameText))
	}
	if v.Author == "evolve" {
		return strings.Join(append(s, v.Operator), ", ")
	}
	s = append(s, v.Author)
	if v.Note == "" {
		s = append(s, v.Operator)
	}
	return strings.Join(s, ", ")
}

func (t *Trial) describe() string {
	s := []string{t.Answer()}
	if t.Offer != "" {
		s[0] += ": `" + t.Offer + "`"
	}
	if t.Simulated {
		s = append(s, "SIMULATED")
	}
	switch {
	case t.Closed != "":
		s = append(s, "closed: "+t.Closed)
	case !t.Current:
		s = append(s, "against an older text")
	}
	if t.Operator != "" {
		s = append(s, t.Operator)
	}
	return strings.Join(s, ", ")
}
