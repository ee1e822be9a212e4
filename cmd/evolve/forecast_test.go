package main

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
)

// The forecast names as many held-out cases as the gate can have pairs: those of one
// session are one pair, and those that were spent are none.
func TestForecastCountsWhatTheGateCounts(t *testing.T) {
	a := testApp(t)
	live, err := a.skill("dataviz")
	if err != nil {
		t.Fatal(err)
	}
	cases := make([]eval.Case, 9)
	for i := range cases {
		cases[i].Split = eval.Test
	}
	for want, f := range map[string]runFlags{
		"; there are 9": {runConfig: runConfig{HeldOut: 9, Clusters: 9}},
		"; of the 9 held out 4 are fresh evidence": {runConfig: runConfig{HeldOut: 9, Clusters: 4}},
		"; of the 9 held out 2 are fresh evidence": {runConfig: runConfig{HeldOut: 2, Carried: "a trial that is continued"}},
		"; of the 9 held out 0 are fresh evidence": {},
		" 10 points about 427; there are 9":        {runConfig: runConfig{HeldOut: 9}}, // of an older version
		"cases: 0 train, 0 validation, 9 held ":    {runConfig: runConfig{HeldOut: 3, Clusters: 2}},
	} {
		f.Spec = agent.Spec{Agent: "simulated"}
		p := &prepared{f: &f, live: live, cases: cases}
		if got := p.forecast(pastRate{}).String(); !strings.Contains(got, want) {
			t.Errorf("held out %d in %d clusters: %q is not in\n%s", f.HeldOut, f.Clusters, want, got)
		}
	}
}
