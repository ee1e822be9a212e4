package applies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/tournament/gate"
)

const (
	// mostIdle is how many of the latest requests are read, and leastIdle how many must be
	// decided: a line that applies to one request in twenty is missed in 60 with a probability
	// of 5 %, and one that applies to one in forty in 120.
	mostIdle  = 120
	leastIdle = 60
	// namedIdle is how many lines a message quotes, and quoted how much of each.
	namedIdle = 3
	quoted    = 60
)

// Idle are the lines of a text that applied to none of the latest requests.
type Idle struct {
	Requests int      `json:"requests"`
	Lines    int      `json:"lines"` // of the text
	None     []string `json:"none"`
}

// FindIdle reads the lines of a text against the latest of the cases, and keeps the result
// for KnownIdle. It is nil if too few requests could be decided, with what is left of the
// budget, or the reader is not one of this package's. The text is not changed: a line that
// nothing needed may matter to a request that nobody recorded.
func FindIdle(ctx context.Context, reader gate.Reader, doc *skill.Document, cases []eval.Case) (*Idle, error) {
	r, ok := reader.(*Reader)
	lines := Lines(doc)
	if !ok || len(lines) == 0 {
		return nil, nil
	}
	requests, err := r.Requests(ctx, latest(cases))
	if err != nil || len(requests) < leastIdle {
		return nil, err
	}
	got, _, err := r.Decide(ctx, lines, requests)
	if _, spent := errors.AsType[*eval.BudgetError](err); spent || err == nil && len(got) < leastIdle {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	used := map[int]bool{}
	for _, applies := range got {
		for _, n := range applies {
			used[n] = true
		}
	}
	idle := &Idle{Requests: len(got), Lines: len(lines), None: []string{}}
	for i, l := range lines {
		if !used[i] {
			idle.None = append(idle.None, l.Text())
		}
	}
	if r.Memory == nil {
		return idle, nil
	}
	data, err := json.Marshal([]*Idle{idle})
	if err != nil {
		return nil, fmt.Errorf("keep the lines that apply to nothing: %w", err)
	}
	// It quotes the text and no session.
	return idle, r.Memory.Remember(context.WithoutCancel(ctx), "", idleKey(doc), data)
}

func idleKey(doc *skill.Document) string { return "applies/idle/" + doc.Hash() }

// latest are the newest cases that were made of sessions, and not chosen by what followed.
func latest(cases []eval.Case) []eval.Case {
	list := slices.DeleteFunc(slices.Clone(cases), func(c eval.Case) bool {
		return c.Source == nil || c.Source.Time.IsZero() || c.Generated() || c.TrainOnly()
	})
	slices.SortStableFunc(list, func(a, b eval.Case) int { return b.Source.Time.Compare(a.Source.Time) })
	return list[:min(len(list), mostIdle)]
}

// KnownIdle is what FindIdle found of a text, nil if that is not known.
func KnownIdle(ctx context.Context, memory harvest.Memory, doc *skill.Document) (*Idle, error) {
	data, err := memory.Recall(ctx, idleKey(doc))
	if err != nil || data == nil {
		return nil, err
	}
	var one []*Idle
	if json.Unmarshal(data, &one) != nil || len(one) != 1 {
		return nil, nil // of another version
	}
	return one[0], nil
}

// Text says it in words, "" if every line applied to something.
func (i *Idle) Text() string {
	if i == nil || len(i.None) == 0 {
		return ""
	}
	var named []string
	for _, line := range i.None[:min(namedIdle, len(i.None))] {
		short := plain.Runes(line, quoted)
		if short != line {
			short = strings.TrimSpace(short) + "…"
		}
		named = append(named, fmt.Sprintf("“%s”", plain.Line(short)))
	}
	s := fmt.Sprintf("%d of %s applied to none of your last %s: %s", len(i.None), plain.Counted(i.Lines, "line"), plain.Counted(i.Requests, "request"), strings.Join(named, ", "))
	if more := len(i.None) - len(named); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// Shorten is the command that looks for what the text of this key can do without.
func Shorten(key string) string {
	root, path := subject.Parse(key).Place()
	if root == "" {
		return fmt.Sprintf("evolve --skill %s --evolve shorten", key)
	}
	return fmt.Sprintf("evolve --file %s/%s --evolve shorten", root, path)
}
