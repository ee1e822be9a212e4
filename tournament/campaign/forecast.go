package campaign

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/probes"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/mutate/second"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/applies"
	"github.com/skill-evolve/evolve/tournament/expect"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/judge"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/search"
)

// A Forecast is what a run may take at most, estimated before anything is
// spent.
type Forecast struct {
	Schema   int         `json:"schema"`
	Skill    string      `json:"skill"`
	Subject  subject.Ref `json:"subject"`
	Backends string      `json:"backends"`
	Train    int         `json:"train"`
	Val      int         `json:"val"`
	Test     int         `json:"test"`
	Rollouts int64       `json:"rollouts"` // at most; 0: no cap
	Search   int64       `json:"search_rollouts"`
	Gate     int64       `json:"gate_rollouts"`
	Beside   int64       `json:"beside_rollouts,omitempty"` // of the skills that it is used with
	Calls    int64       `json:"calls"`                     // with mutator and judge, estimated
	// Second is how many candidates a second reader reads, SameReader that it is the model
	// that writes them.
	Second     int64  `json:"second_reader_calls,omitempty"`
	SameReader bool   `json:"second_reader_is_mutator,omitempty"`
	readsFirst string // the model that reads a given text before it is tried, "" for none
	Takes
	Minutes float64 `json:"minutes"`
	// Cap is the cap on dollars or tokens that the owner has not chosen, or none, in words.
	Cap string `json:"cap,omitempty"`
	// Probes are what the kernel probes of a text that is found better take, within the same
	// caps but for that on rollouts; nil if none would be asked.
	Probes *probes.Takes `json:"kernel_probes,omitempty"`
	// Proof is what it is likely to take to prove something.
	Proof *expect.Proof `json:"proof"`
	// Provable is the number of held-out cases that can be evidence for the
	// challenger of this run: those of one session count as one, and those
	// that were used do not count.
	Provable int `json:"provable"`
	// Sends are who gets how much text; nil if that was not asked for.
	Sends []outgoing.Send `json:"sends,omitempty"`

	free bool // everybody who answers is simulated
	// noGate: the run has no gate.
	noGate bool
	// judgedAgain: a trial has no fresh case, and is judged by other objectives. begins: one
	// that a person asked for has none yet.
	judgedAgain, begins bool
}

// The expected size of a call if nothing is known of it.
const (
	answerTokens = 600
	secondsACall = 8
	// toolOverhead is for the system prompt and the tool calls of an agent
	// that runs tools.
	toolOverhead  = 3000
	tokensMutator = 2500
	tokensJudge   = 1200
	// mutatorShare is mutator calls per rollout. Measured were 0.04 to 0.06
	// in the demo and with 24 rules; a forecast should be too high rather
	// than too low.
	mutatorShare = 0.15
	// secondShare is calls of the second reader per rollout of the search. Measured were
	// 0.02 to 0.08 in six simulated worlds.
	secondShare  = 0.1
	tokensSecond = 2500
)

// A PastRate is what earlier runs on the same agent took, all calls included
// but those that read corrections.
type PastRate struct {
	Rollouts, Tokens int64
	USD              float64
	Priced           bool // USD is known of all of them
	Wall             time.Duration
}

// recent is the number of earlier runs that a forecast uses.
const recent = 5

// PastRateOf computes the rate from the first few of runs, which are the
// newest, that used the same agent, model and set-up; its rollouts are 0 if there is
// none.
func PastRateOf(runs []record.Run, now *Config) (r PastRate) {
	r.Priced = true
	seen := 0
	for _, run := range runs {
		var f Config
		if seen == recent {
			break
		}
		if run.Spent.Rollouts < 10 || json.Unmarshal(run.Config, &f) != nil || f.Agent != now.Agent || f.Context != now.Context || f.models() != now.models() {
			continue
		}
		seen++
		r.Rollouts += run.Spent.Rollouts
		// Reading corrections precedes the run, and has a forecast of its
		// own.
		r.Tokens += max(0, run.Spent.TokensIn+run.Spent.TokensOut-f.Mined.TokensIn-f.Mined.TokensOut)
		r.USD += max(0, run.Spent.CostUSD-f.Mined.CostUSD)
		r.Priced = r.Priced && run.Spent.CostKnown
		r.Wall += time.Duration(run.Spent.WallMS) * time.Millisecond
	}
	return r
}

// models are those that answer in the search and in the trial. A continued trial searches
// nothing, and a run without a gate has no trial.
func (f *Config) models() (out [2]string) {
	out = [2]string{cmp.Or(f.SearchModel, f.Model), f.Model}
	switch {
	case f.Carried != "":
		out[0] = f.Model
	case f.NoGate:
		out[1] = out[0]
	}
	return out
}

// usd estimates what tokens cost of which so large a share is the search's; nil is unknown.
func (f *Config) usd(tokens, share float64) *float64 {
	m := f.models()
	search, trial := f.USD(m[0], share*tokens), f.USD(m[1], (1-share)*tokens)
	if search == nil || trial == nil {
		return nil
	}
	sum := *search + *trial
	return &sum
}

// sizes are the tokens of the cases' prompts, and the number of checks that
// ask the judge.
func sizes(cases []eval.Case) (prompt, judged int) {
	for i := range cases {
		prompt += skill.Tokens(cases[i].Prompt)
		for _, k := range cases[i].Checks {
			if k.Asks() {
				judged++
			}
		}
	}
	return prompt, judged
}

// answering is the size of an answer under a skill with that body besides the
// request, of an agent with or without tools.
func (f *Config) answering(body string, tools bool) int {
	n := skill.Tokens(body) + f.OwnerTokens + answerTokens
	if agent.KindOf(f.Agent).Simulated || tools {
		n += toolOverhead
	}
	return n
}

// Forecast estimates what the run may take.
func (c *Campaign) Forecast(ctx context.Context) (*Forecast, error) {
	fc, err := c.runner.NewForecast(ctx, c.db, &c.Config, c.Live, c.cases, c.back.UsesTools())
	if err == nil {
		fc.Cap = c.capWords(fc)
	}
	if err == nil && !fc.begins && (c.options.DryRun || len(c.back.To) > 0) { // else the sessions are not read again for it
		fc.Sends, err = c.sends(ctx, fc)
	}
	c.forecast = fc
	return fc, err
}

// NewForecast estimates what a run with this configuration may take on these cases, from
// earlier runs or recorded turns; tools means that its agent works in a folder.
func (r *Runner) NewForecast(ctx context.Context, db *store.Store, f *Config, live *skill.Live, cases []eval.Case, tools bool) (*Forecast, error) {
	runs, err := db.Runs(ctx, f.Skill)
	if err != nil {
		return nil, err
	}
	past := PastRateOf(runs, f)
	var turns *Recorded
	if past.Tokens == 0 {
		if turns, err = r.Recorded(ctx, db, f, f.Skill); err != nil {
			return nil, err
		}
	}
	calibration, err := judge.Calls(ctx, db, f.Skill)
	if err != nil {
		return nil, err
	}
	proof, err := r.proof(ctx, db, f, live, runs, cases)
	if err != nil {
		return nil, err
	}
	fc := f.forecast(live, cases, tools, past, turns, calibration, proof)
	fc.Probes, err = r.ProbesOf(f, live, tools, past)
	return fc, err
}

func (f *Config) forecast(live *skill.Live, cases []eval.Case, tools bool, past PastRate, turns *Recorded, calibration int, proof *expect.Proof) *Forecast {
	fc := &Forecast{Schema: 1, Proof: proof, Skill: f.Skill, Subject: subject.Parse(f.Skill), Backends: f.Describe(), Rollouts: f.MaxRollouts, free: f.Simulated(), noGate: f.NoGate}
	prompt, judged := sizes(cases)
	var test []eval.Case
	for _, c := range cases {
		switch c.Split {
		case eval.Train:
			fc.Train++
		case eval.Val:
			fc.Val++
		case eval.Test:
			fc.Test++
			test = append(test, c)
		}
	}
	n := max(1, len(cases))
	share := search.Share(f.MaxRollouts-f.Beside, f.HeldOut, f.MaxRetries, !f.NoGate)
	fc.Search, fc.Gate, fc.Beside = share.Search, share.Gate, f.Beside
	if f.Carried != "" {
		fc.Search, fc.Gate = 0, min(f.MaxRollouts, gate.Takes(f.HeldOut, proof.Replays, f.MaxRetries))
		fc.Rollouts, fc.judgedAgain, fc.begins = min(f.MaxRollouts, fc.Gate+fc.Beside), f.HeldOut == 0 && f.Given == nil, f.HeldOut == 0 && f.Given != nil
	}
	rollouts := float64(fc.Rollouts)
	asked := rollouts * float64(judged) / float64(n)
	if !f.NoGate && record.RestsOnJudge(test) > 0 {
		compared := 0
		for i := range test {
			if gate.Compares(&test[i]) {
				compared++
			}
		}
		asked += float64(calibration) + float64(fc.Gate)*float64(compared)/float64(len(test))
	}
	searched := 1.0 // the share of the search
	if fc.Search+fc.Gate > 0 {
		searched = float64(fc.Search) / float64(fc.Search+fc.Gate)
	}
	mutator := float64(fc.Search) * mutatorShare
	read := float64(fc.Search) * f.secondly(live.Doc)
	if f.ReadFirst && f.secondly(live.Doc) > 0 {
		read, fc.readsFirst = 1, agent.ModelName(f.JudgeAgent, f.JudgeModel)
		if agent.KindOf(f.JudgeAgent).Simulated {
			fc.readsFirst = agent.ModelName(f.ReflectAgent, f.ReflectModel)
		}
	}
	fc.Second = int64(read)
	fc.SameReader = f.Carried == "" && f.secondly(live.Doc) > 0 && (f.JudgeAgent == f.ReflectAgent && f.JudgeModel == f.ReflectModel || agent.KindOf(f.JudgeAgent).Simulated)
	reads := applies.Calls(f.Skill, fc.Test, cases)
	fc.Calls = int64(rollouts+asked+mutator) + fc.Second + reads
	perRollout := f.answering(string(live.Doc.Body()), tools) + prompt/n
	fc.Tokens = int64(rollouts*float64(perRollout)+asked*tokensJudge+mutator*tokensMutator+read*tokensSecond) + reads*applies.CallTokens
	fc.CostUSD = f.usd(float64(fc.Tokens), searched)
	if past.Rollouts > 0 {
		share := rollouts / float64(past.Rollouts)
		if past.Tokens > 0 { // else no usage was reported, and the estimate remains
			fc.Tokens = int64(share * float64(past.Tokens))
		}
		if past.Priced && fc.CostUSD == nil {
			usd := share * past.USD
			fc.CostUSD = &usd
		}
		fc.Minutes = share * past.Wall.Minutes()
	} else if turns != nil {
		n := fc.Train + fc.Val + fc.Test
		fc.byTurns(f, turns, fc.Rollouts, n, asked*tokensJudge, mutator*tokensMutator+read*tokensSecond, searched)
		if s := turns.Seconds(fc.Rollouts, n); s != nil {
			fc.Minutes = s.Expected / 60 / float64(max(1, f.Concurrency))
		}
	} else if !agent.KindOf(f.Agent).Simulated {
		fc.Minutes = float64(fc.Calls) * secondsACall / 60 / float64(max(1, f.Concurrency))
	}
	fc.From = f.RestsOn(past, turns)
	if fc.Rollouts == 0 {
		fc.CostUSD = nil // not known without a cap
	}
	fc.Provable = f.HeldOut
	if f.Clusters > 0 {
		fc.Provable = f.Clusters
	}
	return fc
}

// secondly is how many calls of the second reader there are per rollout of the search.
func (f *Config) secondly(root *skill.Document) float64 {
	if !second.Needed(root) || agent.KindOf(f.JudgeAgent).Simulated && agent.KindOf(f.ReflectAgent).Simulated {
		return 0
	}
	return secondShare
}

// String formats the forecast in a few lines.
func (fc *Forecast) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cases: %d train, %d validation, %d unseen; %s\n", fc.Train, fc.Val, fc.Test, fc.Backends)
	atMost := "no cap on rollouts"
	if fc.Rollouts > 0 {
		beside := ""
		if fc.Beside > 0 {
			beside = fmt.Sprintf(", beside other skills %d", fc.Beside)
		}
		atMost = fmt.Sprintf("at most %d rollouts (search %d, trial %d%s), about %d calls and %s tokens", fc.Rollouts, fc.Search, fc.Gate, beside, fc.Calls, fc.tokenWords())
	}
	cost := fc.costWords(fc.free)
	if fc.judgedAgain {
		atMost, cost = "no rollouts", "the trial is judged by the pairs that it has"
	} else if fc.begins {
		atMost, cost = "no rollouts", "there is no unseen request that could be evidence: the trial begins with your next sessions"
	} else if fc.Rollouts == 0 && !fc.free {
		cost = "so the patience of the search and the other caps alone end it"
	}
	fmt.Fprintf(&b, "forecast: %s, %s", atMost, cost)
	if fc.Minutes >= 1 {
		fmt.Fprintf(&b, ", %.0f min", fc.Minutes)
	}
	if fc.From != "" && fc.Rollouts > 0 {
		fmt.Fprintf(&b, "; %s", fc.From)
	}
	if fc.Probes != nil {
		fmt.Fprintf(&b, "\n%s", fc.Probes)
	}
	if fc.Cap != "" {
		b.WriteString("\ncap: " + fc.Cap)
	}
	if !fc.noGate && (fc.Gate > 0 || fc.Test > 0) {
		fmt.Fprintf(&b, "\ntrial: %s; ", fc.Proof.Words(fc.Provable))
		if fc.Provable == fc.Test {
			fmt.Fprintf(&b, "there are %d", fc.Test)
		} else {
			fmt.Fprintf(&b, "of the %d unseen %d are fresh evidence", fc.Test, fc.Provable)
		}
	}
	if fc.SameReader {
		b.WriteString("\nsecond reader: the model that writes candidates also checks them; --judge-model names another")
	}
	if fc.readsFirst != "" {
		fmt.Fprintf(&b, "\nsecond reader: %s reads the text before it is tried, in one call", fc.readsFirst)
	}
	for _, line := range outgoing.Lines(fc.Sends) {
		b.WriteString("\n" + line)
	}
	return b.String()
}

// CostWords formats a forecast of a cost, nil for unknown; free: no model is
// asked.
func CostWords(usd *float64, free bool) string {
	switch {
	case free:
		return eval.FreeSimulated
	case usd != nil:
		return "about " + eval.FormatUSD(*usd)
	}
	return "cost unknown without --price-in and --price-out"
}

// PerRollout estimates the tokens of a rollout with its share of the judge's
// and the mutator's calls, under a skill with that body.
func (f *Config) PerRollout(body string, cases []eval.Case, tools bool) float64 {
	prompt, judged := sizes(cases)
	n := float64(max(1, len(cases)))
	return float64(f.answering(body, tools)) + float64(prompt)/n + float64(judged)/n*tokensJudge + mutatorShare*tokensMutator
}

// farBeyond is a warning if a run without a cap on tokens or dollars took more than
// twice the tokens of its forecast, else "".
func (f *Config) farBeyond(fc *Forecast, s eval.Spent) string {
	if fc == nil || f.MaxTokens > 0 || f.MaxCostUSD > 0 || fc.Tokens <= 0 {
		return ""
	}
	took := s.TokensIn + s.TokensOut
	if took <= 2*fc.Tokens {
		return ""
	}
	return fmt.Sprintf("%s tokens were used where about %s were forecast: %.0f times as many; --max-tokens or --max-cost-usd would have held the run",
		plain.Thousands(took), plain.Thousands(fc.Tokens), float64(took)/float64(fc.Tokens))
}
