package backend

import (
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// keepDays is after how many days the text of sessions expires at the latest if the
// configuration says nothing, maxKeepDays the most that it may say.
const keepDays, maxKeepDays = 90, 3650

// A Retention says how long the text of sessions is kept.
type Retention struct {
	days   int
	agents map[string]int // those that keep it for less
}

// Retention is as long as the agents keep their transcripts themselves, and no longer
// than the configuration and limit say, in days; a limit of 0 is none.
func (c *Config) Retention(l *skill.Layout, limit int) (Retention, error) {
	r := Retention{days: keepDays, agents: map[string]int{}}
	if c.KeepDays != nil {
		r.days = *c.KeepDays
	}
	if limit > 0 {
		r.days = min(r.days, limit)
	}
	for _, k := range kinds {
		if k.Keeps == nil {
			continue
		}
		home, err := l.Home(agentOf(k))
		if err != nil {
			return r, err
		}
		if days := k.Keeps(home); days < r.days {
			r.agents[k.Agent] = days
		}
	}
	return r, nil
}

// Before is when sessions of an agent must have ended for their text to expire now.
func (r Retention) Before(now time.Time) func(agent string) time.Time {
	return func(agent string) time.Time {
		days, ok := r.agents[agent]
		if !ok {
			days = r.days
		}
		return now.AddDate(0, 0, -days)
	}
}

// Oldest is when anything must have been written for its text to expire now, whoever's
// session it is of.
func (r Retention) Oldest(now time.Time) time.Time {
	days := r.days
	for _, d := range r.agents {
		days = min(days, d)
	}
	return now.AddDate(0, 0, -days)
}
