package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
)

// TestSleepLease: one owner at a time; an owner whose lease was taken over gets an
// error at its next write, and has changed nothing.
func TestSleepLease(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	alive := func(string) bool { return false }
	first, err := s.TakeSleepLease(ctx, "a", day, day.Add(time.Minute), alive)
	must(t, err)
	must(t, s.SaveNight(ctx, first.Generation, "n1", day, json.RawMessage(`{"by":"a"}`)))

	var held *LeaseHeldError
	if _, err := s.TakeSleepLease(ctx, "b", day, day.Add(time.Minute), alive); !errors.As(err, &held) || held.Lease.Owner != "a" {
		t.Fatalf("a second owner: %v, want it held by a", err)
	}
	must(t, s.RenewSleepLease(ctx, first, day.Add(2*time.Minute)))
	if _, err := s.TakeSleepLease(ctx, "b", day.Add(90*time.Second), day.Add(time.Hour), alive); !errors.As(err, &held) {
		t.Fatalf("after a renewal: %v, want it held", err)
	}

	second, err := s.TakeSleepLease(ctx, "b", day.Add(2*time.Minute), day.Add(time.Hour), alive)
	must(t, err)
	if second.Generation <= first.Generation {
		t.Errorf("generation %d after %d", second.Generation, first.Generation)
	}
	for what, err := range map[string]error{
		"save":    s.SaveNight(ctx, first.Generation, "n1", day, json.RawMessage(`{"by":"late a"}`)),
		"state":   s.SaveSleepState(ctx, first.Generation, "dataviz", json.RawMessage(`{}`)),
		"renew":   s.RenewSleepLease(ctx, first, day.Add(time.Hour)),
		"release": s.ReleaseSleepLease(ctx, first),
	} {
		if !errors.Is(err, ErrLeaseLost) {
			t.Errorf("%s by the old owner: %v, want ErrLeaseLost", what, err)
		}
	}
	if ns, err := s.Nights(ctx, 0); err != nil || len(ns) != 1 || string(ns[0]) != `{"by":"a"}` {
		t.Errorf("nights %s, %v", ns, err)
	}

	// A dead owner's is taken at once.
	third, err := s.TakeSleepLease(ctx, "c", day.Add(3*time.Minute), day.Add(time.Hour), func(owner string) bool { return owner == "b" })
	must(t, err)
	must(t, s.SaveSleepState(ctx, third.Generation, "dataviz", json.RawMessage(`{"x":1}`)))
	if st, err := s.SleepState(ctx, "dataviz"); err != nil || string(st) != `{"x":1}` {
		t.Errorf("state %s, %v", st, err)
	}
	if st, err := s.SleepState(ctx, "other"); err != nil || st != nil {
		t.Errorf("state of a skill without one: %s, %v", st, err)
	}
	must(t, s.ReleaseSleepLease(ctx, third))
	if l, err := s.SleepLeaseNow(ctx); err != nil || l.Owner != "" {
		t.Errorf("after the release: %+v, %v", l, err)
	}
}

// TestNightsInTheOrderOfTheirBeginning: the last night is the one that began last,
// whatever the clock said then; saving an older one again, and a file that was
// rewritten without what was removed, change nothing.
func TestNightsInTheOrderOfTheirBeginning(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	l, err := s.TakeSleepLease(ctx, "a", day, day.Add(time.Hour), func(string) bool { return false })
	must(t, err)
	save := func(id string, began time.Time) {
		t.Helper()
		must(t, s.SaveNight(ctx, l.Generation, id, began, json.RawMessage(fmt.Sprintf("%q", id))))
	}
	nights := func(limit int) string {
		t.Helper()
		ns, err := s.Nights(ctx, limit)
		must(t, err)
		return fmt.Sprintf("%s", ns)
	}
	save("30-first", day)
	save("99-ahead", day.AddDate(1, 0, 0)) // a clock that ran ahead
	save("31-third", day.AddDate(0, 0, 1))
	save("32-fourth", day.AddDate(0, 0, 2))
	save("99-ahead", day.AddDate(1, 0, 0))
	if got, want := nights(0), `["32-fourth" "31-third" "99-ahead" "30-first"]`; got != want {
		t.Errorf("nights %s, want %s", got, want)
	}
	must(t, s.Do(ctx, func(t *tx) error { _, err := t.Exec(`DELETE FROM nights WHERE id = '30-first'`); return err }))
	must(t, s.Rewrite(ctx))
	save("10-behind", day.AddDate(-1, 0, 0)) // a clock that was put back
	if got, want := nights(2), `["10-behind" "32-fourth"]`; got != want {
		t.Errorf("after the file was rewritten %s, want %s", got, want)
	}
}

// TestWhoAnswered: a candidate's evidence is its own trial's, the last of it; of
// an agent the model that it reported last.
func TestWhoAnswered(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	sha, other := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	sonnet := eval.Identity{Backend: "claude", Version: "2.1.329", Model: "sonnet"}
	n := 0
	save := func(candidate, arm, model string, id eval.Identity, status eval.Status) {
		n++
		must(t, s.Journal("r").SaveRollout(ctx, &eval.Rollout{Key: fmt.Sprint("k", n), Candidate: candidate, CaseID: "c", Arm: arm, Model: model, Agent: id, Status: status}))
	}
	if a, err := s.ProvedBy(ctx, sha); err != nil || a != nil {
		t.Errorf("without rollouts %+v, %v; want nobody", a, err)
	}
	if m, err := s.LastModel(ctx, sonnet); err != nil || m != "" {
		t.Errorf("without rollouts %q, %v; want no model", m, err)
	}
	gate := "gate:" + other[:16] + ":" + sha[:16]
	save(sha, gate, "one", sonnet, eval.Done)
	save(sha, gate, "two", sonnet, eval.Done)
	save(sha, gate, "three", sonnet, eval.Missing)
	save(sha, "", "four", sonnet, eval.Done)                              // in a search
	save(sha, "gate:"+sha[:16]+":"+other[:16], "five", sonnet, eval.Done) // as the incumbent of another
	save(other, gate, "six", eval.Identity{Backend: "codex"}, eval.Done)  // the incumbent beside it
	save(other, "", "", sonnet, eval.Done)                                // did not tell
	save(other, "", "seven", eval.Identity{Backend: "claude"}, eval.Done) // asked for no model
	if a, err := s.ProvedBy(ctx, sha); err != nil || a == nil || a.Model != "two" || a.Agent != sonnet {
		t.Errorf("proved by %+v, %v; want model two of %v", a, err, sonnet)
	}
	if m, err := s.LastModel(ctx, sonnet); err != nil || m != "five" {
		t.Errorf("last model %q, %v; want five", m, err)
	}
}

// TestTurnCosts: the cost of a turn is reported if its transcript contains it, and is
// unknown otherwise.
func TestTurnCosts(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	ms := int64(1500)
	use := func(turn int, skill string) harvest.Invocation {
		return harvest.Invocation{ID: fmt.Sprint(skill, turn), Skill: skill, Turn: turn}
	}
	must(t, s.SaveSession(ctx, &harvest.Session{ID: "s", Path: "/p", Turns: []harvest.Turn{{}, {Usage: &eval.Usage{Input: 2, CacheRead: 5, Output: 3}, DurationMS: &ms}, {Interrupted: true}, {}},
		Invocations: []harvest.Invocation{use(1, "plot"), use(2, "plot"), use(3, "plot"), use(-1, "plot"), use(0, "other"), use(9, "plot")}}))
	got, err := s.TurnCosts(ctx, "plot")
	must(t, err)
	want := map[Turn]TurnCost{{"s", "/p", 1}: {Usage: &eval.Usage{Input: 2, CacheRead: 5, Output: 3}, DurationMS: &ms}, {"s", "/p", 2}: {Interrupted: true}, {"s", "/p", 3}: {}, {"s", "/p", 9}: {}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("costs %+v, want %+v", got, want)
	}
}

func TestSleepStates(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	l, err := s.TakeSleepLease(ctx, "a", day, day.Add(time.Minute), func(string) bool { return false })
	must(t, err)
	must(t, s.SaveSleepState(ctx, l.Generation, "one", json.RawMessage(`{"n":1}`)))
	must(t, s.SaveSleepState(ctx, l.Generation, "two", json.RawMessage(`{"n":2}`)))
	got, err := s.SleepStates(ctx)
	must(t, err)
	if len(got) != 2 || string(got["two"]) != `{"n":2}` {
		t.Errorf("states %s, want those of one and two", got)
	}
}
