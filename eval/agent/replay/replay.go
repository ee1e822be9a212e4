// Package replay is what all agents that drive a program have in common: a private home
// with the candidate as the only copy of the skill, the request as a prompt, and an
// audit of what was read.
package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/setup"
)

// Config determines which program is driven, and how. It is the same for all agents.
type Config struct {
	// Path is the program; "" finds the agent's own name on PATH.
	Path  string
	Model string // "" leaves it to the program
	// BaseURL is the model's server; "" is the vendor's own.
	BaseURL string
	// Credentials are the variables, KEY=VALUE, that the program needs to reach its
	// model, and no others: each package names those that it knows. Their values reach
	// no log, no error and no rollout.
	Credentials []string
	Env         []string // further variables for the child, KEY=VALUE; part of the identity
	Prices      *eval.Price
	Sandbox     bool // run tool-using replays in a sandbox; text-only calls need none
	// Asking: the program is only asked for its version, no attempt follows, and no
	// file may be left behind.
	Asking   bool
	MaxTurns int // of one attempt, if the program can limit them; 0 is 30
	// Window is the share of a plan's window, as far as the program reports it, from which
	// nothing more is sent until it resets; nil: no such cap.
	Window *float64
	// Owner is what the program loads of its owner in a replay; nil: nothing. Text-only calls
	// never load it.
	Owner *setup.Set
	// Forbidden are files and folders, absolute, that no attempt may read wherever they
	// are: the store, other copies of the skill. The usual places need not be listed.
	Forbidden []string
}

// OwnerParams is what of an identity tells the owner's set-up: "" without one.
func (c *Config) OwnerParams() string {
	if c.Owner == nil {
		return ""
	}
	return " owner=" + c.Owner.Hash()
}

// EnvParams are the variables of Env as an identity has them, but for one: a hash
// stands for each value, which may be a secret.
func (c *Config) EnvParams(except string) string {
	var p strings.Builder
	for _, kv := range c.Env {
		if name, value, _ := strings.Cut(kv, "="); name != except {
			sum := sha256.Sum256([]byte(value))
			p.WriteString(" " + name + "#" + hex.EncodeToString(sum[:4]))
		}
	}
	return p.String()
}
