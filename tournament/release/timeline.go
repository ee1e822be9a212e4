package release

import (
	"context"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/trying"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Stay is one stay of a text at a place.
type Stay struct {
	SHA  string    // "" if there was nothing
	From time.Time // zero: since before anybody looked
	by   stayKind
}

// A stayKind is how a text came to a place.
type stayKind int

const (
	byFinding  stayKind = iota // it was there first
	byPromote                  // evolve put it there
	byTry                      // the same, before its trial has decided
	byRollback                 // evolve put it back
	byEdit                     // its owner wrote it there
	byReturn                   // its owner put a known text there
	byNobody                   // between two looks the text changed: what was there in between is unknown
)

// A Timeline is the texts at one place, in order.
type Timeline []Stay

// TimelineOf reconstructs the history of a place from the store:
// installations, edits (versions, by what each was made from), and the text
// that is there now. home means that it is the skill's home.
func TimelineOf(ctx context.Context, db *store.Store, name, path string, home bool) (Timeline, error) {
	all, err := db.Installs(ctx, name)
	if err != nil {
		return nil, err
	}
	versions, err := db.Versions(ctx, name)
	if err != nil {
		return nil, err
	}
	places, err := db.Places(ctx, name)
	if err != nil {
		return nil, err
	}
	var installs []store.Install
	for _, in := range slices.Backward(all) { // the oldest first
		if in.Path == path && in.Outcome == Installed {
			installs = append(installs, in)
		}
	}
	h := &builder{versions: versions}
	now := slices.IndexFunc(places, func(p store.Place) bool { return p.Path == path })
	switch {
	case home && len(versions) > 0:
		h.out = Timeline{{SHA: versions[0].SHA}}
	case len(installs) > 0:
		h.out = Timeline{{SHA: installs[0].From}}
	case now >= 0:
		h.out = Timeline{{SHA: places[now].SHA}}
	default:
		return nil, nil
	}
	for _, in := range installs {
		h.found(in.From, in.Begun)
		kind := byPromote
		switch {
		case IsRollback(in) || in.Op == store.OpTakeBack:
			kind = byRollback
		case trying.Is(&in):
			kind = byTry
		}
		// Begun, not Ended: an install takes milliseconds, and after a crash
		// Ended is the time of the next command.
		h.out = append(h.out, Stay{in.To, in.Begun, kind})
	}
	if now >= 0 {
		h.found(places[now].SHA, places[now].At)
	}
	return h.out, nil
}

// IsRollback reports whether an install put back an earlier text.
func IsRollback(in store.Install) bool {
	return in.Op == store.OpRollback || in.Op == "" && in.Note == "rollback"
}

// A builder fills in the stays between installations.
type builder struct {
	versions []record.Version
	out      Timeline
}

// found adds a text that was there at that time at the latest. If it is not
// the last known one, its owner wrote it, and perhaps others before it; or
// brought back a known one at an unknown time.
func (h *builder) found(sha string, at time.Time) {
	last := h.out[len(h.out)-1]
	if last.SHA == sha {
		return
	}
	var edits Timeline // the newest first
	for next := sha; next != last.SHA; {
		v := h.edit(next, last.From, at)
		if v == nil || len(edits) > len(h.versions) {
			since := last.From
			if since.IsZero() && len(h.versions) > 0 { // it was there when evolve first looked
				since = h.versions[0].Created
			}
			h.out = append(h.out, Stay{"", since, byNobody}, Stay{sha, at, byReturn})
			return
		}
		edits = append(edits, Stay{v.SHA, v.Created, byEdit})
		next = v.Parent
	}
	slices.Reverse(edits)
	h.out = append(h.out, edits...)
}

// edit is the version that an owner's edit became in that time, nil for none.
func (h *builder) edit(sha string, after, until time.Time) *record.Version {
	for i := range h.versions {
		v := &h.versions[i]
		if v.SHA == sha && v.Author != "evolve" && v.N > 0 && !v.Created.Before(after) && !v.Created.After(until) {
			return v
		}
	}
	return nil
}

// Unknown reports whether the text of the stay is not known.
func (s *Stay) Unknown() bool { return s.by == byNobody }

// OnTrial is the text that was in place on trial at a time, "" for none.
func (h Timeline) OnTrial(at time.Time) (sha string) {
	for _, s := range h {
		if s.From.After(at) {
			break
		}
		if sha = ""; s.by == byTry {
			sha = s.SHA
		}
	}
	return sha
}

// before are the stays that a rollback goes back to from sha, the newest
// first. Earlier rollbacks end the stays that they took back: a later one
// continues from there and does not return to them. known is false if the
// text came by hand, or what was there before it is unknown.
func (h Timeline) before(sha string) (out []Stay, known bool) {
	var steps Timeline
	for i, s := range h {
		if s.by == byRollback && s.SHA == h[i-1].SHA {
			continue // an edit has ended a trial install, and stayed
		}
		if s.by == byRollback || s.by == byReturn {
			k := len(steps) - 1
			for k >= 0 && (steps[k].SHA != s.SHA || steps[k].by == byNobody) {
				k--
			}
			if k >= 0 {
				steps = steps[:k+1]
				continue
			}
		}
		steps = append(steps, s)
	}
	n := len(steps) - 1
	if n < 0 || steps[n].SHA != sha || steps[n].by == byReturn {
		return nil, false
	}
	for _, s := range slices.Backward(steps[:n]) {
		if s.by == byNobody {
			return out, len(out) > 0
		}
		if s.by != byTry { // a text on trial is nothing to go back to
			out = append(out, s)
		}
	}
	return out, true
}

// Replaced are the texts that held replaced at a place, the newest first:
// SHA-256, "" for no skill at all. If the history does not show it, it is
// what the newest promotion of held replaced, else the text that held was
// made from, else the version with the next lower number.
func Replaced(ctx context.Context, db *store.Store, name, path, held string, home bool) (out []string, err error) {
	h, err := TimelineOf(ctx, db, name, path, home)
	if err != nil {
		return nil, err
	}
	if steps, known := h.before(held); known {
		for _, s := range steps {
			if s.SHA != held {
				out = append(out, s.SHA)
			}
		}
		return out, nil
	}
	for i := len(h) - 1; i > 0 && len(out) == 0; i-- {
		if h[i].by == byPromote && h[i].SHA == held && h[i-1].by != byNobody {
			out = append(out, h[i-1].SHA)
		}
	}
	versions, err := db.Versions(ctx, name)
	if err != nil {
		return nil, err
	}
	current := slices.IndexFunc(versions, func(v record.Version) bool { return v.SHA == held })
	for i := current; i >= 0; i-- {
		sha := versions[i].SHA
		if i == current {
			sha = versions[i].Parent
		}
		if sha != "" && sha != held && !slices.Contains(out, sha) {
			out = append(out, sha)
		}
	}
	return out, nil
}

// rolledBackTexts are the texts that a rollback removed and that were put
// nowhere since, with the times.
func rolledBackTexts(installs []store.Install) map[string]time.Time {
	last, out := map[string]time.Time{}, map[string]time.Time{}
	for _, in := range installs {
		if in.Outcome == Installed && in.Ended.After(last[in.To]) {
			last[in.To] = in.Ended
		}
	}
	for _, in := range installs { // the newest first
		if _, ok := out[in.From]; !ok && in.Outcome == Installed && IsRollback(in) && !in.Ended.Before(last[in.From]) {
			out[in.From] = in.Ended
		}
	}
	return out
}
