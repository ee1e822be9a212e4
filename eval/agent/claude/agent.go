// Package claude drives the Claude Code CLI: a case is replayed by `claude -p` in a
// private configuration folder that holds the candidate and nothing else, and a prompt
// is completed by the same program without tools and skills.
//
// The outcome of a run is read from its events alone (stream-json). The exit code and
// the subtype "success" are unreliable.
package claude

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// Credentials are the variables that the program takes its key from. With
// CLAUDE_CODE_OAUTH_TOKEN (a subscription's, made by `claude setup-token`) the child
// does not get the others, or it would bill them.
var Credentials = []string{oauthToken, "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}

const (
	oauthToken = "CLAUDE_CODE_OAUTH_TOKEN"

	// Install and SetupToken are the commands for a missing program and a missing key.
	Install    = "npm install -g @anthropic-ai/claude-code"
	SetupToken = "claude setup-token"

	bypass = "bypassPermissions"
	tools  = "Read,Bash,Skill,Edit,Write"
	// defaultTurns is the default of Config.MaxTurns.
	defaultTurns = 30
)

// oldest is the first version whose flags and events are known.
const oldest = "2.1.197"

var versionText = lazyregexp.New(`^\d+\.\d+\.\d+(-.*)?$`)

// An Agent is an eval.Agent and an eval.Model. It is safe for concurrent use.
type Agent struct {
	c       replay.Config
	layout  replay.Layout
	version string
	hosts   []string // that a sandboxed run may reach
	id      eval.Identity
	mode    string // of permissions: bypass but in tests
	keys    replay.Secrets
	window  window
}

var (
	_ eval.Agent = (*Agent)(nil)
	_ eval.Model = (*Agent)(nil)
)

// New finds the program and asks for its version; nothing is sent. If the program is
// missing or too old, the error gives the command to install it.
func New(ctx context.Context, c replay.Config) (*Agent, error) {
	prog, err := replay.Find(c, "claude")
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; install it with: %s", err, Install)
	}
	if err != nil {
		return nil, err
	}
	if c.MaxTurns <= 0 {
		c.MaxTurns = defaultTurns
	}
	c.Credentials = usable(c.Credentials)
	if has(c.Credentials, oauthToken) || has(c.Env, oauthToken) {
		billed := func(kv string) bool {
			name, _, _ := strings.Cut(kv, "=")
			return name != oauthToken && slices.Contains(Credentials, name)
		}
		c.Credentials = slices.DeleteFunc(c.Credentials, billed)
		c.Env = slices.DeleteFunc(slices.Clone(c.Env), billed)
	}
	base := c.BaseURL
	for _, kv := range c.Env {
		if v, ok := strings.CutPrefix(kv, "ANTHROPIC_BASE_URL="); ok && base == "" {
			base = v
		}
	}
	address := "api.anthropic.com:443"
	if base != "" {
		if _, address, err = replay.Server("claude", base); err != nil {
			return nil, err
		}
	}
	a := &Agent{c: c, hosts: []string{address}, mode: bypass,
		keys: replay.Secrets{Mark: "[api key]"}, layout: replay.Layout{Config: ".claude", Program: prog, Forbidden: c.Forbidden, Owner: c.Owner}}
	for _, kv := range slices.Concat(c.Credentials, c.Env) {
		if name, key, _ := strings.Cut(kv, "="); key != "" && slices.Contains(Credentials, name) {
			a.keys.Values = append(a.keys.Values, key)
		}
	}
	if a.version, err = a.ask(ctx); err != nil {
		return nil, fmt.Errorf("ask claude for its version: %w", err)
	}
	if err := replay.AtLeast("claude", a.version, oldest, "install it with: "+Install); err != nil {
		return nil, err
	}
	a.id = eval.Identity{Backend: "claude", Version: a.version, Model: c.Model, Params: params(c, address)}
	return a, nil
}

// usable drops empty keys, which would hide other sources, and trims the others,
// because files and variables end in a newline.
func usable(credentials []string) []string {
	var out []string
	for _, kv := range credentials {
		if name, value, _ := strings.Cut(kv, "="); strings.TrimSpace(value) != "" {
			out = append(out, name+"="+strings.TrimSpace(value))
		}
	}
	return out
}

func has(env []string, name string) bool {
	return slices.ContainsFunc(env, func(kv string) bool {
		value, ok := strings.CutPrefix(kv, name+"=")
		return ok && strings.TrimSpace(value) != ""
	})
}

// params is everything but the model that can change an answer. Values of Env
// may be secrets: a hash replaces them.
func params(c replay.Config, address string) string {
	p := "base=" + address + " turns=" + strconv.Itoa(c.MaxTurns) + " tools=" + tools + " sandbox=" + strconv.FormatBool(c.Sandbox)
	p += c.OwnerParams()
	if len(c.Env) > 0 {
		env := slices.Sorted(slices.Values(c.Env))
		h := sha256.Sum256([]byte(strings.Join(env, "\x00")))
		p += " env=" + hex.EncodeToString(h[:6])
	}
	return p
}

// Identity names program, version, model and parameters.
func (a *Agent) Identity() eval.Identity { return a.id }

// Ping returns why the agent cannot work, and the command that helps; nil if it can. It
// sends nothing: a wrong key is noticed at the first answer.
func (a *Agent) Ping(ctx context.Context) error {
	if _, err := a.ask(ctx); err != nil {
		return fmt.Errorf("run claude: %w; install it again with: %s", err, Install)
	}
	for _, name := range Credentials {
		if has(a.c.Credentials, name) || has(a.c.Env, name) {
			return nil
		}
	}
	for _, name := range []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"} {
		if has(a.c.Env, name) {
			return nil // the cloud's own credentials
		}
	}
	return fmt.Errorf("claude has no key: with a subscription type `%s` and set %s to what it prints, or set ANTHROPIC_API_KEY",
		SetupToken, oauthToken)
}

// ask asks the program for its version, in an empty home, and in the sandbox if replays
// use one: a script that calls the program from elsewhere fails there, and is
// recognised before anything is spent, instead of looking like a server that is down.
func (a *Agent) ask(ctx context.Context) (string, error) {
	path := strings.Join(append(slices.Clone(a.layout.Program.Dirs), os.Getenv("PATH")), string(filepath.ListSeparator))
	sandboxed := a.c.Sandbox && process.Available() == nil
	res, err := replay.Ask(ctx, time.Minute, func(home string) process.Command {
		c := process.Command{Path: a.layout.Program.Path, Args: []string{"--version"},
			Env: slices.Concat(a.c.Env, quiet, []string{"PATH=" + path, "CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude")})}
		if sandboxed {
			c.Sandbox = &process.Sandbox{Writable: []string{home}, Readable: a.layout.Program.Readable}
		}
		return c
	})
	if err != nil {
		return "", err
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(res.Stdout)), " ")
	if ok := versionText.MatchString(version); !ok && sandboxed && res.Exit == 127 {
		return "", fmt.Errorf("%s calls what the sandbox does not show; put the program itself first on the PATH:%s",
			a.layout.Program.Path, a.keys.Text(short(" "+res.Stderr)))
	} else if !ok {
		return "", fmt.Errorf("it answers %q%s", short(string(res.Stdout)), a.keys.Text(short(" "+res.Stderr)))
	}
	return version, nil
}
