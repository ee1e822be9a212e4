package search

import "fmt"

// Progress is the input of a stop condition, between two rounds.
type Progress struct {
	Rounds int     // made so far
	Stale  int     // of them since the last better best
	Best   float64 // validation quality of the best, on the cases known
	Tokens int     // of the best's body
}

// A Stop ends a search between two rounds: it returns the reason in words, ""
// to continue. The caps of the budget and the lack of ideas end every search.
// It must be a function of p alone, or a resumed run would end elsewhere.
type Stop interface {
	Done(p Progress) string
}

// Patience ends a search after so many rounds without a better best.
type Patience int

// Done implements Stop.
func (n Patience) Done(p Progress) string {
	if p.Stale < int(n) {
		return ""
	}
	return fmt.Sprintf("%d rounds without a better candidate", p.Stale)
}

// Reached ends a search whose best scores at least that much on validation.
type Reached float64

// Done implements Stop.
func (q Reached) Done(p Progress) string {
	if !(p.Best >= float64(q)-1e-9) {
		return ""
	}
	return fmt.Sprintf("validation quality %.2f is reached", p.Best)
}

// AnyOf ends a search when one of its conditions does; the zero value never
// does.
type AnyOf []Stop

// Done implements Stop.
func (s AnyOf) Done(p Progress) string {
	for _, one := range s {
		if reason := one.Done(p); reason != "" {
			return reason
		}
	}
	return ""
}

// Stops are the conditions by name, for so many rounds of patience.
var Stops = map[string]func(patience int) Stop{
	"patience": func(n int) Stop { return Patience(n) },
	"perfect":  func(n int) Stop { return AnyOf{Patience(n), Reached(1)} },
	"budget":   func(int) Stop { return AnyOf{} },
}
