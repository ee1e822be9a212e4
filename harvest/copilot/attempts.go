package copilot

import (
	"strconv"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

var retried = lazyregexp.New(`retried (\d{1,3}) times`)

// attempts is how often a failed call was tried again; only the message contains it.
func attempts(message string) int {
	m := retried.FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // three digits
	return n
}
