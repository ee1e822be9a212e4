package entire

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/ownwords"
	"github.com/skill-evolve/evolve/harvest/redact"
)

// read makes a session of all records, newest first, and sessions of its subagents.
// Faults of the records are Problems. The error is ctx's, or harvest.ErrSlow.
func (h *harvesting) read(ctx context.Context, id, place string, records []*record) ([]*harvest.Session, error) {
	h.secrets = redact.NewSession(h.opts.Redactor)
	s, problems, records, err := h.transcript(ctx, place, records)
	if err != nil {
		return nil, err
	}
	for _, p := range problems {
		h.report(p)
	}
	if s == nil {
		s = h.prompts(place, records)
	}
	if s == nil || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	s.Path, s.Problems = place, problems
	if records[0].session != "" || s.ID == "" {
		s.ID = id
	}
	for _, r := range records {
		s.Branch, s.Model = cmp.Or(s.Branch, r.branch), cmp.Or(s.Model, r.model)
	}
	subagents, err := h.subagents(ctx, s, records)
	if err != nil {
		return nil, err
	}
	h.join(s, records)
	if err := h.committed(ctx, s, records); err != nil {
		return nil, err
	}
	all := append([]*harvest.Session{s}, subagents...)
	for _, s := range all {
		s.Author = harvest.AuthorOf(records[len(records)-1].author)
		harvest.Recall(s, h.secrets)
		harvest.Assess(s)
	}
	return all, nil
}

// transcript reads the agent's transcript with the agent's own reader; if that finds
// nothing, or the agent is unknown, with the first reader that finds something. It also
// returns the records without those whose transcript belongs to another session.
func (h *harvesting) transcript(ctx context.Context, place string, records []*record) (*harvest.Session, []harvest.Problem, []*record, error) {
	all := parts(records, (*record).transcripts)
	if len(all) == 0 {
		return nil, []harvest.Problem{{Path: place, Reason: records[0].String() + ": it has no transcript"}}, records, nil
	}
	agent := h.agent(records)
	var first []harvest.Problem
	for i, name := range h.readers(agent) {
		if name == gemini {
			if s, problems, ok, err := h.documents(ctx, all, agent, place); ok || err != nil {
				return s, problems, records, err
			}
		}
		s, problems, others, err := h.readJoined(ctx, name, place, agent, all)
		if s != nil && len(others) > 0 {
			if records = without(records, others); len(records) == 0 {
				return nil, problems, nil, nil
			}
			var more []harvest.Problem
			s, more, _, err = h.readJoined(ctx, name, place, agent, parts(records, (*record).transcripts))
			for _, p := range others {
				more = append(more, harvest.Problem{Path: place, Reason: p.record.String() + ": " + otherSession})
			}
			problems = more
		}
		if err != nil {
			return nil, nil, nil, err
		}
		if s != nil {
			return s, problems, records, nil
		}
		if i == 0 {
			first = problems
		}
	}
	return nil, first, records, nil
}

const otherSession = "its transcript is of another session: it is left out"

// readJoined reads a transcript with the reader of that name. It also returns the parts
// that belong to other sessions.
func (h *harvesting) readJoined(ctx context.Context, name, place, agent string, all []part) (*harvest.Session, []harvest.Problem, []part, error) {
	j := h.joined(place, all)
	s, problems, err := h.kinds[name].Transcript(ctx, j, place, h.reading(place, all))
	if err != nil {
		return nil, nil, nil, err
	}
	if s == nil && agent != "" && agent != name {
		problems = nil // of a transcript by another agent
	}
	problems = j.finish(problems)
	return s, problems, j.others(), nil
}

// reading are the options for a transcript of those parts. All texts of a session and of
// its subagents have their secrets in common.
func (h *harvesting) reading(place string, all []part) harvest.Options {
	o := h.opts.Options
	o.Redactor = h.secrets
	o.Again = func() (io.ReadCloser, error) { return io.NopCloser(h.joined(place, all)), nil }
	return o
}

// without are the records that have none of the parts.
func without(records []*record, parts []part) []*record {
	return slices.DeleteFunc(slices.Clone(records), func(r *record) bool {
		return slices.ContainsFunc(r.transcripts(), func(names []string) bool {
			key := r.key(names)
			return slices.ContainsFunc(parts, func(p part) bool { return p.record.key(p.names) == key })
		})
	})
}

// agent is the session's agent: as the newest record names it, unless only an older one
// names an agent that has a reader.
func (h *harvesting) agent(records []*record) string {
	agent := ""
	for _, r := range records {
		if _, ok := h.kinds[r.agent]; ok {
			return r.agent
		}
		agent = cmp.Or(agent, r.agent)
	}
	return agent
}

// readers are the readers to try on a transcript, in order. The agent in the metadata
// may be wrong, and older versions write "Agent" for most.
func (h *harvesting) readers(agent string) []string {
	all := slices.Sorted(maps.Keys(h.kinds)) // claude-code, which writes most of them, is first
	if i := slices.Index(all, agent); i > 0 {
		all = slices.Insert(slices.Delete(all, i, i+1), 0, agent)
	}
	return all
}

// subagents reads the transcripts of the session's subagents.
func (h *harvesting) subagents(ctx context.Context, parent *harvest.Session, records []*record) ([]*harvest.Session, error) {
	kind, ok := h.kinds[parent.Agent]
	if !ok {
		return nil, nil
	}
	names := map[string]bool{}
	for _, r := range records {
		for _, name := range r.tasks() {
			names[name] = true
		}
	}
	var all []*harvest.Session
	for _, name := range slices.Sorted(maps.Keys(names)) {
		place := parent.Path + "/" + name
		of := parts(records, func(r *record) [][]string {
			if r.files[name] == "" {
				return nil
			}
			return [][]string{{name}}
		})
		j := h.joined(place, of)
		s, problems, err := kind.Transcript(ctx, j, place, h.reading(place, of))
		if err != nil {
			return nil, err
		}
		problems = j.finish(problems)
		for _, p := range problems {
			h.report(p)
		}
		if s == nil {
			continue
		}
		if s.Subagent == "" {
			s.Subagent = strings.Split(name, "/")[1]
		}
		s.ID, s.Path, s.Headless, s.Problems = parent.ID+"/"+s.Subagent, place, true, problems
		all = append(all, s)
	}
	return all, nil
}

// promptMark separates the prompts in a prompt.txt.
const promptMark = "\n\n---\n\n"

// prompts makes a session of the user's prompts alone, if there is no reader for the
// agent or no transcript. It is nil if there are none. Prompts have no ids: a prompt
// that an older record has too is the same one.
func (h *harvesting) prompts(place string, records []*record) *harvest.Session {
	oldest, newest := records[len(records)-1], records[0]
	s := &harvest.Session{Agent: cmp.Or(h.agent(records), "unknown"), Started: oldest.created, Ended: newest.created}
	before := map[string]int{} // turns of older records, by their prompt
	for _, r := range slices.Backward(records) {
		oid, ok := r.files["prompt.txt"]
		if !ok {
			continue
		}
		data, err := h.objects.all(oid, maxPrompt)
		if err != nil {
			h.problem(place, fmt.Sprintf("%s: prompt.txt: %v", r, err))
			continue
		}
		here, last := map[string]int{}, -1
		for prompt := range strings.SplitSeq(string(data), promptMark) {
			prompt = strings.TrimSpace(ownwords.CutInjected(prompt))
			at, known := before[prompt]
			switch {
			case harvest.Interrupts(prompt):
				if last >= 0 {
					s.Turns[last].Interrupted = true
				}
				continue
			case prompt == "" || harvest.Injected(prompt):
				continue
			case !known:
				at = len(s.Turns)
				s.Turns = append(s.Turns, harvest.Turn{Prompt: h.clean(s, h.typed, prompt)})
			}
			here[prompt], last = at, at
		}
		maps.Copy(before, here)
	}
	if len(s.Turns) == 0 {
		return nil
	}
	return s
}

// clean makes a text fit to be kept that no reader of an agent's has read.
func (h *harvesting) clean(s *harvest.Session, red func(string) (string, int), text string) string {
	text, n := harvest.CleanWith(red, text)
	s.Redactions += n
	return text
}

// typed redacts what a person typed, if there is no transcript to explain it.
func (h *harvesting) typed(text string) (string, int) { return redact.Typed(h.secrets, text) }

// committed records which turns the user committed. The commits are read once per
// harvest.
func (h *harvesting) committed(ctx context.Context, s *harvest.Session, records []*record) error {
	if h.commits == nil {
		found, err := commits(ctx, h.repository, h.checkpoints)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			h.problem(h.repo, err.Error())
		}
		h.commits = found
	}
	for _, r := range slices.Backward(records) { // the oldest first
		c, ok := h.commits[r.checkpoint]
		if !ok {
			continue
		}
		if s.Commit == "" {
			s.Commit = c.parent // the session's start, which nothing else records
		}
		if t := turnOf(s, r.turn, r.created); t >= 0 {
			s.Turns[t].Committed = c.id
		}
	}
	return nil
}
