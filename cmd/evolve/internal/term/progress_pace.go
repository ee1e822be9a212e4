package term

import (
	"fmt"
	"math"
	"time"
)

// A pace is how fast attempts have come of late. What was found in the records
// took no time and is none of them.
type pace struct {
	at  []time.Time // of the last paceWindow
	n   []int64     // attempts, all together, at that time
	sum int64
	// What is shown is worked out anew every paceCalm only: people read it.
	shown time.Duration
	known bool
	seen  bool // it rests on attempts that came, not on the forecast
	when  time.Time
}

const (
	paceWindow = 64
	// paceMin is how many a pace rests on at least.
	paceMin  = 8
	paceCalm = 5 * time.Second
)

func (p *pace) add(now time.Time, attempts int64) {
	p.sum += attempts
	if len(p.at) == paceWindow {
		p.at, p.n = p.at[1:], p.n[1:]
	}
	p.at, p.n = append(p.at, now), append(p.n, p.sum)
}

// perAttempt is the time from one attempt to the next, however many are under way
// at once; false while too few have come. A pause that lasts counts.
func (p *pace) perAttempt(now time.Time) (time.Duration, bool) {
	if len(p.at) < paceMin {
		return 0, false
	}
	n := p.n[len(p.n)-1] - p.n[0]
	took := now.Sub(p.at[0])
	if n <= 0 || took <= 0 {
		return 0, false
	}
	return took / time.Duration(n), true
}

// left is how long attempts more take; before there is a pace, forecast each.
func (p *pace) left(now time.Time, attempts float64, forecast time.Duration) (time.Duration, bool) {
	each, ok := p.perAttempt(now)
	if !p.when.IsZero() && now.Sub(p.when) < paceCalm && p.seen == ok {
		return p.shown, p.known
	}
	p.seen = ok
	if !ok && forecast > 0 {
		each, ok = forecast, true
	}
	p.when, p.known = now, ok
	p.shown = time.Duration(math.Min(attempts*float64(each), math.MaxInt64/2))
	return p.shown, ok
}

// timeLeft estimates how long the rest takes at most; false where nobody can
// tell. p.mu is held.
func (p *progress) timeLeft(now time.Time) (time.Duration, bool) {
	attempts, ok := p.attemptsLeft()
	if !ok || p.ended || p.phase == "no-skill arm" || p.phase == "stopping" {
		return 0, false
	}
	var forecast time.Duration
	if p.task.Total > 0 {
		forecast = p.task.Expect / time.Duration(p.task.Total)
	}
	left, ok := p.pace.left(now, attempts, forecast)
	if b := p.task.Budget; b != nil && p.task.Caps.Duration > 0 {
		most := max(0, b.Remaining().Duration)
		if !ok || most < left {
			return most, true
		}
	}
	return left, ok
}

// attemptsLeft is how many attempts may still come: what the tightest cap leaves,
// and in the gate no more than its cases ask for.
func (p *progress) attemptsLeft() (float64, bool) {
	left := math.Inf(1)
	if p.task.Total > 0 {
		left = float64(max(0, p.task.Total-p.counted()))
	}
	if b := p.task.Budget; b != nil {
		spent, rest := b.Spent(), b.Remaining()
		if spent.Rollouts > 0 {
			n := float64(spent.Rollouts)
			if usd := spent.CostUSD / n; rest.CostUSD != 0 && usd > 0 {
				left = math.Min(left, math.Max(0, rest.CostUSD)/usd)
			}
			if tokens := float64(spent.TokensIn+spent.TokensOut) / n; rest.Tokens != 0 && tokens > 0 {
				left = math.Min(left, math.Max(0, float64(rest.Tokens))/tokens)
			}
		}
	}
	if p.held > 0 {
		left = math.Min(left, float64(2*max(0, p.held-p.tried)))
	}
	return left, !math.IsInf(left, 1)
}

// soon is a time that nobody waits for with a watch.
const soon = 50 * time.Second

// about is a time as it is said where it is estimated: in steps that nobody has
// to watch.
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
