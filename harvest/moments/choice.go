package moments

import (
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
)

// Counts says what became of a population. Each turn that was drawn is Unread, in Hanging,
// or a case.
type Counts struct {
	Sessions  int `json:"sessions"`
	Turns     int `json:"turns"`
	Drawn     int `json:"drawn"`
	Corrected int `json:"corrected"` // cases, by stratum; what was thrown away or asked for again is here, too
	Accepted  int `json:"accepted"`
	Silent    int `json:"silent"`
	// Unread are turns after which the user wrote something that no model has read: nobody
	// knows yet what it says, nor whether they can be replayed.
	Unread int `json:"unread"`
	// Hanging are turns that cannot be replayed, by what they hang on: network, app, screen,
	// files, person, changes, nothing_asked, or as_read by a model; or are no cases for their checks: dropped.
	Hanging map[string]int `json:"hanging,omitempty"`
	// Teaching are turns of the sessions that only teach, Taught those that were corrected
	// and can be replayed.
	Teaching int `json:"teaching"`
	Taught   int `json:"taught"`
}

// Cases is how many of the drawn turns are cases.
func (c *Counts) Cases() int { return c.Corrected + c.Accepted + c.Silent }

// Drop counts a case that was made of a drawn turn and is not kept.
func (c *Counts) Drop(stratum string) {
	switch stratum {
	case eval.Silent:
		c.Silent--
	case string(harvest.Accepted):
		c.Accepted--
	default:
		c.Corrected--
	}
	c.Hanging[dropped]++
}

// A Choice holds which turns of a population become cases.
type Choice struct {
	Counts Counts
	cases  map[place]bool // true: it is train only
}

type place struct {
	s    *harvest.Session
	turn int
}

// Choose chooses cases among the turns of p by the coin of d and by what was read of them.
func (d *Draw) Choose(p *Population) *Choice {
	c := &Choice{Counts: Counts{Sessions: p.Sessions, Turns: len(p.Turns), Hanging: map[string]int{}}, cases: map[place]bool{}}
	n := &c.Counts
	for _, t := range p.Turns {
		why := t.Hangs()
		heard := harvest.AssessTurn(t.Session, t.Index)
		stratum := harvest.Stratum(heard)
		switch {
		case d.takes(t):
			n.Drawn++
			switch {
			case why == unread:
				n.Unread++
				continue
			case why != "":
				n.Hanging[why]++
				continue
			case stratum == eval.Silent:
				n.Silent++
			case stratum == string(harvest.Accepted):
				n.Accepted++
			default:
				n.Corrected++
			}
			c.cases[place{t.Session, t.Index}] = false
		case d.teaches(t):
			if n.Teaching++; why == "" && heard.Label == harvest.Corrected && stratum == string(harvest.Corrected) {
				n.Taught++
				c.cases[place{t.Session, t.Index}] = true
			}
		}
	}
	return c
}

func (d *Draw) takes(t Turn) bool { return d.Takes(t.Session.Agent, t.Family, t.key()) }

func (d *Draw) teaches(t Turn) bool { return !d.HeldOut(t.Session.Agent, t.Family) }

// Becomes reports whether a turn becomes a case.
func (c *Choice) Becomes(s *harvest.Session, turn int) bool {
	_, ok := c.cases[place{s, turn}]
	return ok
}

// Mark marks those of the mined cases that the coin did not draw. The turns of one session
// are all drawn, or all train only.
func (c *Choice) Mark(mined []eval.Case) {
	only := map[string]bool{} // by session
	for p, trainOnly := range c.cases {
		only[p.s.ID] = trainOnly
	}
	for i := range mined {
		if s := mined[i].Source; s != nil && only[s.Session] {
			s.TrainOnly = true
		}
	}
}

// Unreplayable are the ids of those cases of turns of p that cannot be replayed, as a model
// has read since they were made.
func (p *Population) Unreplayable(cases []eval.Case) (ids []string) {
	of := map[[2]string]string{} // session and turn → case
	for _, c := range cases {
		if c.Origin() == "mined" && c.Source.Turn != "" {
			of[[2]string{c.Source.Session, c.Source.Turn}] = c.ID
		}
	}
	for _, t := range p.Turns {
		if id := of[[2]string{t.Session.ID, t.Session.Turns[t.Index].ID}]; id != "" && t.Hangs() == asRead {
			ids = append(ids, id)
		}
	}
	return ids
}

// taught is how many turns of the sessions that only teach are read, the newest: a search
// needs a dozen that were corrected, and reading costs.
const taught = 240

// Wanted reports of which turns a model's reading is needed: of those that were drawn, and
// of some that teach.
func (d *Draw) Wanted(p *Population) (drawn, teaching func(s *harvest.Session, turn int) bool) {
	take, teach := map[place]bool{}, map[place]bool{}
	for _, t := range slices.Backward(p.Turns) {
		if t.hangs() != "" {
			continue
		}
		switch {
		case d.takes(t):
			take[place{t.Session, t.Index}] = true
		case d.teaches(t) && len(teach) < taught:
			teach[place{t.Session, t.Index}] = true
		}
	}
	return func(s *harvest.Session, turn int) bool { return take[place{s, turn}] },
		func(s *harvest.Session, turn int) bool { return teach[place{s, turn}] }
}
