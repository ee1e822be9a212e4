package status

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/judge"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// A Retirement is a night's proposal to retire a skill: on the model of today the
// live text is worth no more than no skill at all. Nothing acts on it but the
// owner.
type Retirement struct {
	Skill string `json:"skill"`
	SHA   string `json:"sha256"` // of the live text
	Model string `json:"model"`  // in words
	Why   string `json:"why"`
}

func (r Retirement) String() string {
	return fmt.Sprintf("%s: proposed for retirement, on %s: %s; `evolve compare %[1]s none` measures it again, removing its folder retires it, `evolve pin %[1]s` keeps it", r.Skill, r.Model, r.Why)
}

// Retirements are the proposals that stand: about the text that is live and the
// model of the last night, of a skill that is not pinned. By name.
func (rd *Reader) Retirements(ctx context.Context) ([]Retirement, error) {
	out := []Retirement{}
	states, err := rd.Store.SleepStates(ctx)
	if err != nil {
		return nil, err
	}
	stand := stander(ctx, rd.Store)
	for name, body := range states {
		var st sleep.State
		if err := json.Unmarshal(body, &st); err != nil {
			return nil, fmt.Errorf("read the nights of %s: %w", name, err)
		}
		if len(st.Certificates) == 0 {
			continue
		}
		if err := stand(name, &st); err != nil {
			return nil, err
		}
		live, err := rd.Layout.Live(name)
		if err != nil {
			continue // removed, or broken: there is nothing to retire
		}
		c := st.Retiring(live.Doc.Hash())
		if c == nil {
			continue
		}
		if p, err := rd.Store.Pinned(ctx, name); err != nil {
			return nil, err
		} else if p != nil {
			continue
		}
		out = append(out, Retirement{name, c.Version, c.Model.String(), c.Worth})
	}
	slices.SortFunc(out, func(a, b Retirement) int { return cmp.Compare(a.Skill, b.Skill) })
	return out, nil
}

// recentNights is how far back the nights are asked which model answers now.
const recentNights = 30

// stander returns what leaves only the certificates of a skill that say something
// today: about the model of the last night that knew it, and on no judge's word
// alone whom the owner's labels do not bear out.
func stander(ctx context.Context, db *store.Store) func(name string, st *sleep.State) error {
	model := sync.OnceValues(func() (sleep.Model, error) {
		nights, err := sleep.Nights(ctx, db, recentNights)
		for _, n := range nights {
			if n.Model.Agent != "" {
				return n.Model, nil
			}
		}
		return sleep.Model{}, err
	})
	return func(name string, st *sleep.State) error {
		if len(st.Certificates) == 0 {
			return nil
		}
		on, err := model()
		if err != nil {
			return err
		}
		st.Stand(on, judge.JudgesTrusted(ctx, db, name))
		return nil
	}
}

// A Certificate is how a version stands on a model that it was not proved on.
type Certificate struct {
	Model   string        `json:"model"`             // in words
	Outcome sleep.Outcome `json:"outcome,omitempty"` // against the version before it, "" while that is open
	Lift    sleep.Lift    `json:"lift,omitempty"`    // against no skill
	Cases   int           `json:"cases"`             // clusters
	Reason  string        `json:"reason,omitempty"`
	Worth   string        `json:"worth,omitempty"`

	word string
}

func (c *Certificate) String() string {
	s := fmt.Sprintf("%s on %s, %s", c.word, c.Model, plain.Counted(c.Cases, "case"))
	if c.Lift == sleep.NoLift {
		s += ": proposed for retirement"
	}
	return s
}

// certificatesOf are those of a version, in order of beginning.
func certificatesOf(st *sleep.State, sha string) (out []Certificate) {
	for _, c := range st.Certificates {
		if c.Version == sha {
			out = append(out, Certificate{c.Model.String(), c.Outcome, c.Lift, c.Cases, c.Reason, c.Worth, c.Word()})
		}
	}
	return out
}
