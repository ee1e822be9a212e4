package main

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/report/serve"
	"github.com/skill-evolve/evolve/tournament/status"
)

// planWord is what approve and reject would do.
func (c *served) planWord(ctx context.Context, db *store.Store, p *serve.Plan) error {
	word := wordOf(p.Act)
	k, err := approvalDesk(c.global, db)
	if err != nil {
		return err
	}
	d, err := k.Find(ctx, p.Skill+"@"+p.At, word)
	if err != nil {
		return err
	}
	p.At, p.Diff, p.Findings, p.Taught = d.Candidate.SHA, d.Result.Diff, d.Result.Findings, d.Result.Taught
	p.Evidence = []serve.Fact{{Name: "stands", Text: d.Words}, {Name: "made in", Text: "run " + d.Candidate.Run}}
	if d.Candidate.Trial != nil {
		if p.Evidence, err = evidenceFacts(p.Evidence, d.Candidate.Trial); err != nil {
			return err
		}
	}
	if d.Result.IncumbentChanged {
		p.Evidence = append(p.Evidence, serve.Fact{Name: "note", Text: fmt.Sprintf("it was made from %s, and the live text has changed since: the diff is against the live text", plain.Short(d.Result.Incumbent))})
	}
	name := p.Skill + "@" + plain.Short(p.At)
	switch {
	case d.Done:
		p.Will = []string{"Nothing: that was your word already."}
	case p.Act == serve.Approve:
		p.Will = []string{fmt.Sprintf("The next `evolve --skill %s` starts its search with this candidate beside the live text; it has to prove itself like any other.", p.Skill),
			"Nothing is installed by this. That the firewall flagged it stays on record: nothing but your own promotion ever installs it.",
			fmt.Sprintf("`evolve reject %s` takes it back.", name)}
	default:
		p.Will = []string{"No later run proposes this text again. The live text stays as it is.", fmt.Sprintf("`evolve approve %s` takes it back.", name)}
	}
	return nil
}

// decided gives the owner's word, and says what follows from it.
func (c *served) decided(ctx context.Context, arg string, word store.Word) (*serve.Done, error) {
	k, err := approvalDesk(c.global, c.open.db)
	if err != nil {
		return nil, c.told(err)
	}
	d, err := k.Find(ctx, arg, word)
	if err == nil {
		err = k.Keep(ctx, d)
	}
	if err != nil {
		return nil, c.told(err)
	}
	return c.done(fmt.Sprintf("%s: %s@%s\nnext: %s", d.Result.State, d.Result.Skill, plain.Short(d.Result.SHA), d.Result.Next), nil)
}

// evidenceFacts adds what a trial has shown.
func evidenceFacts(to []serve.Fact, t *tournament.TrialRecord) ([]serve.Fact, error) {
	if t.Decision == candidate.NeverTried {
		return append(to, serve.Fact{Name: "evidence", Text: "none: it never came before the gate"}), nil
	}
	d, err := t.Evidence()
	if err != nil {
		return nil, err
	}
	return append(to, serve.Fact{Name: "evidence", Text: status.EvidenceFrom(d).Phrase()}, serve.Fact{Name: "verdict", Text: string(d.Verdict) + ": " + d.Reason}), nil
}

// wordOf is what an act says of a candidate.
func wordOf(act serve.Act) store.Word {
	if act == serve.Approve {
		return store.Approved
	}
	return store.Rejected
}
