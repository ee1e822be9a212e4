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
	Stop       Label = "stop" // its user refused it in words that name a rule
	Go         Label = "go"   // its user was asked and gave permission
)

// level is that of the bound on wrong blocks.
const level = 0.95

// A Case is an event with what is known of it.
type Case struct {
	Session string // its calls depend on each other: sessions are counted, not calls
	Label   Label
	Refused bool // its user refused it, for whatever reason
	Answer  Answer
}

// A Score is how a guard did.
type Score struct {
	Events   int `json:"events"`
	Sessions int `json:"sessions"`

	Stop    int `json:"to_stop"` // labelled so
	Stopped int `json:"stopped"` // of these

	GoSessions    int `json:"go_sessions"`    // with a call that had permission
	WrongSessions int `json:"wrong_sessions"` // of these, those in which it blocked one
	Wrong         int `json:"wrong"`          // such calls
	// WrongAtMost bounds the share of sessions in which it blocks a call that its user
	// permits, at 5 %; nil without such a session.
	WrongAtMost *float64 `json:"wrong_at_most,omitempty"`

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

// Count counts what a guard decided.
func Count(cases []Case) *Score {
	s := &Score{Events: len(cases)}
	all, permitted, wrong := map[string]bool{}, map[string]bool{}, map[string]bool{}
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
			permitted[c.Session] = true
			if blocks {
				s.Wrong++
				wrong[c.Session] = true
			}
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
	s.Sessions, s.GoSessions, s.WrongSessions = len(all), len(permitted), len(wrong)
	if s.GoSessions > 0 {
		most := pareto.ShareAtMost(s.WrongSessions, s.GoSessions, level)
		s.WrongAtMost = &most
	}
	if slices.Sort(ms); len(ms) > 0 {
		s.P95 = ms[int(math.Ceil(0.95*float64(len(ms))))-1]
	}
	return s
}
