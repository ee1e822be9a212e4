// Package reading has a model read what users said about an agent's work, moment by
// moment.
package reading

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/fenced"
	"github.com/skill-evolve/evolve/harvest/redact"
)

//go:embed prompts/system.txt
var system string

const (
	batch       = 12  // moments in one call
	replyTokens = 180 // of the reply, for each of them
	maxWords    = 200 // characters of a quotation
	maxRule     = 20  // words
	byModel     = "model"
)

// A Reader fills harvest.Turn.Reading. The zero value calls no model.
type Reader struct {
	Model    eval.Model      // nil: only remembered replies are used
	Memory   harvest.Memory  // nil: nothing is remembered between runs
	Redactor redact.Redactor // for prompts and replies; nil: redact.Detector
	// May reports whether Model may be shown a session; nil: every one.
	May func(*harvest.Session) bool
	// Of reports whether a turn is wanted; nil: every one.
	Of func(s *harvest.Session, turn int) bool
	// Headless: also sessions that a program drove.
	Headless bool
	// Save stores a session after a reading changed; nil: the caller does.
	Save func(context.Context, *harvest.Session) error
}

// Stats counts what a Reader did. Each moment is Read, Void or Unread.
type Stats struct {
	Turns   int `json:"turns"`   // of people
	Moments int `json:"moments"` // turns behind which the user wrote something
	Read    int `json:"read"`    // now or in an earlier run
	Void    int `json:"void"`    // the reply was not as requested, or its words are not there
	Unread  int `json:"unread"`
	Calls   int `json:"calls"` // to the model; not those that wait for their answer
}

// Read reads the moments of sessions, in place: first those that a cue of the lexicon or
// the use of a skill makes likely to count, then the newest. A reading is accepted only
// if its words occur in what the person wrote in that moment. If the model fails, it is
// asked again next time; its replies, usable or not, are remembered. The error is
// *eval.BudgetError, ctx's, Memory's or Save's; readings before it are kept.
func (r *Reader) Read(ctx context.Context, sessions []*harvest.Session) (stats Stats, err error) {
	if r.Redactor == nil {
		r.Redactor = redact.Detector{}
	}
	var open []*moment
	copies := map[string][]*moment{} // by key: of a session that is in several files, one is read
	for _, s := range sessions {
		if s.Headless && !r.Headless {
			continue
		}
		if s.Subagent == "" {
			stats.Turns += len(s.Turns)
		}
		for _, m := range moments(s) {
			if r.Of != nil && !r.Of(s, m.turn) {
				continue
			}
			stats.Moments++
			if lesson, ok := remembered(s, m.turn); ok {
				if err := r.set(ctx, m, lesson, &stats); err != nil {
					return stats, err
				}
				continue
			}
			known, err := r.recall(ctx, m)
			if err != nil {
				return stats, err
			}
			if known == nil {
				if copies[m.key()] = append(copies[m.key()], m); len(copies[m.key()]) == 1 {
					open = append(open, m)
				}
			} else if err := r.settle(ctx, m, *known, &stats); err != nil {
				return stats, err
			}
		}
	}
	for _, same := range copies {
		stats.Unread += len(same)
	}
	if r.Model == nil {
		return stats, nil
	}
	open = slices.DeleteFunc(open, func(m *moment) bool { return r.May != nil && !r.May(m.s) })
	order(open)
	for some := range slices.Chunk(open, batch) {
		read, err := r.ask(ctx, some, &stats)
		if err != nil {
			return stats, err
		}
		for m, a := range read {
			if err := r.remember(ctx, m, a); err != nil {
				return stats, err
			}
			for _, m := range copies[m.key()] {
				stats.Unread--
				if err := r.settle(ctx, m, a, &stats); err != nil {
					return stats, err
				}
			}
		}
	}
	return stats, nil
}

// Uses reads what users said about the uses of a skill, and about what they made of each
// correction.
func (r Reader) Uses(ctx context.Context, sessions []*harvest.Session, skill string) (Stats, error) {
	return r.Chosen(ctx, sessions, func(s *harvest.Session, turn int) bool {
		return slices.ContainsFunc(s.Invocations, func(v harvest.Invocation) bool {
			return v.Skill == skill && v.Turn == turn && v.Used()
		})
	})
}

// Chosen reads what users said about some turns, and about what the agent made of each
// correction of one.
func (r Reader) Chosen(ctx context.Context, sessions []*harvest.Session, chosen func(s *harvest.Session, turn int) bool) (stats Stats, err error) {
	corrected := func(s *harvest.Session, turn int) bool {
		for t := turn - harvest.Horizon; t < turn; t++ {
			if t >= 0 && s.Turns[t].Reading != nil && s.Turns[t].Reading.Label == harvest.Corrected && s.Turns[t].Reading.Reply == turn {
				return true
			}
		}
		return false
	}
	of := chosen
	for range 2 { // the turns, and the answers to their corrections
		r.Of = of
		more, err := r.Read(ctx, sessions)
		stats = stats.Plus(more)
		if err != nil {
			return stats, err
		}
		of = func(s *harvest.Session, turn int) bool { return !chosen(s, turn) && corrected(s, turn) }
	}
	return stats, nil
}

// Plus adds what another Read of the same sessions did.
func (s Stats) Plus(o Stats) Stats {
	return Stats{max(s.Turns, o.Turns), s.Moments + o.Moments, s.Read + o.Read, s.Void + o.Void, s.Unread + o.Unread, s.Calls + o.Calls}
}

// order puts first what is likely to count.
func order(open []*moment) {
	rank := func(m *moment) (n int) {
		for _, own := range m.own {
			if harvest.Classify(own).Label != harvest.Unknown {
				n = 1
				break
			}
		}
		if slices.ContainsFunc(m.s.Invocations, func(v harvest.Invocation) bool { return v.Turn == m.turn && v.Used() }) {
			n += 2
		}
		return n
	}
	ranks := map[*moment]int{}
	for _, m := range open {
		ranks[m] = rank(m)
	}
	slices.SortStableFunc(open, func(a, b *moment) int {
		if d := ranks[b] - ranks[a]; d != 0 {
			return d
		}
		return b.s.Started.Compare(a.s.Started)
	})
}

// An answer is what the model replied about one moment, as it is remembered.
type answer struct {
	ID         string        `json:"id,omitempty"`
	Says       string        `json:"says,omitempty"` // has the model think before it decides; not kept
	Label      harvest.Label `json:"label"`
	Words      string        `json:"words,omitempty"`
	Concerns   string        `json:"concerns,omitempty"`
	Rule       string        `json:"rule,omitempty"`
	Replayable string        `json:"replayable,omitempty"`
}

// void replaces an answer that cannot be used. (No answer of the model's has this label.)
var void = answer{Label: "void"}

func (r *Reader) recall(ctx context.Context, m *moment) (*answer, error) {
	if r.Memory == nil {
		return nil, nil
	}
	data, err := r.Memory.Recall(ctx, m.key())
	if err != nil || data == nil {
		return nil, err
	}
	var a answer
	if json.Unmarshal(data, &a) != nil {
		return nil, nil // of another version: ask
	}
	return &a, nil
}

func (r *Reader) remember(ctx context.Context, m *moment, a answer) error {
	if r.Memory == nil {
		return nil
	}
	a.ID, a.Says = "", ""
	data, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("remember a reading: %w", err)
	}
	// The call is paid for, so its result is stored even if the run was interrupted.
	return r.Memory.Remember(context.WithoutCancel(ctx), m.s.ID, m.key(), data)
}

// settle writes an answer into the session.
func (r *Reader) settle(ctx context.Context, m *moment, a answer, stats *Stats) error {
	read, ok := m.reading(a)
	if !ok {
		stats.Void++
		return nil
	}
	return r.set(ctx, m, read, stats)
}

// set keeps the reading of a moment.
func (r *Reader) set(ctx context.Context, m *moment, read harvest.Reading, stats *Stats) error {
	stats.Read++
	turn := &m.s.Turns[m.turn]
	if turn.Reading != nil && *turn.Reading == read {
		return nil
	}
	turn.Reading = &read
	harvest.Assess(m.s)
	if r.Save != nil {
		return r.Save(context.WithoutCancel(ctx), m.s)
	}
	return nil
}

// reading is a as a Reading. ok is false if it cannot be used. What is wrong with the rule
// loses the rule.
func (m *moment) reading(a answer) (out harvest.Reading, ok bool) {
	out = harvest.Reading{Label: a.Label, Replayable: a.Replayable, By: byModel}
	if !slices.Contains([]string{"yes", "no", "unclear"}, a.Replayable) {
		return out, false
	}
	switch a.Label {
	case harvest.Unknown:
		return out, true
	case harvest.Accepted, harvest.Corrected, harvest.Rejected, harvest.Repeated:
	default:
		return out, false
	}
	words := squeeze(a.Words)
	i := slices.IndexFunc(m.own, func(own string) bool { return harvest.Quotes(own, words) })
	if i < 0 || len([]rune(words)) > maxWords {
		return out, false
	}
	out.Words, out.Reply = words, m.replies[i]
	if a.Label != harvest.Corrected {
		return out, true
	}
	if out.Rule = squeeze(a.Rule); len(strings.Fields(out.Rule)) > maxRule {
		out.Rule = ""
	}
	if name, isSkill := strings.CutPrefix(a.Concerns, "skill:"); out.Rule != "" && (a.Concerns == "standing" || isSkill && slices.Contains(m.seen.Skills, name)) {
		out.Concerns = a.Concerns
	}
	return out, true
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

// ask has the model read some moments. It returns an answer for each of them, or none if
// the model failed.
func (r *Reader) ask(ctx context.Context, some []*moment, stats *Stats) (map[*moment]answer, error) {
	user, err := r.prompt(some)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(user))
	stats.Calls++
	got, err := r.Model.Complete(ctx, eval.Prompt{System: system, User: user, MaxTokens: replyTokens * (len(some) + 1),
		Seed: int64(binary.BigEndian.Uint64(sum[:]) >> 1)})
	if err != nil {
		if _, spent := errors.AsType[*eval.BudgetError](err); spent {
			stats.Calls-- // nothing was sent
			return nil, err
		}
		if eval.IsPending(err) {
			stats.Calls-- // the command that gets the answer counts it
		}
		return nil, ctx.Err()
	}
	text, _ := r.Redactor.Redact(got.Text)
	out := map[*moment]answer{}
	answers := map[string]answer{}
	if got.Finish != "length" {
		answers = parse(text)
	}
	for _, m := range some {
		a, ok := answers[m.id]
		if _, usable := m.reading(a); !ok || !usable {
			a = void
		}
		out[m] = a
	}
	return out, nil
}

// prompt shows each moment behind a line of ours with its id.
func (r *Reader) prompt(some []*moment) (string, error) {
	var b strings.Builder
	b.WriteString("Recorded (origin of request and said: user; of pasted: unknown, the user copied it or a program put it there; of answer and answer_before: assistant, which may repeat tools and web pages):\n")
	for _, m := range some {
		text, err := harvest.Quote("moment "+m.id+"\n", m.seen, r.Redactor)
		if err != nil {
			return "", err
		}
		b.WriteString("\n" + text + "\n")
	}
	return b.String(), nil
}

// parse reads the answers in a reply, by id.
func parse(text string) map[string]answer {
	return fenced.Entries(text, "moments", func(a answer) string { return a.ID })
}
