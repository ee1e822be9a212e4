package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
)

// TestNightForecast: a dry run reports how many corrections a night would
// read, with how many tokens, the cost of everything, and the caps; it makes
// no call.
func TestNightForecast(t *testing.T) {
	t.Parallel()
	s := newStation(t, 0)
	w := s.clerk()
	home := s.restless()
	s.corrected(home, 137, 12) // 137 calls, 13 to read what was said, and 55 at most to try rubrics
	dry := func(flags ...string) (status.Night, string) {
		t.Helper()
		c := s.night(home)
		c.Args = append(append(c.Args, "--dry-run"), flags...)
		out, err := c.Output()
		var r status.Night
		if err == nil {
			err = json.Unmarshal(out, &r)
		}
		if err != nil || r.Forecast == nil {
			t.Fatalf("%v in %s", err, out)
		}
		c = s.night(home)
		c.Args = append(append(c.Args, "--dry-run"), flags...)
		return r, unfolded(printed(t, c))
	}
	r, said := dry()
	fc := r.Forecast
	if fc.Rollouts != 260 || len(fc.Reading) != 1 || fc.Reading[0].Calls != 130 || fc.Reading[0].Later != 75 || fc.Reading[0].Tokens < 130*300 || fc.CostUSD != nil {
		t.Fatalf("forecast %+v", *fc)
	}
	if *fc.Tokens <= fc.Reading[0].Tokens+260*600 {
		t.Errorf("%d tokens in all, %d of them read", *fc.Tokens, fc.Reading[0].Tokens)
	}
	for _, want := range []string{"forecast  at most 260 rollouts, about ", " tokens (a guess: nothing recorded tells); ", "no price is known, the default --max-tokens 4000000 holds it", s.cases[0].Skill + " 130 calls, ", "(75 left for later nights)"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	if _, said = dry("--max-tokens", "0"); !strings.Contains(said, "no price is known, and nothing else holds it: --max-tokens would") {
		t.Errorf("without a cap it says\n%s", said)
	}
	if _, said = dry("--max-tokens", "50000"); !strings.Contains(said, "no price is known, --max-tokens 50000 holds it") {
		t.Errorf("with a cap it says\n%s", said)
	}
	r, said = dry("--price-in", "1", "--price-out", "1", "--max-cost-usd", "2")
	if usd := r.Forecast.CostUSD; usd == nil || *usd < 0.9e-6*float64(*r.Forecast.Tokens) || *usd > 1.1e-6*float64(*r.Forecast.Tokens) || !strings.Contains(said, "held by --max-cost-usd 2.00") {
		t.Errorf("forecast %+v:\n%s", *r.Forecast, said)
	}
	// With many rollouts few cases are left to later nights.
	if r, _ = dry("--max-rollouts", "1000"); r.Forecast.Reading[0].Calls != 205 || r.Forecast.Reading[0].Later != 0 {
		t.Errorf("with 1000 rollouts: %+v", r.Forecast.Reading)
	}
	if calls, _, _ := w.served(); calls != 0 {
		t.Errorf("dry runs made %d calls", calls)
	}
	night := s.night(home)
	night.Args = append(night.Args, "--max-rollouts", "160")
	out, err := night.Output()
	var took status.Night
	if err == nil {
		err = json.Unmarshal(out, &took)
	}
	calls, read, tokens := w.served()
	if err != nil || read != 80 || took.Spent.Rollouts == 0 {
		t.Fatalf("%d read, %v; want half as many calls as rollouts: %+v", read, err, took.Spent)
	}
	// What runs took is the measure of those to come.
	said = printed(t, s.command(home, "sleep", "install", "--at", "3:17", "--with", "systemd", "--print", "--", "--agent", "openai", "--base-url", s.url,
		"--model", "sim-task", "--max-rollouts", "620", "--max-duration", "2h"))
	var thousand int64
	if _, after, ok := strings.Cut(said, "each night: at most 620 rollouts, about "); !ok || !strings.Contains(after, "corrections are read with at most 310 calls") ||
		!strings.Contains(after, "no price is known, the default --max-tokens 4000000, --max-duration 2h0m0s holds it") {
		t.Fatalf("install says\n%s", said)
	} else if _, err := fmt.Sscanf(after, "%dk tokens", &thousand); err != nil {
		t.Fatalf("%v in\n%s", err, said)
	}
	if want := (tokens - read*(clerkIn+clerkOut)) * 620 / took.Spent.Rollouts / 1000; thousand < want-1 || thousand > want+1 {
		t.Errorf("%dk tokens are expected with 620 rollouts, want %dk: %d were taken by a night of %d rollouts and %d calls, %d of them to read", thousand, want, tokens, took.Spent.Rollouts, calls, read)
	}
}

// TestReadsOfManySkills: the reading of many skills is summed up.
func TestReadsOfManySkills(t *testing.T) {
	fc := &sleep.Forecast{}
	for _, name := range []string{"a", "b", "c", "d"} {
		fc.Reading = append(fc.Reading, sleep.Reading{Skill: name, Calls: 2, Tokens: 1000})
	}
	if got := fc.Reads(); got != "a 2 calls, 1,000 tokens; b 2 calls, 1,000 tokens; c 2 calls, 1,000 tokens; d 2 calls, 1,000 tokens" {
		t.Errorf("%q", got)
	}
	fc.Reading = append(fc.Reading, sleep.Reading{Skill: "e", Calls: 1, Later: 3, Tokens: 500})
	if got := fc.Reads(); got != "5 skills, 9 calls, 4,500 tokens (3 left for later nights)" {
		t.Errorf("%q", got)
	}
}
