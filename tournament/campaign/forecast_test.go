package campaign

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/expect"
	"github.com/skill-evolve/evolve/tournament/record"
)

// The forecast names as many held-out cases as the gate can have pairs: those of one
// session are one pair, and those that were spent are none.
func TestForecastCountsWhatTheGateCounts(t *testing.T) {
	doc, err := skill.Parse([]byte("---\nname: dataviz\ndescription: draws charts\n---\n# Charts\nUse a log axis.\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	live := &skill.Live{Doc: doc}
	cases := make([]eval.Case, 9)
	for i := range cases {
		cases[i].Split = eval.Test
	}
	proof := &expect.Proof{Replays: 3, Gains: []expect.Gain{{Gain: 0.25, Cases: 30}, {Gain: 0.17, Cases: 61}}}
	for want, f := range map[string]Config{
		"; there are 9":                          {HeldOut: 9, Clusters: 9},
		"; of the 9 unseen 4 are fresh evidence": {HeldOut: 9, Clusters: 4},
		"; of the 9 unseen 2 are fresh evidence": {HeldOut: 2, Carried: "a trial that is continued"},
		"; of the 9 unseen 0 are fresh evidence": {},
		" a third (17) about 61; there are 9":    {HeldOut: 9}, // of an older version
		"cases: 0 train, 0 validation, 9 unseen": {HeldOut: 3, Clusters: 2},
	} {
		f.Spec = agent.Spec{Agent: "simulated"}
		if got := f.forecast(live, cases, false, PastRate{}, nil, 0, proof).String(); !strings.Contains(got, want) {
			t.Errorf("held out %d in %d clusters: %q is not in\n%s", f.HeldOut, f.Clusters, want, got)
		}
	}
}

// TestForecastOfTheSecondReader: its call is counted, and said where nothing else is asked.
func TestForecastOfTheSecondReader(t *testing.T) {
	doc, err := skill.Parse([]byte("---\nname: dataviz\ndescription: draws charts\n---\n# Charts\n<!-- kernel -->\nUse a log axis.\n<!-- /kernel -->\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	live, proof := &skill.Live{Doc: doc}, &expect.Proof{Replays: 3}
	f := Config{Carried: "x", Given: []byte("x"), Spec: agent.Spec{Agent: "claude", JudgeAgent: "claude", JudgeModel: "m", ReflectAgent: "claude"}}
	for _, reads := range []bool{false, true} {
		f.ReadFirst = reads
		calls, tokens := int64(0), int64(0)
		if reads {
			calls, tokens = 1, tokensSecond
		}
		fc := f.forecast(live, []eval.Case{{Split: eval.Train}}, false, PastRate{}, nil, 0, proof)
		if said := strings.Contains(fc.String(), "\nsecond reader: claude/m reads the text before it is tried, in one call"); fc.Second != calls || fc.Calls != calls || fc.Tokens != tokens || said != reads {
			t.Errorf("%d of %d calls, %d tokens:\n%s", fc.Second, fc.Calls, fc.Tokens, fc)
		}
	}
}

// TestForecastKeepsRoomBesideOtherSkills: what is for other skills is in the sum, and is
// taken from the search.
func TestForecastKeepsRoomBesideOtherSkills(t *testing.T) {
	doc, err := skill.Parse([]byte("---\nname: dataviz\ndescription: draws charts\n---\n# Charts\nUse a log axis.\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	live, cases, proof := &skill.Live{Doc: doc}, []eval.Case{{Split: eval.Train}, {Split: eval.Test}}, &expect.Proof{Replays: 3}
	for _, beside := range []int64{0, 24} {
		f := Config{MaxRollouts: 200, HeldOut: 9, Beside: beside, Spec: agent.Spec{Agent: "simulated"}}
		fc := f.forecast(live, cases, false, PastRate{}, nil, 0, proof)
		if fc.Search+fc.Gate+fc.Beside != fc.Rollouts || fc.Rollouts != 200 || fc.Gate != 54 {
			t.Errorf("beside %d: %+v", beside, fc)
		}
		if got := strings.Contains(fc.String(), ", beside other skills 24)"); got != (beside > 0) {
			t.Errorf("beside %d: %s", beside, fc)
		}
		f.Carried = "a trial that is continued"
		if fc := f.forecast(live, cases, false, PastRate{}, nil, 0, proof); fc.Rollouts != 54+beside {
			t.Errorf("beside %d, continued: %d rollouts", beside, fc.Rollouts)
		}
	}
}

// TestThePastIsTheNewestRuns: a forecast looks at the newest runs on the same model.
func TestThePastIsTheNewestRuns(t *testing.T) {
	var runs []record.Run // the newest first
	for i := range 9 {
		f := Config{}
		f.Agent, f.Model = "openai", "m"
		if i == 1 {
			f.Model = "another"
		}
		raw, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, record.Run{Config: raw, Spent: eval.Spent{Rollouts: 10, TokensIn: int64(i), CostKnown: true}})
	}
	now := &Config{}
	now.Agent, now.Model = "openai", "m"
	if got := PastRateOf(runs, now); got.Rollouts != 50 || got.Tokens != 0+2+3+4+5 || !got.Priced {
		t.Errorf("%+v; want the five newest on this model", got)
	}
}

// TestFarBeyondTheForecast: a run that took more than twice its forecast
// warns of it, unless it had a cap.
func TestFarBeyondTheForecast(t *testing.T) {
	if got := (&Config{}).farBeyond(&Forecast{Takes: Takes{Tokens: 1}}, eval.Spent{TokensIn: 10}); !strings.Contains(got, "10 times as many") {
		t.Errorf("far beyond: %q", got)
	}
	if got := (&Config{MaxTokens: 1}).farBeyond(&Forecast{Takes: Takes{Tokens: 1}}, eval.Spent{TokensIn: 10}); got != "" {
		t.Errorf("with a cap that says so itself: %q", got)
	}
	if got := (&Config{}).farBeyond(&Forecast{Takes: Takes{Tokens: 10}}, eval.Spent{TokensIn: 20}); got != "" {
		t.Errorf("twice the forecast: %q", got)
	}
}

// TestForecastOfTwoModels: what the search takes has its own model's price, earlier runs
// count if they had the same models, and neither matters to a trial that is continued.
func TestForecastOfTwoModels(t *testing.T) {
	doc, err := skill.Parse([]byte("---\nname: dataviz\ndescription: draws charts\n---\n# Charts\nUse a log axis.\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	live, cases := &skill.Live{Doc: doc}, make([]eval.Case, 9)
	for i := range cases {
		cases[i].Split = eval.Test
	}
	of := func(search string) *Config {
		f := &Config{HeldOut: 9, MaxRollouts: 400}
		f.Agent, f.Model, f.SearchModel = "openai", "dear", search
		f.Prices = map[string]eval.Price{"dear": {Input: 10, Output: 10}, "cheap": {Input: 1, Output: 1}}
		return f
	}
	usd := func(f *Config) (float64, *Forecast) {
		fc := f.forecast(live, cases, false, PastRate{}, nil, 0, &expect.Proof{Replays: 3})
		if fc.CostUSD == nil {
			t.Fatal("the cost is not known")
		}
		return *fc.CostUSD, fc
	}
	one, fc := usd(of(""))
	two, _ := usd(of("cheap"))
	share := float64(fc.Search) / float64(fc.Rollouts)
	if want := one * (1 - 0.9*share); share <= 0.5 || two < 0.999*want || two > 1.001*want {
		t.Errorf("one model $%.4f, with a tenth of the price for %.2f of the rollouts $%.4f, want $%.4f", one, share, two, want)
	}
	carried, carried2 := of(""), of("cheap")
	carried.Carried, carried2.Carried = "x", "x"
	a, _ := usd(carried)
	if b, _ := usd(carried2); a != b {
		t.Errorf("a trial that is continued costs $%.4f with a model of the search and $%.4f without", b, a)
	}
	bare := of("") // its replays load less
	bare.Context = agent.ContextBare
	runs := func(f *Config) []record.Run {
		raw, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		return []record.Run{{Config: raw, Spent: eval.Spent{Rollouts: 10, TokensIn: 7}}}
	}
	for _, c := range []struct {
		was, now *Config
		counts   bool
	}{
		{of("cheap"), of("cheap"), true}, {of(""), of("cheap"), false}, {of("cheap"), of(""), false}, {carried2, of(""), true}, {carried2, of("cheap"), false},
		{of(""), bare, false}, {bare, bare, true},
	} {
		if got := PastRateOf(runs(c.was), c.now); got.Tokens > 0 != c.counts {
			t.Errorf("a run with %v counts for one with %v: %v", c.was.models(), c.now.models(), got.Tokens > 0)
		}
	}
}

// A larger set-up costs tokens in every replay.
func TestForecastOfASetUp(t *testing.T) {
	doc, err := skill.Parse([]byte("---\nname: x\ndescription: y\n---\nbody\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	of := func(owner int) int64 {
		f := Config{MaxRollouts: 30, NoGate: true}
		f.Spec = agent.Spec{Agent: "claude", OwnerTokens: owner}
		return f.forecast(&skill.Live{Doc: doc}, []eval.Case{{Split: eval.Val}}, true, PastRate{}, nil, 0, &expect.Proof{}).Tokens
	}
	if with, without := of(700), of(0); with-without != 30*700 {
		t.Errorf("%d tokens with a set-up of 700, %d without, in 30 replays", with, without)
	}
}
