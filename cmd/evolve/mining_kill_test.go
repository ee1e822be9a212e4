package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/campaign/readlimit"
	"github.com/skill-evolve/evolve/tournament/status"
)

// TestKilledWhileReadingANight: a night is killed twice while it reads
// corrections. What was served before counts: the cap on tokens holds over
// all three processes, and the reported spending is what was served, except
// for the calls in flight.
func TestKilledWhileReadingANight(t *testing.T) {
	for _, capped := range []int64{30_000, 0} {
		s := newStation(t, 0)
		w := s.clerk()
		home := s.restless()
		s.corrected(home, 30, 24)
		night := func() *exec.Cmd {
			c := s.night(home)
			if capped > 0 {
				c.Args = append(c.Args, "--max-tokens", fmt.Sprint(capped))
			}
			return c
		}
		for _, at := range []int64{8, 24} {
			s.killWhen(night(), func() bool { _, read, _ := w.served(); return read >= at })
		}
		s.statusTells(home, w)
		var out, errs bytes.Buffer
		c := night()
		c.Stdout, c.Stderr = &out, &errs
		if err := c.Run(); err != nil {
			t.Fatalf("cap %d: %v: %s", capped, err, errs.String())
		}
		var r status.Night
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("cap %d: %v in %s", capped, err, out.String())
		}
		_, read, tokens := w.served()
		told := r.Spent.TokensIn + r.Spent.TokensOut
		t.Logf("cap %d: %d read, %d tokens served; told %d read, %d tokens, %d ms; %q", capped, read, tokens, r.Spent.MinerCalls, told, r.Spent.WallMS, r.Warnings)
		const lost, one = 2, clerkIn + clerkOut // calls in flight
		if capped > 0 && tokens > capped+lost*one {
			t.Errorf("cap %d: %d tokens were served", capped, tokens)
		}
		if capped == 0 && read < 34 {
			t.Errorf("cap %d: %d read; want all of it", capped, read)
		}
		if d := read - r.Spent.MinerCalls; d < 0 || d > lost {
			t.Errorf("cap %d: %d read, told %d", capped, read, r.Spent.MinerCalls)
		}
		// An agent's call in flight cannot have been lost: no process was
		// killed then.
		if d := tokens - told; d < 0 || d > lost*one {
			t.Errorf("cap %d: %d tokens were served, told %d", capped, tokens, told)
		}
		if n := w.twice(); n > lost {
			t.Errorf("cap %d: %d were read twice", capped, n)
		}
		if least := tookAtLeast(read, lost); r.Spent.WallMS < least {
			t.Errorf("cap %d: told %d ms, it took %d at least", capped, r.Spent.WallMS, least)
		}
		if capped == 0 {
			continue
		}
		// It found no time to search: that is still to be done, and what is read is read.
		if r.Spent.Rollouts > 0 || !strings.Contains(out.String(), "the next night reads on") {
			t.Errorf("cap %d: %s", capped, out.String())
		}
		r, out = status.Night{}, bytes.Buffer{}
		c = s.night(home)
		c.Stdout = &out
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if _, all, _ := w.served(); r.Spent.Rollouts == 0 || all != 35+lost || r.Spent.MinerCalls != all-read {
			t.Errorf("the next night: %d read in all, told %+v", all, r.Spent)
		}
	}
}

// statusTells demands that the status of a night whose process was killed knows what
// was served.
func (s *station) statusTells(home string, w *clerk) {
	s.t.Helper()
	out, err := s.command(home, "sleep", "status").Output()
	var r sleepReport
	if err == nil {
		err = json.Unmarshal(out, &r)
	}
	if err != nil {
		s.t.Fatalf("%v in %s", err, out)
	}
	if _, read, _ := w.served(); r.Spent.MinerCalls < read-2 || r.Last.Spent.MinerCalls != r.Spent.MinerCalls {
		s.t.Errorf("%d read; the status tells %d, of the last night %d", read, r.Spent.MinerCalls, r.Last.Spent.MinerCalls)
	}
}

// TestKilledWhileReading: a run that a person started is killed while it
// reads corrections, twice; the same command continues it, under the same
// caps. Killed in its search it is resumed by name. Nothing is read twice,
// and the reported spending is what was served.
func TestKilledWhileReading(t *testing.T) {
	s := newStation(t, 2*time.Millisecond)
	w := s.clerk()
	home := s.home()
	s.corrected(home, 20, 12)
	start := s.start()
	start = append(append([]string{}, start[:2]...), start[3:]...) // but for --no-harvest
	start = append(start, "--max-rollouts", "600")                 // enough for a verdict
	for _, at := range []int64{6, 14} {
		s.killWhen(s.command(home, start...), func() bool { _, read, _ := w.served(); return read >= at })
	}
	s.killWhen(s.command(home, start...), func() bool { calls, read, _ := w.served(); return calls-read >= 60 })
	_, read, _ := w.served()
	db := s.open(home)
	runs, err := db.Runs(t.Context(), s.cases[0].Skill)
	db.Close()
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v; want the one that was begun", len(runs), err)
	}
	r := s.result(s.command(home, "--resume", runs[0].ID))
	calls, after, tokens := w.served()
	told := r.Spent.TokensIn + r.Spent.TokensOut
	t.Logf("%d of %d calls read corrections, %d tokens served; told %d, %d tokens, %d ms", after, calls, tokens, r.Spent.MinerCalls, told, r.Spent.WallMS)
	if after != read {
		t.Errorf("the resumed run read %d corrections", after-read)
	}
	if d := read - r.Spent.MinerCalls; d < 0 || d > 2 {
		t.Errorf("%d read, told %d", read, r.Spent.MinerCalls)
	}
	const inSearch = 8 + 4 // rollouts and proposals at a time
	if d := tokens - told; d < 0 || d > (2+inSearch)*(clerkIn+clerkOut) {
		t.Errorf("%d tokens were served, told %d", tokens, told)
	}
	if n := w.twice(); n > 2 {
		t.Errorf("%d were read twice", n)
	}
	if least := tookAtLeast(read, 3); r.Spent.WallMS < least {
		t.Errorf("told %d ms, reading alone took %d at least", r.Spent.WallMS, least)
	}
}

// TestReadBeforeTheRunBegan: all corrections are read and stored, and the process is
// gone before its run has begun: who goes on with it has that on the bill.
func TestReadBeforeTheRunBegan(t *testing.T) {
	s := newStation(t, 0)
	w := s.clerk()
	d := s.desk(5, 12)
	for again := range 2 {
		p, err := d.prepare("the-run", eval.Caps{Rollouts: 100})
		if err != nil {
			t.Fatal(err)
		}
		got := p.Budget().Spent()
		if _, read, tokens := w.served(); read != 7 || got.MinerCalls != read || got.TokensIn+got.TokensOut != tokens || p.Config.Mined.MinerCalls != read {
			t.Errorf("attempt %d: %d read with %d tokens; on the bill %+v, kept %+v", again+1, read, tokens, got, p.Config.Mined)
		}
	}
}

// TestTimeOfKilledProcessesCounts: a run whose earlier processes used up its
// time makes no call.
func TestTimeOfKilledProcessesCounts(t *testing.T) {
	s := newStation(t, 0)
	w := s.clerk()
	d := s.desk(3, 0)
	if err := d.db.SaveRunTime(t.Context(), "the-run", time.Hour); err != nil {
		t.Fatal(err)
	}
	var limit *eval.BudgetError
	p, err := d.prepare("the-run", eval.Caps{Duration: 30 * time.Minute})
	if _, read, _ := w.served(); !errors.As(err, &limit) || limit.Cap != "max-duration" || read != 0 {
		t.Errorf("%d read, %v; want none, and the cap on the time", read, err)
	}
	if ms := p.Budget().Spent().WallMS; ms < time.Hour.Milliseconds() {
		t.Errorf("told %d ms of an hour", ms)
	}
	if _, err := d.prepare("another", eval.Caps{Duration: 30 * time.Minute}); err != nil {
		t.Errorf("another run has its own time: %v", err)
	}
}

// TestANightReadsSoMuch: without any cap on tokens, dollars or time, a night
// reads no more corrections than its rollouts allow, and reports what it
// left; those are quoted meanwhile, and the next night continues.
func TestANightReadsSoMuch(t *testing.T) {
	t.Parallel()
	s := newStation(t, 0)
	w := s.clerk()
	d := s.desk(27, 0)
	for night, want := range []struct{ read, quoted int }{{20, 10 + 6}, {30, 9}} { // three of them read what was said
		p, err := d.prepare(fmt.Sprint("night", night), eval.Caps{Rollouts: 30})
		if err != nil {
			t.Fatal(err)
		}
		cases, err := d.db.Cases(t.Context(), s.cases[0].Skill)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, c := range cases {
			if ingest.Quoted(c) {
				n++
			}
		}
		said := strings.Join(p.Notes, "\n")
		// Of every three replies one was useless, and its correction stays a quotation.
		if _, read, _ := w.served(); read != int64(want.read) || n != want.quoted || (night == 0) != strings.Contains(said, "20 calls to read corrections were made") ||
			(night == 0) != strings.Contains(said, "10 are left for the next night") {
			t.Errorf("night %d: %d read in all, %d quoted, said %q; want %+v", night+1, read, n, said, want)
		}
	}
	for rollouts, want := range map[int64]int64{0: 120, 1: 20, 40: 20, 240: 120, 1000: 500} {
		if got := readlimit.OfNight(rollouts); got != want {
			t.Errorf("with %d rollouts %d calls, want %d", rollouts, got, want)
		}
	}
}

// A nightDesk prepares runs in this process as a night does.
type nightDesk struct {
	s  *station
	a  *global
	db *store.Store
}

// desk has a home with so many corrected uses, see corrected.
func (s *station) desk(plain, foreign int) *nightDesk {
	home := s.home()
	s.corrected(home, plain, foreign)
	a := newGlobal(bytes.NewReader(nil), new(bytes.Buffer), new(bytes.Buffer))
	env := map[string]string{"EVOLVE_HOME": home, "HOME": home}
	a.Getenv = func(k string) string { return env[k] }
	a.skillDir = s.skills
	s.t.Cleanup(func() {
		if err := a.close(); err != nil {
			s.t.Error(err)
		}
	})
	db, err := a.store(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return &nightDesk{s, a, db}
}

// prepare brings a run as far as it comes before it begins, and leaves it there.
func (d *nightDesk) prepare(id string, caps eval.Caps) (*campaign.Campaign, error) {
	f := runFlags{Config: campaign.Config{Schema: 1, Skill: d.s.cases[0].Skill, Evolve: skill.Harness, Seed: 1, Profile: check.ClaudeCode,
		MaxRollouts: caps.Rollouts, MaxTokens: caps.Tokens, MaxDuration: caps.Duration}, Options: campaign.Options{Night: true, Run: id}, yes: true}
	f.Agent, f.Model, f.ReflectModel, f.BaseURL = "openai", "sim-task", "sim-reflect", d.s.url
	c, err := prepareRun(d.s.t.Context(), d.a, &f)
	c.Close()
	return c, err
}

// TestKilledAnywhere: nights with a cap on tokens are killed three times, at
// random moments from the first correction to the gate. No more is served
// than the cap and the calls in flight, and the reported spending is what was
// served except for those. With EVOLVE_LONG=1 many nights.
func TestKilledAnywhere(t *testing.T) {
	nights := 2
	if os.Getenv("EVOLVE_LONG") == "1" {
		nights = 40
	}
	rng := rand.New(rand.NewPCG(11, 11))
	for n := range nights {
		const most, one = 180_000, clerkIn + clerkOut
		s := newStation(t, 0)
		w := s.clerk()
		home := s.restless()
		s.corrected(home, 12, 12)
		night := func() *exec.Cmd {
			c := s.night(home)
			c.Args = append(c.Args, "--max-tokens", fmt.Sprint(most))
			return c
		}
		var at []int64
		for range 3 {
			at = append(at, 1+rng.Int64N(most/one-20))
		}
		slices.Sort(at)
		var out []byte
		var err error
		for _, far := range at {
			// From there on nothing is answered, so a night cannot end between the look
			// and the kill. One may end before: what was in flight at a kill counts.
			w.holdFrom(far)
			var printed bytes.Buffer
			c := night()
			c.Stdout = &printed
			if !s.killedBefore(c, func() bool { calls, _, _ := w.served(); return calls >= far }) {
				out = printed.Bytes()
				break
			}
		}
		w.holdFrom(0)
		if out == nil {
			out, err = night().Output()
		}
		var r status.Night
		if err == nil {
			err = json.Unmarshal(out, &r)
		}
		if err != nil {
			t.Fatalf("night %d: %v in %s", n, err, out)
		}
		calls, read, tokens := w.served()
		told := r.Spent.TokensIn + r.Spent.TokensOut
		made := r.Spent.AgentCalls + r.Spent.MutatorCalls + r.Spent.MinerCalls + r.Spent.JudgeCalls
		t.Logf("night %d, killed at %d: %d calls served, %d of them to read, %d tokens; told %d calls, %d tokens", n, at, calls, read, tokens, made, told)
		// What was in flight at a kill is on no bill, and counts all the same.
		var assumed int64
		for _, k := range r.Steps {
			assumed += k.Assumed.Tokens
		}
		if tokens > most+one || told+assumed < tokens {
			t.Errorf("night %d: %d tokens were served under a cap of %d, %d told and %d assumed", n, tokens, most, told, assumed)
		}
		if told := strings.Contains(strings.Join(r.Warnings, "\n"), "were under way when an earlier process ended"); told != (assumed > 0) {
			t.Errorf("night %d: warnings %q", n, r.Warnings)
		}
		// Rollouts in flight may have their second attempt; and there are proposals.
		const lost = 3 * (2*inFlight + 4)
		if tokens > most+lost*one {
			t.Errorf("night %d: %d tokens were served under a cap of %d", n, tokens, most)
		}
		if told > most+2*inFlight*one {
			t.Errorf("night %d: %d tokens told", n, told)
		}
		if d := calls - made; d < 0 || d > lost {
			t.Errorf("night %d: %d calls served, told %d", n, calls, made)
		}
		if d := tokens - told; d < 0 || d > lost*one {
			t.Errorf("night %d: %d tokens served, told %d", n, tokens, told)
		}
	}
}
