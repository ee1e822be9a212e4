package hooklearn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/corrections"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/refusals"
	"github.com/skill-evolve/evolve/store/hookcases"
	"github.com/skill-evolve/evolve/tournament/caps"
)

const (
	rulesShown = 8
	callsShown = 2 // of a rule
)

// A Result is what `evolve hooks learn --json` prints: schema 1.
type Result struct {
	Schema int            `json:"schema"`
	Since  time.Time      `json:"since"`
	Stats  refusals.Stats `json:"stats"`
	Rules  []Rule         `json:"rules"`
	// Others are rules that a guard could hold, and of which no call is known.
	Others []Mechanical `json:"others"`
	// Orders are rules that were corrected in several sessions and may ask for an order.
	Orders []*Order   `json:"orders,omitempty"`
	Spent  eval.Spent `json:"spent,omitzero"`
	// Stored are calls that are in no transcript any more; Unusable are further ones that decide
	// nothing.
	Stored   int `json:"stored,omitempty"`
	Unusable int `json:"unusable,omitempty"`
}

// A Rule is one for which calls were refused, the newest first.
type Rule struct {
	Rule  string `json:"rule"`
	Calls []Call `json:"calls"`
	Guard *Guard `json:"guard,omitempty"`
	None  string `json:"no_guard,omitempty"` // why there is none
	// File is what holds the rule without one.
	File *RuleFile `json:"rule_file,omitempty"`
	Held *HeldOut  `json:"held_out,omitempty"`
	// Written is where it is written already, in a text that the sessions load.
	Written corrections.Written `json:"written"`

	of []taught
}

// A Call was refused for a rule, or corrected by it afterwards.
type Call struct {
	Agent   string    `json:"agent"`
	Session string    `json:"session"`
	Time    time.Time `json:"time,omitzero"`
	Tool    string    `json:"tool"`
	What    string    `json:"what"`
	Words   string    `json:"words"` // of its user
	// Source is how it is known that the rule is about the call.
	Source hookcases.Source `json:"source"`
}

// rulesOf are the rules that calls broke, equal ones once, the most frequent first. what is the
// part of an event that is shown, and worded is how the group is worded that a rule is in.
func rulesOf(sessions []*hooktest.Session, what func(*events.Event) string, worded map[string]string) []Rule {
	out := []Rule{}
	var all []taught
	for _, s := range sessions {
		for i := range s.Calls {
			if s.Told(&s.Calls[i]).Label == guard.Stop {
				all = append(all, taught{s, &s.Calls[i]})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b taught) int { return b.Time.Compare(a.Time) })
	for _, c := range all {
		t := c.in.Told(c.Event)
		rule := cmp.Or(worded[t.Rule], t.Rule)
		i := slices.IndexFunc(out, func(r Rule) bool { return same(r.Rule) == same(rule) })
		if i < 0 {
			i, out = len(out), append(out, Rule{Rule: rule})
		}
		out[i].of = append(out[i].of, c)
		out[i].Calls = append(out[i].Calls, Call{c.in.Agent, c.in.ID, c.Time, c.Tool, what(c.Event), t.Words, t.Source})
	}
	slices.SortStableFunc(out, func(a, b Rule) int { return len(b.Calls) - len(a.Calls) })
	return out
}

// same is a rule without what does not tell it from another.
func same(rule string) string {
	return strings.Trim(strings.ToLower(rule), " .!`\"'")
}

// found says what the rules were found in.
func (r *Result) found() string {
	since := r.Since.Local().Format(time.DateOnly)
	var lines []string
	if s := &r.Stats; s.Refused > 0 {
		lines = append(lines, fmt.Sprintf("%s refused with words since %s → %d read twice → %d for a rule", plain.Counted(s.Refused, "call"), since, s.Read, s.Rules))
	}
	if n := r.corrected(); n > 0 {
		lines = append(lines, fmt.Sprintf("%s ran since %s, and you then corrected them by a rule", plain.Counted(n, "call"), since))
	}
	if r.Stored > 0 {
		lines = append(lines, plain.Counted(r.Stored, "case")+" of sessions that have no transcript any more")
	}
	if lines == nil {
		return ""
	}
	return strings.Join(lines, "\nand ") + "\n"
}

// ordered counts the rules that are about an order.
func (r *Result) ordered() (n int) {
	for _, o := range r.Orders {
		if o.ask.Order != nil {
			n++
		}
	}
	return n
}

// corrected counts the calls that ran.
func (r *Result) corrected() (n int) {
	for _, x := range r.Rules {
		for _, c := range x.Calls {
			if c.ran() {
				n++
			}
		}
	}
	return n
}

func (c *Call) ran() bool { return c.Source == hookcases.Correction }

// text is the result for a person.
func (r *Result) text() string {
	var b strings.Builder
	s := &r.Stats
	if s.Refused == 0 && len(r.Rules)+len(r.Others)+r.ordered() == 0 {
		fmt.Fprintf(&b, "you refused no call with words since %s that is known here: there is nothing to learn\n", r.Since.Local().Format(time.DateOnly))
		return b.String()
	}
	b.WriteString(r.found())
	for i := range r.Rules {
		if i == rulesShown {
			fmt.Fprintf(&b, "\nand %s more: --json\n", plain.Counted(len(r.Rules)-i, "rule"))
			break
		}
		b.WriteString(r.Rules[i].text())
	}
	for _, o := range r.Orders {
		if o.ask.Order != nil {
			b.WriteString(o.text())
		}
	}
	for i := range r.Others {
		if i == 0 {
			b.WriteString("\nrules that a guard could hold, and of which no such call is known:\n")
		}
		if i == rulesShown {
			fmt.Fprintf(&b, "\nand %s more: --json\n", plain.Counted(len(r.Others)-i, "rule"))
			break
		}
		b.WriteString(r.Others[i].text())
	}
	b.WriteString("\n")
	if s.Withheld > 0 {
		fmt.Fprintf(&b, "%s not read: `evolve harvest` has not stored their sessions, or their text may not go to the model (`evolve privacy`)\n", plain.Counted(s.Withheld, "call"))
	}
	if n := s.Unread - s.Withheld; n > 0 {
		fmt.Fprintf(&b, "%s not read yet: the same command continues\n", plain.Counted(n, "call"))
	}
	if !r.Spent.Nothing() {
		fmt.Fprintf(&b, "spent: %s\n", caps.Words(r.Spent))
	}
	if r.Unusable > 0 {
		fmt.Fprintf(&b, "%s left out: a secret was taken out of them, or they are too long\n", plain.Counted(r.Unusable, "case"))
	}
	if len(r.Rules)+len(r.Others)+r.ordered() > 0 {
		b.WriteString("nothing is put in place; next: add an entry to your settings, `--out DIR` for rule files, or\n      `evolve hooks new NAME` for a script; `evolve hooks test NAME` counts what a hook stops\n")
	}
	return b.String()
}

func (r *Rule) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", plain.Excerpt(r.Rule, 110))
	for i, c := range r.Calls {
		if i == callsShown {
			fmt.Fprintf(&b, "  and %d more\n", len(r.Calls)-i)
			break
		}
		after := ""
		if c.ran() {
			after = "  after it ran"
		}
		fmt.Fprintf(&b, "  %s  %s  %q  «%s»%s\n", c.Time.Local().Format(time.DateOnly), plain.Line(c.Tool), plain.Excerpt(c.What, 50), plain.Excerpt(c.Words, 50), after)
	}
	if r.Guard != nil {
		b.WriteString(r.Guard.text())
	} else {
		fmt.Fprintf(&b, "  no rule of the settings holds it: %s\n", plain.Line(r.None))
		if r.File != nil {
			b.WriteString(r.File.text())
		}
	}
	if r.Held != nil {
		proposed := ""
		if r.Guard != nil {
			proposed = r.Guard.Rule
		} else if r.File != nil {
			proposed = r.File.words()
		}
		b.WriteString(r.Held.text(proposed))
	}
	b.WriteString(r.written())
	return b.String()
}
