package backend

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/probes"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/harvest/redact/personal"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/datadir/policy"
	"github.com/spf13/pflag"
)

// Config is config.yaml in evolve's data folder: defaults for flags. A flag
// that is given overrides it. The tags are what `evolve help config` says of each key.
type Config struct {
	Agent        string `yaml:"agent" help:"who replays cases (default: the first that works)" example:"claude"`
	Model        string `yaml:"model" help:"the agent's model" example:"claude-sonnet-5"`
	SearchModel  string `yaml:"search_model" help:"a cheaper model of the agent for the search" example:"claude-haiku-4-5"`
	ReflectAgent string `yaml:"reflect_agent" help:"who writes texts (default: agent)" example:"openai"`
	ReflectModel string `yaml:"reflect_model" help:"the model that writes texts" example:"gpt-5"`
	JudgeAgent   string `yaml:"judge_agent" help:"who grades answers (default: reflect_agent)" example:"openai"`
	JudgeModel   string `yaml:"judge_model" help:"the model that grades answers" example:"gpt-5-mini"`
	BaseURL      string `yaml:"base_url" help:"the model's server, OpenAI-compatible for openai" example:"http://127.0.0.1:11434/v1"`
	APIKeyEnv    string `yaml:"api_key_env" help:"the environment variable that holds openai's key" example:"OPENAI_API_KEY"`
	Sandbox      string `yaml:"sandbox" help:"around agents that run tools: on, or none" example:"on"`
	// Of every sandbox, also that of checks and setups.
	SandboxLimits process.Limits `yaml:"sandbox_limits" help:"what it may use: memory_gb (default 4), processes (512), file_gb of one file (2), tmp_gb of /tmp (1)" example:"{memory_gb: 8, processes: 1000}"`
	Context       string         `yaml:"context" help:"what replays load besides: owner, as at yours, or bare, nothing" example:"owner"`
	Fleet         string         `yaml:"fleet" help:"file of an invitation to the fleet that replays" example:"/home/me/laptop.invitation.json"`
	Concurrency   int            `yaml:"concurrency" help:"attempts at a time" example:"4"` // 0 is the agent's default
	// The program of the backend "command".
	Command    []string `yaml:"command" help:"of the agent command: its program, with its arguments" example:"[my-agent, --quiet]"`
	PassEnv    []string `yaml:"pass_env" help:"variables that this program gets" example:"[MY_TOKEN]"`
	AllowHosts []string `yaml:"allow_hosts" help:"host:port that it reaches from its sandbox" example:"[\"api.example.com:443\"]"`
	// Setup has a command by the folder whose repositories it is for; SetupNetwork is what
	// they reach.
	Setup        map[string]string `yaml:"setup" help:"what prepares the dependencies of the repositories in a folder" example:"{/src/shop: npm ci}"`
	SetupNetwork []string          `yaml:"setup_network" help:"host:port that it reaches, or registries" example:"[registries]"`
	// The caps of a run or a comparison, and of a night, if no flag sets any; 0 is none.
	MaxCostUSD       *float64 `yaml:"max_cost_usd" help:"dollars at most of a run or a comparison; 0 is no cap (default 5)" example:"3.50"`
	MaxTokens        *int64   `yaml:"max_tokens" help:"tokens at most; 0 is no cap" example:"20000000"`
	NightMaxCostUSD  *float64 `yaml:"night_max_cost_usd" help:"dollars at most of a night; 0 is no cap (default 2)" example:"1.50"`
	NightMaxTokens   *int64   `yaml:"night_max_tokens" help:"tokens at most of a night; 0 is no cap" example:"10000000"`
	ProbeMaxRollouts *int64   `yaml:"probe_max_rollouts" help:"attempts at most with which a better text answers its kernel probes, within the caps of the run or night; 0 is none at all (default 400)" example:"200"`
	// Where the agent reports it.
	NightMaxWindow *float64 `yaml:"night_max_window" help:"share of a plan's window, up to 1, at which a night stops (default: the agent's first warning)" example:"0.5"`
	ConfirmOverUSD *float64 `yaml:"confirm_over_usd" help:"ask before a forecast of more dollars is spent (default 5)" example:"1"`
	Objectives     []string `yaml:"objectives" help:"what decides: quality, and any of latency, cost, retries (default all)" example:"[quality, retries]"`
	Policy         string   `yaml:"policy" help:"what a nightly run does with a better text: stage, or auto, which installs it" example:"stage"`
	Targets        []string `yaml:"targets" help:"where new versions are installed, as --to takes it" example:"[claude, codex]"`
	KeepDays       *int     `yaml:"keep_days" help:"days after which the text of a session that no case uses goes (default 90)" example:"30"`
	// Nil: as its owner chose.
	Moments  *work.Level `yaml:"moments" help:"what is kept of agents' work: off, commands or all" example:"commands"`
	Personal []string    `yaml:"personal" help:"kinds of personal data that are also redacted: mail, phone, card, iban" example:"[phone]"`
	Hooks    hook.Config `yaml:"hooks" help:"record_prompts: hooks note the prompt that named a skill, redacted" example:"{record_prompts: true}"`
	Prices   PriceTable  `yaml:"prices" help:"USD per million tokens of models that are not in the built-in table" example:"{models: {my-model: {input: 0.25, output: 2}}}"`
	// Demo marks a folder that evolve demo made: simulated evidence may
	// install there, and only its own sessions are read.
	Demo bool `yaml:"demo"`
}

// maxConfig is the largest configuration that is read, in bytes.
const maxConfig = 1 << 20

// ReadConfig reads a configuration; without a file everything has its default. Unknown
// keys are errors that name the nearest right one.
func ReadConfig(path string) (*Config, error) {
	text, err := bounded.ReadFile(path, maxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	c, err := parseConfig(text)
	if err != nil {
		hint := "`evolve help config` lists the keys"
		var unknown *unknownKey
		if errors.As(err, &unknown) && unknown.near != "" {
			hint = "did you mean " + unknown.near + "?"
		}
		return nil, problem.Inputf(hint, "%s: %v", path, err)
	}
	return c, nil
}

// DemoFolder is the folder that evolve demo made and that contains the data
// folder, "" if the data folder is the user's own. Nothing is installed
// outside of it: a user may set EVOLVE_HOME to the demo's folder and have
// skills elsewhere.
func (c *Config) DemoFolder(data datadir.Dir) string {
	if !c.Demo {
		return ""
	}
	at, err := skill.RealPath(string(data))
	if err != nil {
		return ""
	}
	return filepath.Dir(at)
}

// DemoProject is the folder that the demo's own sessions worked in: it reads no others,
// wherever they are.
const DemoProject = "/home/you/project"

// DemoMark is the file in the demo's folder that evolve demo writes.
const DemoMark = ".evolve-demo"

// IsDemo reports whether the data folder and the skills are the demo's own: they are in a
// folder that evolve demo made, and that is no home.
func (c *Config) IsDemo(data datadir.Dir, l *skill.Layout) bool {
	root := c.DemoFolder(data)
	if root == "" {
		return false
	}
	if info, err := os.Lstat(filepath.Join(root, DemoMark)); err != nil || !info.Mode().IsRegular() {
		return false
	}
	if home, err := os.UserHomeDir(); err != nil || skill.Within(home, []string{root}) {
		return false
	}
	dir, err := l.Skills()
	if err == nil {
		dir, err = skill.RealPath(dir)
	}
	return err == nil && skill.Within(dir, []string{root})
}

// An unknownKey is a key that the configuration does not know.
type unknownKey struct {
	line      int
	key, near string
}

func (u *unknownKey) Error() string { return fmt.Sprintf("line %d: unknown key %q", u.line, u.key) }

// parseConfig reads a configuration; its prices override the built-in ones.
func parseConfig(text []byte) (*Config, error) {
	c := new(Config)
	if err := strictYAML(text, c); err != nil {
		return nil, err
	}
	if err := c.Prices.check(); err != nil {
		return nil, err
	}
	if err := checkObjectives(c.Objectives); err != nil {
		return nil, err
	}
	switch {
	case c.Policy != "" && c.Policy != "stage" && c.Policy != "auto":
		return nil, fmt.Errorf("policy: %q is neither stage nor auto", c.Policy)
	case c.Concurrency < 0 || c.Concurrency > 256:
		return nil, fmt.Errorf("concurrency: %d is not between 1 and 256", c.Concurrency)
	case c.ConfirmOverUSD != nil && !eval.IsAmount(*c.ConfirmOverUSD):
		return nil, fmt.Errorf("confirm_over_usd: %v is no number of dollars", *c.ConfirmOverUSD)
	case slices.ContainsFunc([]*float64{c.MaxCostUSD, c.NightMaxCostUSD}, func(v *float64) bool { return v != nil && !eval.IsAmount(*v) }):
		return nil, errors.New("max_cost_usd and night_max_cost_usd: no number of dollars; 0 is no cap")
	case slices.ContainsFunc([]*int64{c.MaxTokens, c.NightMaxTokens}, func(v *int64) bool { return v != nil && *v < 0 }):
		return nil, errors.New("max_tokens and night_max_tokens cannot be negative; 0 is no cap")
	case c.ProbeMaxRollouts != nil && *c.ProbeMaxRollouts < 0:
		return nil, errors.New("probe_max_rollouts cannot be negative; 0 is no probes")
	case c.NightMaxWindow != nil && !(*c.NightMaxWindow >= 0 && *c.NightMaxWindow <= 1):
		return nil, fmt.Errorf("night_max_window: %v is no share between 0 and 1", *c.NightMaxWindow)
	case c.KeepDays != nil && (*c.KeepDays < 1 || *c.KeepDays > maxKeepDays):
		return nil, fmt.Errorf("keep_days: %d is not between 1 and %d", *c.KeepDays, maxKeepDays)
	case c.Sandbox != "" && c.Sandbox != agent.SandboxOn && c.Sandbox != agent.SandboxNone:
		return nil, fmt.Errorf("sandbox: %q is neither on nor none", c.Sandbox)
	}
	if err := c.SandboxLimits.Check(); err != nil {
		return nil, fmt.Errorf("sandbox_limits: %w", err)
	}
	if c.Context != "" && c.Context != agent.ContextOwner && c.Context != agent.ContextBare {
		return nil, fmt.Errorf("context: %q is neither owner nor bare", c.Context)
	}
	for _, kind := range c.Personal {
		if !slices.Contains(personal.Kinds, kind) {
			return nil, fmt.Errorf("personal: %q is none of %s", kind, strings.Join(personal.Kinds, ", "))
		}
	}
	if err := skill.CheckTargets(c.Targets); err != nil {
		return nil, err
	}
	var all PriceTable
	if err := strictYAML(builtinPrices, &all); err != nil {
		return nil, fmt.Errorf("built-in prices: %w", err)
	}
	if c.Prices.Date != "" {
		all.Date = c.Prices.Date
	}
	maps.Copy(all.Models, c.Prices.Models)
	c.Prices = all
	return c, nil
}

// The default caps in dollars, of a run or a comparison and of a night.
const runUSD, nightUSD = 5, 2

// DefaultCaps are the caps if flags set none, as campaign.Runner has them; nil without flags.
func (o *Opener) DefaultCaps(flags *pflag.FlagSet) func(night bool) (*eval.Caps, error) {
	if flags == nil {
		return nil
	}
	return func(night bool) (*eval.Caps, error) {
		c, err := o.Config()
		if err != nil {
			return nil, err
		}
		return c.defaultCaps(flags, night), nil
	}
}

func (c *Config) defaultCaps(flags *pflag.FlagSet, night bool) *eval.Caps {
	if flags.Changed("max-cost-usd") || flags.Changed("max-tokens") {
		return nil
	}
	usd, tokens, d := c.MaxCostUSD, c.MaxTokens, eval.Caps{CostUSD: runUSD}
	if night {
		usd, tokens, d = c.NightMaxCostUSD, c.NightMaxTokens, eval.Caps{CostUSD: nightUSD}
	}
	if usd != nil {
		d.CostUSD = *usd
	}
	if tokens != nil {
		if d.Tokens = *tokens; d.Tokens == 0 {
			d.Tokens = -1
		}
	}
	return &d
}

// ProbeCaps is campaign.Runner.ProbeCaps, within the machine's policy.
func (o *Opener) ProbeCaps(p *policy.Policy) (eval.Caps, error) {
	c, err := o.Config()
	if err != nil {
		return eval.Caps{}, err
	}
	caps := eval.Caps{Rollouts: probes.DefaultRollouts}
	if c.ProbeMaxRollouts != nil {
		if caps.Rollouts = *c.ProbeMaxRollouts; caps.Rollouts == 0 {
			caps.Rollouts = -1
		}
	}
	if p != nil {
		caps = caps.Within(eval.Caps{Rollouts: p.Caps.Rollouts, CostUSD: p.Caps.CostUSD, Tokens: p.Caps.Tokens, Duration: p.Caps.Duration})
	}
	return caps, nil
}

// CapFlags adds --max-cost-usd and --max-tokens to f.
func CapFlags(f *pflag.FlagSet, caps *float64, tokens *int64, night bool) {
	d := runUSD
	if night {
		d = nightUSD
	}
	f.Float64Var(caps, "max-cost-usd", 0, fmt.Sprintf("dollars at most, over every call, reading included; 0 for no cap (default %d where dollars can be counted, if neither cap is given)", d))
	f.Int64Var(tokens, "max-tokens", 0, "tokens at most, over every call; 0 for no cap (default elsewhere: those of 40 median recorded sessions, at least 4 million)")
}

// askOver is the forecast in USD above which a terminal is asked, if neither
// a flag nor config.yaml sets another.
const askOver = 5

// ConfirmOverFlag adds --confirm-over-usd to f.
func ConfirmOverFlag(f *pflag.FlagSet, v *float64) {
	f.Float64Var(v, "confirm-over-usd", -1, "ask on a terminal if the forecast is above this")
	f.Lookup("confirm-over-usd").DefValue = fmt.Sprint(askOver)
}

// ConfirmOver is the forecast in USD above which a terminal is asked: the
// flag, else the configuration, else a default, also of a nil Config.
func (c *Config) ConfirmOver(flag float64) float64 {
	switch {
	case flag >= 0:
		return flag
	case c != nil && c.ConfirmOverUSD != nil:
		return *c.ConfirmOverUSD
	}
	return askOver
}

// window is the share of a plan's window that a night may use: none once the agent warns,
// unless the configuration says more; nil if this is no night.
func (o *Opener) window() *float64 {
	if !o.Night {
		return nil
	}
	if conf, err := o.Config(); err == nil && conf.NightMaxWindow != nil {
		return conf.NightMaxWindow
	}
	return new(float64)
}
