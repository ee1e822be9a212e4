package harvest

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/redact"
)

//go:embed prompts/label_system.txt
var labelSystem string

const (
	labelBatch      = 6   // uses in one call
	labelTokens     = 150 // of the reply, for each of them
	maxLabelQuote   = 800 // characters of one recorded text
	modelConfidence = .7  // of a label by a model
	byModel         = "model"
)

// A Labeller has a model read the replies that the lexicon cannot: those in other
// languages, and those too long for a single word to prove anything. The zero value
// calls no model.
type Labeller struct {
	Model    eval.Model      // nil: only remembered replies are used
	Memory   Memory          // nil: nothing is remembered between runs
	Redactor redact.Redactor // for prompts and replies; nil: redact.Detector
	// Save stores a session after a label changed; nil: the caller does.
	Save func(context.Context, *Session) error
}

// LabelStats counts what a Labeller did.
type LabelStats struct {
	LabelCalls int `json:"label_calls,omitempty"` // to the model
	Labelled   int `json:"labelled,omitempty"`    // uses that it could label, now or in an earlier run
	// LabelsUnusable counts the uses for which the model's reply, now or in an earlier
	// run, could not be used: not the requested JSON, or evidence that is not in the
	// user's words.
	LabelsUnusable int `json:"labels_unusable,omitempty"`
}

// Label labels the uses of a skill that Assess left unknown, in place. A label is
// accepted only with evidence that occurs in the user's own words. If the model fails,
// nothing is labelled, and it is asked again next time; its replies, usable or not, are
// remembered. The error is *eval.BudgetError, ctx's, Memory's or Save's; labels set
// before it are kept.
func (l *Labeller) Label(ctx context.Context, sessions []*Session, skill string) (LabelStats, error) {
	var stats LabelStats
	if l.Redactor == nil {
		l.Redactor = redact.Detector{}
	}
	var open []*question
	for _, s := range sessions {
		for _, q := range questions(s, skill) {
			known, err := l.recall(ctx, q)
			if err != nil {
				return stats, err
			}
			if known == nil {
				open = append(open, q)
				continue
			}
			if err := l.settle(ctx, q, *known, &stats); err != nil {
				return stats, err
			}
		}
	}
	if l.Model == nil {
		return stats, nil
	}
	for batch := range slices.Chunk(open, labelBatch) {
		read, err := l.ask(ctx, batch, &stats)
		if err != nil {
			return stats, err
		}
		for i, r := range read {
			if err := l.remember(ctx, batch[i], r); err != nil {
				return stats, err
			}
			if err := l.settle(ctx, batch[i], r, &stats); err != nil {
				return stats, err
			}
		}
	}
	return stats, nil
}

// A question is one use that the model is asked about.
type question struct {
	s       *Session
	uses    []int // indexes of the skill's invocations in that turn
	turns   []int // of the replies
	Request string
	Answer  string
	Replies []string
}

// questions are the uses of skill in s whose replies a model should read.
func questions(s *Session, skill string) []*question {
	var out []*question
	for i, v := range s.Invocations {
		if v.Skill != skill || v.Failed || v.Planned() || v.Turn < 0 || v.Turn >= len(s.Turns) || s.Subagent != "" {
			continue
		}
		if n := len(out); n > 0 && s.Invocations[out[n-1].uses[0]].Turn == v.Turn {
			out[n-1].uses = append(out[n-1].uses, i)
			continue
		}
		v.Feedback.By = "" // as if no model had been asked yet
		if f := assess(s, v).Feedback; f.Label != Unknown && f.Label != Abandoned {
			continue
		}
		q := &question{s: s, uses: []int{i}, turns: replyTurns(s, v)}
		if !slices.ContainsFunc(q.turns, func(t int) bool { return opaque(s.own(t)) }) {
			continue
		}
		q.Request, q.Answer = head(unpasted(s.Turns[v.Turn].Prompt), maxLabelQuote), tail(s.Turns[v.Turn].Answer, maxLabelQuote)
		for _, t := range q.turns {
			q.Replies = append(q.Replies, head(unpasted(s.Turns[t].Prompt), maxLabelQuote))
		}
		out = append(out, q)
	}
	return out
}

// replyTurns are the turns that may be about the use v: up to the next use of the
// skill, whose arguments count too, or up to a turn that is about another subject in
// plain English.
func replyTurns(s *Session, v Invocation) []int {
	var out []int
	for t := v.Turn + 1; t < len(s.Turns) && t <= v.Turn+horizon; t++ {
		if own := s.own(t); !opaque(own) && !s.continues(t, own) {
			break
		}
		out = append(out, t)
		if uses(s, t, v.Skill) {
			break
		}
	}
	return out
}

// key identifies a question, so that it is not asked twice.
func (q *question) key() string {
	data, err := json.Marshal([]any{"label/1", labelSystem, q.s.Agent, q.s.ID, q.Request, q.Answer, q.Replies})
	if err != nil {
		panic(err) // strings can be marshalled
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// A judgement is the model's answer about one use, as it is remembered.
type judgement struct {
	Use      int    `json:"use"` // from 1
	Label    Label  `json:"label"`
	Reply    int    `json:"reply,omitempty"` // from 1
	Evidence string `json:"evidence,omitempty"`
}

// unusable replaces an answer that cannot be used. (No reply of the model's has this
// label.)
var unusable = judgement{Label: "unusable"}

func (l *Labeller) recall(ctx context.Context, q *question) (*judgement, error) {
	if l.Memory == nil {
		return nil, nil
	}
	data, err := l.Memory.Recall(ctx, q.key())
	if err != nil || data == nil {
		return nil, err
	}
	var r judgement
	if json.Unmarshal(data, &r) != nil {
		return nil, nil // of another version: ask
	}
	return &r, nil
}

func (l *Labeller) remember(ctx context.Context, q *question, r judgement) error {
	if l.Memory == nil {
		return nil
	}
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("remember a label: %w", err)
	}
	// The call is paid for, so its result is stored even if the run was interrupted.
	return l.Memory.Remember(context.WithoutCancel(ctx), q.s.ID, q.key(), data)
}

// settle writes a judgement into the session.
func (l *Labeller) settle(ctx context.Context, q *question, r judgement, stats *LabelStats) error {
	if r.Label == unusable.Label {
		stats.LabelsUnusable++
	}
	f, ok := q.feedback(r)
	if !ok {
		return nil
	}
	stats.Labelled++
	changed := false
	for _, i := range q.uses {
		v := &q.s.Invocations[i]
		changed = changed || v.Feedback != f
		v.Feedback = f
	}
	if changed && l.Save != nil {
		return l.Save(context.WithoutCancel(ctx), q.s)
	}
	return nil
}

// feedback is r as Feedback. ok is false if r has no usable label.
func (q *question) feedback(r judgement) (f Feedback, ok bool) {
	if r.Reply < 1 || r.Reply > len(q.turns) {
		return f, false
	}
	f = Feedback{Label: r.Label, Confidence: modelConfidence, Evidence: r.Evidence, Turn: q.turns[r.Reply-1], By: byModel}
	return f, f.stands(q.s, q.s.Invocations[q.uses[0]])
}

// stands reports whether the session supports a model's label of the use v: the quoted
// words are there, in a turn that may be about the use.
func (f Feedback) stands(s *Session, v Invocation) bool {
	switch f.Label {
	case Corrected, Accepted, Rejected, Repeated:
		return f.Turn > v.Turn && f.Turn <= v.Turn+horizon && f.Turn < len(s.Turns) &&
			strings.TrimSpace(f.Evidence) != "" && strings.Contains(s.own(f.Turn), f.Evidence)
	}
	return false
}

// take makes f, which the session supports, the outcome.
func (out *outcome) take(s *Session, v Invocation, f Feedback) {
	out.Feedback = f
	switch f.Label {
	case Corrected:
		out.corrections = []int{f.Turn}
	case Accepted:
		out.accepted, out.final = f.Turn, lastAnswer(s, v.Turn, f.Turn)
	}
}

// ask has the model read a batch. It returns one judgement per question, or none if the
// model failed.
func (l *Labeller) ask(ctx context.Context, batch []*question, stats *LabelStats) ([]judgement, error) {
	type use struct {
		Use     int      `json:"use"`
		Request string   `json:"request"`
		Answer  string   `json:"answer"`
		Replies []string `json:"replies"`
	}
	var shown struct {
		Uses []use `json:"uses"`
	}
	for i, q := range batch {
		shown.Uses = append(shown.Uses, use{i + 1, q.Request, q.Answer, q.Replies})
	}
	user, err := quote(labelOrigins, shown, l.Redactor)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(user))
	stats.LabelCalls++
	reply, err := l.Model.Complete(ctx, eval.Prompt{System: labelSystem, User: user, MaxTokens: labelTokens * (len(batch) + 1),
		Seed: int64(binary.BigEndian.Uint64(sum[:]) >> 1)})
	if err != nil {
		if _, spent := errors.AsType[*eval.BudgetError](err); spent {
			return nil, err
		}
		return nil, ctx.Err()
	}
	text, _ := l.Redactor.Redact(reply.Text)
	read := slices.Repeat([]judgement{unusable}, len(batch))
	labels, err := parseLabels(text, len(batch))
	if reply.Finish == "length" || err != nil {
		return read, nil
	}
	for _, r := range labels {
		if _, ok := batch[r.Use-1].feedback(r); ok || r.Label == Unknown {
			read[r.Use-1] = r
		}
	}
	return read, nil
}
