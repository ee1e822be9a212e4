package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/record"
)

var day = time.Date(2026, 3, 1, 2, 3, 4, 567891000, time.UTC)

// rollout is a whole one, with every field set.
func rollout(key string) *eval.Rollout {
	ms, usd := int64(1234), 0.0125
	return &eval.Rollout{
		Key: key, Candidate: "c0ffee", CaseID: "case-1", Trial: 1, Status: eval.Done,
		Quality: 0.75, Retries: 1, LatencyMS: &ms, CostUSD: &usd,
		Usage:   &eval.Usage{Input: 100, CacheRead: 20, CacheWrite: 3, Output: 50, Reasoning: 10},
		Answer:  "the axis is logarithmic \u2028 \x00 <&>",
		Trace:   []eval.ToolCall{{Name: "Bash", Input: `{"command":"ls"}`, Failed: true}},
		Checks:  []eval.CheckResult{{Type: "contains", Score: 1, Weight: 2, Feedback: "f", Evidence: "e"}},
		Failure: "", Feedback: []string{"name the unit"}, Attempts: 2, InfraRetries: 1,
		Agent: eval.Identity{Backend: "claude", Version: "2.1", Model: "m", Params: "p"}, Started: day,
		JudgeCalls: 1, JudgeUsage: &eval.Usage{Input: 5, Output: 2}, JudgeUSD: &usd,
	}
}

func TestRolloutRoundTrip(t *testing.T) {
	s := open(t)
	j := s.Journal("r1")
	if r, fresh, err := j.Rollout(t.Context(), "k"); r != nil || fresh || err != nil {
		t.Fatalf("unknown key: %v, %v, %v", r, fresh, err)
	}
	want := rollout("k")
	must(t, j.SaveRollout(t.Context(), want))
	got, fresh, err := j.Rollout(t.Context(), "k")
	must(t, err)
	if !fresh || !reflect.DeepEqual(got, want) {
		t.Errorf("fresh %v\n got %+v\nwant %+v", fresh, got, want)
	}
	unknown := &eval.Rollout{Key: "bare", Status: eval.Missing, Failure: "unreachable"}
	must(t, j.SaveRollout(t.Context(), unknown))
	got, _, err = j.Rollout(t.Context(), "bare")
	must(t, err)
	if !reflect.DeepEqual(got, unknown) {
		t.Errorf("unknown values came back as %+v", got)
	}
}

func TestRolloutFirstWins(t *testing.T) {
	s := open(t)
	j := s.Journal("r1")
	must(t, j.SaveRollout(t.Context(), rollout("k")))
	second := rollout("k")
	second.Quality = 0
	must(t, j.SaveRollout(t.Context(), second))
	got, _, err := j.Rollout(t.Context(), "k")
	must(t, err)
	if got.Quality != 0.75 {
		t.Errorf("quality %v, want the first one's", got.Quality)
	}
	all, err := s.Rollouts(t.Context(), RolloutFilter{Run: "r1"})
	if err != nil || len(all) != 1 {
		t.Errorf("%d rows, %v", len(all), err)
	}
}

func TestRolloutOfAnotherRun(t *testing.T) {
	s := open(t)
	one, two := s.Journal("r1"), s.Journal("r2")
	must(t, one.SaveRollout(t.Context(), rollout("done")))
	for _, st := range []eval.Status{eval.Missing, eval.Void} {
		r := rollout(string(st))
		r.Status = st
		must(t, one.SaveRollout(t.Context(), r))
		if got, _, err := two.Rollout(t.Context(), r.Key); got != nil || err != nil {
			t.Errorf("another run is offered a rollout that is %s: %v, %v", st, got, err)
		}
		if got, fresh, err := one.Rollout(t.Context(), r.Key); got == nil || !fresh || err != nil {
			t.Errorf("the run itself is not offered its %s rollout: %v", st, err)
		}
	}
	got, fresh, err := two.Rollout(t.Context(), "done")
	if got == nil || fresh || err != nil {
		t.Errorf("another run's rollout: %v, fresh %v, %v", got, fresh, err)
	}

	// What a run decided on stays, whatever others measure later.
	better := rollout("missing")
	must(t, two.SaveRollout(t.Context(), better))
	got, fresh, err = one.Rollout(t.Context(), "missing")
	if err != nil || !fresh || got.Status != eval.Missing {
		t.Errorf("run 1 now sees %v, fresh %v, %v", got, fresh, err)
	}
	n, err := s.ForgetMissing(t.Context(), "r1", nil)
	if n != 1 || err != nil {
		t.Errorf("forgot %d, %v; want 1", n, err)
	}
	got, fresh, err = one.Rollout(t.Context(), "missing")
	if err != nil || fresh || got.Status != eval.Done {
		t.Errorf("after forgetting, run 1 sees %v, fresh %v, %v; want run 2's", got, fresh, err)
	}
}

// TestSavesOutliveTheirContext: what was paid for is kept.
func TestSavesOutliveTheirContext(t *testing.T) {
	j := open(t).Journal("r")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, j.SaveRollout(ended, rollout("k")))
	must(t, j.SaveCompletion(ended, "c", eval.ByJudge, &eval.Completion{Text: "x"}))
	if err := j.SaveRun(ended, &record.Run{ID: "r"}); !errors.Is(err, context.Canceled) {
		t.Errorf("SaveRun with an ended context: %v", err)
	}
}

func TestCompletions(t *testing.T) {
	s := open(t)
	j := s.Journal("r1")
	usd := 0.5
	want := &eval.Completion{Text: "reply", Finish: "stop", Usage: &eval.Usage{Input: 1}, CostUSD: &usd}
	must(t, j.SaveCompletion(t.Context(), "k", eval.ByMutator, want))
	must(t, j.SaveCompletion(t.Context(), "k", eval.ByMutator, &eval.Completion{Text: "later"}))
	got, err := j.Completion(t.Context(), "k")
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := s.Journal("r2").Completion(t.Context(), "k"); got != nil || err != nil {
		t.Errorf("another run is offered the reply: %v, %v", got, err)
	}
}

// TestConcurrentSaves: every acknowledged save is there, from several
// goroutines of several handles.
func TestConcurrentSaves(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evolve.db")
	const handles, workers, each = 2, 8, 50
	var wg sync.WaitGroup
	for h := range handles {
		s := openAt(t, path)
		j := s.Journal("r")
		for w := range workers {
			wg.Go(func() {
				for i := range each {
					key := fmt.Sprintf("%d-%d-%d", h, w, i)
					if err := j.SaveRollout(t.Context(), rollout(key)); err != nil {
						t.Errorf("save %s: %v", key, err)
						return
					}
					if got, fresh, err := j.Rollout(t.Context(), key); got == nil || !fresh || err != nil {
						t.Errorf("read back %s: %v, %v, %v", key, got, fresh, err)
					}
				}
			})
		}
	}
	wg.Wait()
	all, err := openAt(t, path).Rollouts(t.Context(), RolloutFilter{})
	if err != nil || len(all) != handles*workers*each {
		t.Errorf("%d rollouts, %v; want %d", len(all), err, handles*workers*each)
	}
}

// TestOneFailureIsNobodyElses: of the saves that are committed together, the one
// that fails gets its error and the others are kept.
func TestOneFailureIsNobodyElses(t *testing.T) {
	s := open(t)
	boom := errors.New("boom")
	release := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { // holds the writer until the others are waiting
		if err := s.Do(t.Context(), func(*tx) error { <-release; return nil }); err != nil {
			t.Error(err)
		}
	})
	const n = 9
	errs := make([]error, n)
	var asked sync.WaitGroup
	for i := range n {
		asked.Add(1)
		wg.Go(func() {
			asked.Done()
			errs[i] = s.Do(t.Context(), func(t *tx) error {
				if _, err := t.Exec(`INSERT INTO kernels (skill, sha, at) VALUES (?, 'x', 1)`, fmt.Sprint(i)); err != nil {
					return err
				}
				if i == 4 {
					return boom
				}
				return nil
			})
		})
	}
	asked.Wait()
	close(release)
	wg.Wait()
	for i, err := range errs {
		if want := i == 4; errors.Is(err, boom) != want || (err != nil) != want {
			t.Errorf("save %d: %v", i, err)
		}
		_, ok, err := s.KernelConfirmed(t.Context(), fmt.Sprint(i), "x")
		if err != nil || ok != (i != 4) {
			t.Errorf("save %d kept: %v, %v", i, ok, err)
		}
	}
}
