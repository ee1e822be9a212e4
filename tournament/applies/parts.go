package applies

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
)

var _ gate.Reader = (*Reader)(nil)

// To returns the reader of a trial of the subject with this key: nil if the trial is about all
// requests, as that of a skill is.
func To(key string, model eval.Model, memory harvest.Memory, red redact.Redactor) gate.Reader {
	if subject.Parse(key).Kind != subject.File {
		return nil
	}
	return &Reader{Model: model, Memory: memory, Redactor: red, Files: Recorded()}
}

// CallTokens is what a call is expected to take: a dozen requests of 500 tokens with their
// names of files, and the instructions.
const CallTokens = 8000

// Calls is how many calls a run of the subject with this key makes at most, of texts of up to a
// hundred lines: to decide so many requests for its trial, twice if the lines apply to all of
// them, and for FindIdle. cases are all.
func Calls(key string, requests int, cases []eval.Case) (n int64) {
	if subject.Parse(key).Kind != subject.File {
		return 0
	}
	of, most := map[string]int{}, 1 // requests of one conversation
	for i := range cases {
		at := eval.ClusterOf(&cases[i])
		of[at]++
		most = max(most, of[at])
	}
	for _, k := range []int{requests, requests, mostIdle} {
		if k > 0 { // a call is begun if all before it are full, or have the conversation
			n += int64(min(k, (k-1)/batch+most))
		}
	}
	return n
}

// Rule is the rule of a trial of the subject with this key.
func Rule(key string, rule pareto.Config) pareto.Config {
	if subject.Parse(key).Kind != subject.File {
		return rule
	}
	return rule.WithRest()
}

// Read implements gate.Reader: a request is one to which a change applies if any changed line
// applies to it, in two readings.
func (r *Reader) Read(ctx context.Context, incumbent, challenger eval.Variant, cases []eval.Case, uses []record.Use) (*record.Parts, error) {
	requests, err := r.Requests(ctx, cases)
	if err != nil {
		return nil, err
	}
	var turns []Request
	if r.Turns != nil {
		if turns, err = r.Turns(ctx); err != nil {
			return nil, err
		}
	}
	for i := range turns {
		turns[i].ID = fmt.Sprint("turn ", i)
		turns[i].Conversation = "session-" + turns[i].Session // as the clusters of cases are named
	}
	lines := Changed(incumbent.Doc, challenger.Doc)
	got, _, spent := r.Twice(ctx, lines, slices.Concat(requests, turns))
	parts := &record.Parts{Cases: map[string]record.Part{}, Uses: make([]record.Part, len(uses)),
		Removes: len(lines) > 0 && !slices.ContainsFunc(lines, func(l Line) bool { return l.Is != "" })}
	part := func(id string) record.Part {
		switch applies, ok := got[id]; {
		case !ok:
			return record.Unread
		case len(applies) > 0:
			return record.Applies
		}
		return record.Rest
	}
	at := map[string][]int{} // uses by session
	for i, u := range uses {
		at[u.Session] = append(at[u.Session], i)
		parts.Uses[i] = record.Unread
	}
	// The use that a request is of began with its turn, or loaded the text a little later.
	use := func(q *Request) {
		for _, i := range at[q.Session] {
			if parts.Uses[i] == record.Unread && !uses[i].Time.Before(q.At) {
				parts.Uses[i] = part(q.ID)
				break
			}
		}
	}
	for i := range requests {
		q := &requests[i]
		if p := part(q.ID); p == record.Unread {
			parts.Left++
		} else {
			parts.Cases[q.ID] = p
		}
	}
	all := slices.Concat(requests, turns)
	slices.SortStableFunc(all, func(a, b Request) int { return a.At.Compare(b.At) })
	for i := range all {
		if all[i].Session != "" {
			use(&all[i])
		}
	}
	return parts, spent
}

// Requests are what a reader may see of cases.
func (r *Reader) Requests(ctx context.Context, cases []eval.Case) (out []Request, err error) {
	for i := range cases {
		c := &cases[i]
		q := Request{ID: c.ID, Conversation: eval.ClusterOf(c), Text: c.Prompt, Before: c.Context, Files: slices.Sorted(maps.Keys(c.Files))}
		if c.Source != nil {
			q.Session, q.At = c.Source.Session, c.Source.Time
		}
		if r.Files != nil {
			if q.Files, err = r.Files(ctx, c); err != nil {
				return nil, fmt.Errorf("list the files of case %s: %w", c.ID, err)
			}
		}
		out = append(out, q)
	}
	return out, nil
}
