// Package timer starts a night every day: by a systemd user timer, a launchd agent or
// a line of the crontab.
package timer

import (
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// The kinds of timer.
const (
	Systemd = "systemd"
	Launchd = "launchd"
	Cron    = "cron"
)

// A Timer is a program that is started every day.
type Timer struct {
	Kind         string
	Hour, Minute int
	Program      string
	Args         []string
	Env          []string // NAME=value, sorted; never a key
}

// At is the time of day, for example "03:17".
func (t *Timer) At() string { return fmt.Sprintf("%02d:%02d", t.Hour, t.Minute) }

var clock = lazyregexp.New(`^([01]?[0-9]|2[0-3]):([0-5][0-9])$`)

// ParseTime reads a time of day.
func ParseTime(at string) (hour, minute int, err error) {
	m := clock.FindStringSubmatch(at)
	if m == nil {
		return 0, 0, problem.Inputf("for example --at 03:17", "--at %q is no time of day", at)
	}
	hour, _ = strconv.Atoi(m[1])
	minute, _ = strconv.Atoi(m[2])
	return hour, minute, nil
}

// ParseKind reads the kind of a timer; "" is this machine's default.
func ParseKind(with string) (string, error) {
	switch with {
	case Systemd, Launchd, Cron:
		return with, nil
	case "":
	default:
		return "", problem.Inputf("--with systemd, launchd or cron", "unknown --with %q", with)
	}
	if runtime.GOOS == "darwin" {
		return Launchd, nil
	}
	if _, err := exec.LookPath("systemctl"); err == nil {
		return Systemd, nil
	}
	return Cron, nil
}

// keptFolders are the variables that name folders. A timer starts a night
// without them, and in another working directory than this shell's.
var keptFolders = []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "EVOLVE_HOME", "GEMINI_CLI_HOME", "HOME", "PI_CODING_AGENT_DIR"}

// Environment returns the variables that a timer sets for its nights, so that
// they work on the same data as this shell: the variables that name folders,
// as absolute paths, the search path, and the variables in servers, which
// hold the addresses of agents' servers. An address that may hold a key is
// left out.
func Environment(getenv func(string) string, servers []string) ([]string, error) {
	var env []string
	for _, name := range keptFolders {
		v := getenv(name)
		if v == "" {
			continue
		}
		dir, err := filepath.Abs(v)
		if err != nil {
			return nil, fmt.Errorf("find $%s: %w", name, err)
		}
		env = append(env, name+"="+dir)
	}
	if v := getenv("XDG_DATA_HOME"); filepath.IsAbs(v) { // otherwise it has no effect
		env = append(env, "XDG_DATA_HOME="+v)
	}
	path := slices.DeleteFunc(filepath.SplitList(getenv("PATH")), func(dir string) bool { return !filepath.IsAbs(dir) })
	if len(path) > 0 {
		env = append(env, "PATH="+strings.Join(path, string(filepath.ListSeparator)))
	}
	for _, name := range servers {
		if v := getenv(name); v != "" {
			if u, err := url.Parse(v); err != nil || u.User != nil || u.RawQuery != "" {
				continue // it may hold a key
			}
			env = append(env, name+"="+v)
		}
	}
	slices.Sort(env)
	return slices.Compact(env), nil
}

// maxCronLine is the longest command of a crontab, in bytes: Vixie's cron and
// its descendants cut or refuse longer ones.
const maxCronLine = 990

// Check refuses values that the files of this kind of timer cannot express.
func (t *Timer) Check() error {
	for _, s := range slices.Concat([]string{t.Program}, t.Args, t.Env) {
		if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
			return problem.Inputf("give the folder a name without them", "%q holds a line break or something else that a timer cannot", s)
		}
		if t.Kind == Cron && strings.ContainsRune(s, '\\') {
			return problem.Inputf("--with systemd, or another name for the folder", "%q holds a backslash, which crons read in different ways", s)
		}
	}
	if t.Kind == Systemd && strings.ContainsAny(t.Program, `"'\`) {
		return problem.Inputf("move it, or --with cron", "systemd starts no program with a quote or a backslash in its path: %s", t.Program)
	}
	if n := len(t.cronLine()); t.Kind == Cron && n > maxCronLine {
		return problem.Inputf("try with a shorter PATH: PATH=/usr/bin:/bin evolve sleep install …", "a line of %d bytes is too long for cron", n)
	}
	return nil
}
