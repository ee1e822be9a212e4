package work

import (
	"cmp"

	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
)

// Tell leaves a note for the next session about this night's results.
func (s *Worker) Tell(n *sleep.Night) {
	for _, k := range n.Steps {
		switch {
		case k.Kind == sleep.Install && k.Stage == sleep.Skipped && k.Result != nil && k.Result.Decision == pareto.Promote && triedIn(n, k.Run):
			s.Outbox.Leave(k.Skill, hook.Waiting, "a better version (%.12s, at most 5 %% luck) waits: `evolve diff %s@%.12[1]s`, `%[3]s`", k.Result.Challenger, k.Skill, cmp.Or(k.Result.Command, "evolve promote "+k.Skill))
		case status.IsAlarm(&k):
			s.Outbox.Leave(k.Skill, hook.Alarm, "%s", status.AlarmWords(&k))
		case k.Kind == sleep.Edited && k.Result == nil:
			s.Outbox.Leave(k.Skill, hook.Edited, "%s", k.Note)
		}
	}
}

// triedIn reports whether the run that proved something is of this night: a
// proof that is only picked up was reported before.
func triedIn(n *sleep.Night, run string) bool {
	for _, k := range n.Steps {
		if k.Run == run && (k.Kind == sleep.Continue || k.Kind == sleep.Search) {
			return true
		}
	}
	return false
}
