package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/release/tracked"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// Log is what `evolve log SKILL --json` prints: schema 1.
type Log struct {
	Schema  int         `json:"schema"`
	Skill   string      `json:"skill"`
	Subject subject.Ref `json:"subject"`
	// Live is the SHA-256 of the file that agents load, "" if it is gone;
	// Recorded is false if it is no version, because it was edited since.
	Live       string    `json:"live"`
	Recorded   bool      `json:"live_recorded"`
	Pinned     string    `json:"pinned"`     // SHA-256 of the text that it was pinned at
	Versions   []Version `json:"versions"`   // newest first
	Candidates []Trial   `json:"candidates"` // with a trial, newest first; installed ones are versions
	// Edited names targets whose text is not recorded yet.
	Edited []string `json:"edited_targets,omitempty"`
}

// A Version is one installed text, with its evidence.
type Version struct {
	Version   int       `json:"version"`
	SHA       string    `json:"sha256"`
	Parent    string    `json:"parent"`
	Live      bool      `json:"live"`
	Created   time.Time `json:"created"`
	Author    string    `json:"author"`
	Operator  string    `json:"operator"`
	Proven    bool      `json:"proven"`
	Simulated bool      `json:"simulated"`
	Run       string    `json:"run"`
	Note      string    `json:"note"`
	Evidence  *Evidence `json:"evidence"`
	Origin
	Targets []string `json:"targets"` // where this text is installed
	Pinned  bool     `json:"pinned"`
	// RolledBack is when it was last rolled back, if no target holds it
	// since.
	RolledBack *time.Time `json:"rolled_back"`
	Alarm      bool       `json:"alarm"` // the watch has raised one
	// SameText is the earlier version with the same text, Again the later
	// one: a text that was rolled back may be installed again.
	SameText *int `json:"same_text_as"`
	Again    *int `json:"again_as"`
	// Trial is set while it is in place on trial; TakenBack is when it was taken back.
	Trial     *TrialInstall `json:"on_trial,omitempty"`
	TakenBack *time.Time    `json:"taken_back,omitempty"`
	// Compared has its results on other models than it was proved on, the
	// latest last.
	Compared []sleep.Compared `json:"compared,omitempty"`

	parent int // the version that it was made from, -1 for none
}

// A Trial is a candidate that came before the gate, and its state.
type Trial struct {
	SHA       string         `json:"sha256"`
	Incumbent string         `json:"incumbent"`
	Decision  pareto.Verdict `json:"decision"`
	Operator  string         `json:"operator"`
	Simulated bool           `json:"simulated"`
	Run       string         `json:"run"`
	Updated   time.Time      `json:"updated"`
	Evidence  *Evidence      `json:"evidence"`
	Origin
	// Current: it is about a change that can be made to the live text. Closed is why it
	// cannot after the owner's edits, "" otherwise.
	Current bool   `json:"against_live"`
	Closed  string `json:"closed,omitempty"`
	// Offer is the command that installs it, "" if promote refuses; then
	// Refused is the reason, if the fields above do not give it.
	Offer   string `json:"offer"`
	Refused string `json:"refused"`

	route  string // of its decision
	parent int
	trial  *candidate.OnTrial // nil if it is about another text
}

// Answer is its verdict for a person.
func (t *Trial) Answer() string { return pareto.Answer(t.Decision, t.route) }

// Origin is the text from which another was made, and the cost of making it.
type Origin struct {
	// CostUSD and Rollouts are what its run spent, CostUSD null if it is not known.
	CostUSD  *float64 `json:"cost_usd"`
	Rollouts int64    `json:"rollouts"`
	// Cases and Sessions are the ids of the cases and sessions that taught
	// it, over all its steps.
	Cases    []string `json:"taught_cases"`
	Sessions []string `json:"taught_sessions"`
}

// Evidence is a verdict in numbers.
type Evidence struct {
	Decision pareto.Verdict `json:"decision"`
	Reason   string         `json:"reason"`
	EValue   float64        `json:"e_value"`
	Alpha    float64        `json:"alpha"`
	Cases    int            `json:"cases"`
	Wins     int            `json:"wins"`
	Losses   int            `json:"losses"`
	Ties     int            `json:"ties"`
}

// EvidenceFrom is a decision in numbers.
func EvidenceFrom(d pareto.Decision) *Evidence {
	return &Evidence{d.Verdict, d.Reason, pareto.Finite(d.EValue), d.Alpha, counting(&d), d.Wins, d.Losses, d.Ties}
}

// Phrase is the evidence in a few words.
func (e *Evidence) Phrase() string {
	if e == nil {
		return "no evidence"
	}
	return fmt.Sprintf("%s on %s (%d won, %d lost, %d tied)", pareto.Chance(e.EValue), plain.Counted(e.Cases, "case"), e.Wins, e.Losses, e.Ties)
}

// Offer sets how a proved candidate is installed, or why it cannot be.
func (rd *Reader) Offer(ctx context.Context, s *candidate.Texts, t *Trial) error {
	if s.Live == nil || t.Decision != pareto.Promote || !t.Current {
		return nil
	}
	command, against, err := tracked.Offer(ctx, rd.Release, s.Live, t.trial)
	t.Offer, t.Refused = command, against.Without(release.Simulated).String()
	return err
}

// LogOf gathers a skill's versions and trials. where names the target of a
// SKILL.md's path.
func LogOf(ctx context.Context, s *candidate.Texts, now time.Time, where func(path string) string) (*Log, error) {
	l := &Log{Schema: 1, Skill: s.Skill, Subject: subject.Parse(s.Skill), Versions: []Version{}, Candidates: []Trial{}}
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
		k := Version{Version: v.N, SHA: v.SHA, Parent: v.Parent, Created: v.Created, Author: v.Author, Operator: v.Operator,
			Proven: v.Proven, Simulated: v.Simulated, Run: v.Run, Note: v.Note, Targets: []string{}, parent: -1}
		if d, err := candidate.VerdictOf(v.Evidence); err != nil {
			return nil, fmt.Errorf("version v%d of %s: %w", v.N, s.Skill, err)
		} else if d != nil {
			k.Evidence = EvidenceFrom(d.Decision)
		}
		if n, ok := number[v.Parent]; ok {
			k.parent = n
		}
		if k.Origin, err = o.of(ctx, v.SHA, v.Parent, v.Run); err != nil {
			return nil, err
		}
		number[v.SHA] = v.N
		l.Versions = append(l.Versions, k)
	}
	slices.Reverse(l.Versions)
	if err := logPlaces(ctx, s, l, now, where); err != nil {
		return nil, err
	}
	trials, err := s.Store.Trials(ctx, s.Skill)
	if err != nil {
		return nil, err
	}
	current := map[record.Change]*candidate.OnTrial{}
	if s.Live != nil {
		onLive, err := candidate.Trials(ctx, s.Store, s.Live)
		if err != nil {
			return nil, err
		}
		for i := range onLive {
			current[onLive[i].Change()] = &onLive[i]
		}
	}
	for i := range trials {
		t := &trials[i]
		if installed, err := l.had(ctx, s, number, t, current[t.Change()]); err != nil {
			return nil, err
		} else if installed {
			continue
		}
		d, err := t.Evidence()
		if err != nil {
			return nil, err
		}
		k := Trial{SHA: t.Challenger, Incumbent: t.Incumbent, Decision: t.Decision, Simulated: t.Simulated, Run: t.Run,
			Updated: t.Updated, Evidence: EvidenceFrom(d), route: d.Route, parent: -1, trial: current[t.Change()]}
		if k.trial != nil {
			k.Current, k.Closed = k.trial.Closed == "", k.trial.Closed
		}
		if n, ok := number[t.Incumbent]; ok {
			k.parent = n
		}
		if c, err := s.Store.Candidate(ctx, t.Challenger); err == nil {
			k.Operator = c.Operator
		}
		if k.Origin, err = o.of(ctx, t.Challenger, t.Incumbent, t.Run); err != nil {
			return nil, err
		}
		l.Candidates = append(l.Candidates, k)
	}
	return l, nil
}

// had reports whether a challenger is listed as a version alone: it waits no more, or is in
// place.
func (l *Log) had(ctx context.Context, s *candidate.Texts, number map[string]int, t *record.TrialRecord, on *candidate.OnTrial) (bool, error) {
	n, installed := number[t.Challenger]
	if !installed || on == nil || on.With == nil {
		return installed, nil
	}
	if v := l.newestOf(l.Live); v != nil && v.Trial != nil && v.Version == n {
		return true, nil
	}
	sha, err := release.HadItsChance(ctx, s.Store, s.Live, on)
	return sha != "", err
}

// newestOf is the newest version with a text, nil for none.
func (l *Log) newestOf(sha string) *Version {
	for i := range l.Versions {
		if sha != "" && l.Versions[i].SHA == sha {
			return &l.Versions[i]
		}
	}
	return nil
}

// logPlaces marks the places of each version, and what became of it.
func logPlaces(ctx context.Context, s *candidate.Texts, l *Log, now time.Time, where func(path string) string) error {
	if v := l.newestOf(l.Live); v != nil && s.Live != nil {
		v.Live = true
		var err error
		if v.Trial, err = trialInstall(ctx, s.Store, s.Live, now); err != nil {
			return err
		}
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
	for i := range l.Versions {
		v := &l.Versions[i]
		v.Alarm = slices.Contains(st.Alarmed, v.SHA)
		v.Compared = st.ComparedOf(v.SHA)
	}
	return nil
}

// at is the version that a text was at a time: a text that was rolled back
// may have been installed again as another version. nil for none.
func (l *Log) at(sha string, t time.Time) (v *Version) {
	for i := range l.Versions { // the newest first
		if k := &l.Versions[i]; sha != "" && k.SHA == sha {
			if v = k; !k.Created.After(t) {
				break
			}
		}
	}
	return v
}

// markRolledBack marks the versions that were rolled back and are in no place
// since, and those with the text of another one. The installs come newest
// first.
func (l *Log) markRolledBack(installs []store.Install) {
	put := map[*Version]time.Time{} // when it was last put anywhere
	for _, in := range installs {
		if v := l.at(in.To, in.Begun); v != nil && in.Outcome == release.Installed && in.Ended.After(put[v]) {
			put[v] = in.Ended
		}
	}
	for _, in := range installs {
		v := l.at(in.From, in.Begun)
		if v != nil && v.TakenBack == nil && len(v.Targets) == 0 && v.Author == "evolve" && in.Op == store.OpTakeBack && in.From != in.To && in.Outcome == release.Installed && !in.Ended.Before(put[v]) {
			at := in.Ended
			v.TakenBack = &at
		}
		if v == nil || v.RolledBack != nil || len(v.Targets) > 0 || in.Outcome != release.Installed || !release.IsRollback(in) || in.Ended.Before(put[v]) {
			continue
		}
		at := in.Ended
		v.RolledBack = &at
	}
	later := map[string]*Version{}
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

// of follows a text back to the one that it was made from, over all its
// steps. run paid for it; "" if none did.
func (o *origins) of(ctx context.Context, sha, base, run string) (out Origin, err error) {
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
	if out.Cases, err = o.texts.Lessons(ctx, sha, func(sha string) bool { return sha == base }); err != nil {
		return out, err
	}
	for _, id := range out.Cases {
		if s := o.session[id]; s != "" {
			out.Sessions = append(out.Sessions, s)
		}
	}
	slices.Sort(out.Sessions)
	out.Sessions = slices.Compact(out.Sessions)
	return out, nil
}
