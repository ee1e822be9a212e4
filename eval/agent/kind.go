package agent

import (
	"context"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/harvest/redact"
)

// A Kind describes a backend.
type Kind struct {
	Name string
	// Program is the program that has to be on PATH; "" for a backend that drives none.
	Program string
	Install string // what to type if it is missing
	// Credentials are the variables that it takes its key from; hints name the first.
	Credentials []string
	Login       string // what to type if none is set
	// BaseEnv is the variable for another server than the vendor's.
	BaseEnv string

	UsesTools  bool // it works in a folder
	Records    bool // evolve itself records what it does there: see eval.Attempt.Work
	ByHand     bool // a person or a program outside of evolve's control answers
	Simulated  bool // no model is called
	NeedsModel bool // it has no model of its own
	AnyServer  bool // it uses the server of --base-url, with the key of --api-key-env
	Dollars    Dollars
	// Sessions is the name of the agent whose recorded sessions it continues, as
	// harvest.Session.Agent has it; "" for none.
	Sessions string

	// Asks tells who gets the text of requests: see Recipients.
	Asks func(*Opening) []Recipient
	// Make opens it for one of the roles of a run.
	Make func(ctx context.Context, o *Opening) (Answerer, error)
}

// Dollars is how the cost of a backend's calls is known.
type Dollars uint8

// The zero value is a backend that reports what a call costs.
const (
	Reported Dollars = iota
	ByTable          // its tokens have a price
	Unknown          // neither tokens nor dollars are reported
)

// An Answerer replays cases as an agent and answers prompts as a model.
type Answerer struct {
	Agent eval.Agent
	Model eval.Model
}

// Both is an answerer that is agent and model in one.
func Both[T interface {
	eval.Agent
	eval.Model
}](x T, err error) (Answerer, error) {
	if err != nil {
		return Answerer{}, err
	}
	return Answerer{x, x}, nil
}

// An Opening holds what a backend needs to be opened.
type Opening struct {
	Spec           *Spec
	Model, BaseURL string // of the role
	Price          *eval.Price
	// Key is the value of a variable, which the redactor knows from then on.
	Key      func(name string) string
	Redactor func() redact.Redactor
	// Window is the share of a plan's window that may be used: see replay.Config.
	Window *float64
	// Owner is what the backend's program loads of its owner in a replay; nil: nothing.
	Owner *setup.Set
	// Forbidden are the places that hold answers or other copies of the skill.
	Forbidden func() ([]string, error)
	// HandoffDir is the folder for requests if Spec names none.
	HandoffDir func() (string, error)
	Asking     bool // the backend only reports its identity, and makes no folder
	Bare       bool // text is answered without tools, where no sandbox works
	NoWait     bool // requests are put into the folder, but not waited for
}

// Sandbox reports whether tools must run in a sandbox.
func (o *Opening) Sandbox() bool { return o.Spec.Sandbox != SandboxNone && !o.Bare }

var kinds []*Kind

// Register adds backends, in the order in which they are tried if none is named. Call
// it before anything else of this package, from an init.
func Register(list ...*Kind) { kinds = append(kinds, list...) }

// Kinds are the backends that were registered.
func Kinds() []*Kind { return kinds }

// Names are the names of all backends.
func Names() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	return names
}

// KindOf finds a backend by its name. An unknown one has a nil Make.
func KindOf(name string) *Kind {
	if i := slices.IndexFunc(kinds, func(k *Kind) bool { return k.Name == name }); i >= 0 {
		return kinds[i]
	}
	return &Kind{Name: name}
}

// UsesTools reports whether an agent works in a folder.
func UsesTools(name string) bool { return KindOf(name).UsesTools }

// WorkBytes is about how much a judge is shown at most of what the agent did.
func (k *Kind) WorkBytes() int64 {
	if k.Records {
		return check.MaxShown
	}
	return 0
}

// Credential names the first of its variables that the environment has, "" for none.
func (k *Kind) Credential(getenv func(string) string) string {
	for _, name := range k.Credentials {
		if getenv(name) != "" {
			return name
		}
	}
	return ""
}
