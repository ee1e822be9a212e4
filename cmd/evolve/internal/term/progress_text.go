package term

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// counted is the number of units.
func (p *progress) counted() int64 {
	if p.task.Count != nil {
		return p.task.Count()
	}
	return p.seen
}

// lines is the view in at most n lines of fewer than width columns: the phase
// with a bar on the first, the rest below as far as it fits, the least
// informative parts left out.
func (p *progress) lines(width, n int) []string {
	w := width - 1 // after the last column some terminals begin the next line
	if w <= 0 || n <= 0 {
		return nil
	}
	now := p.t.Now()
	phase := plain.Fit(p.name(), max(8, w/3))
	tail := " " + p.counts()
	if p.before > 0 && w >= 60 {
		tail += fmt.Sprintf(", %d from before", p.before)
	}
	clock := "  " + watch(now.Sub(p.began))
	room := w - plain.Width(phase) - plain.Width(tail) - plain.Width(clock)
	if room < 8 {
		clock, room = "", room+plain.Width(clock)
	}
	first := phase + bar(room-1, p.counted(), p.task.Total) + tail + clock
	out := []string{plain.Fit(first, w)}
	line := ""
	for _, part := range p.parts(now) {
		part = plain.Fit(part, w)
		switch {
		case line == "":
			line = part
		case plain.Width(line)+2+plain.Width(part) <= w:
			line += "  " + part
		case len(out)+1 < n:
			out, line = append(out, line), part
		}
	}
	if line != "" && len(out) < n {
		out = append(out, line)
	}
	if p.colour {
		out[0] = bold(phase) + strings.TrimPrefix(out[0], phase)
	}
	return out
}

// text is the view as one plain line.
func (p *progress) text() string {
	now := p.t.Now()
	out := p.name() + ": " + p.counts()
	if p.before > 0 {
		out += fmt.Sprintf(" (%d from before)", p.before)
	}
	return strings.Join(append(append([]string{out}, p.parts(now)...), watch(now.Sub(p.began))), ", ")
}

// name is the phase, and its skill.
func (p *progress) name() string {
	if p.task.Of != "" {
		return p.task.Of + " " + p.phase
	}
	return p.phase
}

func (p *progress) counts() string {
	if p.task.Total > 0 {
		return fmt.Sprintf("%d/%d %s", p.counted(), p.task.Total, p.task.Unit)
	}
	return fmt.Sprintf("%d %s", p.counted(), p.task.Unit)
}

// parts are the figures beside the counts, the most informative first.
func (p *progress) parts(now time.Time) (out []string) {
	switch {
	case p.incumbent == nil:
	case p.best != nil && *p.best > *p.incumbent:
		out = append(out, fmt.Sprintf("validation %.2f → %.2f (%s)", *p.incumbent, *p.best, plain.Counted(p.val, "case")))
	default:
		out = append(out, fmt.Sprintf("validation %.2f (%s), none better", *p.incumbent, plain.Counted(p.val, "case")))
	}
	if p.phase == "trial" && p.held > 0 {
		out = append(out, fmt.Sprintf("request %d of %d", min(p.tried+1, p.held), p.held))
	}
	if b := p.task.Budget; b != nil {
		if s := money(b.Spent(), p.task.Caps); s != "" {
			out = append(out, s)
		}
	}
	if left, ok := p.timeLeft(now); ok {
		s := about(left) + " left"
		if p.task.Bound && left > soon {
			s = "at most " + s
		}
		out = append(out, s)
	}
	return out
}

// money is the spending, in the unit of a cap if there is one, else in
// dollars, or in tokens if not every call has a price.
func money(s eval.Spent, caps eval.Caps) string {
	tokens := s.TokensIn + s.TokensOut
	switch {
	case caps.CostUSD > 0:
		return eval.FormatUSD(s.CostUSD) + " of " + eval.FormatUSD(caps.CostUSD)
	case caps.Tokens > 0:
		return fmt.Sprintf("%s of %s tokens", plain.Thousands(tokens), plain.Thousands(caps.Tokens))
	case s.CostKnown && s.CostUSD > 0:
		return eval.FormatUSD(s.CostUSD) + " spent"
	case tokens > 0:
		return plain.Thousands(tokens) + " tokens"
	}
	return ""
}

// bar is a bar of w columns with the blank before it; "" if there is no room, or no
// known total.
func bar(w int, n, of int64) string {
	w -= 3 // blank, brackets
	if w < 4 || of <= 0 {
		return ""
	}
	w = min(w, 40)
	full := int(int64(w) * min(n, of) / of)
	return " [" + strings.Repeat("#", full) + strings.Repeat(".", w-full) + "]"
}

// watch formats a duration as a stop watch does.
func watch(d time.Duration) string {
	s := int64(max(0, d) / time.Second)
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

const (
	paceWindow = 64
	paceMin    = 8 // attempts that a pace rests on at least
)

// pace is the mean time per attempt, over all that run at once; false if too
// few have finished. Pauses count, attempts found in the records do not.
func (p *progress) pace(now time.Time) (time.Duration, bool) {
	if len(p.recent) < paceMin {
		return 0, false
	}
	first := p.recent[0]
	n, took := p.made-first.n, now.Sub(first.at)
	if n <= 0 || took <= 0 {
		return 0, false
	}
	return took / time.Duration(n), true
}

// timeLeft estimates the longest remaining time, by the pace, or by the
// forecast if there is no pace yet; false if it cannot be known. p.mu is
// held.
func (p *progress) timeLeft(now time.Time) (left time.Duration, ok bool) {
	attempts, ok := p.attemptsLeft()
	if !ok || p.ended || p.phase == "no skill" || p.phase == "stopping" {
		return 0, false
	}
	each, ok := p.pace(now)
	if !ok && p.task.Total > 0 && p.task.Expect > 0 {
		each, ok = p.task.Expect/time.Duration(p.task.Total), true
	}
	left = time.Duration(math.Min(attempts*float64(each), math.MaxInt64/2))
	if b := p.task.Budget; b != nil && p.task.Caps.Duration > 0 {
		if most := max(0, b.Remaining().Duration); !ok || most < left {
			return most, true
		}
	}
	return left, ok
}

// attemptsLeft is how many attempts may still come: what the tightest cap
// leaves, and in the gate no more than its cases need.
func (p *progress) attemptsLeft() (float64, bool) {
	left := math.Inf(1)
	if p.task.Total > 0 {
		left = float64(max(0, p.task.Total-p.counted()))
	}
	if b := p.task.Budget; b != nil {
		spent, rest := b.Spent(), b.Remaining()
		for _, of := range [][2]float64{{spent.CostUSD, rest.CostUSD}, {float64(spent.TokensIn + spent.TokensOut), float64(rest.Tokens)}} {
			if of[0] > 0 && of[1] != 0 && spent.Rollouts > 0 { // a rest of exactly 0 is no cap
				left = math.Min(left, math.Max(0, of[1])*float64(spent.Rollouts)/of[0])
			}
		}
	}
	if p.held > 0 {
		left = math.Min(left, float64(2*max(0, p.held-p.tried)))
	}
	return left, !math.IsInf(left, 1)
}

// soon is a remaining time too short to show as a figure.
const soon = 50 * time.Second

// about formats an estimated time in coarse steps.
func about(d time.Duration) string {
	const minute = time.Minute
	up := func(step time.Duration) time.Duration { return (d + step - 1) / step * step }
	switch {
	case d <= soon:
		return "less than a minute"
	case d <= 10*minute:
		return fmt.Sprintf("about %d min", up(minute)/minute)
	case d <= 55*minute:
		return fmt.Sprintf("about %d min", up(5*minute)/minute)
	case d <= 9*time.Hour:
		d = up(15 * minute)
		if m := d % time.Hour / minute; m > 0 {
			return fmt.Sprintf("about %d h %d min", d/time.Hour, m)
		}
	}
	return fmt.Sprintf("about %d h", up(time.Hour)/time.Hour)
}
