package serve

import (
	"context"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/fleet/watch"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/tournament/approval"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/charts"
	"github.com/skill-evolve/evolve/tournament/status"
)

// A Program implements the pages with the commands' own functions, so that a
// page and a command cannot differ. All methods may be called concurrently;
// one server calls those that write one at a time, and other processes may
// work on the same data.
type Program interface {
	// Read like `evolve status` and `evolve log`.
	Status(ctx context.Context) (*status.Report, error)
	Log(ctx context.Context, skill string) (*status.Log, error)
	// Uses are the uses of a skill that Status counts.
	Uses(ctx context.Context, skill string) ([]charts.Use, error)
	// Corrections are what `evolve corrections SKILL` shows.
	Corrections(ctx context.Context, skill string) (*Corrections, error)
	// Forecast is what the owner's command for a run would do and cost, as --dry-run prints it.
	Forecast(ctx context.Context, skill string) (*Forecast, error)
	// Diff compares two texts, named as `evolve diff` names them; from may be "",
	// which is the live one.
	Diff(ctx context.Context, skill, from, to string) (*report.Diff, error)

	// Read like `evolve report`, `evolve log --run` and `evolve sleep status`. A run is
	// named by its whole id; the newest run and night come first.
	Runs(ctx context.Context) ([]Run, error)
	Report(ctx context.Context, run string) (*report.Model, error)
	// Progress is the progress of a run. It is called once a second while
	// somebody looks.
	Progress(ctx context.Context, run string) (*Progress, error)
	Nights(ctx context.Context) ([]*status.Night, error)
	Night(ctx context.Context, id string) (*status.Night, error)

	// Fleet is read like `evolve fleet status`, which takes seconds.
	Fleet(ctx context.Context) (*watch.State, error)

	// Read and changed like `evolve cases`.
	Cases(ctx context.Context, skill string) ([]eval.Case, error)
	Case(ctx context.Context, skill, id string) (*CaseNow, error)
	// EditCase replaces the case by text, a case as JSON; if the case has
	// changed since the state seen, the error is ErrChanged.
	EditCase(ctx context.Context, skill, id, seen string, text []byte) (*Done, error)
	DropCase(ctx context.Context, skill, id, seen string) (*Done, error)

	// Pair is the next pair of a blind review without a label that skipped does not
	// hold, nil for none.
	Pair(ctx context.Context, skill string, skipped func(PairName) bool) (*Pair, *Review, error)
	// Answer stores the owner's choice between the two shown answers: "1",
	// "2" or "=".
	Answer(ctx context.Context, skill string, pair PairName, choice string) error

	// Plan describes what an act would do, and does nothing. at is a
	// candidate's SHA-256, a version ("v1"), or "".
	Plan(ctx context.Context, act Act, skill, at string) (*Plan, error)
	// Do carries out a plan. If what is there now is not what seen was made of,
	// it refuses with ErrChanged.
	Do(ctx context.Context, act Act, skill, at, seen string, unproven bool) (*Done, error)
}

// An Act is a command that changes what is installed or may be tried.
type Act string

// The acts, as the commands are called.
const (
	Approve  Act = "approve"
	Reject   Act = "reject"
	Promote  Act = "promote"
	Rollback Act = "rollback"
)

// An Error is an error with a hint.
type Error struct {
	Message string
	Hint    string // with commands in backticks, "" for none
	// Kind is problem.Input for what is not there, or wrong; problem.Refused for what safety
	// or another process forbids; else problem.Failed.
	Kind problem.Kind
}

func (e *Error) Error() string { return e.Message }

// ErrChanged is the refusal of what was decided on something that is not there any
// more.
var ErrChanged = &Error{Message: "this has changed since the page was made: nothing was done", Hint: "look at it again, and decide then", Kind: problem.Refused}

// A Done is the result of an act.
type Done struct {
	Said  []string // the command's messages, commands in backticks
	Notes []string // and its warnings
}

// A Run is a line of the list of runs.
type Run struct {
	record.Run
	Decision string // the gate's, in words; "" if it did not meet
	Result   string // on how many requests it was better and worse; "" if nothing was compared
	Working  bool   // a process is at work on it
}

// A Progress is the progress of a run.
type Progress struct {
	Run
	Cap   int64         // of rollouts, 0 for none
	Steps []report.Step // all, in order
}

// Corrections are what was corrected, by the rule that would have prevented it.
type Corrections struct {
	Turns, Corrected, Unread int // turns, those corrected, and replies that no model has read
	Command                  string
	Rules                    []Correction
}

// A Correction is one rule, in words.
type Correction struct {
	Title, Written string
	Quotes         []Quote // the newest first
}

// A Quote is what the owner said.
type Quote struct {
	Words string
	Time  time.Time
	Note  string // "" for none
}

// A Forecast is what a run would do and cost.
type Forecast struct {
	Command string
	Lines   []string
	Why     *Error // why there is none; nil if there is
}

// A CaseNow is a case with the fingerprint of its present state.
type CaseNow struct {
	Case *eval.Case
	Seen string
	// Spent is the challenger that a held-out case was spent on, "" for none.
	Spent string
}

// A PairName names a pair of answers in the order in which they are shown: by the
// SHA-256 of the answers, which reveals nothing about which text gave them.
type PairName struct{ Case, First, Second string }

// A Pair is two answers to one request, blind.
type Pair struct {
	PairName
	Prompt           string
	Context          []eval.Message
	Answer1, Answer2 string
	Work1, Work2     string // what was done for them; "" if that was not recorded
}

// A Review is the progress of a skill's review.
type Review struct {
	Left   int    // pairs without a label
	Labels int    // of the skill, with a preference
	Judge  string // how the judge compares, in words; "" if nothing is known
}

// A Plan is what an act would do.
type Plan struct {
	Act     Act
	Skill   string
	At      string // names the text exactly
	Command string // that does the same
	Will    []string
	// Unproven: it needs one more confirmation.
	Unproven bool
	Refusal  *Error // why it would be refused; nil if it would not
	Evidence []Fact
	Findings []approval.Finding
	Diff     *report.Diff
	Taught   []candidate.Case
	Seen     string // names everything that the plan rests on
}

// A Fact is a line of evidence.
type Fact struct{ Name, Text string }
