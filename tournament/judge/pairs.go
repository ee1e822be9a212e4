package judge

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Pair is two answers to one case in the order in which they are shown.
type Pair struct {
	Case          *eval.Case
	First, Second *eval.Rollout
	rank          int // what is asked first: see OpenPairs
}

// OpenPairs lists the pairs of a skill without a label, one a case: first the
// cases that a judge alone checks, last those that ask no judge, and of each case the
// answers that the gate, a comparison or else a search has measured side by side. The
// order of the answers, and of pairs of one kind, is random.
func OpenPairs(ctx context.Context, db *store.Store, name string, rng *rand.Rand) ([]Pair, error) {
	cases, err := db.Cases(ctx, name)
	if err != nil {
		return nil, err
	}
	labels, err := db.Labels(ctx, name)
	if err != nil {
		return nil, err
	}
	known := map[[3]string]bool{}
	for _, l := range labels {
		known[[3]string{l.CaseID, l.First, l.Second}], known[[3]string{l.CaseID, l.Second, l.First}] = true, true
	}
	var out []Pair
	for i := range cases {
		c := &cases[i]
		if c.IsTrigger() {
			continue // what is loaded is no matter of taste
		}
		answers, err := db.Answers(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		p, ok := sideBySide(c, answers, known)
		if !ok {
			continue
		}
		if slices.ContainsFunc(c.Checks, func(k eval.Check) bool { return k.Type != eval.Judge }) {
			p.rank += 3
		}
		if !record.Asks(c) {
			p.rank += 3
		}
		if rng.IntN(2) == 1 {
			p.First, p.Second = p.Second, p.First
		}
		out = append(out, p)
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	slices.SortStableFunc(out, func(a, b Pair) int { return a.rank - b.rank })
	return out, nil
}

// sideBySide finds the newest two different answers without a label that two
// texts gave in one arm and trial.
func sideBySide(c *eval.Case, rs []eval.Rollout, known map[[3]string]bool) (Pair, bool) {
	best := Pair{rank: 3}
	for i := range rs {
		for j := range i {
			a, b := &rs[j], &rs[i]
			if a.Arm != b.Arm || a.Trial != b.Trial || a.Candidate == b.Candidate || a.Failure != "" || b.Failure != "" ||
				answerSHA(a) == answerSHA(b) || known[[3]string{c.ID, answerSHA(a), answerSHA(b)}] {
				continue
			}
			rank := 2
			switch {
			case strings.HasPrefix(a.Arm, "gate:"):
				rank = 0
			case a.Arm != "":
				rank = 1
			}
			if rank < best.rank {
				best = Pair{c, a, b, rank}
			}
		}
	}
	return best, best.Case != nil
}

// Same counts the cases to which two texts were asked side by side, and those of them to which
// all answers are the same, so that there is nothing to choose.
func Same(ctx context.Context, db *store.Store, name string) (same, asked int, err error) {
	cases, err := db.Cases(ctx, name)
	if err != nil {
		return 0, 0, err
	}
	for i := range cases {
		answers, err := db.Answers(ctx, cases[i].ID)
		if err != nil {
			return 0, 0, err
		}
		texts, words := map[string]bool{}, map[string]bool{}
		for k := range answers {
			if r := &answers[k]; r.Failure == "" && !cases[i].IsTrigger() {
				texts[r.Candidate], words[answerSHA(r)] = true, true
			}
		}
		if len(texts) > 1 {
			asked++
			if len(words) == 1 {
				same++
			}
		}
	}
	return same, asked, nil
}

// Find returns the pair of two answers to a case by their names; nil if one of them is
// gone, or both are the same.
func Find(ctx context.Context, db *store.Store, c *eval.Case, first, second string) (*Pair, error) {
	answers, err := db.Answers(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	p := &Pair{Case: c, First: answerOf(answers, first), Second: answerOf(answers, second)}
	if p.First == nil || p.Second == nil || first == second {
		return nil, nil
	}
	return p, nil
}

// Names are the names of the two answers.
func (p *Pair) Names() (first, second string) { return answerSHA(p.First), answerSHA(p.Second) }

// Works are what was done for the two answers, for a reader: of both, or of neither.
func (p *Pair) Works() (first, second string) {
	if p.First.Work == nil || p.Second.Work == nil {
		return "", ""
	}
	return p.First.Work.Text(), p.Second.Work.Text()
}

// answerSHA names an answer. The same words are another answer if something else was done.
func answerSHA(r *eval.Rollout) string {
	text := r.Answer
	if w := r.Work; w != nil && len(w.Files)+len(w.Steps) > 0 {
		text += "\x00" + w.Text()
	}
	return skill.HashText([]byte(text))
}

// Keep records which of the two answers the owner prefers: as a label, and as
// the outcome of that case in the gate.
func (p *Pair) Keep(ctx context.Context, db *store.Store, name string, said store.Choice) error {
	first, second := p.Names()
	return db.SaveLabel(ctx, store.Label{Skill: name, CaseID: p.Case.ID, First: first, Second: second, Choice: said})
}

// answerOf finds the newest of the rollouts with that answer.
func answerOf(rs []eval.Rollout, sha string) *eval.Rollout {
	for i := range rs {
		if answerSHA(&rs[i]) == sha {
			return &rs[i]
		}
	}
	return nil
}
