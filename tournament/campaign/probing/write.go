package probing

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/probes"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/fenced"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/tournament/campaign"
)

//go:embed prompts/system.txt
var systemText string

var system = sync.OnceValue(func() string { return check.ListTypes(systemText, true) })

const (
	// manyRules have fewer probes each, so that a kernel has about 20.
	manyRules      = 5
	ofRule, ofMany = 4, 3
	probeTokens    = 320 // of one probe in the reply
	mostTokens     = 24_000
	maxRules       = 20 // of one kernel
)

// wanted is the number of probes a rule, for a kernel with this number of rules.
func wanted(rules int) int {
	if rules > manyRules {
		return ofMany
	}
	return ofRule
}

// A Writer has a model write probes of the rules of one kernel, in one call.
type Writer struct {
	Forecast *Forecast

	runner *campaign.Runner
	back   *agent.Backends
	live   *skill.Live
	rules  []probes.Rule // to be written about
	user   string
	clock  time.Duration
}

// A Forecast is what writing takes, and what each text that is otherwise proved takes then,
// estimated before anything is spent.
type Forecast struct {
	Schema  int      `json:"schema"`
	Skill   string   `json:"skill"`
	Model   string   `json:"model"`
	Rules   int      `json:"rules"` // to be written about
	Calls   int      `json:"calls"`
	Tokens  int64    `json:"tokens"`
	CostUSD *float64 `json:"cost_usd"`

	free bool
}

// String formats the forecast.
func (fc *Forecast) String() string {
	return fmt.Sprintf("forecast: %s for %s of %s by %s, about %s tokens, %s", plain.Counted(fc.Calls, "call"), plain.Counted(fc.Rules, "locked rule"), subject.Parse(fc.Skill).Path(),
		fc.Model, plain.Thousands(fc.Tokens), campaign.CostWords(fc.CostUSD, fc.free))
}

// Prepare opens the model that writes probes of these rules, and forecasts the cost. The
// Writer must be closed.
func Prepare(ctx context.Context, r *campaign.Runner, spec agent.Spec, live *skill.Live, rules []probes.Rule, clock time.Duration) (*Writer, error) {
	if len(rules) > maxRules {
		return nil, problem.Inputf("lock fewer lines, or write a file of probes and give it with --from", "%d locked rules are more than %d", len(rules), maxRules)
	}
	spec.TextOnly = true
	back, err := r.Backends(ctx, &spec)
	if err != nil {
		return nil, err
	}
	w := &Writer{runner: r, back: back, live: live, rules: rules, clock: clock}
	type shown struct {
		Number  int    `json:"number"`
		Heading string `json:"heading,omitempty"`
		Lead    string `json:"lead,omitempty"`
		Text    string `json:"text"`
	}
	seen := struct {
		Name        string  `json:"name"`
		Description string  `json:"description,omitempty"`
		Wanted      int     `json:"wanted"`
		Rules       []shown `json:"rules"`
	}{filepath.Base(live.Name), live.Doc.Description(), wanted(len(rules)), nil} // of a file without its folders
	for i, k := range rules {
		seen.Rules = append(seen.Rules, shown{i + 1, k.Heading, k.Lead, k.Text})
	}
	data, err := json.Marshal(seen)
	if err != nil {
		return w, fmt.Errorf("write probes: %w", err)
	}
	w.user = "The rules (origin: the instructions' owner):\n" + plain.Quote(string(data))
	in, out := int64(skill.Tokens(system())+skill.Tokens(w.user)), int64(w.replyTokens())
	w.Forecast = &Forecast{Schema: 1, Skill: live.Name, Model: agent.ModelName(spec.ReflectAgent, spec.ReflectModel), Rules: len(rules), Calls: 1, Tokens: in + out,
		CostUSD: new(float64), free: agent.KindOf(spec.ReflectAgent).Simulated}
	if !w.Forecast.free {
		w.Forecast.CostUSD = spec.Price(spec.ReflectModel).USD(&eval.Usage{Input: in, Output: out})
	}
	return w, nil
}

func (w *Writer) replyTokens() int {
	return min(mostTokens, 400+probeTokens*wanted(len(w.rules))*len(w.rules))
}

// Close releases what the Writer holds. It does nothing for nil.
func (w *Writer) Close() {
	if w != nil {
		_ = w.back.Close() // what stays behind does no harm
	}
}

// Write asks the model. A probe that cannot be run is left out, and counted in dropped.
func (w *Writer) Write(ctx context.Context, budget *eval.Budget) (set *probes.Set, dropped int, err error) {
	db, err := w.runner.Store(ctx)
	if err != nil {
		return nil, 0, err
	}
	if _, _, err := w.runner.Control.Clear(ctx, db, w.back, []string{agent.Mine}, nil); err != nil {
		return nil, 0, err
	}
	if err := w.back.Ping(ctx); err != nil {
		return nil, 0, err
	}
	model := &eval.Metered{Model: w.back.Miner, By: eval.ByMiner, Budget: budget, Redactor: w.back.Redactor, WallClock: w.clock}
	reply, err := model.Complete(ctx, eval.Prompt{System: system(), User: w.user, MaxTokens: w.replyTokens()})
	if err != nil {
		return nil, 0, fmt.Errorf("write probes: %w", err)
	}
	set, dropped, err = parse(reply.Text, w.live, w.rules)
	if err == nil && reply.Finish == "length" {
		err = fmt.Errorf("the reply was cut off")
	}
	if err != nil {
		return nil, 0, &problem.Error{Err: fmt.Errorf("write probes: %w", err), Hint: "the same command asks once more"}
	}
	set.Writer = w.Forecast.Model
	return set, dropped, nil
}

// parse reads a reply about rules, in their order.
func parse(text string, live *skill.Live, rules []probes.Rule) (set *probes.Set, dropped int, err error) {
	var got struct {
		Probes []struct {
			Rule     int               `json:"rule"`
			Prompt   string            `json:"prompt"`
			Files    map[string]string `json:"files"`
			Checks   []eval.Check      `json:"checks"`
			Feedback string            `json:"feedback"`
		} `json:"probes"`
		Untested []struct {
			Rule int    `json:"rule"`
			Why  string `json:"why"`
		} `json:"untested"`
	}
	if err := fenced.Block(text, &got); err != nil {
		return nil, 0, err
	}
	set = &probes.Set{Schema: 1, Skill: live.Name, Kernel: live.Doc.KernelHash(), Probes: []probes.Probe{}, Untested: []probes.Untested{}}
	for _, g := range got.Probes {
		if g.Rule < 1 || g.Rule > len(rules) {
			dropped++
			continue
		}
		p := probes.Probe{Rule: rules[g.Rule-1], Prompt: g.Prompt, Files: g.Files, Checks: g.Checks, Feedback: plain.Line(g.Feedback)}
		h := sha256.Sum256([]byte(p.Rule.ID + "\x00" + p.Prompt))
		p.ID = hex.EncodeToString(h[:4])
		more := *set
		more.Probes = append(more.Probes[:len(more.Probes):len(more.Probes)], p)
		if more.Check(rules) != nil {
			dropped++
			continue
		}
		set.Probes = more.Probes
	}
	for _, u := range got.Untested {
		if u.Rule >= 1 && u.Rule <= len(rules) && len(set.Of(rules[u.Rule-1])) == 0 && strings.TrimSpace(u.Why) != "" {
			set.Untested = append(set.Untested, probes.Untested{Rule: rules[u.Rule-1], Why: plain.Line(u.Why)})
		}
	}
	if len(set.Missing(rules)) == len(rules) {
		return nil, dropped, fmt.Errorf("no probe of the reply can be used")
	}
	for _, r := range set.Missing(rules) {
		set.Untested = append(set.Untested, probes.Untested{Rule: r, Why: "the model wrote no probe that can be used"})
	}
	return set, dropped, nil
}
