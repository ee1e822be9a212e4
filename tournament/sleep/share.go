package sleep

import "time"

// minSearch is how many rollouts a tournament with its gate needs to find
// anything: below it, the night's budget goes to fewer skills.
const minSearch = 60

// minContinue is a pair with its work retries.
const minContinue = 4

// minCertify is a case in three arms, with its work retries.
const minCertify = 6

// Portion is what the first of the steps gets of what is left: in proportion to
// the expected gain, no more than the step can use, no less than what makes it
// worth beginning. ok is false where not even that is left. What a step does not
// use is there for the steps after it.
func Portion(left Caps, steps []Step) (c Caps, ok bool) {
	first := steps[0]
	sum := 0.0
	for _, s := range steps {
		sum += s.Gain
	}
	share := 1 / float64(len(steps))
	if sum > 0 {
		share = first.Gain / sum
	}
	atLeast := int64(minSearch)
	switch first.Kind {
	case Continue:
		atLeast = min(minContinue, max(1, first.Rollouts))
	case Certify:
		atLeast = min(minCertify, max(1, first.Rollouts))
	}
	c = left
	if left.Rollouts > 0 {
		if left.Rollouts < atLeast {
			return Caps{}, false
		}
		n := min(left.Rollouts, max(atLeast, int64(share*float64(left.Rollouts))))
		if first.Rollouts > 0 {
			n = min(n, first.Rollouts)
		}
		share = max(share, float64(n)/float64(left.Rollouts))
		c.Rollouts = n
	} else if first.Rollouts > 0 {
		c.Rollouts = first.Rollouts
	}
	share = min(1, share)
	c.CostUSD = left.CostUSD * share
	if left.CostUSD > 0 && c.CostUSD == 0 {
		return Caps{}, false // too little for a number, and zero would be no cap
	}
	if left.Tokens > 0 {
		c.Tokens = max(1, int64(float64(left.Tokens)*share))
	}
	if left.Duration > 0 {
		c.Duration = max(1, time.Duration(float64(left.Duration)*share))
	}
	return c, true
}
