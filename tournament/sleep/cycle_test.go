package sleep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"pgregory.net/rapid"
)

var evening = time.Date(2026, 3, 1, 3, 17, 0, 0, time.UTC)

func openStore(t testing.TB) *store.Store {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// A house is a person's skills as the tests of the cycle see them.
type house struct {
	outlooks map[string]Outlook
	results  map[string]Result // by skill
	trouble  map[string]error  // that Try meets
	alarms   map[string]*Alarm
	compared int // held-out cases that a comparison gets done; 0 for all

	harvests, looks int
	runs            map[string]int64 // run id → rollouts paid; a resumed run pays nothing
	tried           []Task
	installed       []string
	rolledBack      []string
}

func (h *house) parts() Parts {
	return Parts{
		Skills: func(context.Context) ([]string, error) {
			var names []string
			for n := range h.outlooks {
				names = append(names, n)
			}
			slices.Sort(names)
			return names, nil
		},
		Harvest: func(context.Context) (int, string, error) { h.harvests++; return 3, "3 new sessions", nil },
		Look: func(_ context.Context, name string) (Outlook, error) {
			h.looks++
			return h.outlooks[name], nil
		},
		Try: func(_ context.Context, k Task) (Result, error) {
			h.tried = append(h.tried, k)
			if h.runs == nil {
				h.runs = map[string]int64{}
			}
			r := h.results[k.Skill]
			h.runs[k.Run] = min(r.Spent.Rollouts, k.Caps.Rollouts)
			r.Spent.Rollouts = h.runs[k.Run]
			return r, h.trouble[k.Skill]
		},
		Install: func(_ context.Context, k Task, r Result) (Placed, error) {
			if !slices.Contains(h.installed, k.Skill) {
				h.installed = append(h.installed, k.Skill)
			}
			return Placed{Done: true, Note: "installed"}, nil
		},
		Watch: func(_ context.Context, name string) (*Alarm, error) { return h.alarms[name], nil },
		Rollback: func(_ context.Context, a *Alarm) (string, error) {
			if !slices.Contains(h.rolledBack, a.Skill) { // it does nothing where it is done already
				h.rolledBack = append(h.rolledBack, a.Skill)
			}
			return "rolled back", nil
		},
		Compare: func(_ context.Context, k Task, d Drift) ([]Compared, Result, error) {
			h.tried = append(h.tried, k)
			if h.runs == nil {
				h.runs = map[string]int64{}
			}
			h.runs[k.Run] = min(30, k.Caps.Rollouts)
			var found []Compared
			cases := h.outlooks[k.Skill].Drift.Cases // a step does not keep them
			for _, text := range d.Against() {
				found = append(found, Compared{Version: d.Version, Against: text, Model: d.To, Quality: -0.2, Low: -0.3, High: -0.1, Cases: cases, Tried: cmp.Or(h.compared, cases)})
			}
			return found, Result{Spent: eval.Spent{Rollouts: h.runs[k.Run], CostKnown: true}}, h.trouble[k.Skill]
		},
	}
}

func (h *house) cycle(j Journal) *Cycle {
	n := 0
	return &Cycle{Parts: h.parts(), Journal: j, Now: func() time.Time { return evening }, Owner: "test",
		RunID: func() string { n++; return fmt.Sprintf("run%d", n) }}
}

// failing is a skill with so many uses in the last month, every third a failure.
func failing(skill string, uses int) Outlook {
	o := Outlook{Skill: skill, Incumbent: "v0-" + skill, Train: 5}
	for i := range uses {
		o.Uses = append(o.Uses, Use{Session: fmt.Sprint(i), At: evening.AddDate(0, 0, -30).Add(time.Duration(i) * time.Hour), Failed: i%3 == 0})
	}
	return o
}

func proved(rollouts int64) Result {
	return Result{Decision: pareto.Promote, Reason: "better", Incumbent: "a", Challenger: "b", EValue: 1e6, Alpha: 0.02, Total: 0.025,
		Kernel: true, Spent: eval.Spent{Rollouts: rollouts, CostKnown: true}}
}

func TestIdleNightAsksNobody(t *testing.T) {
	quiet := failing("quiet", 3) // one failure
	waits := failing("waits", 90)
	waits.Challenger = "c" // without a fresh case
	h := &house{outlooks: map[string]Outlook{"quiet": quiet, "waits": waits, "broken": {Skill: "broken", Unable: "it does not parse"}}}
	n, err := h.cycle(Stored(openStore(t))).Run(t.Context(), Plan{Policy: Auto, Caps: Caps{Rollouts: 300}})
	if err != nil {
		t.Fatal(err)
	}
	if h.harvests != 1 || len(h.tried) != 0 || n.Ended.IsZero() {
		t.Errorf("%d harvests, tried %v, ended %v: want one harvest and nothing else", h.harvests, h.tried, n.Ended)
	}
	if s := n.Steps[len(n.Steps)-1]; s.Skill != "broken" || s.Stage != Skipped || s.Note == "" {
		t.Errorf("the broken skill: %+v, want it skipped with its reason", s)
	}
}

// TestShareByGain: who is corrected more gets more, and what one does not use is
// there for the next.
func TestShareByGain(t *testing.T) {
	h := &house{outlooks: map[string]Outlook{"much": failing("much", 90), "some": failing("some", 30)},
		results: map[string]Result{"much": {Spent: eval.Spent{Rollouts: 100}}, "some": {Spent: eval.Spent{Rollouts: 1000}}}}
	n, err := h.cycle(Stored(openStore(t))).Run(t.Context(), Plan{Policy: Staging, Caps: Caps{Rollouts: 400}})
	if err != nil {
		t.Fatal(err)
	}
	if len(h.tried) != 2 || h.tried[0].Skill != "much" || h.tried[0].Caps.Rollouts <= 200 {
		t.Fatalf("tried %+v, want much first with more than half", h.tried)
	}
	if got := h.tried[1].Caps.Rollouts; got != 300 {
		t.Errorf("some got %d rollouts, want the 300 that much left", got)
	}
	if got := n.Spent().Rollouts; got != 400 {
		t.Errorf("spent %d, want the cap of 400", got)
	}
}

func TestPortionNeverExceedsWhatIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		left := Caps{Rollouts: rapid.Int64Range(0, 500).Draw(t, "rollouts"), CostUSD: rapid.Float64Range(0, 10).Draw(t, "usd"),
			Tokens: rapid.Int64Range(0, 1e6).Draw(t, "tokens"), Duration: time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "duration"))}
		var steps []Step
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			steps = append(steps, Step{Kind: rapid.SampledFrom([]Kind{Continue, Search}).Draw(t, "kind"),
				Gain: rapid.Float64Range(0, 20).Draw(t, "gain"), Rollouts: rapid.Int64Range(0, 100).Draw(t, "rollouts")})
		}
		c, ok := Portion(left, left, steps)
		if !ok {
			return
		}
		over := func(part, all float64) bool { return all > 0 && (part > all || part <= 0) || all == 0 && part < 0 }
		if over(float64(c.Rollouts), float64(left.Rollouts)) || over(c.CostUSD, left.CostUSD) ||
			over(float64(c.Tokens), float64(left.Tokens)) || over(float64(c.Duration), float64(left.Duration)) {
			t.Fatalf("%+v of %+v: a cap is exceeded, or became none", c, left)
		}
	})
}

func TestPolicy(t *testing.T) {
	level := 0.025
	good := proved(1)
	with := func(f func(*Result)) Result { r := good; f(&r); return r }
	for _, c := range []struct {
		name   string
		policy Policy
		r      Result
		demo   bool
		want   bool
	}{
		{"auto installs what is proved", Auto, good, false, true},
		{"stage leaves it", Staging, good, false, false},
		{"undecided", Auto, with(func(r *Result) { r.Decision = pareto.Undecided }), false, false},
		{"flagged", Auto, with(func(r *Result) { r.Flagged = []string{"network"} }), false, false},
		{"kernel not confirmed", Auto, with(func(r *Result) { r.Kernel = false }), false, false},
		{"simulated", Auto, with(func(r *Result) { r.Simulated = true }), false, false},
		{"simulated, in the demo", Auto, with(func(r *Result) { r.Simulated = true }), true, true},
		{"tools without a sandbox", Auto, with(func(r *Result) { r.Unboxed = true }), false, false},
		{"proved at 0.05, where the lifetime leaves half of it", Auto, with(func(r *Result) { r.Alpha, r.Total, r.EValue = 0.04, 0.05, 26 }), false, false},
		{"by another objective, while quality is shown to be no lower at 0.05 alone", Auto, with(func(r *Result) { r.Alpha, r.Total, r.EValue, r.NotLower = 0.01, 0.05, 400, 1.2 }), false, false},
		{"by another objective, with enough of that", Auto, with(func(r *Result) { r.Alpha, r.Total, r.EValue, r.NotLower = 0.01, 0.05, 400, 2.4 }), false, true},
		{"the same with evidence that is enough", Auto, with(func(r *Result) { r.Alpha, r.Total, r.EValue = 0.04, 0.05, 51 }), false, true},
	} {
		if got, why := c.policy.MayInstall(&c.r, level, c.demo); got != c.want || !got && why == "" {
			t.Errorf("%s: %v (%q), want %v", c.name, got, why, c.want)
		}
	}
}

// TestLifetime: each trial of a skill gets less of the error than the one before,
// a promotion gives some back, and telling a result twice counts once.
func TestLifetime(t *testing.T) {
	st := NewState("dataviz")
	if got := st.Next(); got != LifetimeAlpha/2 {
		t.Errorf("first level %g, want half of %g", got, LifetimeAlpha)
	}
	lost := Result{Decision: pareto.Reject, Incumbent: "i", Challenger: "x"}
	for range 2 {
		st.Judge("r1", st.Level("i", "x", 0), &lost)
	}
	st.Judge("r2", 0, &Result{}) // a search that found nothing tests nothing
	before := st.Next()
	if want := LifetimeAlpha / 6; before != want {
		t.Errorf("second level %g, want %g", before, want)
	}
	won := proved(1)
	won.Incumbent, won.Challenger = "i", "y"
	st.Judge("r3", before, &won)
	if got, want := st.Next(), LifetimeAlpha/12*2; got != want {
		t.Errorf("third level after a promotion %g, want %g", got, want)
	}
	if got := st.Level("i", "y", 0); got != before {
		t.Errorf("level of the trial that has begun %g, want %g as it was", got, before)
	}
}

// TestTrialStartsAgain: a trial that started again on another model is one more
// trial of the lifetime, at the level that this leaves it, and goes on at that level
// in the nights after; the round before it stays what it came to.
func TestTrialStartsAgain(t *testing.T) {
	j := Stored(openStore(t))
	o := failing("dataviz", 30)
	o.Challenger, o.Fresh, o.Rollouts = "c", 5, 20
	h := &house{outlooks: map[string]Outlook{"dataviz": o}}
	undecided := Result{Decision: pareto.Undecided, Reason: "too few", Incumbent: o.Incumbent, Challenger: "c"}
	again := undecided
	again.Round, again.Restarted = 1, "the model changed from x to y: the trial starts again"
	kept := again
	kept.Restarted = ""
	night := func(r Result) *Night {
		t.Helper()
		h.results = map[string]Result{"dataviz": r}
		n, err := h.cycle(j).Run(t.Context(), Plan{})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	night(undecided)
	n := night(again)
	if note := n.Steps[1].Note; note != "the model changed from x to y: the trial starts again; no difference seen: too few" {
		t.Errorf("it says %q", note)
	}
	o.Round = 1
	h.outlooks["dataviz"] = o
	night(kept)
	st, err := j.State(t.Context(), "dataviz")
	if err != nil || len(st.Trials) != 2 || st.Lifetime.Tested != 2 {
		t.Fatalf("trials %+v, %v; want two", st.Trials, err)
	}
	for i, want := range []float64{LifetimeAlpha / 2, LifetimeAlpha / 6} {
		if got := st.Trials[i]; got.Round != i || got.Level != want || h.tried[i].Level != want {
			t.Errorf("round %d: %+v, the gate was told %g; want level %g", i, got, h.tried[i].Level, want)
		}
	}
	won := proved(1)
	won.Incumbent, won.Challenger, won.Round = o.Incumbent, "c", 1
	n = night(won)
	if len(st.Trials) != 2 || n.Steps[len(n.Steps)-1].Kind != Install || n.Steps[len(n.Steps)-1].Level != LifetimeAlpha/6 {
		t.Errorf("proved in the second round: %+v", n.Steps)
	}
}

// TestTroubleOfOneSkill: what concerns one skill does not end the night; what
// concerns all is tried again by the next process, and in the end given up.
func TestTroubleOfOneSkill(t *testing.T) {
	h := &house{outlooks: map[string]Outlook{"a": failing("a", 90), "b": failing("b", 30)}, results: map[string]Result{"b": proved(60)},
		trouble: map[string]error{"a": &Hopeless{errors.New("the files beside it changed")}}}
	n, err := h.cycle(Stored(openStore(t))).Run(t.Context(), Plan{Policy: Auto, Caps: Caps{Rollouts: 300}})
	if err != nil || n.Steps[1].Stage != Failed || !reflect.DeepEqual(h.installed, []string{"b"}) {
		t.Errorf("hopeless: %v, %+v, installed %v; want a failed and b installed", err, n.Steps, h.installed)
	}

	limit := errors.New("usage limit")
	h.installed, h.tried, h.trouble = nil, nil, map[string]error{"a": limit}
	j := Stored(openStore(t))
	for range tries {
		if _, err := h.cycle(j).Run(t.Context(), Plan{Policy: Auto, Caps: Caps{Rollouts: 300}}); !errors.Is(err, limit) {
			t.Fatalf("error %v, want the limit", err)
		}
	}
	if len(h.tried) != tries || h.tried[0].Run != h.tried[tries-1].Run {
		t.Errorf("tried %+v: want the same run each time", h.tried)
	}
	n, err = h.cycle(j).Run(t.Context(), Plan{})
	if err != nil || n.TakenOver != tries || !reflect.DeepEqual(h.installed, []string{"b"}) {
		t.Errorf("then: %v, taken over %d times, installed %v; want it to end with b", err, n.TakenOver, h.installed)
	}
}

// TestAlarm: it is reported once; the version is rolled back only by explicit
// choice, and nothing else is done to that skill in the same night.
func TestAlarm(t *testing.T) {
	for _, rollback := range []bool{false, true} {
		h := &house{outlooks: map[string]Outlook{"a": failing("a", 90)}, results: map[string]Result{"a": {Spent: eval.Spent{Rollouts: 5}}},
			alarms: map[string]*Alarm{"a": {Version: "v1", Alpha: 0.05, At: 9, NewSessions: 12, Limit: 0.4}}}
		c := h.cycle(Stored(openStore(t)))
		c.Rollback = rollback
		told, tried := 0, 0
		for night := range 2 {
			n, err := c.Run(t.Context(), Plan{Policy: Auto, Caps: Caps{Rollouts: 100}})
			if err != nil {
				t.Fatal(err)
			}
			if s := n.Steps[1]; s.Kind == Watch && len(s.Note) > 6 && s.Note[:6] == "alarm:" {
				told++
			}
			if night == 0 {
				tried = len(h.tried)
			}
		}
		if told != 1 {
			t.Errorf("told %d times, want once", told)
		}
		if got := len(h.rolledBack) == 1; got != rollback {
			t.Errorf("rolled back %v with the choice %v", h.rolledBack, rollback)
		}
		if want := map[bool]int{false: 1, true: 0}[rollback]; tried != want {
			t.Errorf("tried %d times in that night with rollback %v, want %d", tried, rollback, want)
		}
	}
}

// TestUnprovenCasesWait: if only cases are left that prove nothing, nothing
// is begun, and the owner learns what would help.
func TestUnprovenCasesWait(t *testing.T) {
	o := failing("a", 90)
	o.Challenger, o.Unproven = "c", 12
	h := &house{outlooks: map[string]Outlook{"a": o}}
	n, err := h.cycle(Stored(openStore(t))).Run(t.Context(), Plan{Caps: Caps{Rollouts: 100}})
	if err != nil || len(h.tried) != 0 || len(n.Steps) != 2 {
		t.Fatalf("tried %+v, %v, %+v", h.tried, err, n)
	}
	if s := n.Steps[1]; s.Kind != Continue || s.Stage != Skipped || !strings.Contains(s.Note, "12 unseen requests rest on a judge") || !strings.Contains(s.Note, "`evolve review a`") {
		t.Errorf("%s %s: %q", s.Kind, s.Stage, s.Note)
	}
}

// TestEditedMeanwhile: a step that its owner's edit has overtaken is skipped
// with the reason, is no failure, and offers no proof about another text.
func TestEditedMeanwhile(t *testing.T) {
	edit := &Overtaken{"you edited the live text"}
	h := &house{outlooks: map[string]Outlook{"a": failing("a", 90), "b": failing("b", 30), "c": staged("c")}, results: map[string]Result{"b": proved(60)},
		trouble: map[string]error{"a": edit}}
	c := h.cycle(Stored(openStore(t)))
	whole := c.Parts.Install
	c.Parts.Install = func(ctx context.Context, k Task, r Result) (Placed, error) {
		if k.Skill == "c" {
			return Placed{}, edit
		}
		return whole(ctx, k, r)
	}
	n, err := c.Run(t.Context(), Plan{Policy: Auto, Caps: Caps{Rollouts: 300}})
	if err != nil || !reflect.DeepEqual(h.installed, []string{"b"}) {
		t.Fatalf("%v, installed %v; want b alone", err, h.installed)
	}
	for _, s := range n.Steps {
		if (s.Skill == "a" || s.Skill == "c") && (s.Stage != Skipped || !strings.Contains(s.Note, edit.Why) || s.Kind == Install && s.Result != nil) {
			t.Errorf("%s %s: %s, %q, %+v", s.Kind, s.Skill, s.Stage, s.Note, s.Result)
		}
	}
	for _, k := range h.tried {
		if o := h.outlooks[k.Skill]; k.Incumbent != o.Incumbent {
			t.Errorf("%s was tried for the text %q, want %q", k.Skill, k.Incumbent, o.Incumbent)
		}
	}
}
