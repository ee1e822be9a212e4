package rulefile

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/shell"
	"github.com/skill-evolve/evolve/eval/shell/sought"
)

// A State is what a session did, as far as the orders of a rule file ask for it. The zero value
// is that of a session that begins. It belongs to the orders, not to their places in the file: a
// file may change while a session runs.
type State struct {
	// Waits are the orders after an edit that none of their commands followed yet.
	Waits []string `json:"waits,omitempty"`
	// Held are those of Waits for which a turn was kept from ending. That is done once after an
	// edit: what the agent cannot run must not hold it for ever.
	Held []string `json:"held,omitempty"`
}

// Orders reports whether a rule of the file needs a State.
func (f *File) Orders() bool {
	return slices.ContainsFunc(f.Rules, func(r Rule) bool { return len(r.UnlessRan) > 0 })
}

// order is what Waits has for the rule.
func (r *Rule) order() string {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{r.SinceEdit}, r.UnlessRan...), "\x00")))
	return hex.EncodeToString(sum[:6])
}

// stops reports whether a rule stops a call. In a line of several commands, one that the order
// asks for counts for those behind it.
func (r *Rule) stops(c *Call, s *State) bool {
	switch {
	case !r.Matches(c):
		return false
	case len(r.UnlessRan) == 0:
		return true
	case s == nil || !slices.Contains(s.Waits, r.order()):
		return false
	case r.Event == Stop:
		if c.Again || slices.Contains(s.Held, r.order()) {
			return false
		}
		s.Held = append(s.Held, r.order())
		return true
	case r.Program == "":
		return true
	}
	for _, command := range c.simple() {
		if r.about(command) {
			return true
		}
		if r.met(command) {
			return false
		}
	}
	return false
}

// met reports whether a command is one that the order asks for, or may be: a guard that cannot
// tell lets go. It counts if it fails, as it does for a check of the work.
func (r *Rule) met(c shell.Command) bool {
	return len(c.Words) > 0 && slices.ContainsFunc(r.UnlessRan, func(text string) bool {
		wanted, err := sought.Parse(text)
		return err == nil && wanted.Is(c.Words) != sought.No
	})
}

// editors are the tools that change the file that they name.
var editors = []string{"Edit", "MultiEdit", "Write", "NotebookEdit"}

// Edits reports whether a call edits a file of which the order of the rule is.
func (r *Rule) Edits(c *Call) bool {
	return len(r.UnlessRan) > 0 && slices.Contains(editors, c.Tool) && c.File != "" && (r.SinceEdit == "" || Under(r.SinceEdit, c.File, c.Root))
}

// add notes a call that goes on.
func (s *State) add(f *File, c *Call) {
	for i := range f.Rules {
		r := &f.Rules[i]
		if len(r.UnlessRan) == 0 {
			continue
		}
		key := r.order()
		is := func(other string) bool { return other == key }
		switch {
		case r.Edits(c):
			s.Held = slices.DeleteFunc(s.Held, is)
			if !slices.Contains(s.Waits, key) {
				s.Waits = append(s.Waits, key)
			}
		case slices.ContainsFunc(c.simple(), r.met):
			s.Waits, s.Held = slices.DeleteFunc(s.Waits, is), slices.DeleteFunc(s.Held, is)
		}
	}
}
