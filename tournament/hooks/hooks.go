// Package hooks looks for a better script of a hook, and tries what it finds on sessions that
// the search did not hear. Its cases are recorded events; a replay takes milliseconds and no
// model, so each text is tried on all of them.
package hooks

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/mutate"
)

// An Event is one that hooks are called at, with what is known of it.
type Event struct {
	guard.Event
	Label guard.Label
	// Ran: nothing stopped it, and nobody was asked about it.
	Ran bool
	// Shown is what a mutator may see of it; nil if it may see nothing.
	Shown *mutate.Call
}

// A Session is what is delivered to one state, and the unit of evidence: its events depend on
// each other.
type Session struct {
	ID      string
	Project string // the folder in which it began
	Time    time.Time
	Events  []Event
}

// Own reports whether it is a case of the hook's author and no recorded session.
func (s *Session) Own() bool { return strings.HasPrefix(s.ID, OwnCase) }

// OwnCase begins the id of a session that is a case of the hook's author.
const OwnCase = "case/"

// Labelled reports whether it is known of an event what should have happened.
func (s *Session) Labelled() bool {
	return slices.ContainsFunc(s.Events, func(e Event) bool { return e.Label != guard.Unlabelled })
}

// A Player replays a text of the hook on sessions; the answers are in their order.
type Player func(ctx context.Context, text []byte, sessions []Session) ([][]guard.Answer, error)

// DefaultWeight is how many misses a wrong block counts as: it stands in the way of work, and
// a hook that does so is removed.
const DefaultWeight = 5

// A Mark is how a text did in one session.
type Mark struct {
	Stop, Stopped int // events that it should stop, and did
	Go, Wrong     int // events that had permission, and that it stopped
	Ran, Others   int // events that ran unasked, and that it stopped
	Failed, Late  int // events on which it decided nothing
	Twice         string
	own           bool
	answers       []guard.Answer
}

// Loss counts a wrong block as weight misses.
func (m *Mark) Loss(weight float64) float64 {
	return float64(m.Stop-m.Stopped) + weight*float64(m.Wrong)
}

// marks counts what a text decided in sessions.
func marks(sessions []Session, answers [][]guard.Answer) []Mark {
	out := make([]Mark, len(sessions))
	for i := range sessions {
		m := &out[i]
		m.answers, m.own = answers[i], sessions[i].Own()
		for k := range sessions[i].Events {
			e, blocks := &sessions[i].Events[k], 0
			if answers[i][k].Decision == guard.Block {
				blocks = 1
			}
			switch {
			case e.Label == guard.Stop:
				m.Stop, m.Stopped = m.Stop+1, m.Stopped+blocks
			case e.Label == guard.Go:
				m.Go, m.Wrong = m.Go+1, m.Wrong+blocks
			case e.Ran:
				m.Ran, m.Others = m.Ran+1, m.Others+blocks
			}
			if answers[i][k].Failed {
				m.Failed++
			}
			if answers[i][k].Late {
				m.Late++
			}
			m.Twice = cmp.Or(m.Twice, answers[i][k].Second)
		}
	}
	return out
}

// A Score sums up what a text decided in several sessions.
type Score struct {
	Stop      int `json:"to_stop"`
	Stopped   int `json:"stopped"`
	Permitted int `json:"permitted_sessions"`
	Wrong     int `json:"wrong_sessions"`
	// AtMost bounds the share of sessions with a wrong block at 5 %; nil without a session.
	AtMost *float64 `json:"wrong_at_most,omitempty"`
	// The cases of the hook's author are no sample of anything, and counted apart.
	OwnStop    int     `json:"own_to_stop"`
	OwnStopped int     `json:"own_stopped"`
	OwnGo      int     `json:"own_go"`
	OwnWrong   int     `json:"own_wrong"`
	Ran        int     `json:"ran"`
	Others     int     `json:"others_stopped"`
	Events     int     `json:"events"`
	Failed     int     `json:"failed"`
	Late       int     `json:"late"`
	P95        float64 `json:"p95_ms"`
	CPU        float64 `json:"cpu_ms"` // of a delivery, on average
	Lines      int     `json:"lines"`
}

// score sums marks up.
func score(text []byte, all []Mark) Score {
	s := Score{Lines: lines(text)}
	var ms []float64
	var cpu float64
	for i := range all {
		m := &all[i]
		s.Ran, s.Others = s.Ran+m.Ran, s.Others+m.Others
		if m.own {
			s.OwnStop, s.OwnStopped = s.OwnStop+m.Stop, s.OwnStopped+m.Stopped
		} else {
			s.Stop, s.Stopped = s.Stop+m.Stop, s.Stopped+m.Stopped
		}
		s.Events, s.Failed, s.Late = s.Events+len(m.answers), s.Failed+m.Failed, s.Late+m.Late
		switch {
		case m.Go > 0 && m.own:
			s.OwnGo++
			s.OwnWrong += min(m.Wrong, 1)
		case m.Go > 0:
			s.Permitted++
			s.Wrong += min(m.Wrong, 1)
		}
		for _, a := range m.answers {
			ms, cpu = append(ms, a.Millis[:]...), cpu+a.CPU/2
		}
	}
	if s.Permitted > 0 {
		most := guard.AtMost(s.Wrong, s.Permitted)
		s.AtMost = &most
	}
	if slices.Sort(ms); len(ms) > 0 {
		s.P95 = ms[int(math.Ceil(0.95*float64(len(ms))))-1]
		s.CPU = cpu / float64(len(ms)/2)
	}
	return s
}

// lines counts those of a text, a last one without an end too.
func lines(text []byte) int {
	n := 0
	for i, c := range text {
		if c == '\n' || i == len(text)-1 {
			n++
		}
	}
	return n
}
