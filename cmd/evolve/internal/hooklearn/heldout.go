package hooklearn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/redact"
)

// A HeldOut is what a guard does in newer sessions that is learned from the older ones alone.
type HeldOut struct {
	Learned int    `json:"learned_from"` // calls of older sessions
	List    string `json:"list,omitempty"`
	Guard   string `json:"guard,omitempty"` // its entry, or the words that its rule file looks for
	None    string `json:"none,omitempty"`  // why nothing is held out
	*tally
}

// holdOut learns the guard of a rule from the older half of the sessions that broke it, and from
// all sessions that began before the newer half. A session is in one half.
func (r *Rule) holdOut(sessions []*hooktest.Session, red redact.Redactor) *HeldOut {
	var in []*hooktest.Session // that broke it
	for _, c := range r.of {
		if c.in.Agent == claudeCode && !slices.Contains(in, c.in) {
			in = append(in, c.in)
		}
	}
	if len(in) < 2 {
		return &HeldOut{None: "all its calls are of one session"}
	}
	slices.SortFunc(in, byBegin)
	cut := in[(len(in)+1)/2]
	var old, late []*hooktest.Session
	for _, s := range sessions {
		if byBegin(s, cut) < 0 {
			old = append(old, s)
		} else {
			late = append(late, s)
		}
	}
	var from []taught
	own := map[*events.Event]bool{}
	for _, c := range r.of {
		if slices.Contains(old, c.in) {
			from = append(from, c)
		} else {
			own[c.Event] = true
		}
	}
	p := learn(r.Rule, from, old, red)
	h := &HeldOut{Learned: len(from)}
	switch {
	case p.guard != nil:
		h.List, h.Guard = p.guard.List, p.guard.Rule
	case p.file != nil:
		h.List, h.Guard = "deny", p.file.words()
	default:
		h.None = "the older ones alone teach no guard"
		return h
	}
	t := p.replay(own, late)
	h.tally = &t
	return h
}

// byBegin orders sessions by when they began.
func byBegin(a, b *hooktest.Session) int {
	return cmp.Or(a.Began().Compare(b.Began()), strings.Compare(a.ID, b.ID))
}

// text is what is held out, for a person. proposed is the guard that all sessions teach.
func (h *HeldOut) text(proposed string) string {
	if h.None != "" {
		return "         not tried on newer sessions: " + h.None + "\n"
	}
	var b strings.Builder
	if h.Guard == proposed {
		b.WriteString("         learned from older sessions alone, it ")
	} else {
		fmt.Fprintf(&b, "         older sessions alone teach %s, which ", plain.Line(h.Guard))
	}
	does := "stops"
	if h.List == "ask" {
		does = "asks before"
	}
	fmt.Fprintf(&b, "%s %d of %s", does, h.Score.Stopped, plain.Counted(h.Score.Stop, "newer call"))
	if all := h.Score.All; all.AtMost != nil {
		fmt.Fprintf(&b, "; wrongly in %d of %s: at most %s", all.Wrong, plain.Counted(all.Sessions, "session"), hooktest.Percent(*all.AtMost))
	}
	return b.String() + "\n"
}
