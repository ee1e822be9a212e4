// Package sleep is the nightly cycle over all skills: a state machine over
// injected parts, which the next process continues if one is killed.
package sleep

import (
	"cmp"
	"context"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/splits"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store/lock"
)

// Caps bound one night, all skills together; zero means no cap.
type Caps = eval.Caps

// A Kind is the kind of a step.
type Kind string

// The kinds of steps, in the order in which a night does them.
const (
	Harvest  Kind = "harvest"  // read the new sessions; no model is asked
	Watch    Kind = "watch"    // what real sessions say of an installed version
	Continue Kind = "continue" // the trial of an undecided challenger, on fresh cases
	Search   Kind = "search"   // a tournament, and the gate
	Compare  Kind = "compare"  // the installed version with the one before it, on a new model
	Certify  Kind = "certify"  // in nights of an older evolve alone
	Install  Kind = "install"  // what was proved
	Try      Kind = "try"      // a trial install: begun, kept or taken back
	Edited   Kind = "edit"     // by the owner, and what it means for a trial; done where it is met
)

// A Stage is how far a step has come.
type Stage string

// The stages of a step. Only Begun is not final.
const (
	Planned Stage = "planned"
	Begun   Stage = "begun"
	Done    Stage = "done"
	Skipped Stage = "skipped"
	Failed  Stage = "failed"
	Waits   Stage = "waits" // for a later night: the budget of this one did not carry it
)

// A Part is the part of a skill that a trial or a search is about.
type Part string

// The parts.
const (
	Harness     Part = ""
	Description Part = "description" // by which agents choose the skill
)

// A Step is one unit of a night's work.
type Step struct {
	Kind     Kind    `json:"kind"`
	Skill    string  `json:"skill,omitempty"`
	Part     Part    `json:"part,omitempty"`
	Stage    Stage   `json:"stage"`
	Gain     float64 `json:"gain,omitempty"` // failures a week that could be saved at best
	Rollouts int64   `json:"rollouts,omitempty"`
	Run      string  `json:"run,omitempty"`   // named before it begins
	Live     string  `json:"live,omitempty"`  // SHA-256 of the text that it was planned for
	Needs    Caps    `json:"needs,omitzero"`  // what it takes to come to something, if that is forecast
	Caps     Caps    `json:"caps,omitzero"`   // its share of the night
	Level    float64 `json:"level,omitempty"` // error rate that the lifetime leaves this trial
	// Round is the trial's round as the night found it, and Anew the level of
	// the next round, if the model turns out to be another one.
	Round    int        `json:"round,omitempty"`
	Anew     float64    `json:"level_anew,omitempty"`
	Attempts int        `json:"attempts,omitempty"` // how often it was begun
	Errors   int        `json:"errors,omitempty"`   // of them, how often it failed
	Spent    eval.Spent `json:"spent,omitzero"`
	// Assumed counts against the night's caps beside Spent: see eval.Assumed.
	Assumed  eval.Assumed `json:"assumed,omitzero"`
	Warnings []string     `json:"warnings,omitempty"` // of its run; they qualify all that it came to
	Result   *Result      `json:"result,omitempty"`
	Alarm    *Alarm       `json:"alarm,omitempty"`
	Drift    *Drift       `json:"drift,omitempty"` // what is compared
	// Trouble is the kind of Trouble that ended it, or its skill's last
	// night; "" for none.
	Trouble string `json:"trouble,omitempty"`
	Common  bool   `json:"common,omitempty"` // see Trouble
	// Described is the state with which a search over the description begins.
	Described Described `json:"described,omitzero"`
	Note      string    `json:"note,omitempty"` // in words, what came of it
	Began     time.Time `json:"began,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`

	aside error // of a step that this process continues no more
}

func (s *Step) open() bool { return s.Stage == Planned || s.Stage == Begun }

// paid reports whether the step takes from the night's budget.
func (s *Step) paid() bool {
	return s.Kind == Continue || s.Kind == Search || s.Kind == Compare || s.Kind == Certify
}

// A Night is one cycle: its request, and its steps so far.
type Night struct {
	Schema     int       `json:"schema"`
	ID         string    `json:"night"`
	Generation int64     `json:"generation"` // of the lease that it was last saved under
	Policy     Policy    `json:"policy"`
	Tries      bool      `json:"tries,omitempty"` // promising challengers are put in place on trial
	Caps       Caps      `json:"caps"`
	Skills     []string  `json:"skills,omitempty"` // asked for; none: all
	Sessions   int       `json:"sessions"`         // new or changed ones that the harvest found
	Settled    bool      `json:"planned"`          // the steps that cost something are planned
	Steps      []Step    `json:"steps"`
	Idle       []Idle    `json:"idle,omitempty"`       // skills that nothing is planned for
	TakenOver  int       `json:"taken_over,omitempty"` // how often another process went on with it
	Began      time.Time `json:"began"`
	dry        bool      // nothing of it is kept
	met        met       // by the last step, in this process
	Round      time.Time `json:"round,omitzero"` // since then nobody has a second turn before everybody had one
	Ended      time.Time `json:"ended,omitzero"` // zero while it is not over
}

// Idle is why a night has nothing to do for a skill.
type Idle struct {
	Skill string `json:"skill"`
	Used  bool   `json:"used"` // within the window that counts
	Why   string `json:"why"`
}

// Spent sums up the spending of the steps.
func (n *Night) Spent() (s eval.Spent) {
	s.CostKnown = true
	for _, k := range n.Steps {
		if k.paid() {
			s = s.Plus(k.Spent)
		}
	}
	return s
}

// Probed sums up what kernel probes took. The caps of the night hold with it, but for that on
// rollouts: probes have their own.
func (n *Night) Probed() (s eval.Spent) {
	s.CostKnown = true
	for _, k := range n.Steps {
		if !k.paid() {
			s = s.Plus(k.Spent)
		} else if k.Result != nil {
			s = s.Plus(k.Result.Probed)
		}
	}
	return s
}

// assumed sums up what the steps count against the caps besides Spent.
func (n *Night) assumed() (a eval.Assumed) {
	for _, k := range n.Steps {
		if k.paid() {
			a = a.Add(k.Assumed)
		}
	}
	return a
}

// left is what the caps leave; false if one of them is used up.
func (n *Night) left() (Caps, bool) {
	c, s, p, a := n.Caps, n.Spent(), n.Probed(), n.assumed()
	ok := true
	if c.Rollouts > 0 {
		c.Rollouts -= s.Rollouts
		ok = ok && c.Rollouts > 0
	}
	s = s.Plus(p)
	if c.CostUSD > 0 {
		c.CostUSD -= s.CostUSD + a.USD
		ok = ok && c.CostUSD > 0
	}
	if c.Tokens > 0 {
		c.Tokens -= s.TokensIn + s.TokensOut + a.Tokens
		ok = ok && c.Tokens > 0
	}
	if c.Duration > 0 {
		c.Duration -= time.Duration(s.WallMS) * time.Millisecond
		ok = ok && c.Duration > 0
	}
	return c, ok
}

// spare is what the caps leave for kernel probes, as eval.Budget.Remaining has it.
func (n *Night) spare() (c Caps) {
	left, _ := n.left()
	if n.Caps.CostUSD > 0 {
		c.CostUSD = cmp.Or(max(0, left.CostUSD), -1)
	}
	if n.Caps.Tokens > 0 {
		c.Tokens = cmp.Or(max(0, left.Tokens), -1)
	}
	if n.Caps.Duration > 0 {
		c.Duration = cmp.Or(max(0, left.Duration), -1)
	}
	return c
}

// A Result is the result of a trial, with the facts that the policy decides
// on.
type Result struct {
	Decision   pareto.Verdict `json:"decision,omitempty"` // "" if no challenger came before the gate
	Route      string         `json:"route,omitempty"`    // see pareto.Decision
	Reason     string         `json:"reason,omitempty"`
	Incumbent  string         `json:"incumbent,omitempty"`  // SHA-256 of the text that the challenger was made from
	Challenger string         `json:"challenger,omitempty"` // SHA-256
	EValue     float64        `json:"e_value,omitempty"`
	Alpha      float64        `json:"alpha,omitempty"`     // of the route that decided
	Total      float64        `json:"total,omitempty"`     // over all routes of this trial
	NotLower   float64        `json:"not_lower,omitempty"` // see pareto.Decision.NotLower
	// Round counts how often the trial has started again because the model
	// changed; Restarted is the message if it did so now.
	Round     int          `json:"round,omitempty"`
	Restarted string       `json:"restarted,omitempty"`
	Spent     eval.Spent   `json:"spent"`
	Assumed   eval.Assumed `json:"assumed,omitzero"` // see Step
	Warnings  []string     `json:"warnings,omitempty"`
	Stopped   bool         `json:"stopped,omitempty"`    // by a cap, before a verdict
	Early     bool         `json:"early,omitempty"`      // before anything was tried: no search has begun
	StoppedBy string       `json:"stopped_by,omitempty"` // the cap that did, if it is known
	Simulated bool         `json:"simulated,omitempty"`
	// Flagged are the rules of the firewall that the text broke, now or
	// before its owner approved it.
	Flagged []string `json:"flagged,omitempty"`
	// Kernel: the owner has confirmed the kernel of this skill.
	Kernel bool `json:"kernel_confirmed"`
	// Unboxed: the agent runs tools, and no sandbox held it.
	Unboxed bool `json:"unboxed,omitempty"`
	// Against is any other objection to installing it, in words.
	Against string `json:"against,omitempty"`
	// Probes is what the probes of its kernel object, or that there are none, in words; Probed
	// is what they took beside Spent.
	Probes string     `json:"kernel_probes,omitempty"`
	Probed eval.Spent `json:"probes_spent,omitzero"`
	Report string     `json:"report,omitempty"`
	// Command installs the challenger at its owner's word; "" is evolve promote and the skill.
	Command string `json:"command,omitempty"`
	// Settled is what became of a trial install of its skill, "" if it goes on or there is
	// none; Kept: the challenger was in place on trial, and stays.
	Settled string `json:"trial_install,omitempty"`
	Kept    bool   `json:"kept,omitempty"`
}

// A Task is one assignment of a night.
type Task struct {
	Kind  Kind // Continue, Search, Compare or Install
	Skill string
	Part  Part
	Run   string  // the id to work under; if it exists already, it is resumed
	Caps  Caps    // of Install and Try those of kernel probes, as eval.Budget.Remaining has them
	Level float64 // for a trial that begins now; one that continues keeps its own
	// Incumbent is the live text that the task was planned for, "" for any.
	Incumbent string // SHA-256
	// Lease is the night's: before paying or writing, the task checks that it
	// still holds.
	Lease *lock.Lease
}

// An Outlook is the state of a skill before anything is spent on it.
type Outlook struct {
	Skill string
	// Unable is why nothing can be done about it, "" if something can.
	Unable string
	// Proved is a challenger of the live text that the gate has proved in an
	// earlier night or in its owner's run, and that was never in place: there
	// is no search until it is decided on. nil for none.
	Proved *Proof
	// Drift is the model of the installed version's evidence, and the present
	// one. nil if that is not known, or no gate has proved that version.
	Drift      *Drift
	Incumbent  string    // SHA-256
	Since      time.Time // when the incumbent was installed; zero for ever
	Change     string    // the challenger whose change the incumbent has, "" if that is itself
	Challenger string    // SHA-256 of one that is undecided, "" for none
	Base       string    // that it was made from, "" for the incumbent
	Round      int       // of its trial: see Result
	Tried      bool      // a text is in place on trial
	Fresh      int       // held-out cases that its trial has not seen, and that can prove something
	Unproven   int       // those that cannot yet: see judge.ProvableCases
	Rollouts   int64     // what trying them takes at most
	Train      int       // cases to learn from
	// Lack is what a search waits for.
	Lack splits.Lack
	// Needs are what a search and the beginning of its trial take, as far as
	// they are forecast: zero is unknown.
	Needs Caps
	// Mined names the uses of which Look has made cases, "" if there was
	// nothing new among them: see State.
	Mined    string
	Uses     []Use
	Triggers *Triggers // nil without trigger cases
}

// Triggers are the evidence on a skill's description.
type Triggers struct {
	Description string // SHA-256 of the live one
	Train       int    // trigger cases to learn from
	// Tried and Misfired count the trigger cases on which texts with this
	// description were tried, by the last rollout of each.
	Tried, Misfired int
	Challenger      string // as in Outlook
	Base            string
	Round           int
	Fresh           int
	Rollouts        int64
	Needs           Caps // as in Outlook
}

// A Proof is a trial that ended in a promotion.
type Proof struct {
	Run    string // of the trial
	Result Result
	// Fresh and Rollouts are as in Outlook: what the trial could continue
	// with if the level of its number needs more evidence.
	Fresh    int
	Rollouts int64
}

// Parts are the operations of a cycle. Each must be safe to repeat after a
// kill: Harvest and Look only read, Try resumes, Install does nothing if it
// is done already.
type Parts struct {
	Skills  func(context.Context) ([]string, error)
	Harvest func(context.Context) (sessions int, note string, err error)
	Look    func(ctx context.Context, skill string) (Outlook, error)
	// Try does a task. Result.Spent, Assumed and Warnings count even with an
	// error. A *Hopeless or *Overtaken error is about this task alone, and a
	// *Trouble may be; any other one ends the night's process, and the next
	// one continues the night there. The same is true of Look and Install.
	Try     func(context.Context, Task) (Result, error)
	Install func(ctx context.Context, t Task, r Result) (Placed, error)
	// Settle keeps a trial install that was proved, and takes back one whose time is over.
	// Place puts the challenger of a skill in place on trial, if the evidence suffices and
	// nothing else objects. Settle's note is "" if nothing was to do. nil: neither is done.
	Settle func(context.Context, Task) (Placed, error)
	Place  func(context.Context, Task) (Placed, error)
	// Spent is what a run has taken so far by its records, for a process that
	// was killed before it could report. nil: only what steps have ended with
	// is known.
	Spent func(ctx context.Context, run string) (eval.Spent, error)
	// Compare measures an installed version against each of Drift.Against; of
	// its Result Spent, Assumed and Warnings count, and Reason if a cap ended
	// it. nil: nothing is ever compared.
	Compare func(ctx context.Context, t Task, d Drift) ([]Compared, Result, error)
	// Watch looks at the evidence of real sessions about the installed
	// version; nil for nothing to watch. Rollback takes it back.
	Watch func(ctx context.Context, skill string) (*Alarm, error)
	// Edits reports, as steps that have ended, what edits that were found since then mean
	// for trials. nil: nothing is ever edited.
	Edits    func(ctx context.Context, since time.Time) ([]Step, error)
	Rollback func(context.Context, *Alarm) (note string, err error)
}

// Placed is what became of putting a text in place.
type Placed struct {
	Done bool
	Note string // what was done, or why not
	// Spent is what the probes of its kernel took; with an error too.
	Spent eval.Spent
}

// Hopeless is an error that a retry would repeat, and that does not concern
// the other skills.
type Hopeless struct{ Err error }

// Overtaken is the error of a task that an act of the skill's owner has made
// pointless, such as an edit of the live text. It is no failure.
type Overtaken struct{ Why string }

func (o *Overtaken) Error() string { return o.Why }

func (h *Hopeless) Error() string { return h.Err.Error() }
func (h *Hopeless) Unwrap() error { return h.Err }
