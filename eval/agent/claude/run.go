package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// quiet are the variables of every child: no traffic except the model's, and nothing
// that outlives the run.
var quiet = []string{
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
	"CLAUDE_CODE_DISABLE_BUNDLED_SKILLS=1",
	// A command in the background would end the run before the answer.
	"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
	"CLAUDE_CODE_DISABLE_AUTO_MEMORY=1",
	// "@path" in a prompt would put any file into the request, and no trace would show
	// it.
	"CLAUDE_CODE_DISABLE_FILE_MENTIONS=1",
}

// The program's own retries are for a dropped call in the middle of a long run; the
// Evaluator handles a server that is down. The program's default is 10, which takes
// three minutes.
const retries = "CLAUDE_CODE_MAX_RETRIES=3"

// settings turn off the skill that comes with the program and that
// CLAUDE_CODE_DISABLE_BUNDLED_SKILLS leaves on (2.1.329).
const settings = `{"skillOverrides":{"plugin-authoring":"off"},"enabledPlugins":{"cc-plugin-plugin-authoring@builtin":false}}`

// loads are the arguments and the variables by which a replay loads what the stage holds of
// the owner's set-up: the project's instructions too, which stand in the workspace.
func (a *Agent) loads(s *replay.Stage) (args, env []string) {
	sources, set := "user", settings
	if a.c.Owner != nil {
		sources = "user,project,local"
	}
	if s.Notes != "" {
		env = []string{"CLAUDE_CODE_DISABLE_AUTO_MEMORY=0"}
		set = strings.TrimSuffix(set, "}") + `,"autoMemoryDirectory":` + strconv.Quote(s.Notes) + "}"
	}
	return []string{"--setting-sources", sources, "--settings", set}, env
}

// args are the arguments of every run.
func (a *Agent) args(more ...string) []string {
	out := []string{"-p", "--output-format", "stream-json", "--verbose", "--strict-mcp-config", "--no-session-persistence"}
	if a.c.Model != "" {
		out = append(out, "--model", a.c.Model)
	}
	return append(out, more...)
}

// env is the child's environment. Config.Env overrides all but the variables that keep
// a run private.
func (a *Agent) env(s *replay.Stage, more ...string) []string {
	c := a.c
	c.Env = slices.Concat([]string{retries}, c.Env)
	own := slices.Concat(quiet, []string{"CLAUDE_CONFIG_DIR=" + s.Config}, more)
	if c.BaseURL != "" {
		own = append(own, "ANTHROPIC_BASE_URL="+strings.TrimRight(c.BaseURL, "/"))
	}
	return s.Env(c, own...)
}

// Run replays one task. The skill is called by "/NAME", which puts its text into the
// request; in a trigger case it is only offered. With ctx's error the attempt holds the
// run's result so far.
func (a *Agent) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	if err := cmp.Or(ctx.Err(), a.window.full(time.Now())); err != nil {
		return eval.Attempt{}, err
	}
	stage, err := replay.Open(t, a.layout)
	if err != nil {
		return eval.Attempt{}, fmt.Errorf("replay %s: %w", t.Case.ID, err)
	}
	// What cannot be removed is no reason to lose the attempt.
	defer func() { _ = stage.Close() }()
	args, env := a.loads(stage)
	c := process.Command{
		Path: a.layout.Program.Path, Dir: stage.Workspace, Stdin: []byte(prompt(t)),
		Args: a.args(append(args, "--tools", tools,
			"--permission-mode", a.mode, "--max-turns", strconv.Itoa(a.c.MaxTurns))...),
		// As root the program refuses to run without permission prompts, unless it is
		// in a sandbox: ours, or none by the owner's decision.
		Env: a.env(stage, append(env, "IS_SANDBOX=1")...),
	}
	if a.c.Sandbox {
		c.Sandbox = stage.Sandbox(a.hosts...)
	}
	s, res, err := a.run(ctx, c)
	if res == nil {
		return eval.Attempt{}, fmt.Errorf("replay %s: %w", t.Case.ID, err)
	}
	out, aerr := a.attempt(ctx, s, stage, t)
	switch {
	case ctx.Err() != nil:
		return out, s.ended(ctx.Err())
	case err != nil:
		return out, fmt.Errorf("replay %s: %w", t.Case.ID, err)
	case aerr != nil:
		return out, aerr
	}
	if res.Limit != "" {
		out.Failure = res.Limit
		return out, nil
	}
	if err := s.offers(t); err != nil {
		return out, err
	}
	if res.Overflow && len(s.results) == 0 {
		out.Failure = "it printed more than can be read"
		return out, nil
	}
	o := s.outcome(time.Now())
	if o.err != nil {
		return out, a.explain(o.err, res)
	}
	out.Failure = o.failure
	return out, nil
}

// run runs the child and reads its events. Keys in them are removed here, before
// anything is cut, because a cut text might hold half of one.
func (a *Agent) run(ctx context.Context, c process.Command) (*stream, *process.Result, error) {
	s := new(stream)
	c.Line = func(b []byte) error {
		s.line(a.keys.Line(b))
		return nil
	}
	res, err := process.Run(ctx, c)
	a.window.heed(s.warned, a.c.Window)
	return s, res, err
}

// ended is the error of a run that ctx ended. If the program was waiting for a retry,
// it had not reached the model: that is no fault of the candidate.
func (s *stream) ended(err error) error {
	if errors.Is(err, context.DeadlineExceeded) && s.retrying {
		return s.retryFailure()
	}
	return err
}

// attempt is the attempt by the events and the workspace, without an audit.
func (a *Agent) attempt(ctx context.Context, s *stream, stage *replay.Stage, t eval.Task) (eval.Attempt, error) {
	out := eval.Attempt{
		Answer: s.answer(), Model: s.model, Trace: s.calls.Trace(replay.Secrets{}), Usage: s.usage(), CostUSD: s.cost(a.c.Prices),
		Duration: s.ran(), Turns: s.turns(), InfraRetries: s.retries, Skills: s.skills(stage.Skills),
	}
	invoked := false
	if d := t.Variant.Doc; t.Variant.IsSkill() {
		names := []string{t.Variant.Name, d.Name()}
		if t.Calls() && !hidden(d) && s.init {
			// The call in the prompt is not among the events.
			if !slices.Contains(out.Skills, names[0]) {
				out.Skills = slices.Insert(out.Skills, 0, names[0])
			}
		}
		for _, name := range out.Skills {
			invoked = invoked || slices.Contains(names, name)
		}
	}
	if s.init {
		out.SkillInvoked = &invoked
	}
	accesses := s.calls.Accesses()
	out.Audit, out.Tainted = stage.Audit(a.c.Sandbox, accesses...)
	var err error
	if out.Files, err = stage.Changed(); err == nil {
		out.Work, err = stage.Work(ctx, out.Files, accesses, true, replay.Secrets{})
	}
	if err != nil {
		return out, fmt.Errorf("replay %s: %w", t.Case.ID, err)
	}
	return out, nil
}

// offers returns an error if the program did not load the candidate: the rollout would
// measure the no-skill arm.
func (s *stream) offers(t eval.Task) error {
	d := t.Variant.Doc
	if !s.init || !t.Variant.IsSkill() || hidden(d) || slices.Contains(s.offered, t.Variant.Name) || slices.Contains(s.offered, d.Name()) {
		return nil
	}
	return eval.Infraf(eval.BadRequest, "replay %s: claude does not offer the skill %s, only %q", t.Case.ID, t.Variant.Name, s.offered)
}

// explain adds the program's last output to an error without details.
func (a *Agent) explain(e *eval.InfraError, res *process.Result) *eval.InfraError {
	if errors.Is(e.Err, errNoResult) && strings.TrimSpace(res.Stderr) != "" {
		e.Err = fmt.Errorf("%w: %s", errNoResult, short(a.keys.Text(res.Stderr)))
	}
	return e
}

var notInvocable = lazyregexp.New(`(?mi)^user-invocable:[ \t]*["']?(false|no|off)\b`)

// hidden reports whether a skill keeps itself from being called by "/NAME"; only
// the model can load it then.
func hidden(d *skill.Document) bool {
	text := d.Render()
	return notInvocable.Match(text[:len(text)-len(d.Body())])
}

// prompt is the child's stdin.
func prompt(t eval.Task) string {
	mention := "/" + t.Variant.Name
	if t.Variant.IsSkill() && hidden(t.Variant.Doc) {
		mention = "Use the " + t.Variant.Name + " skill:"
	}
	text := replay.Prompt(t, mention)
	if t.Calls() {
		return text
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	for _, o := range t.Others {
		if o.Name == name {
			return text
		}
	}
	return plain(text)
}

// plain escapes a text that the program would take for a command of its own and answer
// without the model.
func plain(text string) string {
	if strings.HasPrefix(strings.TrimSpace(text), "/") {
		return " \n" + text
	}
	return text
}
