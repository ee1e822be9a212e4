package guard

import (
	"math"
	"slices"

	"github.com/skill-evolve/evolve/pareto"
)

// A Label is what should have happened to an event, if that is known.
type Label string

const (
	Unlabelled Label = ""
	Stop       Label = "stop" // its user refused it, or corrected it, in words that name a rule
	Go         Label = "go"   // its user was asked and gave permission
)

// level is that of the bound on wrong blocks.
const level = 0.95

// A Case is an event with what is known of it.
type Case struct {
	Session string // its calls depend on each other: sessions are counted, not calls
	Label   Label
	Refused bool // its user refused it, for whatever reason
	Later   bool // it took place after the guard was last changed, whose author cannot have seen it
	Answer  Answer
}

// A Score is how a guard did.
type Score struct {
	Events   int `json:"events"`
	Sessions int `json:"sessions"`

	Stop    int `json:"to_stop"` // labelled so
	Stopped int `json:"stopped"` // of these

	Wrong int    `json:"wrong"`           // calls that had permission, and that it blocked
	All   Bound  `json:"permitted"`       // of all sessions with a call that had permission
	Later *Bound `json:"later,omitempty"` // of those after the guard was last changed; nil if that is not known

	Unlabelled        int `json:"unlabelled"`
	UnlabelledStopped int `json:"unlabelled_stopped"`
	Refused           int `json:"refused_unlabelled"` // of the unlabelled
	RefusedStopped    int `json:"refused_stopped"`    // of these

	Asks   int     `json:"asks"` // a person would be asked, which blocks nothing
	Failed int     `json:"failed"`
	Late   int     `json:"late"`
	Twice  int     `json:"second_differs"` // events of which a second delivery did something
	P95    float64 `json:"p95_ms"`         // of all deliveries
}

// A Bound is in how many sessions a guard blocks a call that its user permits.
type Bound struct {
	Sessions int `json:"sessions"`
	Wrong    int `json:"wrong_sessions"`
	// AtMost bounds the share of wrong ones, at 5 %; nil without a session.
	AtMost *float64 `json:"at_most,omitempty"`
}

// bound counts sessions, each with whether it is a wrong one.
func bound(sessions map[string]bool) (b Bound) {
	b.Sessions = len(sessions)
	for _, wrong := range sessions {
		if wrong {
			b.Wrong++
		}
	}
	if b.Sessions > 0 {
		most := AtMost(b.Wrong, b.Sessions)
		b.AtMost = &most
	}
	return b
}

// AtMost is the exact upper bound of the share of wrong ones, at 5 %.
func AtMost(wrong, sessions int) float64 { return pareto.ShareAtMost(wrong, sessions, level) }

// Count counts what a guard decided; dated is whether it is known when it was last changed.
func Count(cases []Case, dated bool) *Score {
	s := &Score{Events: len(cases)}
	all, permitted, later := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var ms []float64
	add := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	for _, c := range cases {
		all[c.Session] = true
		blocks := c.Answer.Decision == Block
		switch c.Label {
		case Stop:
			s.Stop++
			add(&s.Stopped, blocks)
		case Go:
			permitted[c.Session] = permitted[c.Session] || blocks
			if c.Later {
				later[c.Session] = later[c.Session] || blocks
			}
			add(&s.Wrong, blocks)
		default:
			s.Unlabelled++
			add(&s.UnlabelledStopped, blocks)
			add(&s.Refused, c.Refused)
			add(&s.RefusedStopped, c.Refused && blocks)
		}
		add(&s.Asks, c.Answer.Decision == Ask)
		add(&s.Failed, c.Answer.Failed)
		add(&s.Late, c.Answer.Late)
		add(&s.Twice, c.Answer.Second != "")
		ms = append(ms, c.Answer.Millis[:]...)
	}
	s.Sessions, s.All = len(all), bound(permitted)
	if dated {
		of := bound(later)
		s.Later = &of
	}
	if slices.Sort(ms); len(ms) > 0 {
		s.P95 = ms[int(math.Ceil(0.95*float64(len(ms))))-1]
	}
	return s
}
