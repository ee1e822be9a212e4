package main

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval/problem"
)

// keptFolders are the variables that name folders: what starts a night has none of
// them, and stands in another folder than this shell does.
var keptFolders = []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "EVOLVE_HOME", "HOME", "PI_CODING_AGENT_DIR"}

// keepSetup writes into t where this command finds what it works on, so that the
// night works on the same: the flags of every command, the folders that variables
// name, the search path and the servers of agents; each folder from the root on.
// night has the flags that the night is given itself, which come first.
func (a *app) keepSetup(t *timer, f *sleepFlags, night *app) error {
	for _, flag := range []struct{ name, nights, ours string }{
		{"--claude-home", night.claudeHome, a.claudeHome}, {"--skills-dir", night.skillDir, a.skillDir},
	} {
		dir := flag.nights
		if dir == "" {
			dir = flag.ours
		}
		if dir == "" || filepath.IsAbs(flag.nights) {
			continue
		}
		dir, err := filepath.Abs(dir)
		if err != nil {
			return fmt.Errorf("find %s: %w", flag.name, err)
		}
		t.args = append(t.args, flag.name, dir) // of two the last counts
	}
	if program, _, _ := strings.Cut(strings.TrimSpace(f.who.command), " "); strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		return problem.Inputf("give its path from / on", "--command %s is another program in another folder", program)
	}
	for _, name := range keptFolders {
		v := a.Getenv(name)
		if v == "" {
			continue
		}
		dir, err := filepath.Abs(v)
		if err != nil {
			return fmt.Errorf("find $%s: %w", name, err)
		}
		t.env = append(t.env, name+"="+dir)
	}
	if v := a.Getenv("XDG_DATA_HOME"); filepath.IsAbs(v) { // else it counts for nobody
		t.env = append(t.env, "XDG_DATA_HOME="+v)
	}
	path := slices.DeleteFunc(filepath.SplitList(a.Getenv("PATH")), func(dir string) bool { return !filepath.IsAbs(dir) })
	if len(path) > 0 {
		t.env = append(t.env, "PATH="+strings.Join(path, string(filepath.ListSeparator)))
	}
	for _, k := range agentKinds {
		if v := a.Getenv(k.baseEnv); v != "" {
			if u, err := url.Parse(v); err != nil || u.User != nil || u.RawQuery != "" {
				continue // it may hold a key
			}
			t.env = append(t.env, k.baseEnv+"="+v)
		}
	}
	slices.Sort(t.env)
	t.env = slices.Compact(t.env)
	return nil
}

// leftOut are the keys that are set here and written into no timer.
func (a *app) leftOut() (names []string) {
	for _, k := range agentKinds {
		for _, name := range k.credentials {
			if a.Getenv(name) != "" {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// maxCronLine is how long a crontab's command may be, in bytes: Vixie's cron and
// its descendants cut or refuse what is longer.
const maxCronLine = 990

// writable refuses what the files of this kind of timer cannot say.
func (t *timer) writable() error {
	for _, s := range slices.Concat([]string{t.program}, t.args, t.env) {
		if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
			return problem.Inputf("give the folder a name without them", "%q holds a line break or something else that a timer cannot", s)
		}
		if t.kind == timerCron && strings.ContainsRune(s, '\\') {
			return problem.Inputf("--with systemd, or another name for the folder", "%q holds a backslash, which crons read in different ways", s)
		}
	}
	if t.kind == timerSystemd && strings.ContainsAny(t.program, `"'\`) {
		return problem.Inputf("move it, or --with cron", "systemd starts no program with a quote or a backslash in its path: %s", t.program)
	}
	if n := len(t.cronLine()); t.kind == timerCron && n > maxCronLine {
		return problem.Inputf("try with a shorter PATH: PATH=/usr/bin:/bin evolve sleep install …", "a line of %d bytes is longer than cron takes", n)
	}
	return nil
}
