package backend

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/purge"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store/datadir/policy"
)

// keepDays is after how many days the text of sessions expires at the latest if the
// configuration says nothing, maxKeepDays the most that it may say.
const keepDays, maxKeepDays = 90, 3650

// Retention is how long the text of sessions is kept now: as long as the agents keep
// their transcripts themselves, and no longer than the configuration and a policy say,
// which may be nil.
func (c *Config) Retention(l *skill.Layout, p *policy.Policy, now time.Time) (r purge.Retention, err error) {
	most := keepDays
	if c.KeepDays != nil {
		most = *c.KeepDays
	}
	if p != nil && p.KeepDays > 0 {
		most = min(most, p.KeepDays)
	}
	least, agents := most, map[string]int{}
	for _, k := range kinds {
		if k.Keeps == nil {
			continue
		}
		home, err := l.Home(agentOf(k))
		if err != nil {
			return r, err
		}
		agents[k.Agent] = min(most, k.Keeps(home))
		least = min(least, agents[k.Agent])
	}
	r.Words = fmt.Sprintf("text of sessions that no case uses goes %d days after their end", most)
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		if agents[name] == 0 {
			r.Words += fmt.Sprintf(", of %s at once", plain.Agent(name))
		} else if agents[name] < most {
			r.Words += fmt.Sprintf(", of %s after %d", plain.Agent(name), agents[name])
		}
	}
	r.Oldest = now.AddDate(0, 0, -max(1, least)) // requests, logs and notes of what is under way
	r.Before = func(agent string) time.Time {
		days, ok := agents[agent]
		if !ok {
			days = most
		}
		return now.AddDate(0, 0, -days)
	}
	return r, nil
}
