// Package report is the result of a run, a comparison or a night: a model
// with versioned JSON, text for a terminal, and the formats of other
// programs.
package report

import (
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/search"
)

// Schema is the version of a Model's JSON. A field may be added under the same
// version; none is renamed, removed or given another meaning.
const Schema = 2

// A Model is the content of a report of one run.
type Model struct {
	Schema int `json:"schema"`
	// Warnings qualify everything below; a reader must see them first.
	Warnings  []string      `json:"warnings"`
	Run       string        `json:"run"`
	Skill     string        `json:"skill"`
	Status    string        `json:"status"`
	Note      string        `json:"note,omitempty"` // why the search ended
	Seed      int64         `json:"seed"`
	Simulated bool          `json:"simulated"`
	Agent     string        `json:"agent"` // "backend/model", "" if nothing was measured
	Started   time.Time     `json:"started"`
	Ended     time.Time     `json:"ended,omitzero"`
	Sentence  string        `json:"sentence"` // the verdict, in one sentence with its numbers
	Next      string        `json:"next"`     // what to do now, commands in backticks
	Verdict   *gate.Verdict `json:"verdict"`  // nil if the gate did not run
	// Heard is what the verdict is about, nil if that is not known, or the trial goes on.
	Heard      *record.Heard `json:"heard"`
	Incumbent  string        `json:"incumbent"`
	Challenger string        `json:"challenger,omitempty"`
	// Shorter is set if the challenger only lacks lines of the incumbent.
	Shorter *search.Shorter `json:"shorter,omitempty"`
	// Version and Installed are the numbers of the incumbent's and the
	// challenger's versions; nil if they never were in place.
	Version   *int `json:"version"`
	Installed *int `json:"installed"`
	// Worth compares the incumbent with no skill at all on the same validation
	// cases; nil if that was not measured.
	Worth *search.Worth `json:"worth"`
	// Noise is the search's measurement of it, nil if it made none.
	Noise *search.Noise `json:"noise"`
	// Candidates are all texts that the run considered, in the order of their
	// proposal, the incumbent first.
	Candidates []Candidate `json:"candidates"`
	Front      []string    `json:"front"` // SHA-256 of the pooled candidates that no other dominates
	Events     []Step      `json:"events"`
	Evidence   []Evidence  `json:"evidence"` // the gate's pairs, in order; carried ones too, if they are kept
	Spent      eval.Spent  `json:"spent"`
	Spending   []Spending  `json:"spending"`
	Matrix     Matrix      `json:"matrix"`
	Diff       *Diff       `json:"diff"` // incumbent → challenger; nil if there is none
	Lessons    []Lesson    `json:"lessons"`
	Cases      []Case      `json:"cases"`
}

// A Lesson is one sentence in which the challenger differs from the incumbent,
// with the steps that it came from.
type Lesson struct {
	Kind    string       `json:"kind"` // "added", "reworded" or "removed"
	Text    string       `json:"text"`
	Was     string       `json:"was,omitempty"` // the sentence that was reworded
	Because string       `json:"because"`
	Steps   []LessonStep `json:"steps"`
}

// A LessonStep is a text on the way, with the cases that taught it.
type LessonStep struct {
	SHA      string       `json:"sha256"`
	Operator string       `json:"operator"`
	Cases    []LessonCase `json:"cases"`
}

// A LessonCase is a case with its user's words.
type LessonCase struct {
	Case  string `json:"case"`
	Words string `json:"words,omitempty"`
}

// A Candidate is one text with its measurements. Metrics are over the
// validation cases.
type Candidate struct {
	SHA      string       `json:"sha256"`
	Seq      int          `json:"seq"`
	Operator string       `json:"operator"`
	State    string       `json:"state"`
	Reason   string       `json:"reason,omitempty"`
	Parents  []string     `json:"parents"`
	Depth    int          `json:"depth"`  // steps from the incumbent
	Tokens   int          `json:"tokens"` // of the body, estimated
	Metrics  eval.Metrics `json:"metrics"`
	Full     bool         `json:"full"` // measured on nine tenths or more of the incumbent's validation cases
	OnFront  bool         `json:"on_front"`
	Role     string       `json:"role,omitempty"` // "incumbent", "challenger"
}

// Evidence is one pair of the gate and the e-value after it. The differences are
// oriented so that positive favours the challenger; nil is unknown.
type Evidence struct {
	Cases   int     `json:"cases"`
	Cluster string  `json:"cluster"`
	EValue  float64 `json:"e_value"` // of the quality hypothesis, or the deciding one
	// Worse is the e-value on quality against "no worse"; nil if the trial is not kept.
	Worse   *float64 `json:"worse"`
	Quality *float64 `json:"quality"`
	Latency *float64 `json:"latency"`
	Cost    *float64 `json:"cost"`
	Retries *float64 `json:"retries"`
}

// Spending is what one kind of call took.
type Spending struct {
	Kind    string   `json:"kind"` // "agent", "judge", "mutator", "miner"; "not told apart" for spending without records
	Calls   int64    `json:"calls"`
	Tokens  *int64   `json:"tokens"`
	CostUSD *float64 `json:"cost_usd"` // nil is unknown, not zero
}

// A Matrix is cases × candidates: the mean quality over the trials, nil if
// the pair was never scored.
type Matrix struct {
	Candidates []string `json:"candidates"`
	Rows       []Row    `json:"rows"`
}

// A Row is one case of a Matrix. Held-out rows hold the gate's measurements.
type Row struct {
	Case   string     `json:"case"`
	Split  string     `json:"split"`
	Prompt string     `json:"prompt"` // one line, cut; "" if the case is gone
	Cells  []*float64 `json:"cells"`
}
