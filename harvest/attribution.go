package harvest

import "github.com/skill-evolve/evolve/eval"

// An Attribution is whether a correction is about one of several skills that were loaded in
// the turn: about This, about an Other one, or neither if nothing decides that.
type Attribution struct {
	This, Other bool
	Beside      []string // the other skills
	Because     string   // "" if neither
}

// attribute reports whether the case of a use is of its skill, and adds why; if not, it counts
// that.
func (m *Miner) attribute(s *Session, v Invocation, out *outcome, c *eval.Case, stats *MineStats) (this bool, err error) {
	if out.Label != Corrected || m.Attribute == nil {
		return true, nil
	}
	a, ok, err := m.Attribute(s, v, out.corrections)
	switch {
	case err != nil:
		return false, err
	case !ok:
		return true, nil
	case a.This:
		c.Source.Beside, c.Source.Because = a.Beside, a.Because
	case a.Other:
		stats.Elsewhere++
	default:
		stats.Unattributed++
	}
	return a.This, nil
}
