package checking

import (
	"context"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/hook/settings"
	"github.com/skill-evolve/evolve/mutate/second"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/status"
)

// examine finds the text, and says what is known of it without trying it. text is nil if that
// is the answer.
func (p Parts) examine(ctx context.Context, r *campaign.Runner, name string, from Source, dry bool) (text []byte, err error) {
	there, err := p.Layout().Live(name)
	if err != nil {
		return nil, err
	}
	live, err := ground(ctx, r, there)
	if err != nil {
		return nil, err
	}
	if text, err = from.Text(ctx, live, p.Terminal.Stdin); err != nil {
		return nil, err
	}
	if live.Doc.Hash() == skill.HashText(text) {
		return nil, p.tell(live, "same", fmt.Sprintf("%s: %s is the live text: there is nothing to try, and nothing was spent", name, from.Name()))
	}
	next, err := skill.Parse(text, live.Doc.Options())
	if err != nil {
		return nil, problem.Inputf("agents would not load it", "%s: %v", from.Name(), err)
	}
	db, err := p.Store(ctx)
	if err != nil {
		return nil, err
	}
	if on := there.Doc.Hash(); on != live.Doc.Hash() && on != next.Hash() {
		return nil, problem.Refusef(fmt.Sprintf("`evolve rollback %s` takes it back, `evolve promote %[1]s` keeps it", name), "%s has a trial install, and nothing else is tried meanwhile", name)
	}
	if err := p.firewall(ctx, r, db, live, next, dry); err != nil {
		return nil, err
	}
	t, err := candidate.TrialOf(ctx, db, live, next.Hash())
	if err != nil {
		return nil, err
	}
	if t != nil && !t.IsOpen() {
		d, err := t.Evidence()
		if err != nil {
			return nil, err
		}
		then, err := nextAfter(ctx, db, live, t.Challenger, d.Verdict)
		if err != nil {
			return nil, err
		}
		answer := pareto.Answer(d.Verdict, d.Route)
		return nil, p.tell(live, answer, fmt.Sprintf("%s: %.12s was tried before: %s\n  because      %s\n  next         %s", name, t.Challenger, answer, d.Reason, then))
	}
	return text, nil
}

// ground is the text that others are tried against: during a trial install the one before it.
func ground(ctx context.Context, r *campaign.Runner, live *skill.Live) (*skill.Live, error) {
	db, err := r.Existing(ctx)
	if db == nil || err != nil {
		return live, err
	}
	return trying.Ground(ctx, db, live)
}

// tell prints an answer that needed no run.
func (p Parts) tell(live *skill.Live, answer, words string) error {
	return p.Terminal.Print(struct {
		Schema int    `json:"schema"`
		Skill  string `json:"skill"`
		Answer string `json:"answer"`
	}{1, live.Name, answer}, words+"\n")
}

// firewall refuses a text that may not be tried: the locked lines first.
func (p Parts) firewall(ctx context.Context, r *campaign.Runner, db *store.Store, live *skill.Live, next *skill.Document, dry bool) error {
	said, err := db.Decisions(ctx, live.Name)
	if err != nil {
		return err
	}
	word := said[next.Hash()]
	if word.Word == store.Rejected {
		return problem.Refusef(fmt.Sprintf("`evolve approve %s@%.12s` takes that back", live.Name, next.Hash()), "you have rejected this text: nothing was spent")
	}
	var held []check.Finding
	for _, f := range check.Check(live.Doc, next, check.ClaudeCode) {
		switch {
		case f.Severity == check.Reject && f.Rule == "kernel-changed":
			return problem.Refusef("evolve never changes locked lines: change them in the file yourself, and leave them out of what is tried", "%s: nothing was spent", f.Reason)
		case f.Severity == check.Reject:
			return problem.Refusef("mend it first", "%s (%s): nothing was spent", placed(f), f.Rule)
		case f.Severity == check.Quarantine && !(word.Word == store.Approved && slices.Contains(word.Rules, f.Rule)):
			held = append(held, f)
		}
	}
	if len(held) == 0 {
		c, err := candidate.Of(ctx, db, live.Name, next.Hash())
		if err == nil && c != nil && c.Flagged && c.Rule == second.Rule && word.Word != store.Approved {
			return holds(live.Name, c.SHA, c.Reason+": it was not run, and nothing was spent")
		}
		return err
	}
	for _, f := range held {
		p.Terminal.Say("  %s (%s)", placed(f), f.Rule)
	}
	hint := ""
	if !dry {
		if err := r.Quarantine(ctx, db, live, next.Render(), held[0].Rule, held[0].String()); err != nil {
			return err
		}
		out, err := p.Outbox()
		if err != nil {
			return err
		}
		if err := out.Guard(ctx, db, live.Name); err != nil { // agents load no text that is in quarantine
			return err
		}
		hint = approves(live.Name, next.Hash())
	}
	return problem.Refusef(hint, "the text asks for more than %s does (%s): it was not run, and nothing was spent", skill.Called(live.Name), plain.Counted(len(held), "finding"))
}

// Held ends a check whose text the second reader holds.
func Held(ctx context.Context, t *term.Terminal, open func(context.Context) (*store.Store, error), outbox func() (*settings.Outbox, error), name string, h *campaign.HeldError) error {
	db, err := open(ctx)
	if err != nil {
		return err
	}
	out, err := outbox()
	if err != nil {
		return err
	}
	if err := out.Guard(ctx, db, name); err != nil {
		return err
	}
	t.Say("spent: %s", status.Spent(h.Spent))
	return holds(name, h.SHA, h.Reason+": it was not run")
}

func holds(name, sha, why string) error {
	return problem.Refusef(approves(name, sha), "%.12s is held: %s", sha, why)
}

func approves(name, sha string) string {
	return fmt.Sprintf("`evolve approve %s@%s` shows it and lets it be tried; then the same command tries it", name, plain.Short(sha))
}

// placed is a finding with its line.
func placed(f check.Finding) string {
	if f.Line == 0 {
		return f.Reason
	}
	return fmt.Sprintf("line %d: %s", f.Line, f.Reason)
}
