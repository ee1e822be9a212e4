package hooklearn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	command "github.com/skill-evolve/evolve/cmd/evolve/internal/corrections"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/corrections"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
)

// A Mechanical rule was corrected in several sessions, and a check of what the agent does tells
// whether it was kept, so that a guard could hold it. No call is known that it should stop.
type Mechanical struct {
	corrections.Rule
	Check eval.Check `json:"check"` // of a case that was made of such a correction
}

// fewest is in how many sessions a rule must have been corrected to be worth a guard.
const fewest = 2

// mechanical are the rules that a guard could hold, beside those that are known.
func mechanical(ctx context.Context, db *store.Store, report *corrections.Report, known *Result) ([]Mechanical, error) {
	out := []Mechanical{}
	cases, err := db.Cases(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, rule := range report.Rules {
		taught := slices.ContainsFunc(known.Rules, func(r Rule) bool {
			return slices.ContainsFunc(r.Calls, func(c Call) bool {
				return slices.ContainsFunc(rule.Quotes, func(q corrections.Quote) bool { return q.Session == c.Session && q.Words == c.Words })
			})
		})
		taught = taught || slices.ContainsFunc(known.Orders, func(o *Order) bool { return o.Rule == rule.Rule && o.None == "" })
		if rule.Rule == "" || rule.Sessions < fewest || taught {
			continue
		}
		k, err := checkOf(ctx, db, rule, cases)
		if err != nil {
			return nil, err
		}
		if k != nil {
			out = append(out, Mechanical{rule, *k})
		}
	}
	return out, nil
}

// checkOf is a check of what the agent did in a turn in which a rule was broken, nil for none.
func checkOf(ctx context.Context, db *store.Store, rule corrections.Rule, cases []eval.Case) (*eval.Check, error) {
	for _, q := range rule.Quotes {
		var sessions []harvest.Session
		for i := range cases {
			c := &cases[i]
			at := slices.IndexFunc(c.Checks, func(k eval.Check) bool { return k.Spec().Work && needs(&k) != "" })
			if at < 0 || c.Source == nil || c.Origin() != "mined" || c.Source.Session != q.Session || c.Source.Outcome != string(harvest.Corrected) {
				continue
			}
			if sessions == nil {
				var err error
				if sessions, err = db.Sessions(ctx, store.SessionFilter{ID: q.Session, Text: true}); err != nil {
					return nil, err
				}
			}
			for s := range sessions {
				if turn, _, _, ok := harvest.TurnsOf(&sessions[s], c); ok && turn == q.Turn {
					return &c.Checks[at], nil
				}
			}
		}
	}
	return nil, nil
}

// needs is what a guard has to do for a check to pass, "" if none can see that.
func needs(k *eval.Check) string {
	when := ""
	if k.After == check.LastEdit {
		when = " after the last edit"
	}
	switch k.Type {
	case check.Ran:
		return fmt.Sprintf("at Stop, go on only if `%s` ran%s", k.Value, when)
	case check.NotRan:
		return fmt.Sprintf("at PreToolUse, stop `%s`%s", k.Value, when)
	case check.Changed:
		return fmt.Sprintf("at Stop, go on only if %s changed", k.Path)
	case check.NotChanged:
		return "at PreToolUse, stop edits of " + k.Path
	}
	return ""
}

// text is a rule for a person.
func (m *Mechanical) text() string {
	return fmt.Sprintf("\n%s\n  corrected in %s; %s\n  a guard would have to: %s\n", plain.Excerpt(m.Rule.Rule, 110), plain.Counted(m.Sessions, "session"),
		command.Standing(m.Rule), plain.Line(needs(&m.Check)))
}

// place says where the rules are written that calls broke, in the texts that their sessions load.
func place(l *skill.Layout, rules []Rule) {
	var sessions []*harvest.Session
	seen := map[*hooktest.Session]bool{}
	r := &corrections.Report{}
	for i := range rules {
		one := corrections.Rule{Rule: rules[i].Rule, Concerns: "standing"}
		for _, c := range rules[i].of {
			one.Quotes = append(one.Quotes, corrections.Quote{Words: c.in.Told(c.Event).Words, Time: c.Time, Session: c.in.ID})
			if !seen[c.in] {
				seen[c.in] = true
				sessions = append(sessions, &harvest.Session{ID: c.in.ID, Agent: c.in.Agent, CWD: c.in.CWD})
			}
		}
		r.Rules = append(r.Rules, one)
	}
	command.Place(l, sessions, r)
	for i := range rules {
		rules[i].Written = r.Rules[i].Written
	}
}

// written says where a rule is written already, or what one would have to achieve there.
func (r *Rule) written() string {
	w := r.Written
	calls := map[bool]string{true: "this call", false: fmt.Sprintf("these %d calls", len(r.Calls))}[len(r.Calls) == 1]
	files := slices.DeleteFunc([]string{plain.Line(w.Project), plain.Line(w.Own)}, func(s string) bool { return s == "" })
	switch {
	case w.Path != "" && w.Since > 0:
		return fmt.Sprintf("  written in %s and loaded, and broken in %s since\n", plain.Line(w.File), plain.Counted(w.Since, "session"))
	case w.Path != "":
		return fmt.Sprintf("  written in %s, and not broken since that changed\n", plain.Line(w.File))
	case len(files) > 0:
		return fmt.Sprintf("  written nowhere; in %s it would have to prevent %s by words alone\n", strings.Join(files, " or "), calls)
	}
	return ""
}
