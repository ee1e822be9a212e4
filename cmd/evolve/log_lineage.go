package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/judge"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// logOf gathers a skill's versions and trials. where names the target of a SKILL.md.
func logOf(ctx context.Context, s *candidate.Texts, where func(path string) string) (*skillLog, error) {
	l := &skillLog{Schema: 1, Skill: s.Skill, Versions: []logVersion{}, Candidates: []logTrial{}}
	if s.Live != nil {
		l.Live = s.Live.Doc.Hash()
		l.Recorded = s.VersionOf(l.Live) != nil
	}
	pin, err := s.Store.Pinned(ctx, s.Skill)
	if err != nil {
		return nil, err
	}
	if pin != nil {
		l.Pinned = pin.SHA
	}
	o := &origins{texts: s, session: map[string]string{}}
	if err := o.load(ctx); err != nil {
		return nil, err
	}
	number := map[string]int{}
	for _, v := range s.Versions {
		k := logVersion{Version: v.N, SHA: v.SHA, Parent: v.Parent, Created: v.Created, Author: v.Author, Operator: v.Operator,
			Proven: v.Proven, Simulated: v.Simulated, Run: v.Run, Note: v.Note, Targets: []string{}, parent: -1}
		if d, err := candidate.VerdictOf(v.Evidence); err != nil {
			return nil, fmt.Errorf("version v%d of %s: %w", v.N, s.Skill, err)
		} else if d != nil {
			k.Evidence = evidenceFrom(d.Decision)
		}
		if n, ok := number[v.Parent]; ok {
			k.parent = n
		}
		if k.logOrigin, err = o.of(ctx, v.SHA, v.Parent, v.Run); err != nil {
			return nil, err
		}
		number[v.SHA] = v.N
		l.Versions = append(l.Versions, k)
	}
	slices.Reverse(l.Versions)
	if err := logPlaces(ctx, s, l, where); err != nil {
		return nil, err
	}
	trials, err := s.Store.Trials(ctx, s.Skill)
	if err != nil {
		return nil, err
	}
	for i := range trials {
		t := &trials[i]
		if _, installed := number[t.Challenger]; installed {
			continue
		}
		d, err := t.Evidence()
		if err != nil {
			return nil, err
		}
		k := logTrial{SHA: t.Challenger, Incumbent: t.Incumbent, Decision: t.Decision, Simulated: t.Simulated, Run: t.Run,
			Updated: t.Updated, Evidence: evidenceFrom(d), Current: t.Incumbent == l.Live, parent: -1, trial: t}
		if n, ok := number[t.Incumbent]; ok {
			k.parent = n
		}
		if c, err := s.Store.Candidate(ctx, t.Challenger); err == nil {
			k.Operator = c.Operator
		}
		if k.logOrigin, err = o.of(ctx, t.Challenger, t.Incumbent, t.Run); err != nil {
			return nil, err
		}
		l.Candidates = append(l.Candidates, k)
	}
	return l, nil
}

// newestOf is the newest version with a text, nil for none.
func (l *skillLog) newestOf(sha string) *logVersion {
	for i := range l.Versions {
		if sha != "" && l.Versions[i].SHA == sha {
			return &l.Versions[i]
		}
	}
	return nil
}

// logPlaces marks where each version is, and what became of it.
func logPlaces(ctx context.Context, s *candidate.Texts, l *skillLog, where func(path string) string) error {
	if v := l.newestOf(l.Live); v != nil {
		v.Live = true
	}
	if v := l.newestOf(l.Pinned); v != nil {
		v.Pinned = true
	}
	places, err := release.Places(ctx, s.Store, s.Skill)
	if err != nil {
		return err
	}
	for _, p := range places {
		now, err := release.HashAt(p.Path)
		if err != nil || now == "" {
			continue
		}
		if v := l.newestOf(now); v != nil {
			v.Targets = append(v.Targets, where(p.Path))
		} else if now != l.Live {
			l.Edited = append(l.Edited, where(p.Path))
		}
	}
	installs, err := s.Store.Installs(ctx, s.Skill)
	if err != nil {
		return err
	}
	l.markRolledBack(installs)
	raw, err := s.Store.SleepState(ctx, s.Skill)
	if err != nil || raw == nil {
		return err
	}
	var st sleep.State
	if err := json.Unmarshal(raw, &st); err != nil {
		return fmt.Errorf("read the nights of %s: %w", s.Skill, err)
	}
	st.Stand(sleep.Model{}, judge.JudgesTrusted(ctx, s.Store, s.Skill))
	for i := range l.Versions {
		v := &l.Versions[i]
		v.Alarm = slices.Contains(st.Alarmed, v.SHA)
		v.Certificates = certificatesOf(&st, v.SHA)
	}
	return nil
}

// at is the version that a text was at a time: one that was taken back may have been
// installed again as another one. nil for none.
func (l *skillLog) at(sha string, t time.Time) (v *logVersion) {
	for i := range l.Versions { // the newest first
		if k := &l.Versions[i]; sha != "" && k.SHA == sha {
			if v = k; !k.Created.After(t) {
				break
			}
		}
	}
	return v
}

// markRolledBack marks the versions that a rollback took back and that are nowhere
// since, and those with the text of another one. The installs come newest first.
func (l *skillLog) markRolledBack(installs []store.Install) {
	put := map[*logVersion]time.Time{} // when it was last put anywhere
	for _, in := range installs {
		if v := l.at(in.To, in.Begun); v != nil && in.Outcome == release.Installed && in.Ended.After(put[v]) {
			put[v] = in.Ended
		}
	}
	for _, in := range installs {
		v := l.at(in.From, in.Begun)
		if v == nil || v.RolledBack != nil || len(v.Targets) > 0 || in.Outcome != release.Installed || !release.IsRollback(in) || in.Ended.Before(put[v]) {
			continue
		}
		at := in.Ended
		v.RolledBack = &at
	}
	later := map[string]*logVersion{}
	for i := range l.Versions {
		v := &l.Versions[i]
		if k := later[v.SHA]; k != nil {
			k.SameText, v.Again = &v.Version, &k.Version
		}
		later[v.SHA] = v
	}
}

// origins finds what texts of a skill were made from.
type origins struct {
	texts   *candidate.Texts
	session map[string]string // of a case, by its id
}

func (o *origins) load(ctx context.Context) error {
	cases, err := o.texts.Store.Cases(ctx, o.texts.Skill)
	if err != nil {
		return err
	}
	for _, c := range cases {
		if c.Source != nil && c.Source.Session != "" {
			o.session[c.ID] = c.Source.Session
		}
	}
	return nil
}

// of follows a text back to the one that it was made from, over all its steps.
// run paid for it; "" where nobody did.
func (o *origins) of(ctx context.Context, sha, base, run string) (out logOrigin, err error) {
	out.Cases, out.Sessions = []string{}, []string{}
	if run == "" {
		return out, nil
	}
	r, err := o.texts.Store.Run(ctx, run)
	switch {
	case err == nil:
		out.Rollouts = r.Spent.Rollouts
		if r.Spent.CostKnown {
			out.CostUSD = &r.Spent.CostUSD
		}
	case !errors.Is(err, store.ErrNotFound):
		return out, err
	}
	seen := map[string]bool{base: true}
	for queue := []string{sha}; len(queue) > 0; queue = queue[1:] {
		if seen[queue[0]] {
			continue
		}
		seen[queue[0]] = true
		var c *tournament.Candidate
		if c, _, err = o.texts.Made(ctx, queue[0]); err != nil {
			return out, err
		}
		if c == nil {
			continue
		}
		queue = append(queue, c.Parents...)
		out.Cases = append(out.Cases, c.Taught...)
	}
	for _, id := range out.Cases {
		if s := o.session[id]; s != "" {
			out.Sessions = append(out.Sessions, s)
		}
	}
	slices.Sort(out.Cases)
	slices.Sort(out.Sessions)
	out.Cases, out.Sessions = slices.Compact(out.Cases), slices.Compact(out.Sessions)
	return out, nil
}
