package mutate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// A ConflictError means that a challenger cannot be re-based: the owner's
// edit and the challenger changed the same thing.
type ConflictError struct{ What []string } // in words, "section \"Axes\""

func (e *ConflictError) Error() string {
	return "your edit and the new text both changed " + strings.Join(e.What, " and ")
}

// Rebase is the three-way merge of a challenger (theirs) with its owner's
// edit (ours) of the text that it was made from (base), by sections: one that
// only one side changed is taken from that side, one that both changed alike
// is taken once, and any other is a conflict (*ConflictError). A
// contradiction to the merge by lines (diff3) is a conflict too: what one
// side deleted never comes back, and nothing is duplicated that neither side
// wrote twice. Line endings, trailing blanks and blank lines are no change.
// The kernel, the rest of the frontmatter and the line breaks are ours, byte
// for byte; merging with an unchanged side returns the other side.
//
// All three must be parsed with the same options. check.Check decides whether
// the result may be tried; if it equals ours, nothing is left to try. Other
// errors: a *skill.ViewError if the result would make or unmake kernel.
func Rebase(base, ours, theirs *skill.Document) (*skill.Document, error) {
	if base.KernelHash() != theirs.KernelHash() {
		return nil, errors.New("the new text's locked lines are not those of the text it was made from")
	}
	switch base.Hash() {
	case theirs.Hash():
		return ours, nil
	case ours.Hash():
		return theirs, nil
	}
	ofBase, ofOurs := markKernel(base, ours)
	m := &rebasing{base: sectionsOf(base, ofBase), ours: sectionsOf(ours, ofOurs), theirs: sectionsOf(theirs, ofBase)}
	m.inOurs, m.inTheirs = pairs(m.base, m.ours), pairs(m.base, m.theirs)
	view := m.merge()
	if len(m.clashes) == 0 {
		m.audit()
	}
	described, err := redescribe(base, ours, theirs)
	if err != nil {
		m.clash("the description")
	}
	if len(m.clashes) > 0 {
		return nil, &ConflictError{m.clashes}
	}
	for j, p := range described.KernelText() {
		view = strings.ReplaceAll(view, ofOurs[j], p.Token)
	}
	if strings.Contains(view, kernelMarkStart) {
		return nil, &ConflictError{[]string{"the kernel"}}
	}
	out, err := described.WithView(view)
	if err != nil {
		return nil, fmt.Errorf("carry your edit into the new text: %w", err)
	}
	if moved := m.moved(sectionsOf(out, ofOurs)); moved != "" {
		return nil, &ConflictError{[]string{"where " + moved + " stands"}}
	}
	return out, nil
}

// redescribe gives ours the description of theirs if only theirs changed it.
// It is kernel, and unchanged, unless it may evolve.
func redescribe(base, ours, theirs *skill.Document) (*skill.Document, error) {
	was, mine, new := base.Description(), ours.Description(), theirs.Description()
	switch {
	case new == was || new == mine:
		return ours, nil
	case mine == was:
		return ours.WithDescription(new)
	}
	return nil, errors.New("both changed it")
}

// rebasing is a merge in progress. inOurs and inTheirs map every section of
// base to its counterpart on either side, -1 if it is gone.
type rebasing struct {
	base, ours, theirs []section
	inOurs, inTheirs   []int
	out                []placed
	clashes            []string
}

// A placed section is part of the result.
type placed struct {
	section
	from  byte // whose text it is, 'o' or 't'
	index int  // there
	added bool // not in base
	path  string
}

func (m *rebasing) clash(what string) {
	if !slices.Contains(m.clashes, what) {
		m.clashes = append(m.clashes, what)
	}
}

// merge returns the view of the result, and adds what clashes to m.clashes.
func (m *rebasing) merge() string {
	of := func(in []int, n int) []int { // section of a side → its own in base, -1 for an addition
		out := make([]int, n)
		for i := range out {
			out[i] = -1
		}
		for i, j := range in {
			if j >= 0 {
				out[j] = i
			}
		}
		return out
	}
	baseOfOurs, baseOfTheirs := of(m.inOurs, len(m.ours)), of(m.inTheirs, len(m.theirs))
	for i, j := range m.inOurs { // what ours lost, and theirs has changed
		if k := m.inTheirs[i]; j < 0 && k >= 0 && m.theirs[k].key() != m.base[i].key() {
			m.clash(m.base[i].name())
		}
	}
	for j, i := range baseOfOurs {
		switch {
		case i < 0:
			m.out = append(m.out, placed{m.ours[j], 'o', j, true, m.ours[j].path})
		case m.inTheirs[i] >= 0:
			m.out = append(m.out, m.both(i))
		case m.ours[j].key() != m.base[i].key(): // theirs lost what ours has changed
			m.clash(m.base[i].name())
		}
	}
	anchor := -1 // in m.out: the section before the next one of theirs
	for k, i := range baseOfTheirs {
		if i < 0 {
			anchor = m.add(k, anchor)
		} else if j := m.inOurs[i]; j >= 0 {
			anchor = slices.IndexFunc(m.out, func(p placed) bool {
				return !p.added && (p.from == 'o' && p.index == j || p.from == 't' && p.index == k)
			})
		}
	}
	return m.join()
}

// both merges a section of base that both sides have.
func (m *rebasing) both(i int) placed {
	was, j, k := &m.base[i], m.inOurs[i], m.inTheirs[i]
	ours, theirs := placed{m.ours[j], 'o', j, false, m.ours[j].path}, placed{m.theirs[k], 't', k, false, m.theirs[k].path}
	if theirs.path == was.path {
		theirs.path = ours.path
	} else {
		ours.path = theirs.path
	}
	switch mine, new := ours.key(), theirs.key(); {
	case theirs.text == was.text, mine == new && ours.text != was.text:
		return ours
	case ours.text == was.text:
		return theirs
	case new == was.key():
		return ours
	case mine == was.key():
		return theirs
	}
	m.clash(was.name())
	return ours
}

// add puts section k of theirs, which base lacks, after the one at anchor,
// and returns its index. Sections that ours has added there below a heading
// of that depth come first: they belong to the preceding section.
func (m *rebasing) add(k, anchor int) int {
	s := m.theirs[k]
	for at, p := range m.out {
		if p.added && p.from == 'o' && p.section.path == s.path {
			if p.key() != s.key() {
				m.clash(s.name())
			}
			return at
		}
	}
	at := anchor + 1
	for at < len(m.out) && m.out[at].added && m.out[at].from == 'o' && m.out[at].depth > s.depth {
		at++
	}
	m.out = slices.Insert(m.out, at, placed{s, 't', k, true, s.path})
	return at
}

// join writes the result, with a blank line between two sections that are
// adjacent on no side.
func (m *rebasing) join() string {
	var b strings.Builder
	for i, p := range m.out {
		if text := b.String(); i > 0 && text != "" {
			before := m.out[i-1]
			switch together := before.from == p.from && before.index+1 == p.index; {
			case together && strings.HasSuffix(text, "\n"), strings.HasSuffix(text, "\n\n"):
			case strings.HasSuffix(text, "\n"):
				b.WriteString("\n")
			default:
				b.WriteString("\n\n")
			}
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// moved names a section that is under another heading than on the side that
// it came from, "" for none.
func (m *rebasing) moved(got []section) string {
	want := slices.DeleteFunc(slices.Clone(m.out), func(p placed) bool { return strings.TrimSpace(p.text) == "" })
	got = slices.DeleteFunc(slices.Clone(got), func(s section) bool { return strings.TrimSpace(s.text) == "" })
	for i, p := range want {
		switch {
		case i < len(got) && got[i].path == p.path:
		case p.added && p.from == 't':
			return "a section that the new text added" // its words are none of the owner's
		default:
			return p.name()
		}
	}
	if len(got) > len(want) {
		return "a heading"
	}
	return ""
}
