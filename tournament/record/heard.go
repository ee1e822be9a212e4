package record

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
)

// A Place is where and when the use behind a cluster took place, as far as it is known.
type Place struct {
	Workspace string    `json:"workspace,omitempty"` // a folder
	Time      time.Time `json:"time,omitzero"`
}

// Heard is what a verdict is about: the requests that were heard up to the pair that
// decided. A proof bounds the mean over these, and says nothing of other workspaces.
type Heard struct {
	Requests int       `json:"requests"`
	From     time.Time `json:"from,omitzero"` // of the uses
	To       time.Time `json:"to,omitzero"`
	// Objective is the one that decided, quality if none did. Workspaces has the effect on
	// it in each known workspace, that of the most requests first.
	Objective  string    `json:"objective"`
	Workspaces []HeardIn `json:"workspaces,omitempty"`
}

// HeardIn is what was heard of one workspace. Gain is in the unit of a pareto.Pair, nil if
// nothing was measured there; Without is the gain without this workspace.
type HeardIn struct {
	Workspace string   `json:"workspace"`
	Requests  int      `json:"requests"`
	Gain      *float64 `json:"gain"`
	Without   *float64 `json:"gain_without"`
}

// PlaceOf is the place of a cluster among the uses of its skill.
func PlaceOf(c *Cluster, uses []Use) Place {
	p := Place{Time: c.Arrived()}
	cases := slices.Clone(c.Cases) // the session that names the cluster comes first: its purge forgets the folder
	slices.SortStableFunc(cases, func(a, b *eval.Case) int { return cmp.Compare(other(a, c.Name), other(b, c.Name)) })
	for _, k := range cases {
		if k.Source != nil && k.Source.Session != "" && k.Origin() == Mined {
			if i := slices.IndexFunc(uses, func(u Use) bool { return u.Session == k.Source.Session && u.Workspace != "" }); i >= 0 {
				p.Workspace = uses[i].Workspace
				break
			}
		}
		if k.Workspace != nil {
			p.Workspace = cmp.Or(p.Workspace, k.Workspace.Repo)
		}
	}
	return p
}

// other is 0 for a case of the session that a cluster is named after, else 1.
func other(c *eval.Case, cluster string) int {
	if c.Source != nil && cluster == "session-"+c.Source.Session {
		return 0
	}
	return 1
}

// Heard sums up the pairs of a trial, nil if an older evolve has added some of them without
// their places.
func (st *State) Heard() *Heard {
	// Under another rule (Count) the trial may have closed earlier, and then has fewer pairs.
	if st.Trial == nil || st.Trial.Cases() == 0 || len(st.Clusters) < st.Trial.Cases() {
		return nil
	}
	o, n := st.Trial.Decider()
	pairs, at := st.Trial.Pairs()[:n], map[string][]int{}
	h := &Heard{Requests: n, Objective: o.String()}
	for i, cluster := range st.Clusters[:n] {
		p, ok := st.Places[cluster]
		if !ok {
			return nil
		}
		if p.Workspace != "" {
			at[p.Workspace] = append(at[p.Workspace], i)
		}
		if t := p.Time; !t.IsZero() {
			if h.From.IsZero() || t.Before(h.From) {
				h.From = t
			}
			if t.After(h.To) {
				h.To = t
			}
		}
	}
	for name, those := range at {
		var in, out []pareto.Pair
		for i, p := range pairs {
			if slices.Contains(those, i) {
				in = append(in, p)
			} else {
				out = append(out, p)
			}
		}
		h.Workspaces = append(h.Workspaces, HeardIn{name, len(those), pareto.Mean(in, o), pareto.Mean(out, o)})
	}
	slices.SortFunc(h.Workspaces, func(a, b HeardIn) int {
		return cmp.Or(b.Requests-a.Requests, strings.Compare(a.Workspace, b.Workspace))
	})
	return h
}

// Heard is State.Heard of the stored trial.
func (t *TrialRecord) Heard() (*Heard, error) {
	st, err := t.read()
	if err != nil {
		return nil, err
	}
	return st.Heard(), nil
}

// RestsOn names the workspace of several without which the others show no gain, "" if
// there is none.
func (h *Heard) RestsOn() string {
	if h == nil || len(h.Workspaces) < 2 {
		return ""
	}
	for _, w := range h.Workspaces {
		if w.Gain != nil && *w.Gain > 0 && (w.Without == nil || *w.Without <= 0) {
			return plain.Line(w.name())
		}
	}
	return ""
}

func (w *HeardIn) name() string { return filepath.Base(w.Workspace) }

// shownWorkspaces is how many a line names.
const shownWorkspaces = 3

// String describes in a line which requests a verdict is about.
func (h *Heard) String() string {
	s := plain.Counted(h.Requests, "request")
	known := 0
	for _, w := range h.Workspaces {
		known += w.Requests
	}
	switch len(h.Workspaces) {
	case 0:
	case 1:
		s += " in 1 workspace (" + h.Workspaces[0].name() + ")"
	default:
		s += fmt.Sprintf(" in %d workspaces", len(h.Workspaces))
	}
	if known > 0 && known < h.Requests {
		s += fmt.Sprintf(", %d of no known one", h.Requests-known)
	}
	if when := h.when(); when != "" {
		s += ", " + when
	}
	if len(h.Workspaces) > 1 {
		s += ": " + h.effects()
	} else if len(h.Workspaces) == 1 {
		s += "; of other work it says nothing"
	}
	return plain.Line(s)
}

// effects are the gains in the workspaces of the most requests.
func (h *Heard) effects() string {
	var of []string
	for i := range h.Workspaces {
		if w := &h.Workspaces[i]; i < shownWorkspaces || len(h.Workspaces) == shownWorkspaces+1 {
			of = append(of, fmt.Sprintf("%s in %s (%d)", h.gain(w.Gain), w.name(), w.Requests))
		}
	}
	if more := len(h.Workspaces) - len(of); more > 0 {
		of = append(of, fmt.Sprintf("%d more", more))
	}
	return h.Objective + " " + strings.Join(of, ", ")
}

func (h *Heard) gain(d *float64) string {
	if d == nil {
		return "unknown"
	}
	return pareto.Change(h.Objective, *d)
}

// when are the months of the uses.
func (h *Heard) when() string {
	if h.From.IsZero() {
		return ""
	}
	from, to := h.From.Local(), h.To.Local()
	switch {
	case from.Year() != to.Year():
		return from.Format("Jan 2006–") + to.Format("Jan 2006")
	case from.Month() != to.Month():
		return from.Format("Jan–") + to.Format("Jan 2006")
	}
	return to.Format("Jan 2006")
}
