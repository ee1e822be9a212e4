// Package harvested is what a harvest prints.
package harvested

import (
	"fmt"
	"strings"

	learned "github.com/skill-evolve/evolve/cmd/evolve/internal/corrections"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/corrections"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// A Report is what `evolve harvest --json` prints: schema 1.
type Report struct {
	Schema int `json:"schema"`
	ingest.Report
	Stored int `json:"stored"` // sessions, those of earlier harvests included
	// Expired counts the sessions whose text has expired now.
	Expired int                 `json:"expired,omitempty"`
	Skills  []ingest.SkillCases `json:"skills"`
	Learned *corrections.Report `json:"corrections"`
	Held    bool                `json:"-"` // there are sessions that may not be read, if there are any
}

// maxShown is the number of problems that are printed, and maxTests that of the test commands
// of a skill's cases that wait for their owner, or cannot run; --json has all.
const (
	maxShown = 5
	maxTests = 1
)

// Print prints r.
func (r *Report) Print(a *term.Terminal) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d new or changed sessions (%d stored), %d uses of skills in them, %d secrets replaced\n", r.Sessions, r.Stored, r.Invocations, r.Redactions)
	if len(r.Found) > 1 {
		for _, f := range r.Found {
			fmt.Fprintf(&b, "  %-12s %d sessions, %d uses in %s\n", f.Source, f.Sessions, f.Invocations, f.Where)
		}
	}
	if len(r.Skills) > 0 {
		b.WriteByte('\n')
		t := a.NewTable(&b)
		fmt.Fprintln(t, "SKILL\tUSES\tCORRECTED\tACCEPTED\tCASES\tNEW\t")
		for _, s := range r.Skills {
			fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%s\n", subject.Parse(s.Skill).Text(), s.Uses, s.Corrected, s.Accepted, s.Cases, s.NewCases, s.Note)
		}
		if err := t.Flush(); err != nil {
			return err
		}
		for _, s := range r.Skills {
			if s.Draw != nil {
				fmt.Fprintf(&b, "\n%s: %s", subject.Parse(s.Skill).Text(), s.Draw.Text())
			}
		}
	}
	unread := 0
	for _, s := range r.Skills {
		if s.Commits != nil {
			fmt.Fprintf(&b, "\n%s: %s\n", subject.Parse(s.Skill).Text(), s.Commits)
		}
		if s.Draw == nil {
			unread += s.Unread
		}
	}
	if unread > 0 {
		fmt.Fprintf(&b, "\n%s; `evolve corrections --read` has them read\n", ingest.UnreadUses(unread))
	}
	for _, s := range r.Skills {
		for i, u := range s.Unconfirmed {
			if i == maxTests {
				break
			}
			fmt.Fprintf(&b, "\n%s of %s would be graded by `%s`: `evolve projects tests %s --confirm %s`\n", plain.Counted(u.Cases, "case"), s.Skill, plain.Line(u.Command),
				plain.Arg(plain.Line(u.Project)), plain.Arg(plain.Line(u.Command)))
		}
		for i, u := range s.NoProgram {
			if i == maxTests {
				break
			}
			fmt.Fprintf(&b, "\n%s of %s cannot be graded by `%s`: %s\n", plain.Counted(u.Cases, "case"), s.Skill, plain.Line(u.Command), plain.Line(u.Why))
		}
	}
	b.WriteString(learned.Learned(r.Learned))
	if n := len(r.Problems); n > 0 {
		fmt.Fprintf(&b, "\n%d places could not be read; everything else was:\n", n)
		for i, p := range r.Problems {
			if i == maxShown {
				fmt.Fprintf(&b, "  and %d more (--json lists them all)\n", n-maxShown)
				break
			}
			at := p.Path
			if p.Line > 0 {
				at += fmt.Sprintf(":%d", p.Line)
			}
			fmt.Fprintf(&b, "  %s: %s\n", at, p.Reason)
		}
	}
	if n := len(r.Remarks); n > 0 {
		fmt.Fprintf(&b, "\n%s (--json lists them); nothing is missing because of them\n", plain.Counted(n, "remark"))
	}
	fmt.Fprintf(&b, "\nnext: %s\n", r.next())
	return a.Print(r, b.String())
}

// next is the command to type after a harvest.
func (r *Report) next() string {
	if r.Stored == 0 && r.Held {
		return "no session was read: `evolve projects list` shows what was found, and `evolve projects allow PATH` allows a project"
	}
	if r.Stored == 0 {
		return "no sessions were found; --claude-home names another folder"
	}
	for _, s := range r.Skills {
		flag := "--skill"
		if s.Draw != nil {
			flag = "--file"
		}
		switch {
		case s.Corrected > 0 && s.Cases > 0:
			name := subject.Parse(s.Skill).Text()
			return fmt.Sprintf("`evolve suggest %s` writes that into its text, `evolve %s %[1]s` looks for a better text and tries it against yours", name, flag)
		case s.Quoted > 0:
			return fmt.Sprintf("`evolve %s %s` lets a model write the checks of %s, and looks for a better text", flag, s.Skill, plain.Counted(s.Quoted, "corrected use"))
		case s.Cases > 0:
			return fmt.Sprintf("`evolve %s %s` looks for a better text", flag, s.Skill)
		}
	}
	if n := r.waiting(); n > 0 {
		return fmt.Sprintf("`evolve corrections --read --dry-run` says what it costs to have a model read what you said to %s", plain.Counted(n, "request"))
	}
	return "use your skills and correct them when they are wrong: cases are made from that"
}

// waiting counts the requests of which no model has read what was said to them: each may
// become a case.
func (r *Report) waiting() (n int) {
	for _, s := range r.Skills {
		n += s.Unread
	}
	return n
}
