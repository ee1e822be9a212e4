package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// used has so many sessions of one use each right now, as transcripts alone tell
// them: of every ten so many are corrected.
func (r *roaming) used(agent string, n, corrected int, change ...func(*harvest.Invocation)) {
	r.t.Helper()
	for i := range n {
		now := time.Now()
		id := fmt.Sprint("s", now.UnixNano(), i)
		u := harvest.Invocation{ID: id, Skill: "tagger", Time: now, Explicit: true, Feedback: harvest.Feedback{Label: harvest.Accepted}}
		if i%10 < corrected {
			u.Feedback.Label = harvest.Corrected
		}
		for _, f := range change {
			f(&u)
		}
		s := &harvest.Session{ID: id, Path: "/" + id, Agent: agent, Started: now, Turns: []harvest.Turn{{Prompt: "Tag my notes"}}, Invocations: []harvest.Invocation{u}}
		if err := r.db.SaveSession(r.t.Context(), s); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *roaming) watch() *sleep.Alarm {
	r.t.Helper()
	a, err := nightWork(r.t, r.a, r.db).Parts().Watch(r.t.Context(), "tagger")
	if err != nil {
		r.t.Fatal(err)
	}
	return a
}

// watches demands what the watch compares: sessions and percents, old and new.
func (r *roaming) watches(when string, raised bool, old, oldPercent, now, nowPercent int) {
	r.t.Helper()
	a := r.watch()
	if a == nil {
		r.t.Errorf("%s: nothing is watched", when)
		return
	}
	got := fmt.Sprintf("%t: %.0f%% of %d, before %.0f%% of %d", a.Raised(), 100*a.NewRate, a.NewSessions, 100*a.OldRate, a.OldSessions)
	if want := fmt.Sprintf("%t: %d%% of %d, before %d%% of %d", raised, nowPercent, now, oldPercent, old); got != want {
		r.t.Errorf("%s: alarm %s; want %s", when, got, want)
	}
}

// TestWatchWithoutHooksFromTheInstallations: no use names its text. After
// each promotion the new text is compared with those that it and they
// replaced, and a regression raises the alarm although the text before that
// was worse still.
func TestWatchWithoutHooksFromTheInstallations(t *testing.T) {
	r := newRoaming(t)
	next := func(n int) []byte { return append(bytes.Clone(r.v0), fmt.Sprintf("\nRule %d.\n", n)...) }
	r.used("claude-code", 60, 6)
	if a := r.watch(); a != nil {
		t.Errorf("what was found is watched: %+v", a)
	}
	r.install(next(1))
	r.used("claude-code", 50, 1)
	r.watches("after the first promotion", false, 60, 60, 50, 10)
	r.install(next(2))
	r.used("claude-code", 50, 1)
	r.watches("after the second", false, 50, 10, 50, 10)
	r.install(next(3))
	r.used("claude-code", 40, 6)
	r.watches("after the third, which is worse", true, 100, 10, 40, 60) // of the two before it

	// It is taken back: the second is watched again, with all of its sessions.
	if err := rollbackLive(t.Context(), r.a, "tagger"); err != nil {
		t.Fatal(err)
	}
	r.used("claude-code", 10, 0)
	r.watches("taken back", false, 50, 10, 60, 8)

	// After an edit by hand, the text that replaces it is compared with it.
	mine := append(next(2), "Mine.\n"...)
	r.write("claude", mine)
	if err := installerOf(r.a, r.db).Record(t.Context(), r.live()); err != nil {
		t.Fatal(err)
	}
	r.used("claude-code", 30, 2)
	if a := r.watch(); a != nil {
		t.Errorf("an edit is watched: %+v", a)
	}
	r.install(append(bytes.Clone(mine), "Rule 4.\n"...))
	r.used("claude-code", 20, 2)
	r.watches("over an edit", false, 30, 20, 20, 20)
}

// TestWatchOverAShortLivedVersion: after a version that was in place for a
// dozen sessions the next one is compared with the text before it, which the
// alarm names; a version with an alarm, or that its owner rejected, is no
// measure; an edit of its owner's hides the texts before it, however good
// they were.
func TestWatchOverAShortLivedVersion(t *testing.T) {
	r := newRoaming(t)
	next := func(n int) []byte { return append(bytes.Clone(r.v0), fmt.Sprintf("\nRule %d.\n", n)...) }
	against := func(when, want string, raised bool) {
		t.Helper()
		a := r.watch()
		if a == nil || a.Signals[0].Against != want || a.Raised() != raised || raised && !strings.Contains(a.String(), ", with "+want+" in ") {
			t.Errorf("%s: %+v, want it held against %q, alarm %v", when, a, want, raised)
		}
	}
	r.used("claude-code", 180, 2)
	r.install(next(1))
	r.used("claude-code", 12, 0)
	r.install(next(2))
	r.used("claude-code", 40, 8)
	against("the second, which is worse", "v0 and v1", true)
	r.reject(next(1))
	against("v1 was rejected", "v0", true)

	// Its owner keeps it, and the alarm was reported: the third is compared
	// with v0 alone.
	journal := sleep.Stored(r.db)
	l, err := journal.Acquire(t.Context(), "a night", time.Now(), time.Now().Add(time.Hour), func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	st, err := journal.State(t.Context(), "tagger")
	if err != nil {
		t.Fatal(err)
	}
	st.Alarmed = append(st.Alarmed, skill.HashText(next(2)))
	if err := journal.SaveState(t.Context(), l.Generation, st); err != nil {
		t.Fatal(err)
	}
	r.install(next(3))
	r.used("claude-code", 40, 8)
	against("the third, as bad as the second", "v0", true)

	mine := append(next(3), "Mine.\n"...)
	r.write("claude", mine)
	if err := installerOf(r.a, r.db).Record(t.Context(), r.live()); err != nil {
		t.Fatal(err)
	}
	r.used("claude-code", 30, 8)
	r.install(append(bytes.Clone(mine), "Rule 5.\n"...))
	r.used("claude-code", 40, 8)
	against("over an edit that is as bad", "v4", false)
}

// TestWatchTellsTargetsApart: uses by an agent whose folder holds another version,
// or of a text that is none, are not counted to the live one.
func TestWatchTellsTargetsApart(t *testing.T) {
	r := newRoaming(t)
	r.write("codex", r.v0)
	if err := promoteSkill(t.Context(), r.a, "tagger", promoteFlags{to: []string{"codex"}}); err != nil { // it is a place from now on
		t.Fatal(err)
	}
	r.used("claude-code", 30, 1)
	r.used("codex", 10, 1) // v0 there too
	r.install(r.v1)
	r.used("claude-code", 20, 1)
	r.used("codex", 40, 9)       // v0 still
	r.used("copilot-cli", 10, 1) // reads no folder that evolve knows
	project := filepath.Join(r.home, "project", ".claude", "skills", "tagger")
	if err := errors.Join(os.MkdirAll(project, 0o700), os.WriteFile(filepath.Join(project, skill.FileName), r.v0, 0o600)); err != nil {
		t.Fatal(err)
	}
	r.used("claude-code", 10, 9, func(u *harvest.Invocation) { u.Dir = project })
	r.used("claude-code", 10, 1, func(u *harvest.Invocation) { u.Dir = filepath.Dir(r.path("claude")) })
	r.used("pi", 10, 9, func(u *harvest.Invocation) { u.Dir = filepath.Dir(r.path("codex")) })
	r.used("codex", 10, 1, func(u *harvest.Invocation) { u.TextHash = skill.HashText(r.v1) }) // a hook knows better
	// Old: 30 + 10 + 40 of codex + 10 of pi. New: 20 + 10 + 10 + 10.
	r.watches("codex holds v0", false, 90, 54, 50, 10)

	if err := promoteSkill(t.Context(), r.a, "tagger@v1", promoteFlags{to: []string{"codex"}}); err != nil {
		t.Fatal(err)
	}
	r.used("codex", 10, 1)
	r.watches("codex holds v1", false, 90, 54, 60, 10)
}

// TestWatchDoesNotGuess: if the text changed by hand at an unknown time, the
// uses in between count for neither.
func TestWatchDoesNotGuess(t *testing.T) {
	r := newRoaming(t)
	r.used("claude-code", 10, 0)
	r.install(r.v1)
	r.used("claude-code", 20, 2)
	r.write("claude", r.v0) // put back by hand
	r.used("claude-code", 20, 9)
	if err := installerOf(r.a, r.db).Record(t.Context(), r.live()); err != nil {
		t.Fatal(err)
	}
	r.used("claude-code", 10, 1)
	r.install(append(bytes.Clone(r.v0), "\nAnother rule.\n"...))
	r.used("claude-code", 10, 3)
	// The 20 of v1, and 20 more of no text; the 10 after it was seen were v0,
	// but only the installation that followed shows it.
	r.watches("put back by hand", false, 10, 0, 10, 30)
}

// TestWatchLeavesTheFutureOut: a session that a clock has dated years ahead is none of
// the installed version's, nor of the ones before it.
func TestWatchLeavesTheFutureOut(t *testing.T) {
	r := newRoaming(t)
	in := func(d time.Duration) func(*harvest.Invocation) {
		return func(u *harvest.Invocation) { u.Time = u.Time.Add(d) }
	}
	r.used("claude-code", 3, 0)
	r.used("claude-code", 2, 2, in(5*365*24*time.Hour))
	r.used("claude-code", 1, 0, in(12*time.Hour)) // a clock in another zone
	o, err := nightWork(r.t, r.a, r.db).Parts().Look(t.Context(), "tagger")
	if err != nil || len(o.Uses) != 4 {
		t.Errorf("%d uses count (%v), want 4", len(o.Uses), err)
	}
}
