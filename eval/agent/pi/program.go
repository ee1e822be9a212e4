package pi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// oldest is the first version whose flags and events are known.
const oldest = "0.87.0"

// Install is the command that installs the program.
const Install = "npm install -g @earendil-works/pi-coding-agent"

// minNode is the first Node that the program runs on.
const minNode = 22

// wantNode is what to do if there is none.
var wantNode = fmt.Sprintf("pi needs Node %d or later: https://nodejs.org", minNode)

// A program is the pi that was found, and how to run it.
type program struct {
	replay.Program
	exec    string   // what is executed, absolute
	prefix  []string // arguments before the program's own: the script, if node is executed
	env     []string // Config.Env
	version string
}

// find finds the program, and the node that its first line names. Node is executed
// directly: `env node` uses the first one on PATH, which may be too old.
func find(ctx context.Context, c replay.Config) (*program, error) {
	if path := cmp.Or(c.Path, "pi"); !executable(path) {
		return nil, fmt.Errorf("find pi: no program %s; install it with: %s", path, Install)
	}
	found, err := replay.Find(c, "pi")
	if errors.Is(err, exec.ErrNotFound) { // the interpreter
		return nil, fmt.Errorf("%w; %s", err, wantNode)
	}
	if err != nil {
		return nil, err
	}
	p := &program{Program: found, exec: found.Path, env: c.Env}
	if filepath.Base(found.Runner) == "node" {
		p.exec, p.prefix = found.Runner, []string{found.Path}
		if err := checkNode(ctx, p.exec); err != nil {
			return nil, err
		}
	}
	if p.version, err = p.ask(ctx, "--version"); err != nil {
		return nil, fmt.Errorf("ask pi for its version: %w", err)
	}
	if p.version, _, _ = strings.Cut(p.version, "\n"); p.version == "" {
		return nil, errors.New("ask pi for its version: it does not say")
	}
	if err := replay.AtLeast("pi", p.version, oldest, "install it with: "+Install); err != nil {
		return nil, err
	}
	return p, nil
}

func executable(path string) bool {
	_, err := exec.LookPath(path)
	return err == nil
}

// args are the program's own arguments behind those of its interpreter.
func (p *program) args(own ...string) []string {
	return append(p.prefix[:len(p.prefix):len(p.prefix)], own...)
}

// ask runs the program for one short answer.
func (p *program) ask(ctx context.Context, args ...string) (string, error) {
	res, err := replay.Ask(ctx, time.Minute, func(home string) process.Command {
		return process.Command{Path: p.exec, Args: p.args(args...),
			Env: slices.Concat([]string{"PATH=" + os.Getenv("PATH")}, p.env, quiet(filepath.Join(home, "pi")))}
	})
	if err != nil {
		return "", err
	}
	if res.Exit != 0 {
		return "", fmt.Errorf("it ended with code %d: %s", res.Exit, shorten(res.Stderr))
	}
	return strings.TrimSpace(string(res.Stdout)), nil
}

// quiet are the variables of every child: a configuration of its own, and no traffic
// except the model's.
func quiet(config string) []string {
	return []string{
		"PI_CODING_AGENT_DIR=" + config,
		"PI_OFFLINE=1", "PI_TELEMETRY=0", "PI_SKIP_VERSION_CHECK=1",
		// Its folder would be made anew for every run: filling it takes longer than it
		// saves.
		"NODE_DISABLE_COMPILE_CACHE=1",
	}
}

// checkNode refuses a node that is too old for the program.
func checkNode(ctx context.Context, node string) error {
	version, err := (&program{exec: node}).ask(ctx, "--version")
	if err != nil {
		return fmt.Errorf("ask node for its version: %w", err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < minNode {
		return fmt.Errorf("pi needs Node %d or later, and %s is %s; put a newer one first on PATH", minNode, node, version)
	}
	return nil
}
