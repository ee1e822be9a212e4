package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/host"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/missed"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
	"github.com/spf13/cobra"
)

func newSleepStatusCommand(a *global) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "The last night, the next one, their cost and what waits for you",
		Example: "  evolve sleep status",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return sleepStatus(c.Context(), a) },
	}
}

// A sleepReport is what `evolve sleep status --json` prints: schema 1.
type sleepReport struct {
	Schema  int           `json:"schema"`
	Running string        `json:"running,omitempty"` // the process at work, "" for none
	Last    *status.Night `json:"last"`
	Next    *time.Time    `json:"next"` // null if no timer is installed
	Timer   string        `json:"timer,omitempty"`
	// Disabled: the timer's files are there, but the system does not start
	// it.
	Disabled bool       `json:"disabled,omitempty"`
	at       string     // the time of the timer's, for example "03:17"
	Nights   int        `json:"nights"`
	Spent    eval.Spent `json:"spent"` // by all nights
	// Missed is set if the last night could ask no agent.
	Missed *missed.Night `json:"missed,omitempty"`
}

func sleepStatus(ctx context.Context, a *global) error {
	r := &sleepReport{Schema: 1, Spent: eval.Spent{CostKnown: true}}
	db, err := a.existingStore(ctx)
	if err != nil {
		return err
	}
	if db != nil {
		l, err := db.SleepLeaseNow(ctx)
		if err != nil {
			return err
		}
		if l.Owner != "" && a.Now().Before(l.Expires) && !host.Gone(l.Owner) {
			r.Running = l.Owner
		}
		nights, err := sleep.Nights(ctx, db, 0)
		if err != nil {
			return err
		}
		r.Nights = len(nights)
		if len(nights) > 0 && nights[0].Ended.IsZero() {
			s, err := nightWorker(ctx, a, db, &runFlags{})
			if err != nil {
				return err
			}
			if err := nights[0].Recall(ctx, s.Spent); err != nil {
				return err
			}
		}
		for i := range nights {
			r.Spent = r.Spent.Plus(nights[i].Spent()).Plus(nights[i].Probed())
		}
		if len(nights) > 0 {
			n := &nights[0]
			r.Last = status.NightOf(n)
			rd, err := a.reader(db)
			if err != nil {
				return err
			}
			if r.Last.Waiting, r.Last.Alarms, err = rd.WaitingNow(ctx, n); err != nil {
				return err
			}
		}
	}
	if h, err := a.home(); err == nil { // else the store's error was returned
		r.Missed = missed.Read(h)
	}
	if t, err := timersOf(a).Installed(ctx); err != nil {
		return err
	} else if t != nil {
		next := nextAt(a.Now(), t.Hour, t.Minute)
		on, err := t.Enabled(ctx)
		if err != nil {
			a.Say("whether the timer is enabled is not known: %v", err)
		}
		r.Timer, r.at, r.Disabled = t.Kind, t.At(), err == nil && !on
		if !r.Disabled {
			r.Next = &next
		}
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	return printSleep(a, r)
}

// nextAt is the next time at which the clock shows hour:minute.
func nextAt(now time.Time, hour, minute int) time.Time {
	at := time.Date(now.Year(), now.Month(), now.Day(), hour, minute, 0, 0, now.Location())
	if !at.After(now) {
		at = time.Date(now.Year(), now.Month(), now.Day()+1, hour, minute, 0, 0, now.Location())
	}
	return at
}

func printSleep(a *global, r *sleepReport) error {
	var b strings.Builder
	switch l := r.Last; {
	case l == nil:
		fmt.Fprintf(&b, "last     never: `evolve sleep run --dry-run` says what a night would do\n")
	case r.Running != "":
		fmt.Fprintf(&b, "running  night %s, by %s\n", l.ID, r.Running)
	case l.Ended.IsZero():
		fmt.Fprintf(&b, "last     %s, interrupted: `evolve sleep run` continues it\n", l.Began.Local().Format("2006-01-02 15:04"))
	default:
		fmt.Fprintf(&b, "last     %s, %s\n", l.Began.Local().Format("2006-01-02 15:04"), plain.Duration(l.Ended.Sub(l.Began).Milliseconds()))
	}
	if r.Missed != nil {
		b.WriteString(r.Missed.Lines("!        "))
	}
	if r.Next != nil {
		fmt.Fprintf(&b, "next     %s (%s)\n", r.Next.Local().Format("2006-01-02 15:04"), r.Timer)
	} else if r.Disabled {
		fmt.Fprintf(&b, "next     the %s timer is not enabled: `evolve sleep install --at %s` enables it\n", r.Timer, r.at)
	} else if a.isDemo() {
		fmt.Fprintf(&b, "next     no timer: the demo's folder needs none\n")
	} else {
		fmt.Fprintf(&b, "next     no timer: `evolve sleep install --at 03:17`\n")
	}
	if r.Last != nil {
		fmt.Fprintf(&b, "spent    %s\n", status.Spent(r.Last.Spent))
		fmt.Fprintf(&b, "         in %s together: %s\n", plain.Counted(r.Nights, "night"), status.Spent(r.Spent))
		b.WriteString(r.Last.Warned("warning "))
		b.WriteString(status.Failing(r.Last.Night))
		next := r.Last.Next()
		if len(next) == 0 {
			next = []string{"nothing"}
		}
		b.WriteString(status.Listed("waiting ", "        ", next, shownWaiting))
	}
	return a.Show(a.Folded(b.String()))
}

// shownWaiting is the number of waiting items that are shown: with the other
// lines the page has ten.
const shownWaiting = 6
