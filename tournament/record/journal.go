// Package record defines what a tournament records: runs, candidates,
// versions, and trials with their evidence.
package record

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

// RunStatus is the state of a run.
type RunStatus string

const (
	Running     RunStatus = "running"
	Finished    RunStatus = "finished"
	Stopped     RunStatus = "stopped" // by a cap or a usage limit
	Interrupted RunStatus = "interrupted"
	Failed      RunStatus = "failed"
	// Killed is never stored: it is a run marked as running on which no
	// process works.
	Killed RunStatus = "killed"
)

// A Run is one tournament over one skill.
type Run struct {
	ID     string    `json:"run"`
	Skill  string    `json:"skill"`
	Status RunStatus `json:"status"`
	Seed   int64     `json:"seed"`
	// Config holds every input of the run's decisions, as the command wrote
	// it; a resumed run reads it.
	Config     json.RawMessage `json:"config,omitempty"`
	Incumbent  string          `json:"incumbent"`            // SHA-256
	Challenger string          `json:"challenger,omitempty"` // SHA-256, "" while none
	// Trial is that of the challenger, nil if it is about the two texts above.
	Trial     *Change         `json:"trial,omitempty"`
	Verdict   json.RawMessage `json:"verdict,omitempty"`
	Spent     eval.Spent      `json:"spent"`
	Simulated bool            `json:"simulated,omitempty"`
	Note      string          `json:"note,omitempty"` // why it ended
	// StoppedBy is what stopped a run of status Stopped: ByCap, or the kind of an
	// eval.InfraError.
	StoppedBy string    `json:"stopped_by,omitempty"`
	Started   time.Time `json:"started"`
	Ended     time.Time `json:"ended,omitzero"`
}

// A Change names a trial: by the text that its challenger was made from, and the
// challenger, both as SHA-256. What the pairs run are other texts if the owner has edited
// the first one since.
type Change struct {
	Base       string `json:"base"`
	Challenger string `json:"challenger"`
}

// Tried is the trial of the run's challenger.
func (r *Run) Tried() Change {
	if r.Trial != nil {
		return *r.Trial
	}
	return Change{r.Incumbent, r.Challenger}
}

// ByCap is the StoppedBy of a run that a cap ended before a verdict. If
// resumed, it would stop at the same point.
const ByCap = "cap"

// CapReached is the note of such a run.
const CapReached = "a cap was reached before a verdict"

// UnmarshalJSON reads a run. One of an older evolve has no StoppedBy: its
// note holds it.
func (r *Run) UnmarshalJSON(raw []byte) error {
	type plain Run
	if err := json.Unmarshal(raw, (*plain)(r)); err != nil {
		return err
	}
	if r.Status != Stopped || r.StoppedBy != "" {
		return nil
	}
	r.StoppedBy = string(eval.UsageLimit)
	if r.Note == CapReached {
		r.StoppedBy = ByCap
	} else if strings.Contains(r.Note, string(eval.Pending)) {
		r.StoppedBy = string(eval.Pending)
	}
	return nil
}

// CandidateState is the result of the search for a candidate.
type CandidateState string

const (
	Seed        CandidateState = "seed"
	Pooled      CandidateState = "pooled"      // won its minibatch, in the Pareto pool
	Refused     CandidateState = "refused"     // lost its minibatch
	Invalid     CandidateState = "invalid"     // failed a check before any rollout
	Quarantined CandidateState = "quarantined" // the firewall wants a person's word
)

// Suggested is the operator of a candidate that was written from what the user said of its
// skill, without a search: see Spent.Frozen.
const Suggested = "suggest"

// Checked is the operator of a candidate that its owner has given, without a search.
const Checked = "check"

// A Candidate is one text that a run considered.
type Candidate struct {
	SHA      string         `json:"sha256"`
	Run      string         `json:"run"`
	Seq      int            `json:"seq"` // order of proposal; the incumbent is 0
	Parents  []string       `json:"parents,omitempty"`
	Operator string         `json:"operator"`
	State    CandidateState `json:"state"`
	Rule     string         `json:"rule,omitempty"`   // of the finding behind the state, "" if there is none
	Reason   string         `json:"reason,omitempty"` // in words, why it is in that state
	Taught   []string       `json:"taught,omitempty"` // ids of the cases that it was made from
	// Shown are the ids of all cases that the mutator had seen in the run by then: words of
	// any of them may be in the text.
	Shown []string `json:"shown,omitempty"`
	Text  []byte   `json:"text,omitempty"`
}

// UnmarshalJSON derives the rule of a candidate that was stored before a rule
// had a field of its own.
func (c *Candidate) UnmarshalJSON(b []byte) error {
	type stored Candidate
	if err := json.Unmarshal(b, (*stored)(c)); err != nil {
		return err
	}
	if rule, _, ok := strings.Cut(c.Reason, ": "); ok && c.Rule == "" && c.State == Quarantined {
		c.Rule = rule
	}
	return nil
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

// A TrialRecord is the state of the trial of one change, from the text Incumbent to
// Challenger, stored so that it can be continued another night.
type TrialRecord struct {
	Skill      string          `json:"skill"`
	Incumbent  string          `json:"incumbent"`
	Challenger string          `json:"challenger"`
	Run        string          `json:"run"`
	Decision   pareto.Verdict  `json:"decision"`
	State      json.RawMessage `json:"state"` // a pareto.Trial
	Simulated  bool            `json:"simulated,omitempty"`
	Updated    time.Time       `json:"updated"`
	// Revision counts how often the trial was saved; 0: never. SaveTrial
	// compares it.
	Revision int64 `json:"revision,omitempty"`
}

// Change names the trial.
func (t *TrialRecord) Change() Change { return Change{t.Incumbent, t.Challenger} }

// A TrialChangedError means that another process has saved the trial since it was read, or
// that it is gone. Nothing was written.
type TrialChangedError struct{ Challenger string }

func (e *TrialChangedError) Error() string {
	return fmt.Sprintf("the trial of new text %.12s was changed by another process meanwhile", e.Challenger)
}

// A SpentError means that a held-out case has already been spent, on another
// challenger of the skill.
type SpentError struct {
	Case string // its id
	On   string // SHA-256 of the challenger that it was spent on
}

func (e *SpentError) Error() string {
	return fmt.Sprintf("case %s is already used by the trial of new text %.12s", e.Case, e.On)
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

// Journal is the storage that a tournament needs. Every method returns after
// its data is durable. It must be safe for concurrent use.
type Journal interface {
	eval.Recorder
	SaveRun(ctx context.Context, r *Run) error
	SaveCandidate(ctx context.Context, c *Candidate) error
	// AppendEvent is idempotent by (Run, Seq): a resumed run repeats the same
	// events.
	AppendEvent(ctx context.Context, e Event) error
	// SaveTrial saves a trial that no other process has saved since t was
	// read, and increments t.Revision. The first time it numbers the trial,
	// or a further round of it. Errors: *TrialChangedError.
	SaveTrial(ctx context.Context, t *TrialRecord) error
	// TrialNumber is the number of a trial among all of the skill, nil for
	// one that has not begun.
	TrialNumber(ctx context.Context, skill, incumbent, challenger string, round int) (*TrialNumber, error)
	// Trial returns the trial of a challenger against an incumbent, or nil.
	Trial(ctx context.Context, skill, incumbent, challenger string) (*TrialRecord, error)
	// SpendCase marks a test case, by its id and the fingerprint of what it
	// asks ("": unknown), as spent on a challenger; SpentCases is what any
	// challenger has spent, against whatever incumbent. Errors: *SpentError, if
	// the case, or one that asks the same, is spent on another challenger.
	SpendCase(ctx context.Context, skill, incumbent, challenger, caseID, print string) error
	SpentCases(ctx context.Context, skill string) (*Spent, error)
}
