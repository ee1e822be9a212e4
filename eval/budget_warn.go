package eval

import (
	"fmt"
	"strconv"
	"strings"
)

// An overrun is the usage of calls beyond their reservations, in tokens or in USD. A
// rollout with all its attempts and gradings is one call here.
type overrun struct {
	calls          int64
	sum            float64
	took, expected float64 // of the call that was furthest beyond
	far            bool    // some call took more than twice what was expected
}

func (o *overrun) add(took, expected float64) {
	if took <= expected {
		return
	}
	o.calls++
	o.sum += took - expected
	o.far = o.far || took > 2*expected
	if took-expected > o.took-o.expected {
		o.took, o.expected = took, expected
	}
}

// warn describes by how much the cap was exceeded, and how far calls were from their
// estimates; "" if the cap held and the estimates were close.
func (o *overrun) warn(name string, limit, spent float64, unit func(float64) string, noun string) string {
	over := spent > limit
	if !over && !o.far {
		return ""
	}
	s := fmt.Sprintf("--%s %s held", name, unit(limit))
	if over {
		s = fmt.Sprintf("--%s %s was exceeded by %s", name, unit(limit), unit(spent-limit))
	}
	if o.calls == 0 {
		return s + ": it was spent before this limit was set"
	}
	return s + fmt.Sprintf(": %d calls took %s%s more than was reserved for them, one of them %s where %s was expected",
		o.calls, unit(o.sum), noun, unit(o.took), unit(o.expected))
}

func inTokens(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

// FormatUSD formats all amounts of dollars: with two decimals, and with up to four
// below a tenth of a dollar; an amount that four decimals would round to zero is
// written by its first digit.
func FormatUSD(v float64) string {
	switch {
	case v == 0:
		return "$0"
	case v >= 0.1:
		return "$" + strconv.FormatFloat(v, 'f', 2, 64)
	case v >= 0.00005:
		digits := strconv.FormatFloat(v, 'f', 4, 64)
		for range 2 {
			digits = strings.TrimSuffix(digits, "0")
		}
		return "$" + digits
	}
	return "$" + strconv.FormatFloat(v, 'g', 1, 64)
}

// Warnings are sentences for the owner about limits that b's own caps could not
// enforce. They are part of the result of a run and must be shown.
func (b *Budget) Warnings() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ws []string
	if b.cutOff.calls > 0 {
		ws = append(ws, b.cutOff.warn())
	}
	if b.caps.CostUSD > 0 && b.unpriced > 0 {
		what, then := "usage", ""
		if b.unpriced > b.spent.Uncounted {
			what, then = "cost", "; give a price table"
		}
		ws = append(ws, silence(b.unpriced, what, capCost, FormatUSD(b.assumed.USD))+then)
	}
	if b.caps.Tokens > 0 && b.spent.Uncounted > 0 {
		ws = append(ws, silence(b.spent.Uncounted, "usage", capTokens, inTokens(float64(b.assumed.Tokens))+" tokens"))
	}
	tokens, usd := b.used()
	if limit := b.caps.Tokens; limit > 0 {
		if w := b.overTokens.warn(capTokens, float64(limit), float64(tokens), inTokens, " tokens"); w != "" {
			ws = append(ws, w)
		}
	}
	if limit := b.caps.CostUSD; limit > 0 {
		if w := b.overUSD.warn(capCost, limit, usd, FormatUSD, ""); w != "" {
			ws = append(ws, w)
		}
	}
	return ws
}

// silence describes what a cap has counted for calls that reported nothing.
func silence(calls int64, what, limit, counted string) string {
	return fmt.Sprintf("%d calls reported no %s: --%s counted %s for them, which is an estimate; what they took is unknown", calls, what, limit, counted)
}
