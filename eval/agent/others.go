package agent

import (
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// Others are the skills that are installed beside the named one, if they compete with it in
// trigger cases or are part of the owner's set-up.
func (b *Backends) Others(layout *skill.Layout, name string, compete bool) (out []eval.Offer, err error) {
	if !compete && b.Owner == nil {
		return nil, nil
	}
	reg, err := layout.Registry()
	if err != nil {
		return nil, err
	}
	for _, e := range reg.Entries {
		if e.Name == name {
			continue
		}
		text, err := skill.ReadFile(e.Path)
		if err != nil {
			return nil, fmt.Errorf("read skill %s: %w", e.Name, err)
		}
		out = append(out, eval.Offer{Name: e.Name, Dir: e.Dir, SHA: skill.HashText(text)})
	}
	return out, nil
}
