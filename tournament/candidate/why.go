package candidate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Step is one change between the incumbent and a text.
type Step struct {
	SHA      string   `json:"sha256"`
	Operator string   `json:"operator"`
	Parents  []string `json:"parents"`
	Taught   []Case   `json:"taught"`
}

// A Change is one sentence in which a text differs from the incumbent that it
// was made from, with what taught it.
type Change struct {
	Kind string `json:"kind"`           // "added", "reworded" or "removed"
	Text string `json:"text"`           // of a removed sentence: as it stood
	Was  string `json:"was,omitempty"`  // the incumbent's sentence that was reworded
	Line int    `json:"line,omitempty"` // 1-based, of the text; 0 for a removed sentence
	// Because sums up the steps in words, or that they give no reason.
	Because string `json:"because"`
	Steps   []Cite `json:"steps"` // the one in which it first stood (or fell) first, then its rewordings
}

// A Cite is a step that a sentence came from.
type Cite struct {
	SHA      string `json:"sha256"`
	Operator string `json:"operator"`
	// Matched: the cases are those of the step that the sentence answers, the
	// best match first; else all that taught the step.
	Matched bool   `json:"matched"`
	Cases   []Case `json:"cases"`
	// TriedOn are the training cases that the step was measured on, by their ids;
	// empty if none was.
	TriedOn []string `json:"tried_on"`
}

// A History holds the ancestors of a text, over the runs of a skill.
type History struct {
	*Texts
	base     string // SHA-256 of the incumbent that is compared with
	nodes    map[string]*node
	words    *Words
	cases    map[string]Case
	corpus   []string // users' messages on all cases of the skill
	outcomes map[string]Measured
}

// A node is one text of a history.
type node struct {
	record.Candidate
	units []unit
	has   map[string]bool // by key
	root  bool            // the base, or a text that no run made
}

// A Measured is the search's measurement of a step.
type Measured struct {
	Gain   float64  `json:"gain"`
	Cases  int      `json:"cases"`
	On     []string `json:"on"` // their ids; runs of earlier versions kept none
	Tangle bool     `json:"-"`  // lines were taken out that were in each other's way
}

// Made returns a candidate as the run that made it has it, nil if none did.
// The incumbent of one run may be what another has made, so the last record
// of a text has little. A record whose text was erased gives way to one of the same text
// that was made again.
func (s *Texts) Made(ctx context.Context, sha string) (first, last *record.Candidate, err error) {
	seen, err := s.Store.Sightings(ctx, sha)
	if err != nil {
		return nil, nil, err
	}
	for i := range seen {
		c := &seen[i]
		if c.State == record.Seed {
			continue
		}
		if run, err := s.Store.Run(ctx, c.Run); err != nil || run.Skill != s.Skill {
			continue // two skills may have the same text
		}
		if first == nil || len(first.Text) == 0 && len(c.Text) > 0 {
			first = c
		}
		if last == nil || len(c.Text) > 0 || len(last.Text) == 0 {
			last = c
		}
	}
	return first, last, nil
}

// History reads the lineage of a text. t must be one that a run made.
func (s *Texts) History(ctx context.Context, t *Text) (*History, error) {
	h := &History{Texts: s, nodes: map[string]*node{}, cases: map[string]Case{}, outcomes: map[string]Measured{},
		words: &Words{Store: s.Store, Sessions: map[string]map[string]string{}}}
	if v := t.Version; v != nil && v.Author == "evolve" {
		h.base = v.Parent
	}
	if h.base == "" {
		_, last, err := s.Made(ctx, t.SHA())
		if err != nil {
			return nil, err
		}
		run, err := s.Store.Run(ctx, last.Run)
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", last.Run, err)
		}
		h.base = run.Incumbent
	}
	cases, err := s.Store.Cases(ctx, s.Skill)
	if err != nil {
		return nil, err
	}
	for i := range cases {
		w, err := h.words.Of(ctx, &cases[i])
		if err != nil {
			return nil, err
		}
		c := Case{Case: cases[i].ID, Prompt: cases[i].Prompt, Words: w}
		if src := cases[i].Source; src != nil {
			c.Outcome = src.Outcome
		}
		h.cases[c.Case] = c
		if cases[i].Split == eval.Train {
			h.corpus = append(h.corpus, plain.Text(c.Words))
		}
	}
	return h, h.load(ctx, t.SHA())
}

// load reads a text and all its ancestors.
func (h *History) load(ctx context.Context, sha string) error {
	runs := map[string]bool{}
	for queue := []string{h.base, sha}; len(queue) > 0; queue = queue[1:] {
		sha := queue[0]
		if h.nodes[sha] != nil {
			continue
		}
		n, err := h.node(ctx, sha)
		if err != nil {
			return err
		}
		h.nodes[sha] = n
		if n.root {
			continue
		}
		queue = append(queue, n.Parents...)
		if !runs[n.Run] {
			runs[n.Run] = true
			if err := h.measured(ctx, n.Run); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *History) node(ctx context.Context, sha string) (*node, error) {
	n := &node{Candidate: record.Candidate{SHA: sha}, root: true, has: map[string]bool{}}
	first, _, err := h.Made(ctx, sha)
	if err != nil {
		return nil, err
	}
	if first != nil {
		n.Candidate, n.root = *first, sha == h.base || len(first.Parents) == 0
	} else if seen, err := h.Store.Sightings(ctx, sha); err != nil {
		return nil, err
	} else if len(seen) > 0 {
		n.Text = seen[0].Text
	} else if v, err := h.Store.VersionBySHA(ctx, h.Skill, sha); err == nil {
		n.Text = v.Text
	} else if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	doc, _ := skill.Parse(n.Text, skill.OptionsOf(h.Skill)) // whole, whatever the error
	n.units = unitsOf(doc)
	for _, u := range n.units {
		n.has[u.key()] = true
	}
	return n, nil
}

// measured reads the measurements of a run's steps.
func (h *History) measured(ctx context.Context, run string) error {
	events, err := h.Store.Events(ctx, run)
	if err != nil {
		return err
	}
	for _, e := range events {
		if e.Kind != "accepted" && e.Kind != "untangled" {
			continue
		}
		var d struct {
			SHA string `json:"sha256"`
			Measured
		}
		if err := json.Unmarshal(e.Data, &d); err != nil {
			return fmt.Errorf("read event %d of run %s: %w", e.Seq, run, err)
		}
		o := h.outcomes[d.SHA]
		if e.Kind == "accepted" {
			o.Gain, o.Cases, o.On = d.Gain, d.Cases, d.On
		} else {
			o.Tangle = true
		}
		h.outcomes[d.SHA] = o
	}
	return nil
}

// Steps returns the lineage of a text, the last step first.
func (h *History) Steps(sha string) []Step {
	var out []Step
	seen := map[string]bool{}
	for queue := []string{sha}; len(queue) > 0; queue = queue[1:] {
		n := h.nodes[queue[0]]
		if n == nil || n.root || seen[n.SHA] {
			continue
		}
		seen[n.SHA] = true
		s := Step{SHA: n.SHA, Operator: n.Operator, Parents: append([]string{}, n.Parents...), Taught: []Case{}}
		for _, id := range n.Taught {
			s.Taught = append(s.Taught, h.taught(id))
		}
		out = append(out, s)
		queue = append(queue, n.Parents...)
	}
	return out
}

// taught is a case by its id, with only the id if it is gone.
func (h *History) taught(id string) Case {
	if c, ok := h.cases[id]; ok {
		return c
	}
	return Case{Case: id}
}

// reworded is the least similarity of two sentences of which one is a
// rewording of the other.
const reworded = 0.5

// Changes lists every sentence in which a text differs from the base, in the
// order of the text, what was removed last.
func (h *History) Changes(sha string) []Change {
	text, base := h.nodes[sha], h.nodes[h.base]
	out := []Change{}
	for _, e := range edits(base.units, text.units) {
		if e.Is != "" {
			c := Change{Kind: "added", Text: e.Is, Was: e.Was, Line: e.Line}
			if e.Was != "" {
				c.Kind = "reworded"
			}
			c.Steps = h.cite(h.origin(text, unit{e.Is, e.Line}))
			c.Because = because(c.Steps)
			out = append(out, c)
			continue
		}
		c := Change{Kind: "removed", Text: e.Was, Steps: []Cite{}}
		if at := h.fall(text, unit{Text: e.Was}.key()); at != nil {
			c.Steps = h.cite([]trace{{at, e.Was}})
			c.Because = h.whyRemoved(at, c.Steps[0])
		} else {
			c.Because = "nothing is recorded of it"
		}
		out = append(out, c)
	}
	return out
}

// nearest is the index of the unit that is most like u, -1 if none is
// similar.
func nearest(u unit, among []unit) int {
	best, at := reworded, -1
	for i, v := range among {
		if sim := mutate.Similarity(u.Text, v.Text); sim > best || sim == best && at < 0 {
			best, at = sim, i
		}
	}
	return at
}

// A trace is a step with the sentence after it.
type trace struct {
	step *node
	text string
}

// origin walks back to the step that first had a sentence: through the
// parents that have it, and through its rewordings. The first step comes
// first.
func (h *History) origin(n *node, u unit) []trace {
	if n.root {
		return nil
	}
	for _, p := range n.Parents {
		if m := h.nodes[p]; m != nil && m.has[u.key()] {
			return h.origin(m, u)
		}
	}
	here := trace{n, u.Text}
	for _, p := range n.Parents {
		m := h.nodes[p]
		if m == nil {
			continue
		}
		// A sentence that n kept is another one than this.
		free := slices.DeleteFunc(slices.Clone(m.units), func(v unit) bool { return n.has[v.key()] })
		if i := nearest(u, free); i >= 0 && !h.nodes[h.base].has[free[i].key()] {
			return append(h.origin(m, free[i]), here)
		}
	}
	return []trace{here}
}

// fall walks back to the step in which a sentence of the base was lost.
func (h *History) fall(n *node, key string) *node {
	if n.root {
		return nil
	}
	for _, p := range n.Parents {
		if m := h.nodes[p]; m != nil && !m.root && !m.has[key] {
			return h.fall(m, key)
		}
	}
	return n
}

// cite lists, for each step, the cases that it answers.
func (h *History) cite(traces []trace) []Cite {
	out := []Cite{}
	for _, t := range traces {
		c := Cite{SHA: t.step.SHA, Operator: t.step.Operator, Cases: []Case{}, TriedOn: append([]string{}, h.outcomes[t.step.SHA].On...)}
		var said []string
		for _, k := range h.teachers(t.step) {
			c.Cases, said = append(c.Cases, k), append(said, plain.Text(k.Words))
		}
		if hits := mutate.NewSupport(said, h.corpus).Answers(t.text); len(hits) > 0 {
			like := func(k int) float64 { return mutate.Similarity(t.text, said[k]) }
			sort.SliceStable(hits, func(i, j int) bool { return like(hits[i]) > like(hits[j]) })
			// One common word is weak evidence if another case has all of
			// them.
			best := like(hits[0])
			hits = slices.DeleteFunc(hits, func(k int) bool { return 2*like(k) < best })
			c.Matched = true
			matched := make([]Case, len(hits))
			for i, k := range hits {
				matched[i] = c.Cases[k]
			}
			c.Cases = matched
		}
		out = append(out, c)
	}
	return out
}

// teachers lists the cases that taught a step; for a merge, which has none of
// its own, those that taught the merged texts.
func (h *History) teachers(n *node) (out []Case) {
	for _, id := range n.Taught {
		out = append(out, h.taught(id))
	}
	if len(out) > 0 || n.Operator != "merge" {
		return out
	}
	seen := map[string]bool{}
	for _, p := range n.Parents {
		for _, s := range h.Steps(p) {
			for _, k := range s.Taught {
				if !seen[k.Case] {
					seen[k.Case], out = true, append(out, k)
				}
			}
		}
	}
	return out
}

// because sums up the steps of an added or reworded sentence.
func because(steps []Cite) string {
	if len(steps) == 0 {
		return "it stood in the text that this one was made from"
	}
	n, matched := 0, true
	for _, s := range steps {
		if n += len(s.Cases); len(s.Cases) > 0 {
			matched = matched && s.Matched
		}
	}
	switch {
	case steps[0].Operator == record.Checked:
		return "you gave the text"
	case n == 0:
		return fmt.Sprintf("no case taught it: %s rewrites without one", steps[0].Operator)
	case !matched && steps[len(steps)-1].Operator == "merge":
		return "the merge worded it; these cases taught what was merged"
	case !matched:
		return "its words are in no feedback; these cases taught the step"
	}
	return Answers
}

// Answers is what speaks for a sentence whose words are in what was said on its cases.
const Answers = "it answers what was said on these cases"

// whyRemoved returns why a step took a sentence out.
func (h *History) whyRemoved(n *node, c Cite) string {
	o := h.outcomes[n.SHA]
	tried := "tried on validation"
	if o.Cases > 0 {
		tried = fmt.Sprintf("%+.2f on %s without it", o.Gain, plain.Counted(o.Cases, "training case"))
	}
	switch {
	case n.Operator == record.Checked:
		return "the text that you gave lacks it"
	case o.Tangle:
		return "it and other lines were in each other's way (" + tried + ")"
	case n.Operator == "ablate":
		return "no training case speaks of it (" + tried + ")"
	case n.Operator == "prune":
		return "the mutator found that it earns nothing (" + tried + ")"
	case n.Operator == "merge" && len(c.Cases) > 0:
		return "lost as what these cases taught was merged (" + tried + ")"
	case c.Matched:
		return "what was said on these cases speaks against it, or of it (" + tried + ")"
	case len(c.Cases) > 0:
		return "lost in a rewrite that these cases taught (" + tried + ")"
	}
	return fmt.Sprintf("lost in the rewrite by %s (%s)", strings.TrimSpace(n.Operator), tried)
}
