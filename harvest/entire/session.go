package entire

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/harvest"
)

// read makes a session of the newest record that can be read, and sessions of
// its subagents. What is wrong with the others is a Problem. The error is ctx's.
func (h *harvesting) read(ctx context.Context, id, place string, records []*record) ([]*harvest.Session, error) {
	var all []*harvest.Session
	for _, make := range []func(*record) (*harvest.Session, []harvest.Problem, error){
		func(r *record) (*harvest.Session, []harvest.Problem, error) { return h.transcript(ctx, r, place) },
		func(r *record) (*harvest.Session, []harvest.Problem, error) { return h.prompts(r, place), nil, nil },
	} {
		for _, r := range records {
			s, problems, err := make(r)
			if err != nil {
				return nil, err
			}
			for i := range problems {
				problems[i].Reason = r.String() + ": " + problems[i].Reason
				h.problem(problems[i].Path, problems[i].Reason)
			}
			if s == nil {
				continue
			}
			if r.session != "" || s.ID == "" {
				s.ID = id
			}
			s.Problems = problems
			s.Branch, s.Model = cmp.Or(s.Branch, r.branch), cmp.Or(s.Model, r.model)
			subagents, err := h.subagents(ctx, r, s)
			if err != nil {
				return nil, err
			}
			all = append([]*harvest.Session{s}, subagents...)
			break
		}
		if len(all) > 0 {
			break
		}
	}
	if len(all) == 0 || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, r := range records { // newest first: what was noted first is the most complete
		h.join(all[0], r)
	}
	if err := h.committed(ctx, all[0], records); err != nil {
		return nil, err
	}
	harvest.Assess(all[0])
	return all, nil
}

// transcript reads the agent's transcript of r with the agent's own reader;
// where the agent is not known, with the first that finds something.
func (h *harvesting) transcript(ctx context.Context, r *record, place string) (*harvest.Session, []harvest.Problem, error) {
	names := r.transcript()
	if len(names) == 0 {
		why := "it has no transcript"
		if _, ok := r.files["full.jsonl.zst"]; ok {
			why = "its transcript is compressed (full.jsonl.zst)"
		}
		return nil, []harvest.Problem{{Path: place, Reason: why}}, nil
	}
	var first []harvest.Problem
	for i, agent := range h.agents(r.agent) {
		t := &joined{objects: &h.objects, record: r, names: names, hash: sha256.New()}
		s, problems, err := h.opts.Readers[agent](ctx, t, place, h.opts.Redactor)
		if err != nil {
			return nil, nil, err
		}
		problems = append(problems, t.finish(place)...)
		if s != nil {
			s.Path = place
			return s, problems, nil
		}
		if i == 0 {
			first = problems
		}
	}
	if s := h.document(&joined{objects: &h.objects, record: r, names: names, hash: sha256.New()}, r); s != nil {
		s.Path = place
		return s, nil, nil
	}
	return nil, first, nil
}

// agents are the readers to try on a transcript of agent, in order.
func (h *harvesting) agents(agent string) []string {
	if _, ok := h.opts.Readers[agent]; ok {
		return []string{agent}
	}
	if agent != "" {
		return nil // one that nobody here reads
	}
	var all []string
	for name := range h.opts.Readers {
		all = append(all, name)
	}
	slices.Sort(all) // claude-code, which writes most of them, is first
	return all
}

// joined is a transcript put together from its chunks.
type joined struct {
	objects *objects
	record  *record
	names   []string
	next    int
	now     io.Reader
	last    byte
	hash    hash.Hash
	broken  []string // what could not be read
}

func (j *joined) Read(p []byte) (int, error) {
	for {
		if j.now == nil {
			if j.next == len(j.names) {
				return 0, io.EOF
			}
			name := j.names[j.next]
			j.next++
			r, err := j.objects.open(j.record.files[name])
			if err != nil {
				j.broken = append(j.broken, name+": "+err.Error())
				continue
			}
			j.now = r
			if j.last != 0 && j.last != '\n' { // chunks are cut between lines
				j.last = '\n'
				p[0] = '\n'
				return 1, nil
			}
		}
		n, err := j.now.Read(p)
		if n > 0 {
			j.hash.Write(p[:n])
			j.last = p[n-1]
			return n, nil
		}
		if err != nil {
			j.now = nil
			if err != io.EOF {
				j.broken = append(j.broken, j.names[j.next-1]+": "+err.Error())
			}
		}
	}
}

// finish says what is wrong with the transcript itself.
func (j *joined) finish(place string) []harvest.Problem {
	_, _ = io.Copy(io.Discard, j) // it never fails
	if len(j.broken) == 0 && len(j.names) == 1 {
		if oid, ok := j.record.files["content_hash.txt"]; ok {
			data, err := j.objects.all(oid, 1<<10)
			want := strings.TrimPrefix(strings.TrimSpace(string(data)), "sha256:")
			if err == nil && want != hex.EncodeToString(j.hash.Sum(nil)) {
				j.broken = append(j.broken, j.names[0]+" is not what content_hash.txt says")
			}
		}
	}
	var all []harvest.Problem
	for _, why := range j.broken {
		all = append(all, harvest.Problem{Path: place, Reason: why})
	}
	return all
}

// subagents reads the transcripts of the session's subagents.
func (h *harvesting) subagents(ctx context.Context, r *record, parent *harvest.Session) ([]*harvest.Session, error) {
	read, ok := h.opts.Readers[parent.Agent]
	if !ok {
		return nil, nil
	}
	var all []*harvest.Session
	for _, name := range r.tasks() {
		t := &joined{objects: &h.objects, record: r, names: []string{name}, hash: sha256.New()}
		place := parent.Path + "/" + name
		s, problems, err := read(ctx, t, place, h.opts.Redactor)
		if err != nil {
			return nil, err
		}
		for _, why := range t.broken {
			problems = append(problems, harvest.Problem{Path: place, Reason: why})
		}
		h.problems = append(h.problems, problems...)
		if s == nil {
			continue
		}
		if s.Subagent == "" {
			s.Subagent = strings.Split(name, "/")[1]
		}
		s.ID, s.Path, s.Headless = parent.ID+"/"+s.Subagent, place, true
		all = append(all, s)
	}
	return all, nil
}

// promptMark stands between the prompts in a prompt.txt.
const promptMark = "\n\n---\n\n"

// prompts makes a session of no more than what the user typed, where there is no
// reader for the agent or no transcript. It is nil where there is nothing.
func (h *harvesting) prompts(r *record, place string) *harvest.Session {
	oid, ok := r.files["prompt.txt"]
	if !ok {
		return nil
	}
	data, err := h.objects.all(oid, maxPrompt)
	if err != nil {
		h.problem(place, fmt.Sprintf("%s: prompt.txt: %v", r, err))
		return nil
	}
	s := &harvest.Session{Agent: cmp.Or(r.agent, "unknown"), Path: place, Started: r.created, Ended: r.created}
	for prompt := range strings.SplitSeq(string(data), promptMark) {
		if prompt = strings.TrimSpace(prompt); prompt != "" {
			s.Turns = append(s.Turns, harvest.Turn{Prompt: h.clean(s, prompt)})
		}
	}
	if len(s.Turns) == 0 {
		return nil
	}
	return s
}

func (h *harvesting) clean(s *harvest.Session, text string) string {
	text, n := harvest.Clean(h.opts.Redactor, text)
	s.Redactions += n
	return text
}

// committed notes which turns the user made commits of. The commits are asked
// for once.
func (h *harvesting) committed(ctx context.Context, s *harvest.Session, records []*record) error {
	if h.commits == nil {
		found, err := commits(ctx, h.repository)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			h.problem(h.repo, err.Error())
			found = map[string]commit{}
		}
		h.commits = found
	}
	for _, r := range slices.Backward(records) { // the oldest first
		c, ok := h.commits[r.checkpoint]
		if !ok {
			continue
		}
		if s.Commit == "" {
			s.Commit = c.parent // what the session began with, as nothing else tells
		}
		if t := turnOf(s, r.turn, r.created); t >= 0 {
			s.Turns[t].Committed = c.id
		}
	}
	return nil
}
