package campaign

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/applies"
	"github.com/skill-evolve/evolve/tournament/search"
)

// A Config is the requested configuration of one run, and the state that it
// began with. Its JSON form is stored with the run, so that a resumed run
// makes the same decisions.
type Config struct {
	Schema int    `json:"schema"`
	Skill  string `json:"skill"` // the key of Subject
	// Subject is since schema 2.
	Subject subject.Ref `json:"subject,omitzero"`
	Evolve  string      `json:"evolve,omitempty"` // skill.Harness, skill.Description or skill.Shorten
	Typed   string      `json:"typed,omitempty"`  // the flags as they were typed, for a run that waits for answers
	Seed    int64       `json:"seed"`
	agent.Spec
	MaxRollouts int64         `json:"max_rollouts"`
	MaxCostUSD  float64       `json:"max_cost_usd,omitempty"`
	MaxTokens   int64         `json:"max_tokens,omitempty"`
	MaxDuration time.Duration `json:"max_duration,omitempty"`
	MaxRetries  int           `json:"max_retries"`
	Concurrency int           `json:"concurrency"`
	PerSecond   float64       `json:"rate,omitempty"`
	WallClock   time.Duration `json:"wall_clock"`
	NoGate      bool          `json:"no_gate,omitempty"`
	Objectives  []string      `json:"objectives,omitempty"`
	Minibatch   int           `json:"minibatch,omitempty"`
	Proposals   int           `json:"proposals,omitempty"`
	Patience    int           `json:"patience,omitempty"`
	Select      string        `json:"select,omitempty"`
	Accept      string        `json:"accept,omitempty"`
	Batch       string        `json:"batch,omitempty"`
	Stop        string        `json:"stop,omitempty"`
	Profile     check.Profile `json:"profile"`

	// The state at the start of the run: filled in when it begins.
	Incumbent []byte            `json:"incumbent"`
	Cases     map[string]string `json:"cases"` // id → hash; the splits are in Splits
	Splits    map[string]string `json:"splits"`
	Carried   string            `json:"carried,omitempty"` // SHA-256 of an undecided challenger
	// Base is the text that Carried or Standing was made from, if the incumbent has edits
	// that are younger; "" otherwise.
	Base string `json:"base,omitempty"`
	// Given is the text that its owner puts on trial, without a search: Carried is then its
	// SHA-256. nil for none.
	Given []byte `json:"given,omitempty"`
	// ReadFirst: a second reader, if there is one, reads it before it is tried.
	ReadFirst bool `json:"read_first,omitempty"`
	// Standing is the SHA-256 of an undecided challenger that a new search
	// has to beat to replace it.
	Standing string `json:"standing,omitempty"`
	// Approved are the SHA-256 of candidates that the owner released from
	// quarantine: the search begins with them beside the incumbent. Barred
	// are those that the owner has rejected, and that it must never propose.
	Approved []string `json:"approved,omitempty"`
	Barred   []string `json:"barred,omitempty"`
	// HeldOut counts the held-out cases that no challenger of this incumbent
	// has spent: the gate's share of the budget is for them.
	HeldOut int `json:"held_out"`
	// Clusters are the clusters of HeldOut; the gate measures one pair of
	// each. 0 for the run of an older version, or if a trial is continued.
	Clusters int    `json:"clusters,omitempty"`
	Rest     string `json:"rest,omitempty"` // hash over the skill's other files
	// Beside are the rollouts that are kept for trying a new text beside other skills.
	Beside int64 `json:"beside,omitempty"`
	// Level is the error rate that a night's lifetime control leaves for a
	// trial that begins in this run; 0 means the gate's own.
	Level float64 `json:"level,omitempty"`
	// Steps are the promotions since the owner's last own version: the rule of the trial
	// leaves room for what they have not used.
	Steps pareto.Steps `json:"steps,omitzero"`
	Mined eval.Spent   `json:"mined"` // what mining spent before the search
}

// Check refuses invalid choices, before anything is read or spent.
func (c *Config) Check() error {
	switch {
	case c.MaxRollouts < FromCases || !eval.IsAmount(c.MaxCostUSD) || c.MaxTokens < 0 || c.MaxDuration < 0:
		return problem.Inputf("0 means no cap", "a cap cannot be negative")
	case !eval.IsAmount(c.PriceIn) || !eval.IsAmount(c.PriceOut):
		return problem.Inputf("in USD per million tokens, for example --price-in 0.25 --price-out 2", "a price cannot be negative")
	case !eval.IsAmount(c.PerSecond) || c.WallClock < 0 || c.Minibatch < 0 || c.Proposals < 0 || c.Patience < 0 || c.Seed < -1:
		return problem.Inputf("0 is the default, or no limit", "--rate, --timeout, --minibatch, --proposals, --patience and --seed cannot be negative")
	case c.MaxRetries < 0 || c.MaxRetries > 10:
		return problem.Inputf("0 turns work retries off", "--max-retries %d is not between 0 and 10", c.MaxRetries)
	case c.Concurrency < 0 || c.Concurrency > 256:
		return problem.Inputf("for example --concurrency 4", "--concurrency %d is not between 1 and 256", c.Concurrency)
	case !c.Profile.Known():
		return problem.Inputf("the profiles are claude and portable", "unknown profile %q", c.Profile)
	case c.Select != "" && search.Selectors[c.Select] == nil:
		return problem.Inputf(strategies(search.Selectors), "unknown --select %q", c.Select)
	case c.Batch != "" && search.Batches[c.Batch] == nil:
		return problem.Inputf(strategies(search.Batches), "unknown --batch %q", c.Batch)
	case c.Stop != "" && search.Stops[c.Stop] == nil:
		return problem.Inputf(strategies(search.Stops), "unknown --stop %q", c.Stop)
	case c.Accept != "" && search.Acceptances[c.Accept] == nil:
		return problem.Inputf(strategies(search.Acceptances), "unknown --accept %q", c.Accept)
	case !slices.Contains([]string{"", skill.Harness, skill.Description, skill.Shorten}, c.Evolve):
		return problem.Inputf("--evolve harness, description, or shorten", "unknown --evolve %q", c.Evolve)
	}
	for _, o := range c.Objectives {
		if known := pareto.Names(); !slices.Contains(known, o) {
			hint := "the objectives are " + strings.Join(known, ", ")
			if near := skill.Nearest(o, known); near != "" {
				hint = "did you mean " + near + "?"
			}
			return problem.Inputf(hint, "unknown objective %q", o)
		}
	}
	if c.Objectives != nil && !slices.Contains(c.Objectives, "quality") {
		return problem.Inputf("for example --objectives quality,cost,retries", "--objectives must name quality")
	}
	return nil
}

func strategies[T any](known map[string]T) string {
	return "the strategies are " + strings.Join(slices.Sorted(maps.Keys(known)), ", ")
}

// Settle fills in the settings that depend on the agents, and refuses a cap
// that cannot be kept.
func (c *Config) Settle(back *agent.Backends) error {
	if c.Concurrency == 0 {
		c.Concurrency = back.AtATime
	}
	if c.ByHand() {
		c.WallClock = 0 // people have none
	}
	if c.MaxCostUSD > 0 {
		if err := c.Priced(); err != nil {
			hint := "for example --price-in 0.25 --price-out 2, or `prices:` in config.yaml; or hold the run with --max-tokens"
			if c.PriceIn+c.PriceOut > 0 {
				hint = "hold the run with --max-tokens"
			}
			return problem.Inputf(hint, "--max-cost-usd cannot be kept: %v", err)
		}
	}
	return nil
}

// FromCases as MaxRollouts has the number of rollouts follow from the cases.
const FromCases = -1

// Caps are the caps of the run.
func (c *Config) Caps() eval.Caps {
	return eval.Caps{Rollouts: max(0, c.MaxRollouts), CostUSD: c.MaxCostUSD, Tokens: c.MaxTokens, Duration: c.MaxDuration}
}

// Budget returns a budget with the caps of the run, and with its prices for
// calls that do not report their cost.
func (c *Config) Budget(now func() time.Time) *eval.Budget { return c.budget(c.Caps(), now) }

func (c *Config) budget(caps eval.Caps, now func() time.Time) *eval.Budget {
	b := eval.NewBudget(caps, now)
	c.SetPrices(b)
	return b
}

// gate is the rule of a trial that begins in this run.
func (c *Config) gate() pareto.Config {
	rule := pareto.DefaultConfig()
	if c.Level > 0 {
		rule = rule.Within(c.Level)
	}
	return c.Steps.Bound(applies.Rule(c.Skill, rule))
}
