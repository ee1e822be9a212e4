package copilot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// oldest is the first version whose flags and events are known.
const oldest = "1.0.102"

// Install is the command that installs the program.
const Install = "npm install -g @github/copilot"

const installHint = "install it with: " + Install

// cacheVar names the folder that the program unpacks itself into.
const cacheVar = "COPILOT_PKG_CACHE_HOME"

// A program is the CLI, unpacked.
type program struct {
	replay.Program
	version string
	// cache holds the unpacked runtime, some 230 MB, for all attempts. It is not
	// the user's own, because every running program writes locks into it.
	cache   string
	runtime string // the folder of this version in cache; "" if it does not unpack
}

// find resolves the program and has it unpack itself.
func find(ctx context.Context, c replay.Config) (*program, error) {
	if c.Path == "" {
		c.Path = os.Getenv("COPILOT_CLI_PATH")
	}
	found, err := replay.Find(c, "copilot")
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, installHint)
	}
	p := &program{Program: found}
	if native := nativeOf(found.Path); native != "" {
		// The script only starts the native program, through node and in 50 ms.
		if p.Program, err = replay.Find(replay.Config{Path: native}, "copilot"); err != nil {
			return nil, err
		}
	}
	for _, kv := range c.Env {
		if v, ok := strings.CutPrefix(kv, cacheVar+"="); ok {
			p.cache = v
		}
	}
	if p.cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("find a folder for the unpacked copilot: %w; set %s in its environment", err, cacheVar)
		}
		p.cache = filepath.Join(dir, "evolve", "copilot")
	}
	if c.Asking {
		if _, err := os.Stat(p.cache); err != nil {
			p.cache = "" // it unpacks itself into a temporary folder
		}
		return p, p.ask(ctx, c)
	}
	if err := os.MkdirAll(p.cache, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for the unpacked copilot: %w", err)
	}
	return p, p.ask(ctx, c)
}

// nativeOf finds the native program that the npm package's script starts; "" if program
// is no such script.
func nativeOf(script string) string {
	if filepath.Base(script) != "npm-loader.js" {
		return ""
	}
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	scope := filepath.Dir(filepath.Dir(script))
	for _, os := range []string{runtime.GOOS, runtime.GOOS + "musl"} {
		name := "copilot-" + os + "-" + arch
		for _, dir := range []string{filepath.Join(scope, name),
			filepath.Join(filepath.Dir(script), "node_modules", "@github", name)} {
			if file := filepath.Join(dir, "copilot"); isFile(file) {
				return file
			}
		}
	}
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// versionText is how the program names itself: "GitHub Copilot CLI 1.0.102.".
var versionText = lazyregexp.New(`\b(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]*[0-9A-Za-z])?)`)

// ask runs the program for its version. A program that is not unpacked yet unpacks
// itself first, and several may do so at once.
func (p *program) ask(ctx context.Context, c replay.Config) error {
	path := strings.Join(append(p.Dirs, "/usr/local/bin", "/usr/bin", "/bin"), string(filepath.ListSeparator))
	res, err := replay.Ask(ctx, 10*time.Minute, func(home string) process.Command {
		return process.Command{Path: p.Path, Args: []string{"--version"}, Env: slices.Concat([]string{"PATH=" + path}, c.Env,
			[]string{cacheVar + "=" + cmp.Or(p.cache, home), "COPILOT_HOME=" + home, "COPILOT_AUTO_UPDATE=false"})}
	})
	if err != nil {
		return fmt.Errorf("ask copilot for its version: %w", err)
	}
	m := versionText.FindSubmatch(res.Stdout)
	if m == nil || res.Exit != 0 {
		err := errors.New("it tells none")
		if text := strings.TrimSpace(res.Stderr); text != "" {
			err = errors.New(lastLine(text))
		}
		return fmt.Errorf("ask %s for its version: %w; %s", p.Path, err, installHint)
	}
	p.version = string(m[1])
	if err := replay.AtLeast("copilot", p.version, oldest, installHint); err != nil {
		return err
	}
	if dirs, err := filepath.Glob(filepath.Join(p.cache, "pkg", "*", p.version)); err == nil && len(dirs) == 1 {
		p.runtime = dirs[0]
	}
	return nil
}

func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// readable is what a sandbox must let the program read besides itself.
func (p *program) readable() []string {
	if p.runtime == "" {
		return nil
	}
	return []string{p.cache}
}

// sweep removes the locks of killed programs. In a sandbox they cannot make any.
func (p *program) sweep() {
	if p.runtime == "" {
		return
	}
	locks, _ := filepath.Glob(filepath.Join(p.runtime, "inuse.*"))
	for _, name := range locks {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(name), "inuse.%d.", &pid); err != nil || pid <= 0 {
			continue
		}
		at, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		if errors.Is(at.Signal(syscall.Signal(0)), os.ErrProcessDone) {
			_ = os.Remove(name)
		}
		_ = at.Release() // it holds a file
	}
}
