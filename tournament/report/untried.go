package report

import (
	"cmp"
	"fmt"

	"github.com/skill-evolve/evolve/tournament/record"
)

// Untried is the text that a run stored and did not try: a suggestion, or one that the
// firewall held before its check. nil for any other run.
func (m *Model) Untried() *Candidate {
	if m.Verdict != nil || m.Challenger != "" || m.Status != string(record.Finished) {
		return nil
	}
	for i := range m.Candidates {
		c := &m.Candidates[i]
		if c.Operator == record.Suggested || c.Operator == record.Checked && c.State == string(record.Quarantined) {
			return c
		}
	}
	return nil
}

// untried says what became of a text that was not tried, and what to type.
func (m *Model) untried(c *Candidate) (sentence, next string) {
	what, asks := "A text was suggested", "suggest"
	if c.Operator == record.Checked {
		what, asks = "A text was to be checked", "check"
	}
	at := fmt.Sprintf("%s@%.12s", m.Skill, c.SHA)
	switch {
	case c.State == string(record.Invalid):
		return fmt.Sprintf("%s, and may not be used: %s.", what, c.Reason), fmt.Sprintf("`evolve suggest %s --again` asks once more", m.Skill)
	case c.Tokens == 0:
		return what + "; it was erased with a session that it learned from.", fmt.Sprintf("`evolve %s %s` begins anew", asks, m.Skill)
	case c.State == string(record.Quarantined):
		return fmt.Sprintf("%s, and is held: %s.", what, cmp.Or(c.Reason, "it asks for more than the text may do")),
			fmt.Sprintf("`evolve approve %s` shows it and lets it be tried, `evolve reject %[1]s` drops it", at)
	}
	return what + ", and never tried in this run.", fmt.Sprintf(
		"`evolve show %s --why` shows it beside your words, `evolve try %[1]s` puts it in place on trial, `evolve promote %[1]s --unproven` installs it at your word", at)
}
