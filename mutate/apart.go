package mutate

import (
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// Apart returns the proposal without those of its deletions and rewordings that held
// reports of when nothing else is changed in parent, and each of these as a proposal of its
// own. ok is false if nothing else changes.
func (p Proposal) Apart(parent *skill.Document, held func(*skill.Document) bool) (rest Proposal, apart []Proposal, ok bool) {
	a, b := blocksOf(parent.View()), blocksOf(p.Doc.View())
	var out strings.Builder
	i := 0
	for _, h := range hunks(a, b) {
		out.WriteString(strings.Join(a[i:h.A0], ""))
		i = h.A1
		old := a[h.A0:h.A1]
		changes := edits(old, b[h.B0:h.B1])
		var others []edit
		for _, e := range changes {
			if e.del != "" {
				view := strings.Join(a[:h.A0], "") + inPlace(old, []edit{e}) + strings.Join(a[h.A1:], "")
				if one, err := propose(parent, view, p.Taught); err == nil && held(one.Doc) {
					apart = append(apart, one)
					continue
				}
			}
			others = append(others, e)
		}
		if len(others) == len(changes) {
			out.WriteString(strings.Join(b[h.B0:h.B1], ""))
		} else {
			out.WriteString(inPlace(old, others))
		}
	}
	out.WriteString(strings.Join(a[i:], ""))
	rest, err := propose(parent, out.String(), p.Taught)
	rest.Supported = p.Supported
	return rest, apart, err == nil
}

// inPlace makes edits to blocks: a deletion or rewording where the block stands, what is only
// added at the end.
func inPlace(blocks []string, edits []edit) string {
	done := make([]bool, len(edits))
	var out strings.Builder
	for _, block := range blocks {
		for k, e := range edits {
			if !done[k] && e.del == block {
				done[k], block = true, e.add
				break
			}
		}
		out.WriteString(block)
	}
	for k, e := range edits {
		if !done[k] {
			out.WriteString(e.add)
		}
	}
	return out.String()
}
