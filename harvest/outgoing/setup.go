package outgoing

import (
	"slices"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/harvest/consent"
)

// NoSetup are the recipients of replays that may not get what the agent loads of its owner:
// all but the agent's own vendors, unless the owner agreed.
func (g *Control) NoSetup(own, to []agent.Recipient) (not []agent.Recipient, err error) {
	d := &consent.Decisions{}
	if g != nil {
		if d, err = consent.Read(g.File); err != nil {
			return nil, err
		}
	}
	for _, r := range to {
		if !slices.ContainsFunc(own, func(o agent.Recipient) bool { return o.Vendor == r.Vendor }) && !seen(d, agent.Setup, r.Vendor) {
			not = append(not, r)
		}
	}
	return not, nil
}

// Notes reports whether what an agent of the vendor recorder noted of a project may go along
// with replays. Where that cannot be told it may not.
func (g *Control) Notes(project, recorder string, to []agent.Recipient) bool {
	if g == nil {
		return len(to) == 0
	}
	d, fixed, err := g.decisions()
	if err != nil {
		return false
	}
	var vendors []string
	for _, r := range to {
		vendors = append(vendors, r.Vendor)
	}
	if !fixed.MayRead([]string{project}) || !may(d, origin{folders: []string{project}, recorder: recorder}, vendors) {
		return false
	}
	return !slices.ContainsFunc(d.Rules, func(r consent.Rule) bool { return !r.Read && setup.Alike(r.Folder, project) })
}
