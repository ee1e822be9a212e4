package hooktest

import (
	"fmt"
	"math"
	"strings"

	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/events"
)

// shown is how many calls of a kind are printed; --json has all.
const shown = 3

func (p Parts) print(r *Result) error {
	if p.Terminal.JSON {
		return p.Terminal.PrintJSON(r)
	}
	return p.Terminal.Show(r.text())
}

// text says what is known, and what is not.
func (r *Result) text() string {
	var b strings.Builder
	s := r.Score
	if s.Events == 0 {
		fmt.Fprintf(&b, "%s: no session since %s has an event at which it is called (%s)\n", plain.Line(r.Name), r.Since.Local().Format("2006-01-02"), strings.Join(r.Events, ", "))
		return b.String()
	}
	fmt.Fprintf(&b, "%s: %s of %s since %s\n", plain.Line(r.Name), plain.Counted(s.Events, "event"), plain.Counted(s.Sessions, "session"), r.Since.Local().Format("2006-01-02"))
	if s.Stop > 0 {
		after := ""
		if n := len(r.Corrected); n > 0 {
			after = fmt.Sprintf(", or corrected afterwards (%d)", n)
		}
		fmt.Fprintf(&b, "  stops    %d of %d that were refused for a rule%s\n", s.Stopped, s.Stop, after)
	}
	if s.Refused > 0 {
		why := "; `evolve hooks learn` has a model read why"
		if r.read {
			why = " and of which no rule is known"
		}
		fmt.Fprintf(&b, "  refused  it would have stopped %d of %s that you refused%s\n", s.RefusedStopped, plain.Counted(s.Refused, "call"), why)
	} else if s.Stop == 0 {
		b.WriteString("  refused  you refused none of them, so nothing shows what it should stop\n")
	}
	if s.All.AtMost != nil {
		fmt.Fprintf(&b, "  wrongly  in %d of %s with a call that you were asked about and permitted: at most %s\n", s.All.Wrong, plain.Counted(s.All.Sessions, "session"), Percent(*s.All.AtMost))
		if l := s.Later; l != nil && l.AtMost != nil && l.Sessions < s.All.Sessions {
			fmt.Fprintf(&b, "  since    its script was last changed, in %d of %d: at most %s\n", l.Wrong, l.Sessions, Percent(*l.AtMost))
		} else if l != nil && l.Sessions == 0 {
			b.WriteString("  since    its script was last changed, there was no such session: it may have been written for these\n")
		}
	} else {
		b.WriteString("  wrongly  not known: no transcript says that you were asked about a call and permitted it\n")
	}
	if other := s.Unlabelled - s.Refused; other > 0 {
		fmt.Fprintf(&b, "  others   it would have stopped %d of %s about which you were not asked\n", s.UnlabelledStopped-s.RefusedStopped, plain.Counted(other, "event"))
	}
	if s.Asks > 0 {
		fmt.Fprintf(&b, "  asks     about %s\n", plain.Counted(s.Asks, "event"))
	}
	fmt.Fprintf(&b, "  time     p95 %s\n", plain.Duration(int64(math.Ceil(s.P95))))
	if s.Failed > 0 {
		does := "goes on"
		if r.failed == guard.Block { // Copilot's way before a tool
			does = "stops the call"
		}
		fmt.Fprintf(&b, "  failed   %s, which %s: %s\n", plain.Counted(s.Failed, "time"), does, plain.Excerpt(r.failure, 120))
	}
	if s.Late > 0 {
		fmt.Fprintf(&b, "  late     %s, which goes on\n", plain.Counted(s.Late, "time"))
	}
	if s.Twice > 0 {
		fmt.Fprintf(&b, "  twice    a second delivery of %s was not as the first: it %s\n", plain.Counted(s.Twice, "event"), plain.Excerpt(r.Again[0].Second, 120))
	}
	if r.Stored > 0 {
		fmt.Fprintf(&b, "  kept     %s of these are cases, without a transcript\n", plain.Counted(r.Stored, "event"))
	}
	if r.Unusable > 0 {
		fmt.Fprintf(&b, "  left out %s that a secret was taken out of, or that are too long\n", plain.Counted(r.Unusable, "case"))
	}
	list(&b, "stops what you permitted", r.Wrong)
	list(&b, "what you refused", r.Refused)
	list(&b, "what you corrected", r.Corrected)
	list(&b, "would have stopped", r.Stops)
	return b.String()
}

// Percent is a share that is a bound: rounded, and never 0.
func Percent(share float64) string {
	if share < 0.01 {
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// list prints the newest calls of a kind.
func list(b *strings.Builder, title string, calls []Call) {
	if len(calls) == 0 {
		return
	}
	fmt.Fprintf(b, "%s\n", title)
	for _, c := range calls[:min(len(calls), shown)] {
		mark := ""
		if c.Outcome == events.Refused || c.Label == guard.Stop {
			mark = map[bool]string{true: "  stopped", false: "  goes on"}[c.Decision == guard.Block]
			if c.Label == guard.Stop {
				mark += ", for a rule"
			}
		}
		fmt.Fprintf(b, "  %s  %s  %q%s\n", c.Time.Local().Format("2006-01-02"), plain.Line(c.Tool), plain.Excerpt(c.What, 60), mark)
		if c.Words != "" {
			fmt.Fprintf(b, "              %q\n", plain.Excerpt(c.Words, 60))
		}
	}
	if more := len(calls) - shown; more > 0 {
		fmt.Fprintf(b, "  and %d more: --json\n", more)
	}
}
