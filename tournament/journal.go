package tournament

import (
	"context"
	"encoding/json"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// RunStatus is where a run stands.
type RunStatus string

const (
	Running     RunStatus = "running"
	Finished    RunStatus = "finished"
	Stopped     RunStatus = "stopped" // by a cap or a usage limit
	Interrupted RunStatus = "interrupted"
	Failed      RunStatus = "failed"
)

// A Run is one tournament over one skill.
type Run struct {
	ID     string    `json:"run"`
	Skill  string    `json:"skill"`
	Status RunStatus `json:"status"`
	Seed   int64     `json:"seed"`
	// Config is everything that the decisions are a function of, as the
	// command wrote it; a resumed run reads it back.
	Config     json.RawMessage `json:"config,omitempty"`
	Incumbent  string          `json:"incumbent"`            // SHA-256
	Challenger string          `json:"challenger,omitempty"` // SHA-256, "" while none
	Verdict    json.RawMessage `json:"verdict,omitempty"`
	Spent      eval.Spent      `json:"spent"`
	Simulated  bool            `json:"simulated,omitempty"`
	Note       string          `json:"note,omitempty"` // why it ended
	Started    time.Time       `json:"started"`
	Ended      time.Time       `json:"ended,omitzero"`
}

// CandidateState is what became of a candidate.
type CandidateState string

const (
	Seed        CandidateState = "seed"
	Pooled      CandidateState = "pooled"      // won its minibatch, in the Pareto pool
	Refused     CandidateState = "refused"     // lost its minibatch
	Invalid     CandidateState = "invalid"     // failed a check before any rollout
	Quarantined CandidateState = "quarantined" // the firewall wants a person's word
)

// A Candidate is one text that a run looked at.
type Candidate struct {
	SHA      string         `json:"sha256"`
	Run      string         `json:"run"`
	Seq      int            `json:"seq"` // order of proposal; the incumbent is 0
	Parents  []string       `json:"parents,omitempty"`
	Operator string         `json:"operator"`
	State    CandidateState `json:"state"`
	Reason   string         `json:"reason,omitempty"` // in words, why it is in that state
	Taught   []string       `json:"taught,omitempty"` // ids of the cases that it was made from
	Text     []byte         `json:"text,omitempty"`
}

// An Event is one step of a run, in order.
type Event struct {
	Run      string          `json:"run"`
	Seq      int             `json:"seq"`
	Time     time.Time       `json:"time"`
	Kind     string          `json:"kind"`
	Data     json.RawMessage `json:"data,omitempty"`
	Rollouts int64           `json:"rollouts"` // agent attempts so far
	Best     *float64        `json:"best"`     // best validation quality so far, nil before the first
}

// A TrialRecord is the state of one challenger's trial against one incumbent,
// kept so that evidence can be continued another night.
type TrialRecord struct {
	Skill      string          `json:"skill"`
	Incumbent  string          `json:"incumbent"`
	Challenger string          `json:"challenger"`
	Run        string          `json:"run"`
	Decision   string          `json:"decision"` // promote, reject, undecided
	State      json.RawMessage `json:"state"`    // a pareto.Trial
	Simulated  bool            `json:"simulated,omitempty"`
	Updated    time.Time       `json:"updated"`
}

// A Version is a text that was found in place (v0), installed by evolve, or
// edited by the owner.
type Version struct {
	Skill     string          `json:"skill"`
	N         int             `json:"version"`
	SHA       string          `json:"sha256"`
	Parent    string          `json:"parent,omitempty"` // SHA-256
	Author    string          `json:"author"`           // "evolve" or "you"
	Operator  string          `json:"operator,omitempty"`
	Run       string          `json:"run,omitempty"`
	Evidence  json.RawMessage `json:"evidence,omitempty"` // the verdict it was installed on
	Proven    bool            `json:"proven"`
	Simulated bool            `json:"simulated,omitempty"`
	Note      string          `json:"note,omitempty"`
	Created   time.Time       `json:"created"`
	Text      []byte          `json:"text,omitempty"`
}

// Journal is what a tournament needs kept. Every method returns after the fact
// is durable. It must be safe for concurrent use.
type Journal interface {
	eval.Recorder
	SaveRun(ctx context.Context, r *Run) error
	SaveCandidate(ctx context.Context, c *Candidate) error
	// AppendEvent is idempotent by (Run, Seq): a resumed run walks the same
	// events again.
	AppendEvent(ctx context.Context, e Event) error
	SaveTrial(ctx context.Context, t *TrialRecord) error
	// Trial returns the trial of a challenger against an incumbent, or nil.
	Trial(ctx context.Context, skill, incumbent, challenger string) (*TrialRecord, error)
	// SpendCase marks a test case as spent on a challenger; Spent lists the
	// ids that are already spent against this incumbent by any challenger.
	SpendCase(ctx context.Context, skill, incumbent, challenger, caseID string) error
	SpentCases(ctx context.Context, skill, incumbent string) (map[string]string, error)
}
