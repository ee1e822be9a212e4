// Package agent is who answers in a run: the agent, the mutator and the judge, as they
// were chosen, and as they are once they are opened.
package agent

import (
	"errors"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/eval"
)

// A Spec chooses the agent, the mutator and the judge. Its JSON is part of a run's
// configuration, with the values that the environment and config.yaml had when the run
// began.
type Spec struct {
	Agent string `json:"agent"`
	Model string `json:"model,omitempty"`
	// SearchModel is the agent's in the search; "": the search has Model, too. The trial
	// always has Model.
	SearchModel  string  `json:"search_model,omitempty"`
	BaseURL      string  `json:"base_url,omitempty"`
	APIKeyEnv    string  `json:"api_key_env,omitempty"`
	ReflectAgent string  `json:"reflect_agent,omitempty"`
	ReflectModel string  `json:"reflect_model,omitempty"`
	JudgeAgent   string  `json:"judge_agent,omitempty"`
	JudgeModel   string  `json:"judge_model,omitempty"`
	PriceIn      float64 `json:"price_in,omitempty"`
	PriceOut     float64 `json:"price_out,omitempty"`
	Sandbox      string  `json:"sandbox,omitempty"` // SandboxOn or SandboxNone
	// Context is what a replay loads beside the subject, ContextOwner or ContextBare; "" for an
	// agent that loads nothing of its owner. Runs from before there was a choice are bare.
	Context string `json:"context,omitempty"`
	// Command is the program of the backend "command"; PassEnv names the
	// variables that it gets, AllowHosts what it reaches from its sandbox.
	Command    []string `json:"command,omitempty"`
	PassEnv    []string `json:"pass_env,omitempty"`
	AllowHosts []string `json:"allow_hosts,omitempty"`
	HandoffDir string   `json:"handoff_dir,omitempty"`
	// Fleet is the file of the invitation to the fleet that replays; "": this machine does.
	Fleet string `json:"fleet,omitempty"`
	// Setup is the command that prepares the dependencies of recorded trees, Setups that of
	// repositories in these folders, and SetupHosts what they reach: see deps.Repositories.
	Setup      string            `json:"setup,omitempty"`
	Setups     map[string]string `json:"setups,omitempty"`
	SetupHosts []string          `json:"setup_hosts,omitempty"`
	// Servers are the base URLs of the backends, by their names.
	Servers map[string]string `json:"servers,omitempty"`
	// Prices are those of the models in use, and PricesOf their date.
	Prices   map[string]eval.Price `json:"prices,omitempty"`
	PricesOf string                `json:"prices_of,omitempty"`
	// Searches: it is of a command that may search, and that config.yaml may give a
	// SearchModel. A run that is resumed has its own.
	Searches bool `json:"-"`
	// TextOnly: nothing is replayed, and only the mutator is asked.
	TextOnly bool `json:"-"`
	// Assumed: no agent works, and a forecast is made of this one.
	Assumed bool `json:"-"`
	// OwnerTokens is what the owner's set-up adds to a request, known once the agent is open.
	OwnerTokens int `json:"-"`
}

// The values of Sandbox.
const (
	SandboxOn   = "on"
	SandboxNone = "none"
)

// The values of Context.
const (
	ContextOwner = "owner" // what loads at the owner's
	ContextBare  = "bare"  // nothing
)

// A Role is one part that a backend plays in a run, and the flag that names its model.
type Role struct{ Agent, Model, Flag string }

// Roles are those of the agent, the mutator, the judge and, if it has another model, the
// agent in the search, in this order.
func (s *Spec) Roles() []Role {
	out := []Role{{s.Agent, s.Model, "--model"}, {s.ReflectAgent, s.ReflectModel, "--reflect-model"}, {s.JudgeAgent, s.JudgeModel, "--judge-model"}}
	if s.SearchModel != "" {
		out = append(out, Role{s.Agent, s.SearchModel, "--search-model"})
	}
	return out
}

// Simulated reports whether the agent, the mutator and the judge are all simulated.
func (s *Spec) Simulated() bool {
	return !slices.ContainsFunc(s.Roles(), func(r Role) bool { return !KindOf(r.Agent).Simulated })
}

// ByHand reports whether a person answers requests by hand in this run.
func (s *Spec) ByHand() bool {
	return slices.ContainsFunc(s.Roles(), func(r Role) bool { return KindOf(r.Agent).ByHand })
}

// Price is what a model costs; nil if it is not known.
func (s *Spec) Price(model string) *eval.Price {
	if s.PriceIn > 0 || s.PriceOut > 0 {
		return &eval.Price{Input: s.PriceIn, Output: s.PriceOut}
	}
	if p, ok := s.Prices[model]; ok {
		return &p
	}
	return nil
}

// USD estimates what tokens of a model cost together: an answer is about a third of a
// call's tokens, and has a price of its own. nil if the price is not known.
func (s *Spec) USD(model string, tokens float64) *float64 {
	p := s.Price(model)
	if p == nil {
		return nil
	}
	usd := tokens * (p.Input*2/3 + p.Output/3) / 1e6
	return &usd
}

// SetPrices sets a budget's prices of tokens, by role.
func (s *Spec) SetPrices(budget *eval.Budget) {
	budget.SetPrice(eval.ByAgent, s.Price(s.Model))
	budget.SetPrice(eval.ByMutator, s.Price(s.ReflectModel))
	budget.SetPrice(eval.ByMiner, s.Price(s.ReflectModel))
	budget.SetPrice(eval.ByJudge, s.Price(s.JudgeModel))
}

var errNoPrice = errors.New("the cost of a call is not known")

// Priced returns why dollars cannot be counted; nil if every role has a price, or an
// agent that reports dollars.
func (s *Spec) Priced() error {
	for _, r := range s.Roles() {
		switch KindOf(r.Agent).Dollars {
		case ByTable:
			if s.Price(r.Model) == nil {
				return fmt.Errorf("%w: %s/%s has no price", errNoPrice, r.Agent, r.Model)
			}
		case Unknown:
			return fmt.Errorf("%w with %s", errNoPrice, r.Agent)
		}
	}
	return nil
}

// Describe names agent, mutator and judge, defaults included.
func (s *Spec) Describe() string {
	out := "agent " + ModelName(s.Agent, s.Model)
	if s.SearchModel != "" {
		out += ", in the search " + ModelName(s.Agent, s.SearchModel)
	}
	if s.ReflectAgent != s.Agent || s.ReflectModel != s.Model {
		out += ", mutator " + ModelName(s.ReflectAgent, s.ReflectModel)
	}
	if s.JudgeAgent != s.ReflectAgent || s.JudgeModel != s.ReflectModel {
		out += ", judge " + ModelName(s.JudgeAgent, s.JudgeModel)
	}
	return out
}

// ModelName names for people who answers; model is "" if the agent chooses.
func ModelName(agent, model string) string {
	switch {
	case KindOf(agent).Simulated:
		return "the simulated model"
	case model == "":
		return agent + " with its own model"
	}
	return agent + "/" + model
}
