package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/report"
)

// A lab has a skill of a simulated world, and a store.
type lab struct {
	silent silent
	*Runner
	t     *testing.T
	world simulated.World
	db    *store.Store
	said  []string
}

func newLab(t *testing.T) *lab {
	l := &lab{t: t, world: worldstest.Additive(3, 10, 0.05)}
	home, skills := datadir.Dir(t.TempDir()), t.TempDir()
	l.check(os.MkdirAll(filepath.Join(skills, l.world.Skill), 0o700))
	l.check(os.WriteFile(filepath.Join(skills, l.world.Skill, skill.FileName), []byte(l.world.Seed()), 0o600))
	var err error
	l.db, err = store.Open(t.Context(), home.Database())
	l.check(err)
	t.Cleanup(func() { l.check(l.db.Close()) })
	db := func(context.Context) (*store.Store, error) { return l.db, nil }
	l.Runner = &Runner{Store: db, Existing: db, Dir: home, Access: datadir.Writes, Now: time.Now,
		Layout: &skill.Layout{Getenv: func(k string) string { return map[string]string{"HOME": string(home)}[k] }, ClaudeHome: string(home), SkillsDir: skills,
			Configured: func() ([]string, error) { return nil, nil }},
		Say: func(format string, args ...any) { l.said = append(l.said, fmt.Sprintf(format, args...)) },
		Backends: func(context.Context, *agent.Spec) (*agent.Backends, error) {
			return &agent.Backends{Agent: l.world.Agent(), Mutator: l.world.Model(), Miner: l.world.Model(), Judge: l.world.Model(), Redactor: redact.Known(), AtATime: 4}, nil
		},
		Harvest: func(context.Context, *store.Store) (*ingest.Report, error) { return &ingest.Report{}, nil },
		Watch:   func(report.Task) report.View { return &l.silent },
	}
	l.Installer = func(db *store.Store) *release.Installer {
		return &release.Installer{Store: db, Dir: home, Access: datadir.Writes, Layout: l.Layout, Now: time.Now, Say: l.Say,
			Note: func(string, hook.NoteKind, string, ...any) {}}
	}
	return l
}

func (l *lab) check(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) config() Config {
	return Config{Schema: 1, Skill: l.world.Skill, Evolve: skill.Harness, Seed: 7, MaxRollouts: 260, Profile: check.ClaudeCode,
		Spec: agent.Spec{Agent: "simulated", ReflectAgent: "simulated", JudgeAgent: "simulated"}}
}

// A silent view counts rollouts and shows nothing.
type silent struct{ rollouts int }

func (*silent) Event(record.Event)      {}
func (*silent) Done()                   {}
func (s *silent) Rollout(*eval.Rollout) { s.rollouts++ }

// TestRun: a run without a command line is prepared, forecast, run, and
// resumed from its records; a skill without cases, and one that another run
// holds, give typed errors.
func TestRun(t *testing.T) {
	l, ctx := newLab(t), t.Context()
	c, err := l.Prepare(ctx, l.config(), Options{})
	var few *TooFewCasesError
	if !errors.As(err, &few) {
		t.Fatalf("without cases: %v", err)
	}
	if res, err := c.Unrun(ctx, few); err != nil || res.Status != "waiting" || res.Verdict.Reason != few.Error() || res.Run != "" {
		t.Errorf("the result of that: %+v, %v", res, err)
	}
	c.Close()
	_, _, err = l.db.SaveCases(ctx, l.world.Cases(12, 12, 24))
	l.check(err)

	c, err = l.Prepare(ctx, l.config(), Options{Run: "20261122-000000-aaaaaa"})
	l.check(err)
	fc, err := c.Forecast(ctx)
	if err != nil || fc.Train != 12 || fc.Test != 24 || fc.Rollouts != 260 {
		t.Errorf("forecast %+v, %v", fc, err)
	}
	if other, err := l.Prepare(ctx, l.config(), Options{}); err == nil || !strings.Contains(err.Error(), "run 20261122-000000-aaaaaa") {
		t.Errorf("two runs at once: %v", err)
	} else {
		other.Close()
	}
	res, err := c.Run(ctx)
	l.check(err)
	c.Close()
	if res.Challenger == nil || res.Spent.Rollouts == 0 || l.silent.rollouts == 0 {
		t.Fatalf("result %+v, %d rollouts seen", res, l.silent.rollouts)
	}
	if text, err := os.ReadFile(res.Challenger.Path); err != nil || skill.HashText(text) != res.Challenger.SHA {
		t.Errorf("the challenger is not written to %q: %v", res.Challenger.Path, err)
	}
	c, err = l.Resume(ctx, res.Run, "", Options{})
	l.check(err)
	defer c.Close()
	if again, err := c.Run(ctx); err != nil || again.Challenger.SHA != res.Challenger.SHA || again.Spent.Rollouts != res.Spent.Rollouts {
		t.Errorf("walked again: %+v, %v, want %+v", again, err, res)
	}
}

// TestFewCases: a run that its owner begins on fewer cases than a night waits for says so,
// and says when nothing is held out; one that has them does not.
func TestFewCases(t *testing.T) {
	for _, c := range []struct {
		train, val, test int
		want             string
	}{
		{4, 2, 0, "few cases: a night would wait for 8 more train cases and 4 more validation cases; this search begins at your word, and may find nothing better. No unseen request is left: its trial begins with your next sessions"},
		{11, 6, 9, "few cases: a night would wait for 1 more train case; this search begins at your word, and may find nothing better"},
		{12, 6, 9, ""},
	} {
		l := newLab(t)
		_, _, err := l.db.SaveCases(t.Context(), l.world.Cases(c.train, c.val, c.test))
		l.check(err)
		run, err := l.Prepare(t.Context(), l.config(), Options{})
		l.check(err)
		said := slices.DeleteFunc(run.Found(), func(line string) bool { return !strings.HasPrefix(line, "few cases") })
		if got := strings.Join(said, "\n"); got != c.want {
			t.Errorf("%d train, %d validation, %d held-out cases: %q, want %q", c.train, c.val, c.test, got, c.want)
		}
		run.Close()
	}
}

// TestStoppedRun: the cause that ends a search is a typed error with the
// run's name.
func TestStoppedRun(t *testing.T) {
	l := newLab(t)
	_, _, err := l.db.SaveCases(t.Context(), l.world.Cases(12, 12, 24))
	l.check(err)
	c, err := l.Prepare(t.Context(), l.config(), Options{})
	l.check(err)
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stopped *StoppedError
	if _, err := c.Run(ctx); !errors.As(err, &stopped) || stopped.Run != c.Stored().ID || !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestCompareTwoTexts: a text is measured against no skill at all, and a repetition
// measures nothing again.
func TestCompareTwoTexts(t *testing.T) {
	l, ctx := newLab(t), t.Context()
	_, _, err := l.db.SaveCases(ctx, l.world.Cases(4, 4, 8))
	l.check(err)
	texts, err := candidate.Open(ctx, l.db, l.Layout, l.world.Skill)
	l.check(err)
	for _, asked := range []int{16, 0} {
		c, err := l.Compare(ctx, texts, []string{eval.NoSkill}, l.config(), CompareOptions{Split: "test", Trials: 1})
		l.check(err)
		fc, err := c.Plan(ctx)
		if err != nil || fc.Cases != 8 || fc.Rollouts != 16 {
			t.Fatalf("forecast %+v, %v", fc, err)
		}
		before := len(l.said)
		l.check(c.Measure(ctx))
		c.Close()
		if got := int(c.Report.Spent.Rollouts); got != asked || asked == 0 && !strings.Contains(strings.Join(l.said[before:], "\n"), "16 of 16 rollouts are from an earlier comparison") {
			t.Errorf("%d rollouts were paid for, want %d; it said %q", got, asked, l.said[before:])
		}
	}
}

// TestJudgedAgain: an undecided trial without a fresh case waits, and is judged by what it
// has if its owner names other objectives; nothing is asked for it.
func TestJudgedAgain(t *testing.T) {
	l, ctx := newLab(t), t.Context()
	_, _, err := l.db.SaveCases(ctx, l.world.Cases(12, 12, 4))
	l.check(err)
	c, err := l.Prepare(ctx, l.config(), Options{Run: "20261122-000000-aaaaaa"})
	l.check(err)
	res, err := c.Run(ctx)
	l.check(err)
	c.Close()
	if v := res.Verdict; !v.Decision.IsOpen() || v.Cases != 4 {
		t.Fatalf("%s on %d cases: this test shows nothing", v.Decision, v.Cases)
	}
	again := func(objectives ...string) (*Campaign, error) {
		f := l.config()
		f.Objectives = objectives
		return l.Prepare(ctx, f, Options{})
	}
	for _, same := range [][]string{nil, {"retries", "quality", "cost", "latency"}} {
		c, err := again(same...)
		if !errors.As(err, new(*WaitingError)) {
			t.Errorf("by %v: %v, want it to wait", same, err)
		}
		c.Close()
	}
	c, err = again("quality")
	l.check(err)
	defer c.Close()
	fc, err := c.Forecast(ctx)
	l.check(err)
	if text := fc.String(); !strings.Contains(text, "no rollouts, the trial is judged by the pairs that it has") || !strings.Contains(strings.Join(c.Found(), "\n"), "is judged again, by other objectives: quality") {
		t.Errorf("it says %q and\n%s", c.Found(), text)
	}
	before := l.silent.rollouts
	judged, err := c.Run(ctx)
	l.check(err)
	if v := judged.Outcome.Verdict; l.silent.rollouts != before || judged.Challenger.SHA != res.Challenger.SHA || v.Cases != 4 || len(v.Dropped) == 0 || v.Fresh != 0 {
		t.Errorf("%d rollouts; %+v of %.12s", l.silent.rollouts-before, v, judged.Challenger.SHA)
	}
}
