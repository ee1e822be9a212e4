package suggest

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/tournament/caps"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/suggest"
)

const (
	changesShown = 8
	quotesShown  = 2 // of a sentence
	quoteShown   = 90
)

// result is what `evolve suggest --json` prints: schema 1.
type result struct {
	Schema      int              `json:"schema"`
	Skill       string           `json:"skill"`
	Corrections int              `json:"corrections"` // that the model was shown
	SHA         string           `json:"sha256,omitempty"`
	Run         string           `json:"run,omitempty"`
	State       string           `json:"state,omitempty"`  // as in `evolve show --json`
	Reason      string           `json:"reason,omitempty"` // for the state, in words
	Before      bool             `json:"made_before"`      // by an earlier command, for the same corrections
	Simulated   bool             `json:"simulated"`        // no real model wrote it, so it is never installed
	Tokens      [2]int           `json:"tokens"`           // of the text before and after
	Changes     []suggest.Change `json:"changes"`
	// Smoke is nil unless it was asked for.
	Smoke *suggest.Smoked `json:"smoke,omitempty"`
	// Spent is what all parts took, of which Reading and Suggestion are two.
	Spent      eval.Spent `json:"spent"`
	Reading    eval.Spent `json:"spent_reading,omitzero"`
	Suggestion eval.Spent `json:"spent_suggestion,omitzero"`

	unread  bool   // by the second reader; Reason says why
	tracked bool   // nothing puts it in place as a trial install
	promote string // the command that installs it at its owner's word
}

func resultOf(name string, s *suggest.Suggestion, m *suggest.Made, read eval.Spent) *result {
	return &result{Schema: 1, Skill: name, Corrections: s.Forecast.Corrections, SHA: m.SHA, Run: m.Run, State: string(m.State), Reason: m.Reason,
		unread: m.Unread(), Before: m.Before, Simulated: m.Simulated, Tokens: m.Tokens, Spent: read.Plus(m.Spent), Reading: read, Suggestion: m.Spent, Changes: append([]suggest.Change{}, m.Changes...)}
}

// add adds to what was spent.
func (r *result) add(s eval.Spent) { r.Spent = r.Spent.Plus(s) }

// spent is one line of what each part took, "" if nothing was spent.
func (r *result) spent() string {
	var parts []string
	add := func(name string, s eval.Spent) {
		if !s.Nothing() {
			parts = append(parts, name+" "+caps.Words(s))
		}
	}
	add("reading", r.Reading)
	add("suggestion", r.Suggestion)
	if r.Smoke != nil {
		add("smoke test", r.Smoke.Spent)
	}
	if len(parts) == 0 {
		return ""
	}
	line := "spent: " + strings.Join(parts, "; ")
	if len(parts) > 1 {
		line += "; together " + r.Spent.Dollars()
	}
	return line + "\n"
}

// nothing is what is said if nothing was corrected.
func nothing(name string) string {
	ref, next := subject.Parse(name), "use it, say what is wrong, and `evolve harvest`"
	if ref.Kind != subject.Skill {
		next = "`evolve corrections --read` has what you said read, `evolve harvest` finds what is about it"
	}
	return fmt.Sprintf("you have corrected nothing about %s yet that is known here: there is nothing to suggest\nnext: %s\n", ref.Text(), next)
}

// nothingNew is the output if the model changed nothing that answers the corrections.
func nothingNew(name string) string {
	called := subject.Parse(name).Text()
	return fmt.Sprintf("%s: nothing to suggest: the model changed nothing that answers what you said; it is written already, or was about one request\nnext: `evolve corrections %s` shows what you said, and where it is written\n", called, called)
}

// words is the result for a person.
func (r *result) words() string {
	var b strings.Builder
	called := subject.Parse(r.Skill).Text()
	at := called + "@" + plain.Short(r.SHA)
	earlier := ""
	if r.Before {
		earlier = ", made before"
	}
	fmt.Fprintf(&b, "%s: %s from %s%s, about %d → %d tokens\n", at, plain.Counted(len(r.Changes), "change"), plain.Counted(r.Corrections, "correction"), earlier, r.Tokens[0], r.Tokens[1])
	for i := range r.Changes {
		if i == changesShown {
			fmt.Fprintf(&b, "\nand %d more: `evolve show %s --why`\n", len(r.Changes)-i, at)
			break
		}
		b.WriteString(sentence(&r.Changes[i]))
	}
	b.WriteString("\n")
	if r.Smoke != nil {
		fmt.Fprintf(&b, "%s\n", r.Smoke)
	}
	b.WriteString(r.spent())
	switch record.CandidateState(r.State) {
	case record.Invalid:
		fmt.Fprintf(&b, "it may not be used: %s\nnext: `evolve suggest %s --again` asks once more\n", r.Reason, called)
		return plain.Text(b.String())
	case record.Quarantined:
		fmt.Fprintf(&b, "held: %s\nnext: `evolve approve %s` lets it be tried, `evolve reject %[2]s` drops it\n", r.Reason, at)
		return plain.Text(b.String())
	}
	next := []string{fmt.Sprintf("`evolve try %s` puts it in place as a trial install", at), fmt.Sprintf("`%s` installs it at your word", r.promote)}
	if r.tracked {
		next = next[1:]
	}
	if r.Simulated {
		b.WriteString("no real model wrote it: it is never installed\n")
		next = []string{fmt.Sprintf("`evolve suggest %s` asks a real one", called)}
	} else {
		if r.unread {
			fmt.Fprintf(&b, "not read: %s; no run and no nightly run installs it\n", r.Reason)
		}
		b.WriteString("not shown to be better: its trial counts only what you ask for from now on\n")
	}
	if r.Smoke == nil {
		next = append(next, fmt.Sprintf("`evolve suggest %s --smoke` answers what taught it once more", called))
	}
	fmt.Fprintf(&b, "next: %s\n", strings.Join(next, "\n      "))
	return plain.Text(b.String())
}

// sentence is a change with what taught it.
func sentence(c *suggest.Change) string {
	var b strings.Builder
	mark := map[string]string{"added": "+", "reworded": "~", "removed": "-"}[c.Kind]
	fmt.Fprintf(&b, "\n%s %s\n", mark, plain.Excerpt(c.Text, 300))
	if c.Was != "" {
		fmt.Fprintf(&b, "    was: %s\n", plain.Excerpt(c.Was, 200))
	}
	if len(c.Teachers) == 0 {
		b.WriteString("    none of your words say this alone\n")
	}
	said := quotes(c.Teachers)
	for i, q := range said {
		if i == quotesShown {
			fmt.Fprintf(&b, "    and %d more\n", len(said)-i)
			break
		}
		fmt.Fprintf(&b, "    %s\n", q)
	}
	return b.String()
}

// quotes are what was said, the same words once, with where they were said last.
func quotes(said []suggest.Teacher) (out []string) {
	times := map[string]int{}
	for _, t := range said {
		times[plain.Line(t.Words)]++
	}
	for _, t := range said {
		words := plain.Line(t.Words)
		n := times[words]
		if n == 0 {
			continue
		}
		times[words] = 0
		var where []string
		if !t.Time.IsZero() {
			where = append(where, t.Time.Local().Format("2006-01-02"))
		}
		if t.Project != "" {
			where = append(where, plain.Line(filepath.Base(t.Project)))
		}
		line := strings.Join(append(where, "«"+plain.Runes(words, quoteShown)+"»"), "  ")
		if n > 1 {
			line += fmt.Sprintf("  %d×", n)
		}
		out = append(out, line)
	}
	return out
}
