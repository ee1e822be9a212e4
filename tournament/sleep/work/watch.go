package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// uses are people's uses of a skill, the oldest first, with the cost of their
// turns if it is known. version identifies the text of a use that no hook
// recorded; nil if it is not needed.
func (s *Worker) uses(ctx context.Context, name string, took map[store.Turn]store.TurnCost, version func(*store.Use) string) (out []sleep.Use, err error) {
	reg, err := s.Runner.Layout.Registry()
	if err != nil {
		return nil, err
	}
	var all []store.Use
	for _, one := range append([]string{name}, reg.AliasesOf(name)...) {
		more, err := s.Store.Invocations(ctx, one)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	slices.SortStableFunc(all, func(u, v store.Use) int { return u.Time.Compare(v.Time) })
	tomorrow := s.Runner.Now().AddDate(0, 0, 1) // a clock may run ahead, no further
	for _, u := range all {
		if u.Time.After(tomorrow) || u.Headless && !s.Runner.Headless {
			continue
		}
		bad := false
		switch u.Feedback.Label {
		case harvest.Corrected, harvest.Rejected, harvest.Repeated:
			bad = true
		}
		use := sleep.Use{Session: u.Session, At: u.Time, Version: u.TextHash, Failed: bad, Repeated: u.Feedback.Label == harvest.Repeated,
			Unread: u.Feedback.Unread && u.Feedback.Label == harvest.Unknown}
		if use.Version == "" && version != nil {
			use.Version = version(&u)
		}
		if c := took[store.Turn{Session: u.Session, Path: u.Path, Index: u.Turn}]; !c.Interrupted {
			use.LatencyMS = c.DurationMS
			if c.Usage != nil {
				n := c.Usage.Total()
				use.Tokens = &n
			}
		}
		out = append(out, use)
	}
	return out, nil
}

// since is when the live text was put in place; zero for the one that was found.
func (s *Worker) since(ctx context.Context, live *skill.Live) (time.Time, error) {
	home, err := live.Home()
	if err != nil {
		return time.Time{}, err
	}
	h, err := release.TimelineOf(ctx, s.Store, live.Name, home, true)
	return watched(h).Since(), err
}

// watch looks at an installed version of ours that replaced another one.
func (s *Worker) watch(ctx context.Context, name string) (*sleep.Alarm, error) {
	live, err := s.Runner.Layout.Live(name)
	if err != nil {
		return nil, err
	}
	v, err := s.Store.VersionBySHA(ctx, name, live.Doc.Hash())
	if errors.Is(err, store.ErrNotFound) || err == nil && v.Author != "evolve" {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	replaced, err := s.replaced(ctx, live)
	if err != nil || len(replaced) == 0 {
		return nil, err
	}
	before, err := s.predecessors(ctx, name, replaced)
	if err != nil {
		return nil, err
	}
	took, err := s.Store.TurnCosts(ctx, name)
	if err != nil {
		return nil, err
	}
	p, err := whereUsed(ctx, s.Store, s.Runner.Layout, live)
	if err != nil {
		return nil, err
	}
	uses, err := s.uses(ctx, name, took, p.version)
	if err != nil {
		return nil, err
	}
	return sleep.DefaultRule.Look(v.SHA, before, watched(p.home), uses), nil
}

// replaced are the texts that the live one replaced in the skill's home, in
// the order in which a rollback would return to them: SHA-256, the newest
// first.
func (s *Worker) replaced(ctx context.Context, live *skill.Live) ([]string, error) {
	home, err := live.Home()
	if err != nil {
		return nil, err
	}
	out, err := release.Replaced(ctx, s.Store, live.Name, home, live.Doc.Hash(), true)
	return slices.DeleteFunc(out, func(sha string) bool { return sha == "" }), err
}

// predecessors are the texts that the live one is compared with: those that
// it replaced, back to the newest of its owner's. evolve has replaced nothing
// before that, and whether an edit was for the worse is its owner's decision.
// A text with an alarm, or that was rejected, is no measure.
func (s *Worker) predecessors(ctx context.Context, name string, replaced []string) (out []sleep.Predecessor, err error) {
	st, err := sleep.Stored(s.Store).State(ctx, name)
	if err != nil {
		return nil, err
	}
	words, err := s.Store.Decisions(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, sha := range replaced {
		p := sleep.Predecessor{SHA: sha, Name: fmt.Sprintf("%.12s", sha), Suspect: slices.Contains(st.Alarmed, sha) || words[sha].Word == store.Rejected}
		v, err := s.Store.VersionBySHA(ctx, name, sha)
		if errors.Is(err, store.ErrNotFound) {
			out = append(out, p)
			continue
		} else if err != nil {
			return nil, err
		}
		p.Name = fmt.Sprintf("v%d", v.N)
		if out = append(out, p); v.Author != "evolve" {
			break
		}
	}
	return out, nil
}

// rollback rolls a version back if its owner has chosen that, and never tries
// it again.
func (s *Worker) rollback(ctx context.Context, al *sleep.Alarm) (string, error) {
	live, err := s.Runner.Layout.Live(al.Skill)
	if err != nil {
		return "", err
	}
	if live.Tracked {
		return "git tracks the file: to take it back is its owner's", nil
	}
	words, err := s.Store.Decisions(ctx, al.Skill)
	if err != nil {
		return "", err
	}
	left, in := "", s.Runner.Installer(s.Store)
	if _, err := in.Settle(ctx, al.Skill); err != nil { // a kill may have come between the file and its record
		return "", err
	}
	switch sha := live.Doc.Hash(); {
	case sha == al.Version:
		plan, err := in.Next(ctx, live, store.OpRollback, release.Request{})
		if err != nil {
			return "", err
		}
		done, err := in.Apply(ctx, plan)
		if err != nil {
			return "", err
		}
		if err := done.Refusal(); err != nil {
			// The alarm is about the live text: after its rollback, an edit
			// in another target stays, and changes nothing else.
			var some *release.PartialError
			if !errors.As(err, &some) {
				return "", err
			}
			if now, e := release.HashAt(live.Path); e != nil || now == al.Version {
				return "", errors.Join(err, e)
			}
			var except []string
			for i := range some.Left {
				except = append(except, fmt.Sprintf("%s (%s)", some.Left[i].Target, some.Left[i].Reason))
			}
			left = ", except in " + strings.Join(except, ", ") + ","
		}
	case words[al.Version].Word == store.Rejected:
		return "no longer in place", nil
	default: // perhaps a kill came between the rollback and its record
		home, err := live.Home()
		if err != nil {
			return "", err
		}
		last, err := release.LastInstall(ctx, s.Store, al.Skill, home)
		if err != nil {
			return "", err
		}
		if last == nil || !release.IsRollback(*last) || last.From != al.Version || last.To != sha {
			return "no longer in place", nil
		}
		if err := s.finish(ctx, in, live, store.OpRollback, release.Request{At: sha}); err != nil {
			return "", err
		}
	}
	if _, err := s.Store.Decide(ctx, store.Decision{Skill: al.Skill, SHA: al.Version, Word: store.Rejected, By: "evolve sleep --rollback-on-alarm",
		Incumbent: al.Before, Rules: []string{}}); err != nil {
		return "", err
	}
	return fmt.Sprintf("%.12s%s %s", al.Version, left, sleep.TakenBack), nil
}
