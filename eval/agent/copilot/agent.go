// Package copilot replays cases through GitHub's Copilot CLI, driven by its Go
// SDK, and asks it for plain text: an eval.Agent and an eval.Model.
package copilot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	sdk "github.com/github/copilot-sdk/go"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// tools are those that a replay may use, over all models: which of them is declared
// depends on the model (apply_patch or create and edit, rg or grep). Sub-agents are
// left out, because the trace does not show their actions; so is everything that uses
// the network or asks the user.
var tools = []string{"bash", "read_bash", "write_bash", "stop_bash", "list_bash",
	"view", "create", "edit", "apply_patch", "grep", "rg", "glob", "skill"}

// An Agent drives the program: one child per call, with a home of its own. It is
// safe for concurrent use.
type Agent struct {
	conf  replay.Config
	prog  *program
	route *route
	id    eval.Identity
}

var (
	_ eval.Agent = (*Agent)(nil)
	_ eval.Model = (*Agent)(nil)
)

// New finds the program (Config.Path, COPILOT_CLI_PATH, PATH), asks for its version,
// and lets it unpack itself, once, into a folder of evolve's own. The model is not
// called. The error gives the command that helps.
//
// With a BaseURL a Model is required. COPILOT_PROVIDER_TYPE (openai, azure, anthropic)
// and COPILOT_PROVIDER_WIRE_API (completions, responses) in Config.Env select the
// server's protocol: OpenAI's chat completions if they are missing.
// COPILOT_PKG_CACHE_HOME in Config.Env moves the unpacked runtime.
func New(ctx context.Context, c replay.Config) (*Agent, error) {
	r, err := routeOf(c)
	if err != nil {
		return nil, err
	}
	if c.Sandbox {
		if err := process.Available(); err != nil {
			return nil, fmt.Errorf("make a sandbox: %w", err)
		}
	}
	p, err := find(ctx, c)
	if err != nil {
		return nil, err
	}
	if c.MaxTurns == 0 {
		c.MaxTurns = 30
	}
	a := &Agent{conf: c, prog: p, route: r}
	a.id = eval.Identity{Backend: "copilot", Version: p.version, Model: c.Model, Params: a.params()}
	return a, nil
}

// params is all but the model that can change an answer; where the runtime lies
// cannot.
func (a *Agent) params() string {
	p := fmt.Sprintf("%s tools=%s turns=%d", a.route.params(), strings.Join(tools, ","), a.conf.MaxTurns)
	if a.conf.Sandbox {
		p += " sandbox"
	}
	return p + a.conf.OwnerParams() + a.conf.EnvParams(cacheVar)
}

// Identity names program, version, model and parameters.
func (a *Agent) Identity() eval.Identity { return a.id }

// Ping returns why the agent cannot work; nil if it can. New has asked the program for
// its version, and GitHub is not called; a custom server is contacted, because that is
// most often unavailable.
func (a *Agent) Ping(ctx context.Context) error {
	if a.route.base == nil {
		return nil
	}
	return replay.Reach(ctx, a.route.hosts[0])
}

// Run replays one task. The skill is called by its command, "/NAME", as in the
// program's own terminal; in a trigger case it is only offered. The program's own
// skills are switched off.
//
// The error is an *eval.InfraError, or ctx's. If ctx's time ran out while the program
// waited to retry after a failure of the server, it is the former: the candidate had no
// part in it.
func (a *Agent) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	if err := ctx.Err(); err != nil {
		return eval.Attempt{}, err
	}
	stage, err := replay.Open(t, a.layout())
	if err != nil {
		return eval.Attempt{}, err
	}
	defer stage.Close()
	name := t.Variant.Name
	offered := make(map[string]string) // the program's name for it → ours
	if t.Variant.IsSkill() {
		if own := t.Variant.Doc.Name(); own != "" {
			name = own // the program goes by the frontmatter
		}
		offered[name] = t.Variant.Name
	}
	for _, o := range t.Others {
		offered[o.Name] = o.Name
	}
	folders := []string{stage.Skills}
	for _, dir := range stage.ProjectSkills(".github/skills", ".claude/skills", ".agents/skills") {
		if offered[filepath.Base(dir)] == "" {
			offered[filepath.Base(dir)] = filepath.Base(dir)
		}
		if above := filepath.Dir(dir); !slices.Contains(folders, above) {
			folders = append(folders, above)
		}
	}
	r := newReader(a.conf.MaxTurns, a.route.base != nil)
	k := &talk{agent: a, stage: stage, read: r, offered: offered}
	if t.Variant.Doc != nil && t.Variant.Path == "" {
		k.candidate = name
	}
	if a.conf.Sandbox {
		k.sandbox = a.sandbox(stage)
	}
	k.prompt = replay.Prompt(t, "/"+name)
	if t.Calls() {
		if rest, ok := strings.CutPrefix(k.prompt, "/"+name); ok {
			k.call, k.prompt = name, strings.TrimSpace(rest)
		}
	}
	k.config = a.session(stage, len(offered) > 0, folders)
	err = k.hold(ctx)
	out := a.attempt(r, offered, t.Variant)
	var limit process.LimitError
	if errors.As(err, &limit) {
		out.Answer, out.Failure = "", limit.Error()
		return out, nil
	}
	if err != nil {
		out.Answer, out.Duration = "", 0
		return out, a.route.secrets.Error(err)
	}
	if out.Failure, err = r.outcome(); err != nil {
		out.Answer = ""
		return out, a.route.secrets.Error(err)
	}
	out.Failure = a.route.secrets.Text(out.Failure)
	accesses := r.accesses()
	if out.Files, err = stage.Changed(); err != nil {
		return out, err
	}
	if out.Work, err = stage.Work(ctx, out.Files, accesses, len(accesses) < maxCalls, a.route.secrets); err != nil {
		return out, err
	}
	out.Audit, out.Tainted = stage.Audit(a.conf.Sandbox, accesses...)
	out.Tainted = a.route.secrets.Text(out.Tainted)
	return out, nil
}

// attempt is the result of a run, without its failure, files and audit.
func (a *Agent) attempt(r *reader, offered map[string]string, v eval.Variant) eval.Attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := eval.Attempt{Answer: a.route.secrets.Text(r.answer), Model: r.model, Trace: r.calls.Trace(a.route.secrets), Usage: r.usage(), Duration: r.duration(),
		Turns: r.turns, InfraRetries: r.retries}
	out.CostUSD = a.conf.Prices.USD(out.Usage)
	var skills []string
	for _, name := range r.skills {
		skills = append(skills, cmp.Or(offered[name], name))
	}
	out.Loaded(v, skills)
	return out
}

func (a *Agent) layout() replay.Layout {
	return replay.Layout{Config: ".copilot", Program: a.prog.Program, Forbidden: a.conf.Forbidden, Owner: a.conf.Owner}
}

// sandbox opens the folders in its home that the program writes, and not the home
// itself: the guard between us and the program has that home too, and rightly refuses
// to open a whole one.
func (a *Agent) sandbox(stage *replay.Stage) *process.Sandbox {
	s := stage.Sandbox(a.route.hosts...)
	s.Writable = []string{stage.Config, stage.Temp, stage.Workspace}
	s.Readable = append(s.Readable, a.prog.readable()...)
	return s
}

// session is the configuration of a replay with the skills in folders. ModeEmpty is the
// SDK's "nothing but what is requested": no memory, hooks, plugins or instructions. It also
// leaves out the working folder, which a user's session contains. With the owner's set-up
// instructions load, those of the project too; EnableConfigDiscovery would start its servers.
func (a *Agent) session(stage *replay.Stage, skills bool, folders []string) *sdk.SessionConfig {
	loads := a.conf.Owner != nil
	return &sdk.SessionConfig{
		ClientName: "evolve", Model: a.conf.Model, Provider: a.route.provider(0),
		WorkingDirectory: stage.Workspace, EnableConfigDiscovery: sdk.Bool(false),
		EnableSkills: sdk.Bool(skills), SkillDirectories: folders,
		SkipCustomInstructions: sdk.Bool(!loads), EnableOnDemandInstructionDiscovery: sdk.Bool(loads),
		AvailableTools:      tools,
		OnPermissionRequest: sdk.PermissionHandler.ApproveAll,
		SystemMessage: &sdk.SystemMessageConfig{Mode: "customize", Sections: map[string]sdk.SectionOverride{
			sdk.SectionEnvironmentContext: {Action: sdk.SectionActionPreserve}}},
	}
}

// Complete returns the reply to one prompt. The program has no tools, no skills and no
// instructions but Prompt.System; it writes the time before Prompt.User. MaxTokens
// reaches only a custom server, Seed none: the program accepts none.
func (a *Agent) Complete(ctx context.Context, p eval.Prompt) (eval.Completion, error) {
	if err := ctx.Err(); err != nil {
		return eval.Completion{}, err
	}
	stage, err := replay.Open(eval.Task{}, a.layout())
	if err != nil {
		return eval.Completion{}, err
	}
	defer stage.Close()
	system := p.System
	if strings.TrimSpace(system) == "" {
		system = "\n" // an empty one brings in the program's own
	}
	r := newReader(0, a.route.base != nil)
	k := &talk{agent: a, stage: stage, read: r, prompt: p.User}
	k.config = &sdk.SessionConfig{
		ClientName: "evolve", Model: a.conf.Model, Provider: a.route.provider(p.MaxTokens),
		WorkingDirectory: stage.Workspace, EnableConfigDiscovery: sdk.Bool(false), EnableSkills: sdk.Bool(false),
		AvailableTools: []string{}, SystemMessage: &sdk.SystemMessageConfig{Mode: "replace", Content: system},
		InfiniteSessions: &sdk.InfiniteSessionConfig{Enabled: sdk.Bool(false)},
	}
	if err := k.hold(ctx); err != nil {
		return eval.Completion{}, a.route.secrets.Error(err)
	}
	failure, err := r.outcome()
	if err != nil {
		return eval.Completion{}, a.route.secrets.Error(err)
	}
	if r.fault != nil {
		// The text was refused: every other call with it would fail too.
		return eval.Completion{}, a.route.secrets.Error(&eval.InfraError{Kind: eval.BadRequest, Err: errors.New(failure)})
	}
	c := eval.Completion{Text: a.route.secrets.Text(r.answer), Finish: r.finish, Usage: r.usage()}
	c.CostUSD = a.conf.Prices.USD(c.Usage)
	return c, nil
}
