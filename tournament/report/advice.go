package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/search"
)

// Shorter is what a text that only lacks lines lacks, for pages.
type Shorter = search.Shorter

// A Standing is what a run left behind, as far as the next step depends on
// it.
type Standing struct {
	Skill      string
	Challenger string         // SHA-256, "" for none
	Decision   pareto.Verdict // "" if the gate did not run
	Stopped    bool           // by a cap, before it was done
	Installed  bool
	Shorter    bool   // it only lacks lines of the incumbent
	Doubted    bool   // held-out cases rest on a judge that does not agree with the owner
	Promote    string // the command that installs the challenger; "" is evolve promote and the skill
	Resume     string // the run, if it was killed or interrupted; "" for one that ended
}

// Next is the command to type after a run, commands in backticks.
func (s Standing) Next() string {
	run := s.Skill
	if s.Shorter {
		run += " --evolve shorten"
	}
	switch {
	case s.Resume != "":
		return fmt.Sprintf("`evolve --resume %s` continues it; nothing is paid twice", s.Resume)
	case s.Stopped && s.Decision.IsOpen():
		return fmt.Sprintf("a cap ended it before a verdict: run `evolve --skill %s` again, its trial continues with the cases that are left", run)
	case s.Stopped:
		return fmt.Sprintf("a cap ended it: run `evolve --skill %s` again with a higher one; what was measured is not measured again", run)
	case s.Installed:
		return fmt.Sprintf("installed; `evolve rollback %s` takes it back", s.Skill)
	case s.Decision == pareto.Promote:
		return fmt.Sprintf("`evolve diff %s@%.12s` shows it, `%[3]s` installs it", s.Skill, s.Challenger, cmp.Or(s.Promote, "evolve promote "+s.Skill))
	case s.Decision.IsOpen() && s.Doubted:
		return fmt.Sprintf("`evolve review %s`, then `evolve --skill %s` again: what the judge said counts once it agrees with you", s.Skill, run)
	case s.Decision.IsOpen():
		return fmt.Sprintf("not decided yet: run `evolve --skill %s` again once there are new cases, from your sessions or an import", run)
	case s.Challenger != "" && s.Decision == "":
		return fmt.Sprintf("`evolve diff %s@%.12s` shows it; it is not shown to be better, so it is not offered for installation", s.Skill, s.Challenger)
	case s.Decision == pareto.Reject:
		return fmt.Sprintf("nothing to do: %s stays as it is", s.Skill)
	}
	return fmt.Sprintf("nothing to do: %s stays as it is; more sessions bring more cases, and so does an import", s.Skill)
}

// Worth describes the difference between a text and none. It gives the
// difference alone: on these cases the text's quality is another figure than
// on all validation cases.
func Worth(w *search.Worth, name string, validation int) string {
	on := plain.Counted(w.With.Cases, "validation case")
	if validation > w.With.Cases {
		on = fmt.Sprintf("%d of the %s", w.With.Cases, plain.Counted(validation, "validation case"))
	}
	return fmt.Sprintf("quality %+.2f with %s against no skill at all, on %s", w.With.Quality-w.Without.Quality, name, on)
}

// Confirmed is the challenger's validation quality without the winner's luck,
// nil if the budget left no trial for that.
func (m *Model) Confirmed() *float64 {
	for _, s := range slices.Backward(m.Events) {
		if s.Kind != "confirmed" {
			continue
		}
		if f := factsOf(s.Data); f.SHA == m.Challenger {
			return f.Quality
		}
	}
	return nil
}
