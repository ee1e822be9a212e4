package hookuse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
)

const (
	lines      = 10 // that are printed at most; --json has all
	guardLines = 6  // of them, one a guard
)

// Text is the report for a person; "" for none.
func (r *Report) Text() string {
	if r == nil {
		return ""
	}
	out := []string{"guards since " + r.Since.Local().Format("2006-01-02")}
	wide := 0
	for _, g := range r.Guards[:min(len(r.Guards), guardLines)] {
		wide = max(wide, plain.Width(g.name()))
	}
	for _, g := range r.Guards[:min(len(r.Guards), guardLines)] {
		out = append(out, "  "+g.name()+strings.Repeat(" ", wide-plain.Width(g.name()))+"  "+g.text())
	}
	if more := len(r.Guards) - guardLines; more > 0 {
		out = append(out, fmt.Sprintf("  and %d more: --json", more))
	}
	if n, may := r.unnamed(); n > 0 {
		out = append(out, fmt.Sprintf("  %s stopped by a hook that nothing names%s", wasOrWere(n), may))
	}
	if quotes := r.quotes(); len(quotes) > 0 && len(out)+2 <= lines {
		out = append(out, "what you said next")
		out = append(out, quotes[:min(len(quotes), lines-len(out))]...)
	}
	return strings.Join(out, "\n") + "\n"
}

func (g *Guard) name() string {
	if g.Agent != "claude-code" {
		return plain.Line(g.Name) + " (" + plain.Agent(g.Agent) + ")"
	}
	return plain.Line(g.Name)
}

// text is one line about a guard.
func (g *Guard) text() string {
	if g.Stopped+g.Asked == 0 {
		return "stopped nothing"
	}
	var parts []string
	if g.Stopped > 0 {
		parts = append(parts, fmt.Sprintf("stopped %s in %s since %s", plain.Counted(g.Stopped, "call"), plain.Counted(g.Sessions, "session"), g.Since.Local().Format("2006-01-02")))
	}
	if g.Same+g.Rewritten > 0 {
		parts = append(parts, "the agent came back "+g.back())
	}
	if g.Asked > 0 {
		parts = append(parts, "asked about "+plain.Counted(g.Asked, "call"))
	}
	if g.Permitted > 0 {
		parts = append(parts, fmt.Sprintf("you permitted %d by hand", g.Permitted))
	}
	if g.Refused > 0 {
		parts = append(parts, fmt.Sprintf("you refused %d", g.Refused))
	}
	if !g.Installed {
		parts = append(parts, "it is not in these settings")
	}
	return strings.Join(parts, "; ")
}

func (g *Guard) back() string {
	var how []string
	if g.Same > 0 {
		how = append(how, "with the same call "+times(g.Same))
	}
	if g.Rewritten > 0 {
		how = append(how, "with a rewritten one "+times(g.Rewritten))
	}
	if g.Ran > 0 {
		return strings.Join(how, ", ") + fmt.Sprintf(" (%d ran)", g.Ran)
	}
	return strings.Join(how, ", ")
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

func wasOrWere(n int) string {
	if n == 1 {
		return "1 call was"
	}
	return fmt.Sprintf("%d calls were", n)
}

// unnamed counts the calls of which is not known who stopped them, and says who may have.
func (r *Report) unnamed() (n int, may string) {
	var all []string
	for _, u := range r.Unnamed {
		n += len(u.Calls)
		for _, name := range u.May {
			if name = plain.Line(name); !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	switch len(all) {
	case 0:
		return n, ", and none of these"
	case 1:
		return n, "; " + all[0] + " is called for such"
	}
	return n, "; " + strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1] + " are called for such"
}

// quotes are the user's words after calls, the newest first, each message once.
func (r *Report) quotes() (out []string) {
	type one struct {
		guard string
		Call
	}
	var all []one
	for _, g := range r.Guards {
		for _, c := range g.Calls {
			all = append(all, one{g.name(), c})
		}
	}
	for _, u := range r.Unnamed {
		for _, c := range u.Calls {
			all = append(all, one{"?", c})
		}
	}
	slices.SortStableFunc(all, func(a, b one) int { return b.Time.Compare(a.Time) })
	seen := map[string]bool{}
	for _, c := range all {
		if key := c.Session + "\x00" + c.Said; c.Said != "" && !seen[key] {
			seen[key] = true
			out = append(out, fmt.Sprintf("  %s  %s  %q  %q", c.Time.Local().Format("2006-01-02"), c.guard, plain.Excerpt(c.What, 40), plain.Excerpt(c.Said, 80)))
		}
	}
	return out
}
