package eval

import "time"

// A Case is one situation in which a skill is tried: the user's request, the context
// without which it cannot be understood, and the checks that grade the answer. It is
// one JSON object per line, in the store as in `evolve cases import|export`.
type Case struct {
	ID        string            `json:"id"`
	Skill     string            `json:"skill"`
	Prompt    string            `json:"prompt"`
	Context   []Message         `json:"context,omitempty"`
	Files     map[string]string `json:"files,omitempty"` // slash-separated path inside the workspace → content
	Workspace *Workspace        `json:"workspace,omitempty"`
	Checks    []Check           `json:"checks"`
	Reference string            `json:"reference,omitempty"` // an accepted answer
	// ShouldTrigger makes this a trigger case: the skill is offered beside others, and
	// the only criterion is whether the agent loaded it (true) or did not (false). nil
	// is an ordinary case.
	ShouldTrigger *bool `json:"should_trigger,omitempty"`
	// Neighbour is the installed skill that should be loaded instead, if
	// ShouldTrigger is false; "" if none is meant.
	Neighbour string `json:"neighbour,omitempty"`
	// Cluster groups cases that are not independent (a session and its
	// near-duplicates). Splits and the gate count clusters, not cases.
	Cluster string  `json:"cluster,omitempty"`
	Split   Split   `json:"split"`
	Source  *Source `json:"source,omitempty"`
}

// A Message is one prior turn of the conversation that a case continues.
type Message struct {
	Role string `json:"role"` // "user" or "assistant"
	Text string `json:"text"`
}

// A Workspace names the recorded tree in which the request was made.
type Workspace struct {
	Repo   string `json:"repo"`
	Commit string `json:"commit,omitempty"`
	// Approximate: nobody recorded the commit; it is the branch's position, or the newest
	// commit, at the time of the request.
	Approximate bool `json:"approximate,omitempty"`
}

// A Source is the origin of a harvested case.
type Source struct {
	Agent   string    `json:"agent"`
	Session string    `json:"session,omitempty"`
	Turn    string    `json:"turn,omitempty"`
	Origin  string    `json:"origin,omitempty"`  // "mined", "generated" or "imported"
	Outcome string    `json:"outcome,omitempty"` // what the user did next: corrected, accepted, …
	Stratum string    `json:"stratum,omitempty"` // of a mined case: corrected, accepted or silent, by which uses are weighted
	Time    time.Time `json:"time,omitzero"`
	// Beside are the other skills that were loaded in the turn, and Because is why the
	// correction is attributed to this one.
	Beside  []string `json:"beside,omitempty"`
	Because string   `json:"because,omitempty"`
	// TrainOnly: no coin drew the turn, it was chosen because it teaches. It is never held out.
	TrainOnly bool `json:"train_only,omitempty"`
	// Copied: the user's correction repeats what the agent had written before.
	Copied bool `json:"copied,omitempty"`
	// Also are the agents and sessions of further cases that the model had seen which wrote
	// this one: it may repeat their text.
	Also []Source `json:"also,omitempty"`
}

// Silent is the stratum of mined cases of which nothing is known that the user said.
const Silent = "silent"

// Teaches reports whether a search can learn from the case: of a mined one more is known
// than the request.
func (c *Case) Teaches() bool {
	return c.Origin() != "mined" || c.Source.Stratum != Silent && (c.Source.Outcome == "corrected" || c.Source.Outcome == "accepted")
}

// Origin is the origin of the case's source: "imported" if it names none.
func (c *Case) Origin() string {
	if c.Source != nil && c.Source.Origin != "" {
		return c.Source.Origin
	}
	return "imported"
}

// Generated reports whether a model made the case up. Such a case is used for training
// and validation; it is never held out, because it is no real user's request.
func (c *Case) Generated() bool { return c.Source != nil && c.Source.Origin == "generated" }

// TrainOnly reports whether the case was chosen by what followed, so that it would be no
// fair sample where it is measured.
func (c *Case) TrainOnly() bool { return c.Source != nil && c.Source.TrainOnly }

// Recorded is when the session of a mined case took place, zero for another case.
func (c *Case) Recorded() (at time.Time) {
	if c.Source != nil && c.Source.Origin == "mined" {
		at = c.Source.Time
	}
	return at
}

// A Split is the use of a case. Empty means not assigned yet.
type Split string

// The three splits: train feeds the mutator, val the Pareto pool, and test is
// held out for the gate.
const (
	Unassigned Split = ""
	Train      Split = "train"
	Val        Split = "val"
	Test       Split = "test"
)

// ClusterOf is the name of the case's cluster: its own id if it has none.
func ClusterOf(c *Case) string {
	if c.Cluster != "" {
		return c.Cluster
	}
	return c.ID
}

// LooksIntoFolder reports whether a check of c needs the folder that the agent worked in.
func (c *Case) LooksIntoFolder() bool {
	for i := range c.Checks {
		if k := c.Checks[i].Spec(); k.Files || k.Runs {
			return true
		}
	}
	return false
}
