package replay

import (
	"strconv"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// waitText matches servers' wordings of a time to wait: "try again in 1h 30m", "Please
// try again in 20s", "resets in 3 hours", "in 6ms".
var waitText = lazyregexp.New(`(?i)\b(?:again|resets?|retry|available)\b[^.;\n]{0,20}?\b(?:in|after)\s+~?((?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*(?:and\s+)?){1,4})`)

var waitPart = lazyregexp.New(`(?i)(\d+(?:\.\d+)?)\s*([a-z]+)`)

// Span is n units of time, without overflow; what is no time to wait is none.
func Span(n float64, unit time.Duration) time.Duration {
	const longest = 365 * 24 * time.Hour
	if !(n > 0) {
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(longest)))
}

// WaitIn is how long a server's message asks to wait; 0 if it does not say.
func WaitIn(message string) time.Duration {
	m := waitText.FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	var sum float64
	for _, part := range waitPart.FindAllStringSubmatch(m[1], -1) {
		n, err := strconv.ParseFloat(part[1], 64)
		word := strings.ToLower(part[2])
		unit, known := units[word]
		if !known {
			unit, known = units[strings.TrimSuffix(word, "s")]
		}
		if err != nil || !known {
			break
		}
		sum += n * float64(unit)
	}
	return Span(sum, 1)
}

var units = map[string]time.Duration{
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "h": time.Hour, "hr": time.Hour, "hour": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour,
	"s": time.Second, "sec": time.Second, "second": time.Second, "ms": time.Millisecond, "millisecond": time.Millisecond,
}
