package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/report"
)

// A liveView is a run in progress.
type liveView struct {
	*Progress
	Shown  []report.Step // the newest first
	Phase  string
	Before int // steps that are not shown
	Last   int // number of the newest step, -1 for none
}

func (v *liveView) title() string { return plain.Text(v.Skill + ": run " + v.ID) }

// shownSteps is how many steps of a run are on its page.
const shownSteps = 200

func newLiveView(p *Progress) *liveView {
	v := &liveView{Progress: p, Phase: "search", Last: -1}
	for i := len(p.Steps) - 1; i >= 0; i-- {
		if len(v.Shown) < shownSteps {
			v.Shown = append(v.Shown, p.Steps[i])
		} else {
			v.Before++
		}
	}
	for _, k := range p.Steps {
		v.Last = k.Seq
		switch k.Kind {
		case "gate_start":
			v.Phase = "trial"
		case "verdict":
			v.Phase = "verdict"
		}
	}
	return v
}

// Best is the best validation quality so far, "unknown" before the first.
func (v *liveView) Best() string {
	for i := len(v.Steps) - 1; i >= 0; i-- {
		if b := v.Steps[i].Best; b != nil {
			return fmt.Sprintf("%.2f", *b)
		}
	}
	return "unknown"
}

// paceSteps are the newest steps that the pace is taken from.
const paceSteps = 20

// LeftWords says how long it may take at the present pace.
func (v *liveView) LeftWords() string {
	n := len(v.Steps)
	if v.Cap == 0 || n < 2 {
		return "not known"
	}
	from, to := v.Steps[max(0, n-paceSteps)], v.Steps[n-1]
	done := to.Rollouts - from.Rollouts
	if done <= 0 {
		return "not known"
	}
	switch left := to.Time.Sub(from.Time) / time.Duration(done) * time.Duration(max(0, v.Cap-v.Rollouts())); {
	case left < time.Minute:
		return "less than a minute"
	default:
		return fmt.Sprintf("at most about %s at this pace", plain.Counted(int(left.Minutes()+0.5), "minute"))
	}
}

// Rollouts are those that the run has reported.
func (v *liveView) Rollouts() int64 {
	n := v.Spent.Rollouts
	for _, k := range v.Steps {
		n = max(n, k.Rollouts)
	}
	return n
}

// Of is the total of Rollouts.
func (v *liveView) Of() string {
	if v.Cap == 0 {
		return ""
	}
	return fmt.Sprintf(" of at most %d", v.Cap)
}

// Bar is the progress for a browser's progress element.
func (v *liveView) Bar() int64 { return max(v.Cap, v.Rollouts(), 1) }

// A message is one message of a stream: the present state without the steps.
type message struct {
	Phase    string   `json:"phase"`
	Best     string   `json:"best"`
	Left     string   `json:"left"`
	Cost     string   `json:"cost"`
	Rollouts int64    `json:"rollouts"`
	Bar      int64    `json:"bar"`
	Of       string   `json:"of"`
	Status   string   `json:"status"`
	Steps    []string `json:"steps"` // those since the last message, in words
}

// keepAlive is how often a stream without news sends a comment.
const keepAlive = 15 * time.Second

// events streams a run's progress until the client leaves, and sends "end"
// once no process works on it. The run is another process: the store is
// polled.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet { // a HEAD would wait for nothing
		w.Header().Set("Content-Type", "text/event-stream")
		return
	}
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		w.Header().Set("Retry-After", "5")
		s.fail(w, r, http.StatusServiceUnavailable, &Error{Message: "too many pages follow runs at a time", Hint: "close some of them"})
		return
	}
	run := r.PathValue("run")
	p, err := s.program.Progress(r.Context(), run)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	from := r.URL.Query().Get("after")
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		from = id
	}
	last, err := strconv.Atoi(from)
	if err != nil {
		last = -1
	}
	out := http.NewResponseController(w)
	send := func(text string) bool {
		if err := out.SetWriteDeadline(time.Now().Add(keepAlive)); err != nil {
			return false
		}
		if _, err := io.WriteString(w, text); err != nil {
			return false
		}
		return out.Flush() == nil
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if !send("retry: 3000\n\n") {
		return
	}
	tick := time.NewTicker(s.Every)
	defer tick.Stop()
	var was string
	said := time.Now()
	for {
		state, text, newest, err := progressMessage(p, last)
		if err != nil {
			return
		}
		switch {
		case state != was || newest != last:
			if !send(fmt.Sprintf("id: %d\ndata: %s\n\n", newest, text)) {
				return
			}
			was, last, said = state, newest, time.Now()
		case time.Since(said) > keepAlive:
			if !send(": still here\n\n") {
				return
			}
			said = time.Now()
		}
		if !p.Working {
			send("event: end\ndata: \n\n")
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.closing:
			return
		case <-tick.C:
		}
		if p, err = s.program.Progress(r.Context(), run); err != nil {
			return // the browser asks again, and gets it then
		}
	}
}

// progressMessage is the message for all steps after last, and the number of
// the newest; state is the same without the steps. JSON holds no line feed: a
// message is one line.
func progressMessage(p *Progress, last int) (state, text string, newest int, err error) {
	v := newLiveView(p)
	m := message{Phase: v.Phase, Best: v.Best(), Left: v.LeftWords(), Cost: p.Spent.Dollars(), Rollouts: v.Rollouts(), Bar: v.Bar(), Of: v.Of(), Status: string(p.Status), Steps: []string{}}
	bare, err := json.Marshal(m)
	if err != nil {
		return "", "", last, fmt.Errorf("encode progress: %w", err)
	}
	newest = last
	for _, k := range p.Steps {
		if k.Seq > last {
			m.Steps = append(m.Steps, plain.Text(k.Text))
			newest = max(newest, k.Seq)
		}
	}
	whole, err := json.Marshal(m)
	if err != nil {
		return "", "", last, fmt.Errorf("encode progress: %w", err)
	}
	return string(bare), string(whole), newest, nil
}
