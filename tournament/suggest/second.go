package suggest

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/second"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/replies"
	"github.com/skill-evolve/evolve/tournament/record"
)

// secondTokens are those of the second reader's instructions and reply.
const secondTokens = 1500

// readTwice reports whether a suggestion is read by a second reader: by the model that wrote it,
// in a call of its own, because nobody else is asked.
func (s *Suggestion) readTwice() bool {
	return !s.back.Mutator.Identity().Simulated && second.Needed(s.live.Doc)
}

// secondBytes is how much text the second reader gets.
func (s *Suggestion) secondBytes() int64 {
	if !s.readTwice() {
		return 0
	}
	return 4 * int64(secondTokens+2*s.live.Doc.Tokens())
}

// second asks the second reader about a suggestion that the patterns let pass. One that it holds
// waits for its owner. One that was not read has the rule on its record, so that no run and no
// night installs it: it is paid for, and its owner decides.
func (s *Suggestion) second(ctx context.Context, db *store.Store, c *record.Candidate, doc *skill.Document, budget *eval.Budget) {
	if c.State != record.Pooled || !s.readTwice() {
		return
	}
	reader := &second.Reader{Model: second.Recalled{
		Metered:   &eval.Metered{Model: second.Bounded{Model: s.back.Mutator}, By: eval.ByMutator, Budget: budget, Recorder: db.Journal(c.Run), Redactor: s.back.Redactor, WallClock: s.options.WallClock},
		Elsewhere: func(ctx context.Context, key string) (*eval.Completion, error) { return replies.To(ctx, db, key) },
	}}
	v, err := reader.Read(ctx, s.live.Doc, doc)
	if err != nil {
		v.Unread = plain.Line(err.Error())
	}
	if v.Reason() == "" {
		return
	}
	c.Rule, c.Reason = second.Rule, v.Reason()
	if v.Unread == "" {
		c.State = record.Quarantined
	}
}

// Unread reports whether the second reader was asked, and gave no answer that can be used.
func (m *Made) Unread() bool { return m.State == record.Pooled && m.Rule == second.Rule }

// MayRun reports whether a suggestion may be answered with: it is neither unfit nor held, or its
// owner has approved what it is held for.
func (s *Suggestion) MayRun(ctx context.Context, m *Made) (bool, error) {
	if m.State != record.Quarantined {
		return m.State != record.Invalid, nil
	}
	db, err := s.runner.Store(ctx)
	if err != nil {
		return false, err
	}
	said, err := db.Decisions(ctx, s.options.Skill)
	return said[m.SHA].Word == store.Approved, err
}
