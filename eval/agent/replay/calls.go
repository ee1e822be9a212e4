package replay

import (
	"encoding/json"

	"github.com/skill-evolve/evolve/eval"
)

// MaxInput is how much of a call's input a trace keeps, in bytes.
const MaxInput = 2 << 10

// Calls are the tool calls of one attempt, in the order in which they began. The
// zero value has none.
type Calls struct {
	All []Call
	at  map[string]int // id → All
}

// A Call is one of them.
type Call struct {
	Name     string
	Input    json.RawMessage
	Answered bool // it has come to an end
	Failed   bool
}

// Begin adds a call.
func (c *Calls) Begin(id, name string, input []byte) {
	if c.at == nil {
		c.at = make(map[string]int)
	}
	c.at[id] = len(c.All)
	c.All = append(c.All, Call{Name: name, Input: input})
}

// Find is the call of an id, nil for none.
func (c *Calls) Find(id string) *Call {
	if i, ok := c.at[id]; ok {
		return &c.All[i]
	}
	return nil
}

// End notes what became of a call, and returns it; nil for an id that is unknown.
func (c *Calls) End(id string, failed bool) *Call {
	call := c.Find(id)
	if call != nil {
		call.Answered, call.Failed = true, failed
	}
	return call
}

// Trace lists the calls. One that was never answered has failed: the run ended in
// it. Inputs are cleaned before they are cut: half a secret is not recognised any
// more.
func (c *Calls) Trace(keys Secrets) []eval.ToolCall {
	var out []eval.ToolCall
	for _, x := range c.All {
		out = append(out, eval.ToolCall{Name: x.Name, Input: Clip(keys.Text(Compact(x.Input)), MaxInput), Failed: x.Failed || !x.Answered})
	}
	return out
}

// Accesses are what the calls reached for. One without an answer may have read all
// the same.
func (c *Calls) Accesses() []Access {
	var out []Access
	for _, x := range c.All {
		for _, a := range Accesses(x.Name, x.Input, x.Failed) {
			a.Open = !x.Answered
			out = append(out, a)
		}
	}
	return out
}
