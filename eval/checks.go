package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// Checks grades an attempt by its case's checks. The zero value grades inert
// checks other than judge. It is safe for concurrent use; set the fields before
// the first use.
type Checks struct {
	// Judge answers judge checks; without it a case that has some is refused.
	// Give the Model itself, not a metered one: the Evaluator reserves and
	// settles the judge's calls together with the rollout.
	Judge Model
	// Redactor is applied to what the judge is shown. nil changes nothing.
	Redactor Redactor
	// TrustExec allows command and exec checks, which Programs runs. Set it
	// only for cases that the owner has read.
	TrustExec bool
	// Programs runs them; without it they are refused. A runner without a
	// sandbox is the owner's explicit choice.
	Programs ProgramRunner
	// ExecTimeout ends a program that a check runs; 0 means one minute.
	ExecTimeout time.Duration

	patterns, schemas sync.Map // source → *regexp.Regexp, *jsonschema.Schema
}

var (
	_ Grader      = (*Checks)(nil)
	_ CaseChecker = (*Checks)(nil)
)

// checksVersion changes whenever a check's score could.
const checksVersion = "checks/1"

// Identity holds the checks' version and, where they are used, the judge with
// its prompt and the time that programs have.
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
		panic("eval: identity: " + err.Error()) // strings and a bool
	}
	return id + " judge/" + judgeVersion + " " + string(judge)
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
		case k.Type == Judge && g.Judge == nil:
			return fmt.Errorf("checks[%d]: judge: no model is configured to judge", i)
		}
	}
	return nil
}

// Grade scores every check. An attempt that failed or answered nothing scores 0
// on all of them, and nobody is asked. A trigger case is graded all the same: it
// asks only which skill was loaded.
func (g *Checks) Grade(ctx context.Context, c *Case, a Attempt, workspace string) (Grade, error) {
	if err := g.CheckCase(c); err != nil {
		return Grade{}, err
	}
	failed := (a.Failure != "" || strings.TrimSpace(a.Answer) == "") && !c.IsTrigger()
	checks := c.checks()
	out := Grade{Checks: make([]CheckResult, len(checks))}
	var sum, weights float64
	for i := range checks {
		k := &checks[i]
		r := &out.Checks[i]
		if failed {
			r.Feedback = k.blame()
		} else {
			var err error
			if *r, err = g.check(ctx, c, k, &a, workspace, &out); err != nil {
				return out, err
			}
		}
		r.Type, r.Weight = k.Type, k.weight()
		sum += r.Score * r.Weight
		weights += r.Weight
	}
	if weights > 0 {
		out.Quality = min(1, sum/weights) // a sum of rounded parts may exceed 1
	}
	return out, nil
}

// check runs one check. An error means that the judge could not be reached.
func (g *Checks) check(ctx context.Context, c *Case, k *Check, a *Attempt, workspace string, out *Grade) (CheckResult, error) {
	switch k.Type {
	case Contains:
		return k.pass(strings.Contains(a.Answer, k.Value)), nil
	case NotContains:
		return k.pass(!strings.Contains(a.Answer, k.Value)), nil
	case Regex, NotRegex:
		re, err := g.pattern(k.Value)
		if err != nil {
			return CheckResult{}, err
		}
		return k.pass(re.MatchString(a.Answer) == (k.Type == Regex)), nil
	case Equals:
		return k.pass(strings.TrimSpace(a.Answer) == strings.TrimSpace(k.Value)), nil
	case JSONSchema:
		return g.matchSchema(k, a.Answer)
	case MaxChars:
		return k.maxChars(a.Answer), nil
	case ToolCalled:
		return k.pass(slices.ContainsFunc(a.Trace, func(t ToolCall) bool { return t.Name == k.Value })), nil
	case SkillInvoked, SkillNotInvoked:
		return k.skillInvoked(c, a), nil
	case Trigger:
		return k.trigger(c, a), nil
	case FileExists, FileContains:
		return k.readFile(workspace), nil
	case Judge:
		return g.judge(ctx, c, k, a.Answer, out)
	case Command:
		return g.runCommand(ctx, k, workspace)
	case Exec:
		return g.runExec(ctx, c, k, a, workspace)
	}
	return CheckResult{}, fmt.Errorf("unknown check type %q", k.Type)
}

func (k *Check) pass(ok bool) CheckResult {
	if ok {
		return CheckResult{Score: 1}
	}
	return CheckResult{Feedback: k.blame()}
}

// blame is what the mutator may read when the check fails: what the case's
// owner wrote for it, else what the check looks for, literally.
func (k *Check) blame() string {
	if k.Feedback != "" {
		return k.Feedback
	}
	switch k.Type {
	case Contains:
		return fmt.Sprintf("The answer does not contain %q.", k.Value)
	case NotContains:
		return fmt.Sprintf("The answer must not contain %q.", k.Value)
	case Regex:
		return fmt.Sprintf("The answer does not match the pattern %s.", k.Value)
	case NotRegex:
		return fmt.Sprintf("The answer must not match the pattern %s.", k.Value)
	case Equals:
		return fmt.Sprintf("The answer is not exactly %q.", k.Value)
	case JSONSchema:
		return "The answer is not JSON that this schema accepts: " + string(k.Schema)
	case MaxChars:
		return fmt.Sprintf("The answer is longer than %d characters.", k.Max)
	case ToolCalled:
		return fmt.Sprintf("The tool %q was not called.", k.Value)
	case SkillInvoked:
		return fmt.Sprintf("The skill %q was not used.", k.Value)
	case SkillNotInvoked:
		return fmt.Sprintf("The skill %q was used, and must not be.", k.Value)
	case Trigger:
		return "The wrong skill was loaded, or none."
	case FileExists:
		return fmt.Sprintf("The file %q was not made.", k.Path)
	case FileContains:
		return fmt.Sprintf("The file %q does not contain %q.", k.Path, k.Value)
	case Judge:
		return k.Rubric
	}
	return fmt.Sprintf("The check %q failed.", strings.Join(k.Command, " "))
}

func (k *Check) maxChars(answer string) CheckResult {
	n := utf8.RuneCountInString(answer)
	r := k.pass(n <= k.Max)
	if r.Score == 0 {
		r.Evidence = fmt.Sprintf("%d characters", n)
	}
	return r
}

// maxChecked is the largest file that is looked into, in bytes.
const maxChecked = 64 << 20

// readFile looks at Path below the workspace. Symbolic links that lead out of
// it are not followed: an agent wrote what stands there.
func (k *Check) readFile(workspace string) CheckResult {
	r := CheckResult{Feedback: k.blame()}
	if workspace == "" {
		r.Evidence = "there is no workspace to look into"
		return r
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		r.Evidence = err.Error()
		return r
	}
	defer root.Close()
	info, err := root.Stat(k.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r
	case err != nil:
		r.Evidence = err.Error()
		return r
	case !info.Mode().IsRegular():
		r.Evidence = k.Path + " is not a regular file"
		return r
	case k.Type == FileExists:
		return CheckResult{Score: 1}
	}
	text, err := bounded.ReadFileIn(root, k.Path, maxChecked)
	if err != nil {
		r.Evidence = err.Error()
		return r
	}
	return k.pass(bytes.Contains(text, []byte(k.Value)))
}

func (g *Checks) pattern(source string) (*regexp.Regexp, error) {
	if re, ok := g.patterns.Load(source); ok {
		return re.(*regexp.Regexp), nil
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, err
	}
	g.patterns.Store(source, re)
	return re, nil
}

// matchSchema accepts JSON in a code fence, because that is how agents show it.
func (g *Checks) matchSchema(k *Check, answer string) (CheckResult, error) {
	source := string(k.Schema)
	s, ok := g.schemas.Load(source)
	if !ok {
		compiled, err := compileSchema(k.Schema)
		if err != nil {
			return CheckResult{}, err
		}
		s, _ = g.schemas.LoadOrStore(source, compiled)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(unfence(answer)))
	if err == nil {
		err = s.(*jsonschema.Schema).Validate(doc)
	}
	r := k.pass(err == nil)
	if err != nil {
		r.Evidence = strings.TrimPrefix(err.Error(), "jsonschema validation failed with 'case:schema#'\n")
	}
	return r, nil
}
