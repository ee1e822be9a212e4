package projects

import (
	"context"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir/policy"
	"github.com/spf13/pflag"
)

// A Choice is what flags say on what is kept of agents' work.
type Choice struct {
	moments string // a level, from now on; "": as it is
	again   bool   // transcripts that were read before are read once more
}

// Flags adds the flags of a Choice.
func (c *Choice) Flags(f *pflag.FlagSet) {
	f.StringVar(&c.moments, "moments", "", "from now on keep this `LEVEL` of what agents do: "+strings.Join(work.Levels, ", "))
	f.BoolVar(&c.again, "again", false, "read sessions that were read before once more, if their transcripts still exist")
}

// Moments is how much of agents' work a harvest keeps. If its owner has not chosen, a new
// data folder keeps all; of one that has sessions they are asked once, and until there is
// an answer nothing is kept. again: transcripts that were read before are to be read once
// more. db may be nil.
func (d *Desk) Moments(ctx context.Context, db *store.Store) (l work.Level, again bool, err error) {
	again = d.Choice.again
	l, open, err := d.kept(ctx, db)
	if err != nil || d.Demo {
		return l, again, err
	}
	all, file, err := d.decisions()
	if err != nil || !all.Asked() {
		return l, again, err // nothing is read
	}
	switch chosen, err := d.choice(); {
	case err != nil:
		return l, again, err
	case chosen != nil:
		return *chosen, again, keep(file, *chosen)
	case open && (!term.IsTerminal(d.Stdin) || !term.IsTerminal(d.Stderr) || d.Typist != nil):
		d.Say("harvest: what agents do is not kept until you choose: `evolve harvest --moments all`, or commands, or off")
		return work.Off, again, nil
	case open:
		answer, more, err := d.askMoments()
		if answer == nil || err != nil {
			return work.Off, again, err
		}
		return d.lowered(*answer), again || more, keep(file, *answer)
	case all.Moments == nil && l == work.All: // of a new folder: later nobody is asked
		return l, again, keep(file, l)
	}
	return l, again, nil
}

// keep notes what the owner has chosen.
func keep(file string, l work.Level) error {
	return consent.Update(file, func(all *consent.Decisions) error { all.Moments = &l; return nil })
}

// kept is how much is kept now; open: the owner has to be asked.
func (d *Desk) kept(ctx context.Context, db *store.Store) (l work.Level, open bool, err error) {
	conf, err := d.Config()
	if err != nil {
		return l, false, err
	}
	all, _, err := d.decisions()
	if err != nil {
		return l, false, err
	}
	switch l = work.All; {
	case conf.Moments != nil:
		l = *conf.Moments
	case d.Demo:
	case all.Moments != nil:
		l = *all.Moments
	case db != nil:
		had, err := db.Sessions(ctx, store.SessionFilter{Bare: true, Limit: 1})
		if open = len(had) > 0; err != nil {
			return l, false, err
		}
	}
	if l = d.lowered(l); open {
		open, l = l > work.Off, work.Off
	}
	return l, open, nil
}

// lowered is a level as far as the machine's policy allows it.
func (d *Desk) lowered(l work.Level) work.Level {
	limits, err := d.limits()
	if p := limits.policy; err != nil {
		l = work.Off
	} else if p != nil && p.Moments != nil {
		l = min(l, *p.Moments)
	}
	return l
}

// choice is the level that Choice names, nil if there is none.
func (d *Desk) choice() (*work.Level, error) {
	if d.Choice.moments == "" {
		return nil, nil
	}
	var l work.Level
	if err := l.UnmarshalText([]byte(d.Choice.moments)); err != nil {
		return nil, problem.Inputf("for example --moments "+work.All.String(), "--%v", err)
	}
	if conf, err := d.Config(); err != nil {
		return nil, err
	} else if conf.Moments != nil && *conf.Moments != l {
		return nil, problem.Inputf("change it there", "config.yaml says moments: %s", *conf.Moments)
	}
	if most := d.lowered(l); most != l {
		return nil, policy.Refuse("it allows --moments %s at most", most)
	}
	return &l, nil
}

// momentsQuestion asks an owner of older sessions.
const momentsQuestion = `May evolve keep what agents do, so that checks can judge the work itself?
Commands with exit status, changed lines, refusals: redacted, nothing of ignored
or secret-named files, gone with the text. Later: evolve harvest --moments LEVEL
`

const momentsChoices = "a: all, old sessions too  n: new ones  c: commands  o: off  Your answer: "

// askMoments asks the owner; the answer is nil if there is none.
func (d *Desk) askMoments() (l *work.Level, again bool, err error) {
	for question := momentsQuestion + momentsChoices; ; {
		answer, ok, err := d.Ask(plain.Fold(question, term.Columns(d.Stderr)))
		if err != nil || !ok {
			return nil, false, err
		}
		levels := map[string]work.Level{"a": work.All, "n": work.All, "c": work.Commands, "o": work.Off}
		answer = strings.ToLower(strings.TrimSpace(answer))
		if l, ok := levels[answer]; ok {
			return &l, answer == "a", nil
		}
		question = fmt.Sprintf("%q is none of the answers.\n", plain.Line(answer)) + momentsChoices
	}
}

// Keeps says how much is kept of what agents do.
func (d *Desk) Keeps(ctx context.Context, db *store.Store) (string, error) {
	l, open, err := d.kept(ctx, db)
	words := map[work.Level]string{
		work.Off:      "nothing of what agents do but the names of their tools",
		work.Commands: "commands that agents run, with exit status, and what you refuse",
		work.All:      "commands that agents run, with exit status, the lines that they change, and what you refuse",
	}[l]
	if open {
		words += "; until you choose: `evolve harvest --moments all`, or commands, or off"
	}
	return l.String() + ": " + words, err
}
