package status

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/applies"
)

// Terminals with fewer columns get a skill in several lines instead of a
// table.
const narrow = 64

// shownSkills is the number of skills that are shown if no more have news.
const shownSkills = 8

// nameWidth is the width at which a table cuts names.
const nameWidth = 24

// Text is the page in lines of w columns; all includes the skills without
// news. Long lines are cut: --json has everything.
func (r *Report) Text(w int, all bool) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(plain.Fit(plain.Text(fmt.Sprintf(format, args...)), w) + "\n")
	}
	shown, quiet, gone := r.fold(all)
	if len(shown) > 0 && w < narrow {
		for _, s := range shown {
			s.block(&b, w)
		}
	} else if len(shown) > 0 {
		table(&b, shown, w)
	}
	if quiet > 0 {
		b.WriteString(joined(w, "; ", fmt.Sprintf("and %d more without news", quiet), "--all lists them"))
	}
	if gone > 0 {
		b.WriteString(joined(w, "; ", plain.Counted(gone, "skill")+" of your sessions not in the folder", "--all lists them"))
	}
	for _, k := range shown {
		if all && len(k.Aliases) > 0 {
			line("%s is also called %s", k.Skill, strings.Join(k.Aliases, ", "))
		}
	}
	for _, k := range r.Broken {
		if k.Skill == "" {
			line("! the skills folder cannot be read: %s", plain.Line(k.Reason))
			continue
		}
		b.WriteString(typed("! ", "evolve kernel check "+inCommand(k.Skill), "broken: "+k.Reason, w))
	}
	b.WriteString("\n")
	if r.harvested {
		b.WriteString(joined(w, "; ", r.Night.words(r.Sessions, r.waitingTurns())...))
	}
	if r.Missed != "" {
		b.WriteString(typed("! ", "evolve sleep status", r.Missed, w))
	}
	if r.Undecided {
		b.WriteString(typed("! ", "evolve projects allow --all", "no new session is read before you choose", w))
	} else if r.NotRead > 0 {
		b.WriteString(typed("! ", "evolve projects list", plain.Counted(r.NotRead, "session")+" of undecided projects stay unread", w))
	}
	unread := 0
	for _, s := range r.Skills {
		unread += s.Unread
	}
	if unread > 0 {
		b.WriteString(typed("! ", "evolve corrections --read", ingest.UnreadUses(unread), w))
	}
	b.WriteString(typed("next: ", r.Next.Command, r.Next.Text, w))
	return strings.TrimPrefix(b.String(), "\n")
}

// Empty reports whether there is nothing to show: no skill, and no session was read.
func (r *Report) Empty() bool { return len(r.Skills)+len(r.Broken) == 0 && !r.harvested }

// fold selects the skills that are shown: those with news, and the most used
// ones up to shownSkills. gone counts those that are not in the skills
// folder.
func (r *Report) fold(all bool) (shown []*Skill, quiet, gone int) {
	news := 0
	for i := range r.Skills {
		if r.Skills[i].news() {
			news++
		}
	}
	room := max(0, shownSkills-news)
	for i := range r.Skills {
		s := &r.Skills[i]
		switch {
		case all || s.news():
			shown = append(shown, s)
		case s.Path == "":
			gone++
		case room > 0:
			shown = append(shown, s)
			room--
		default:
			quiet++
		}
	}
	return shown, quiet, gone
}

// news reports whether there is news of a skill.
func (s *Skill) news() bool {
	return len(s.Waits) > 0 || s.Challenger != nil && !s.Challenger.TakenBack || s.Unfinished != nil || len(s.Approved) > 0
}

// table has one line for each skill, and one for each thing that it waits for.
func table(b *strings.Builder, skills []*Skill, w int) {
	var text strings.Builder
	t := plain.NewTable(&text)
	fmt.Fprintln(t, "SKILL\tUSES\tCORRECTED\tLIVE\tNEW TEXT")
	uses, corrected := 0, 0
	for _, s := range skills {
		uses, corrected = max(uses, len(s.usesText())), max(corrected, len(fmt.Sprint(s.Corrected)))
	}
	for _, s := range skills {
		rate := ""
		if s.CorrectionRate != nil {
			rate = fmt.Sprintf("%*d %3.0f %%", corrected, s.Corrected, 100**s.CorrectionRate)
		}
		fmt.Fprintf(t, "%s\t%*s\t%s\t%s\t%s\n", plain.Fit(plain.Text(subject.Parse(s.Skill).Text()), nameWidth), max(uses, len("USES")), s.usesText(), rate, s.live(), s.challenger())
	}
	t.Flush()
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	b.WriteString(plain.Fit(lines[0], w) + "\n")
	for i, s := range skills {
		b.WriteString(plain.Fit(lines[i+1], w) + "\n")
		s.arrows(b, w)
	}
}

// block is a skill on a narrow terminal.
func (s *Skill) block(b *strings.Builder, w int) {
	say := func(indent, format string, args ...any) {
		b.WriteString(plain.Fit(indent+plain.Line(fmt.Sprintf(format, args...)), w) + "\n")
	}
	say("", "%s, %s", subject.Parse(s.Skill).Text(), s.live())
	if s.CorrectionRate != nil {
		say("  ", "%s, %d corrected (%.0f %%)", plain.Counted(s.Uses, "use"), s.Corrected, 100**s.CorrectionRate)
	}
	if c := s.challenger(); c != "-" {
		say("  ", "%s", c)
	}
	s.arrows(b, w)
}

// arrows writes the live version's results on another model, how long it is in place on
// trial, since when its owner's edit is part of a trial, and what the skill waits for.
func (s *Skill) arrows(b *strings.Builder, w int) {
	if s.Uncalled {
		b.WriteString(plain.Fit("  "+notCalled, w) + "\n")
	}
	for _, c := range s.Compared {
		b.WriteString(plain.Fit("  "+plain.Line(c.String()), w) + "\n")
	}
	if s.Live != nil && s.Live.Trial != nil {
		b.WriteString(plain.Fit("  "+s.Live.Trial.String(), w) + "\n")
	}
	if c := s.Challenger; c != nil && c.Edited && !c.TakenBack && c.Decision.IsOpen() {
		edit := "your edit is in both texts of the trial from its next pair on"
		if c.EditedAt != nil {
			edit = c.EditedAt.Local().Format("your edit of Jan 2 is in both texts of the trial since then")
		}
		b.WriteString(plain.Fit("  "+edit, w) + "\n")
	}
	waits := s.Waits
	if len(waits) == 0 && len(s.Approved) > 0 {
		waits = []Wait{{Text: fmt.Sprintf("%s approved: the next run tries it", plain.Counted(len(s.Approved), "candidate")), Command: "evolve --skill " + s.Skill}}
	}
	for _, k := range waits {
		b.WriteString(typed("  → ", k.Command, k.Text, w))
	}
	if idle := s.Idle.Text(); idle != "" {
		b.WriteString(typed("  ", applies.Shorten(s.Skill), idle, w))
	}
}

// typed is a command and its reason on at most two lines, w columns wide. Only the reason
// is folded and ever cut: half a command is none.
func typed(head, command, text string, w int) string {
	if command == "" {
		return plain.Fit(head+plain.Line(text), w) + "\n"
	}
	head += "`" + plain.Line(command) + "`"
	if plain.Width(head)+len(": ")+8 > w {
		return head + "\n"
	}
	first, rest, more := strings.Cut(plain.Fold(head+": "+plain.Line(text), w), "\n")
	if more {
		first += "\n" + plain.Fit("    "+plain.Line(rest), w)
	}
	return first + "\n"
}

// joined puts parts into lines of w columns.
func joined(w int, sep string, parts ...string) string {
	var lines []string
	for _, p := range parts {
		if n := len(lines); n > 0 && plain.Width(lines[n-1]+sep+p) <= w {
			lines[n-1] += sep + p
		} else {
			lines = append(lines, plain.Fit(p, w))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// words describe what the nights do; turns counts the skills that a later one
// comes to.
func (n *Nights) words(sessions, turns int) []string {
	parts := []string{plain.Counted(sessions, "session") + " read"}
	switch l := n.Last; {
	case l == nil:
	case l.Ended == nil:
		parts = append(parts, "last night "+l.Began.Local().Format("2006-01-02")+" not over")
	default:
		cost := l.Spent.Dollars()
		if l.Spent.Nothing() {
			cost = "nothing spent"
		} else {
			cost += ", " + plain.Counted(int(l.Spent.Rollouts), "rollout")
		}
		parts = append(parts, "last night "+l.Began.Local().Format("2006-01-02")+": "+cost)
	}
	if n.Next != nil {
		parts = append(parts, "next "+n.Next.Local().Format("2006-01-02 15:04"))
	} else if n.Last != nil {
		parts = append(parts, "no timer")
	}
	if turns > 0 {
		parts = append(parts, plain.Counted(turns, "skill")+" for a later night: too little was left")
	}
	return parts
}

// live is the live version and its evidence, "-" for none.
func (s *Skill) live() string {
	word := s.Live.String()
	switch {
	case s.Pinned:
		word = fmt.Sprintf("v%d pinned", s.Live.Version)
	case s.Managed:
		word = fmt.Sprintf("v%d managed", s.Live.Version)
	case s.Path == "":
		word = "not here"
	}
	if n := len(s.Targets); n > 1 {
		word += fmt.Sprintf(" in %d", n)
	}
	if n := len(s.Others); n > 0 {
		word += fmt.Sprintf(", %d other", n)
	}
	return word
}

// String is the version that is live, "-" for none.
func (l *Live) String() string {
	switch {
	case l == nil:
		return "-"
	case !l.Recorded && l.Note != "":
		return fmt.Sprintf("v%d, edited", l.Version)
	case l.Trial != nil:
		return fmt.Sprintf("v%d on trial", l.Version)
	case l.Author == "evolve" && l.Proven:
		return fmt.Sprintf("v%d better", l.Version)
	case l.Author == "evolve":
		return fmt.Sprintf("v%d not decided", l.Version)
	case l.Version > 0:
		return fmt.Sprintf("v%d by hand", l.Version)
	}
	return "v0"
}

// challenger is what is on trial, or how many cases a search waits for; "-" for neither.
func (s *Skill) challenger() string {
	if s.Lack != nil && s.Corrected > 0 {
		return "a search waits for " + plain.Counted(s.Lack.Train+s.Lack.Val, "more case")
	}
	return s.Challenger.String()
}

// Answer is its verdict for a person.
func (c *Challenger) Answer() string { return pareto.Answer(c.Decision, c.route) }

// String is the challenger with its evidence, "-" for none.
func (c *Challenger) String() string {
	if c == nil {
		return "-"
	}
	s := ""
	switch {
	case c.TakenBack:
		s = "taken back"
	case c.Lifetime != "":
		s = "better as a single trial"
	case c.Decision == pareto.Promote:
		s = c.Answer()
	case c.Cases == 0:
		s = "waits for cases"
		if c.hook {
			s = "waits for sessions"
		}
		if c.Unlabelled > 0 {
			s = "waits for labels"
		}
	default:
		s = c.Answer() + ", " + c.heard()
		if c.EValue*c.Alpha >= 1 && len(c.Open) > 0 { // else it looks as if it were decided
			s = fmt.Sprintf("%s, but %s beyond tolerance, %s", pareto.Chance(c.EValue), strings.Join(c.Open, " and "), plain.Counted(c.Cases, "case"))
		}
	}
	if c.Simulated {
		s += " (simulated)"
	}
	if c.Shorter != nil {
		s = c.Shorter.String() + "; " + s
	}
	return s
}
