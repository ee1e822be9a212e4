package handoff

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

func TestWaitsForTheEndOfAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		a := opened(t, dir, func(c *Config) { c.Wait = true })
		begun := time.Now()
		var got eval.Completion
		var took time.Duration
		var done sync.WaitGroup
		done.Go(func() {
			var err error
			if got, err = a.Complete(t.Context(), eval.Prompt{User: "x"}); err != nil {
				t.Error(err)
			}
			took = time.Since(begun)
		})
		time.Sleep(time.Hour)
		name := filepath.Join(filepath.Dir(one(t, dir).Path), answerText)
		for i := range 5 { // a slow hand: a word every 1.5 s, with a fresh time as files have it
			write(t, name, strings.Repeat("word ", i+1)+"end")
			time.Sleep(1500 * time.Millisecond)
		}
		done.Wait()
		if want := strings.Repeat("word ", 5) + "end"; got.Text != want {
			t.Errorf("took %q, want %q", got.Text, want)
		}
		if rest := took - time.Hour - 6*time.Second; rest < 2*time.Second || rest > 5*time.Second {
			t.Errorf("the answer was taken %v after its last word", rest)
		}
	})
}

func TestFreshAnswerWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		a := opened(t, dir, nil)
		ask := func() (eval.Completion, error) { return a.Complete(t.Context(), eval.Prompt{User: "x"}) }
		_, err := ask()
		wantPending(t, err, "")
		name := filepath.Join(filepath.Dir(one(t, dir).Path), answerText)
		write(t, name, "half")
		go func() {
			time.Sleep(time.Second)
			write(t, name, "half and more")
		}()
		_, err = ask()
		wantPending(t, err, "")
		if c, err := ask(); err != nil || c.Text != "half and more" {
			t.Errorf("%+v (%v)", c, err)
		}
	})
}

func TestEndOfWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := opened(t, t.TempDir(), func(c *Config) { c.Wait = true })
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		// A wall clock is not for people: their time is not the candidate's fault.
		_, err := a.Complete(ctx, eval.Prompt{User: "x"})
		wantPending(t, err, "")
		ctx, stop := context.WithCancel(t.Context())
		go func() { time.Sleep(time.Minute); stop() }()
		if _, err := a.Complete(ctx, eval.Prompt{User: "x"}); !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v", err)
		}
	})
}

func TestWallClockAroundAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &eval.Evaluator{Agent: opened(t, t.TempDir(), func(c *Config) { c.Wait = true }), Grader: new(eval.Checks), WallClock: time.Hour}
		k := &eval.Case{ID: "1", Skill: "stones", Prompt: "x", Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}}
		out, err := e.Run(t.Context(), []eval.Job{{Variant: eval.Variant{Name: "stones"}, Case: k}})
		wantPending(t, err, "1 of 1 rollouts wait")
		if out[0] != nil {
			t.Errorf("rollout = %+v", out[0])
		}
	})
}
