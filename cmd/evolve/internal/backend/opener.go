package backend

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/guard"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/owner"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/deps"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/eval/workspace"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/standing"
	"github.com/skill-evolve/evolve/store/datadir"
)

// An Opener opens backends with the keys and programs of this process.
type Opener struct {
	Getenv func(string) string
	Config func() (*Config, error)
	Layout *skill.Layout
	Access datadir.Access // unless it is datadir.Writes, a backend describes itself and makes no folder
	Keys   *redact.Keys   // gets the keys that backends are given
	NoWait bool           // of Flags
	Night  bool           // nobody waits, and a plan's window is left to its owner
	Typist *owner.Agent   // in whose session the command was typed, nil for a person
	// Assume is told of an agent that a dry run assumes because none works; nil: none is assumed.
	Assume func(name string)
	// Tell gets a line about what goes wrong in a fleet; nil: nobody does.
	Tell func(line string)
	// Control holds requests to vendors back that were not cleared; nil: all of them.
	Control *outgoing.Control
}

// Resolve fills in the choices that b leaves open from config.yaml, the
// environment and the installed programs, so that b describes exactly what
// runs.
func (o *Opener) Resolve(b *agent.Spec) error {
	def := func(p *string, vs ...string) {
		for _, v := range vs {
			if *p == "" {
				*p = v
			}
		}
	}
	conf, err := o.Config()
	if err != nil {
		return err
	}
	def(&b.APIKeyEnv, conf.APIKeyEnv, "OPENAI_API_KEY")
	if b.Agent == "" || b.Agent == conf.Agent {
		// The model and the server in the file belong to the file's agent.
		b.Agent = conf.Agent
		def(&b.Model, conf.Model)
		def(&b.BaseURL, conf.BaseURL)
		if b.Searches {
			def(&b.SearchModel, conf.SearchModel)
		}
	}
	if b.SearchModel == b.Model {
		b.SearchModel = ""
	}
	def(&b.ReflectAgent, conf.ReflectAgent)
	def(&b.ReflectModel, conf.ReflectModel)
	def(&b.JudgeAgent, conf.JudgeAgent)
	def(&b.JudgeModel, conf.JudgeModel)
	def(&b.Sandbox, conf.Sandbox, agent.SandboxOn)
	def(&b.Context, conf.Context, agent.ContextOwner)
	def(&b.Fleet, conf.Fleet)
	if b.Fleet, err = absolute(b.Fleet); err != nil {
		return err
	}
	if len(b.Command) == 0 {
		b.Command = conf.Command
	}
	if len(b.PassEnv) == 0 {
		b.PassEnv = conf.PassEnv
	}
	if len(b.AllowHosts) == 0 {
		b.AllowHosts = conf.AllowHosts
	}
	if err := setups(b, conf); err != nil {
		return err
	}
	if b.Sandbox == agent.SandboxNone && agent.KindOf(b.Agent).UsesTools { // config.yaml may say so, too
		if err := guard.Word(o.Typist, "running agents without a sandbox"); err != nil {
			return err
		}
	}
	if b.Sandbox != agent.SandboxOn && b.Sandbox != agent.SandboxNone {
		return problem.Inputf("--sandbox on, or none", "unknown --sandbox %q", b.Sandbox)
	}
	if b.Context != agent.ContextOwner && b.Context != agent.ContextBare {
		return problem.Inputf("--context owner, or bare", "unknown --context %q", b.Context)
	}
	if b.Agent == "" {
		if b.Agent, err = o.choose(b); err != nil {
			return err
		}
	}
	if !setup.Knows(b.Agent) {
		b.Context = ""
	}
	def(&b.ReflectAgent, b.Agent)
	if b.ReflectAgent == b.Agent {
		def(&b.ReflectModel, b.Model)
	}
	def(&b.JudgeAgent, b.ReflectAgent)
	if b.JudgeAgent == b.ReflectAgent {
		def(&b.JudgeModel, b.ReflectModel)
	}
	for _, r := range b.Roles() {
		k := agent.KindOf(r.Agent)
		if k.Make == nil {
			hint := "the backends are " + strings.Join(agent.Names(), ", ")
			if near := skill.Nearest(r.Agent, agent.Names()); near != "" {
				hint = "did you mean " + near + "?"
			}
			return problem.Inputf(hint, "unknown backend %q", r.Agent)
		}
		if k.NeedsModel && r.Model == "" {
			return problem.Inputf(modelHint(o, b, k), "the %s backend needs %s", r.Agent, r.Flag)
		}
	}
	b.Servers = o.servers(b)
	for _, base := range b.Servers {
		u, err := url.Parse(base)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			if strings.Contains(base, "@") {
				base = "…@…" // what may be a password is not repeated
			}
			return problem.Inputf("for example --base-url http://127.0.0.1:11434/v1", "--base-url %q is no address", base)
		}
		if u.User != nil {
			return problem.Inputf("put the key into a variable and name that with --api-key-env", "--base-url must hold no password: it is written down with the run")
		}
	}
	b.PricesOf = conf.Prices.Date
	for _, r := range b.Roles() {
		if p := conf.Prices.price(r.Model); p != nil && b.Prices[r.Model] == (eval.Price{}) {
			if b.Prices == nil {
				b.Prices = map[string]eval.Price{}
			}
			b.Prices[r.Model] = *p
		}
	}
	return nil
}

// PriceOf is the price of a model, nil if it is not known.
func (o *Opener) PriceOf(model string) *eval.Price {
	conf, err := o.Config()
	if err != nil {
		return nil
	}
	return conf.Prices.price(model)
}

// servers finds the base URL of every backend in use. --base-url applies to
// the role whose backend can ask any server, else to the agent; all others
// use their own variable.
func (o *Opener) servers(b *agent.Spec) map[string]string {
	of := b.Agent
	for _, r := range b.Roles() {
		if agent.KindOf(r.Agent).AnyServer {
			of = r.Agent
		}
	}
	out := map[string]string{}
	for _, r := range b.Roles() {
		base := ""
		if k := agent.KindOf(r.Agent); k.BaseEnv != "" {
			base = o.Getenv(k.BaseEnv)
		}
		if r.Agent == of && b.BaseURL != "" {
			base = b.BaseURL
		}
		if was := b.Servers[r.Agent]; was != "" {
			base = was // a resumed run asks the servers that it asked before
		}
		if base != "" {
			out[r.Agent] = base
		}
	}
	return out
}

// Backends opens the backends of b, after Resolve.
func (o *Opener) Backends(ctx context.Context, b *agent.Spec) (*agent.Backends, error) {
	if err := o.Resolve(b); err != nil {
		if err = o.assume(b, err); err != nil {
			return nil, err
		}
	}
	conf, err := o.Config()
	if err != nil {
		return nil, err
	}
	if err := needsSandbox(b); err != nil {
		return nil, err
	}
	// Check before any backend is made: none may get the key of another.
	for _, name := range append([]string{b.APIKeyEnv}, b.PassEnv...) {
		o.Keys.Add(o.Getenv(name))
	}
	to := o.Recipients(b)
	if err := o.Control.Allowed(to); err != nil {
		return nil, err
	}
	owner, without, err := o.owner(b, to[agent.Replay])
	if err != nil {
		return nil, err
	}
	b.OwnerTokens = owner.Tokens()
	type opened struct {
		agent.Role
		replays bool // with the owner's set-up, which is no part of what a model is
	}
	made := map[opened]agent.Answerer{}
	get := func(r agent.Role, replays bool) (agent.Answerer, error) {
		r.Flag = ""
		at := opened{r, replays && owner != nil}
		if m, ok := made[at]; ok {
			return m, nil
		}
		opening := o.Opening(b, r)
		if at.replays {
			opening.Owner = owner
		}
		m, err := agent.KindOf(r.Agent).Make(ctx, opening)
		made[at] = m
		return m, err
	}
	var played []agent.Answerer
	for i, r := range b.Roles() {
		if b.TextOnly && i != 1 || b.Assumed && r.Agent == b.Agent {
			played = append(played, described(r))
			continue
		}
		m, err := get(r, i == 0 || i == 3)
		if err != nil {
			return nil, err
		}
		played = append(played, m)
	}
	model := func(kind string, a agent.Answerer) eval.Model { return o.Control.Model(kind, to[kind], a.Model) }
	back := &agent.Backends{Agent: o.Control.Agent(to[agent.Replay], played[0].Agent, owner), Mutator: model(agent.Mutate, played[1]), Miner: model(agent.Mine, played[1]),
		Judge: model(agent.Judge, played[2]), To: to, Owner: owner, Without: without, Redactor: o.Keys.Redactor(), AtATime: atATime(b, conf), Find: agent.Find(b.Sandbox)}
	switch {
	case b.SearchModel == "":
	case played[3].Agent.Identity() == played[0].Agent.Identity(): // it takes no model by name
		b.SearchModel = ""
	default:
		back.Search = o.Control.Agent(to[agent.Replay], played[3].Agent, owner)
	}
	if agent.UsesTools(b.Agent) {
		back.Spaces = &workspace.Recorded{Above: standing.Above(agent.KindOf(b.Agent).Sessions)}
		if b.Setup != "" || len(b.Setups) > 0 {
			data, err := datadir.Find(o.Getenv)
			if err != nil {
				return nil, err
			}
			back.Spaces.Setup = &deps.Repositories{Cache: &deps.Cache{Dir: data.Setups()}, Line: b.Setup, Lines: b.Setups, Hosts: b.SetupHosts,
				Bare: b.Sandbox == agent.SandboxNone, Look: o.Access != datadir.Writes}
		}
	}
	if o.Access == datadir.Writes && !b.TextOnly && !b.Assumed {
		if err := o.join(ctx, b, back, played[0].Agent, to[agent.Replay], owner); err != nil {
			return nil, errors.Join(err, back.Close())
		}
	}
	return back, nil
}

// owner collects what the agent loads at its owner's, nil for a bare replay, and names what a
// replay lacks of it.
func (o *Opener) owner(b *agent.Spec, to []agent.Recipient) (set *setup.Set, without []string, err error) {
	switch b.Context {
	case "":
		return nil, nil, nil
	case agent.ContextBare:
		return nil, []string{"your own instructions, rules, notes and other skills (--context bare)"}, nil
	}
	w := setup.Where{Getenv: o.Getenv}
	if w.Home, err = os.UserHomeDir(); err != nil {
		return nil, nil, fmt.Errorf("find the home folder: %w", err)
	}
	if b.Agent == "claude" {
		if w.Config, err = o.Layout.Claude(); err != nil {
			return nil, nil, err
		}
	}
	if set, err = setup.Collect(b.Agent, w); err != nil {
		return nil, nil, err
	}
	without = slices.Clone(set.Without)
	own := agent.KindOf(b.Agent).Recipients(&agent.Opening{Spec: b, Key: o.Getenv})
	not, err := o.Control.NoSetup(own, to)
	if err != nil {
		return nil, nil, err
	}
	recorder := ""
	if len(own) == 1 {
		recorder = own[0].Vendor
	}
	set.May = func(project string) bool { return o.Control.Notes(project, recorder, to) }
	if len(not) > 0 {
		set = &setup.Set{}
		without = append(without, fmt.Sprintf("your instructions, rules and notes (not agreed for %s: `evolve privacy agree %[1]s replay %s`)", not[0].Vendor, agent.Setup))
	}
	if b.Sandbox == agent.SandboxOn {
		without = append(without, "network")
	}
	return set, without, nil
}

// Recipients are who gets the text of requests with this choice, by their kind, after
// Resolve. A kind whose text stays on this machine is not in it.
func (o *Opener) Recipients(b *agent.Spec) map[string][]agent.Recipient {
	to := map[string][]agent.Recipient{}
	roles := b.Roles()
	for kind, r := range map[string]agent.Role{agent.Replay: roles[0], agent.Mutate: roles[1], agent.Mine: roles[1], agent.Judge: roles[2]} {
		if list := agent.KindOf(r.Agent).Recipients(o.Opening(b, r)); len(list) > 0 {
			to[kind] = list
		}
	}
	if len(roles) > 3 {
		for _, r := range agent.KindOf(b.Agent).Recipients(o.Opening(b, roles[3])) {
			if !slices.Contains(to[agent.Replay], r) {
				to[agent.Replay] = append(to[agent.Replay], r)
			}
		}
	}
	for _, r := range fleetOf(b) {
		if !slices.Contains(to[agent.Replay], r) {
			to[agent.Replay] = append(to[agent.Replay], r)
		}
	}
	return to
}

// Opening is the configuration with which a backend is opened for a role.
func (o *Opener) Opening(b *agent.Spec, r agent.Role) *agent.Opening {
	return &agent.Opening{Spec: b, Bare: bare(b, r.Agent), Model: r.Model, BaseURL: b.Servers[r.Agent], Price: b.Price(r.Model), Redactor: o.Keys.Redactor,
		Asking: o.Access != datadir.Writes, NoWait: o.NoWait, Forbidden: o.forbidden, Window: o.window(),
		Key: func(name string) string {
			v := o.Getenv(name)
			if v != "" {
				o.Keys.Add(v)
			}
			return v
		},
		HandoffDir: func() (string, error) {
			h, err := datadir.Find(o.Getenv)
			return h.Handoff(), err
		}}
}

// atATime is the default number of rollouts at once: programs take a core
// each, and share a subscription.
func atATime(b *agent.Spec, conf *Config) int {
	if conf.Concurrency > 0 {
		return conf.Concurrency
	}
	switch {
	case b.ByHand():
		return 32 // requests that are open at once
	case agent.UsesTools(b.Agent):
		return 2
	}
	return 8
}

// forbidden are the folders that hold answers, or other copies of the skill:
// our own data, and every agent's folder. A sandbox has none of them; without
// one the audit looks for reads of them.
func (o *Opener) forbidden() ([]string, error) {
	data, err := datadir.Find(o.Getenv)
	if err != nil {
		return nil, err
	}
	claude, err := o.Layout.Claude()
	if err != nil {
		return nil, err
	}
	skills, err := o.Layout.Skills()
	if err != nil {
		return nil, err
	}
	out := []string{string(data), claude, skills}
	home, err := os.UserHomeDir()
	if err != nil {
		return out, nil
	}
	for _, dir := range []string{".codex", ".pi", ".copilot", ".gemini", ".cursor", ".agents"} {
		out = append(out, filepath.Join(home, dir))
	}
	return out, nil
}
