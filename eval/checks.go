package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/check"
)

// The types of checks and of what they use are those of package check.
type (
	Check         = check.Check
	CheckResult   = check.Result
	ToolCall      = check.ToolCall
	ProgramRunner = check.ProgramRunner
)

// The check types, see package check.
const (
	Contains        = check.Contains
	NotContains     = check.NotContains
	Regex           = check.Regex
	NotRegex        = check.NotRegex
	Equals          = check.Equals
	JSONSchema      = check.JSONSchema
	MaxChars        = check.MaxChars
	ToolCalled      = check.ToolCalled
	SkillInvoked    = check.SkillInvoked
	SkillNotInvoked = check.SkillNotInvoked
	Trigger         = check.Trigger
	FileExists      = check.FileExists
	FileContains    = check.FileContains
	Ran             = check.Ran
	NotRan          = check.NotRan
	Changed         = check.Changed
	NotChanged      = check.NotChanged
	Added           = check.Added
	NotAdded        = check.NotAdded
	Judge           = check.Judge
	Tests           = check.Tests
	Command         = check.Command
	Exec            = check.Exec
)

// Checks grades an attempt by its case's checks. The zero value grades inert checks
// other than judge. It is safe for concurrent use; set the fields before the first use.
type Checks struct {
	// Judge answers judge checks; without it a case that has some is refused. Give the
	// Model itself, not a metered one: the Evaluator reserves and settles the judge's
	// calls together with the rollout.
	Judge Model
	// Redactor is applied to the judge's prompt. nil changes nothing.
	Redactor Redactor
	// ShowWork shows the judge what the agent did, if that was recorded.
	ShowWork bool
	// TrustExec allows command and exec checks, which Programs runs. Set it
	// only for cases that the owner has read.
	TrustExec bool
	// Programs runs them; without it they are refused. A runner without a
	// sandbox is the owner's explicit choice.
	Programs ProgramRunner
	// ExecTimeout ends a program that a check runs; 0 means one minute.
	ExecTimeout time.Duration
}

var (
	_ Grader      = (*Checks)(nil)
	_ CaseChecker = (*Checks)(nil)
)

// checksVersion changes whenever a check's score could.
const checksVersion = "checks/1"

// Identity holds the checks' version and, if they are used, the judge with its prompt
// and the time limit of programs.
func (g *Checks) Identity() string {
	id := checksVersion
	if g.TrustExec && g.Programs != nil {
		id += " exec/" + g.execLimit().String() + " " + g.Programs.Identity()
	}
	if g.Judge == nil {
		return id
	}
	judge, err := json.Marshal(g.Judge.Identity())
	if err != nil {
		panic("eval: identity: " + err.Error()) // strings and a bool can be marshalled
	}
	version := check.JudgeVersion()
	if g.ShowWork {
		version = check.JudgeWorkVersion()
	}
	return id + " judge/" + version + " " + string(judge)
}

func (g *Checks) execLimit() time.Duration {
	if g.ExecTimeout <= 0 {
		return time.Minute
	}
	return g.ExecTimeout
}

// CheckCase refuses a case with checks that g may not or cannot run.
func (g *Checks) CheckCase(c *Case) error {
	for i := range c.Checks {
		k := &c.Checks[i]
		switch {
		case k.Executing() && !g.TrustExec:
			return fmt.Errorf("checks[%d]: %s runs a program; read it, then trust it with --trust-checks", i, k.Type)
		case k.Executing() && g.Programs == nil:
			return fmt.Errorf("checks[%d]: %s runs a program, and there is no sandbox to run it in", i, k.Type)
		case k.Asks() && g.Judge == nil:
			return fmt.Errorf("checks[%d]: %s: no model is configured to judge", i, k.Type)
		}
	}
	return nil
}

// Grade scores every check. A failed or empty attempt scores 0 on all of them, and no
// judge is called. A trigger case is graded nevertheless: its only criterion is which
// skill was loaded.
func (g *Checks) Grade(ctx context.Context, c *Case, a Attempt, workspace string) (Grade, error) {
	if err := g.CheckCase(c); err != nil {
		return Grade{}, err
	}
	failed := (a.Failure != "" || strings.TrimSpace(a.Answer) == "") && !c.IsTrigger()
	checks := c.checks()
	out := Grade{Checks: make([]CheckResult, len(checks))}
	s := g.subject(c, &a, workspace, &out)
	var sum, weights float64
	for i := range checks {
		k := &checks[i]
		r := &out.Checks[i]
		if failed {
			r.Feedback = k.Blame()
		} else {
			var err error
			if *r, err = k.Grade(ctx, s); err != nil {
				return out, err
			}
		}
		r.Type, r.Weight = k.Type, k.Relative()
		sum += r.Score * r.Weight
		weights += r.Weight
	}
	if weights > 0 {
		out.Quality = min(1, sum/weights) // a sum of rounded parts may exceed 1
	}
	return out, nil
}

// subject is the part of an attempt that checks use. bill collects the judge's calls,
// answered or not.
func (g *Checks) subject(c *Case, a *Attempt, workspace string, bill *Grade) *check.Subject {
	return &check.Subject{
		Skill: c.Skill, Prompt: c.Prompt, Reference: c.Reference, ShouldTrigger: c.ShouldTrigger, Neighbour: c.Neighbour,
		Answer: a.Answer, Trace: a.Trace, Work: a.Work, ShowWork: g.ShowWork, Skills: a.Skills, SkillInvoked: a.SkillInvoked, Workspace: workspace,
		Record: func() ([]byte, error) {
			return json.Marshal(struct {
				Case    *Case    `json:"case"`
				Rollout *Rollout `json:"rollout"`
			}{c, &Rollout{CaseID: c.ID, Status: Done, Answer: a.Answer, Trace: a.Trace, Usage: a.Usage, CostUSD: a.CostUSD}})
		},
		Programs: g.Programs, Limit: g.execLimit(),
		Ask: func(ctx context.Context, p check.Prompt) (check.Reply, error) {
			reply, err := g.Judge.Complete(ctx, Prompt{System: p.System, User: p.User, Seed: p.Seed})
			if err != nil {
				if !IsPending(err) {
					bill.lose(Cost{reply.Usage, reply.CostUSD})
				}
				return check.Reply{}, err
			}
			bill.spend(reply)
			return check.Reply{Text: reply.Text, Cut: reply.Finish == "length"}, nil
		},
		Redact: func(text string) string { return redact(g.Redactor, text) },
	}
}

// spend adds a judge's reply to the grade; a sum with an unknown part is unknown.
func (g *Grade) spend(c Completion) {
	rest := atLeast(Cost{c.Usage, c.CostUSD})
	g.lose(Cost{rest.LostUsage, rest.LostUSD})
	c.Usage, c.CostUSD = believable(c.Usage, c.CostUSD)
	if g.JudgeCalls == 0 {
		g.JudgeUsage, g.JudgeUSD = c.Usage, c.CostUSD
	} else {
		g.sum(&g.JudgeUsage, &g.JudgeUSD, Cost{c.Usage, c.CostUSD})
	}
	g.JudgeCalls++
}
