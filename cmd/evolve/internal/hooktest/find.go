package hooktest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/eval/guard/rulefile"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/eval/shell"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/mutate/script"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// A found guard is a command, and the events that it is called for.
type found struct {
	guard.Guard
	agent   string // whose settings name it; "" for a script, which any may call
	written string // the command as it is written
	on      []calls
	// changed is when the newest of the files in its command was, zero if it has none.
	changed time.Time
	scripts []string // files in its command that are scripts or rule files, as the command names them
}

// calls are the events of one name that a guard is called for.
type calls struct {
	Event   string
	Matcher string // of the tool, as settings have it; "" for all
	tool    *regexp.Regexp
	timeout time.Duration
	copilot bool // Copilot calls it
	camel   bool // with its own fields, at an event that settings spell as preToolUse
}

// maxScript bounds a script, in bytes.
const maxScript = 1 << 20

// A finder looks for a guard in settings, or on disk.
type finder struct {
	home    string // the user's
	project string
	files   []settings
}

// find is the guard that name names: a script, or the command of settings in which it is a
// word or the name of a file.
func (f *finder) find(name, event string) (*found, error) {
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		return f.script(name, event, info)
	}
	var all []*found
	for _, file := range f.files {
		in, err := f.settings(file)
		if err != nil {
			return nil, err
		}
		all = append(all, in...)
	}
	var names []string
	named := slices.DeleteFunc(slices.Clone(all), func(g *found) bool {
		names = append(names, called(g.Command))
		return !isNamed(g.Command, name)
	})
	slices.Sort(names)
	names = slices.Compact(names)
	switch {
	case len(named) == 0 && len(names) == 0:
		return nil, problem.Inputf("name a script by its path", "no settings here have a hook, and there is no file %s", plain.Arg(name))
	case len(named) == 0:
		return nil, problem.Inputf("there are "+strings.Join(names, ", ")+"; or name a script by its path", "no hook is called %s", plain.Arg(name))
	}
	g := named[0]
	for _, other := range named[1:] {
		if other.agent != g.agent {
			g.agent, g.Agent = "", "" // several call it
		}
		if other.Command != g.Command {
			return nil, problem.Inputf("name more of its command, or its script by the path", "%s and %s are both called %s", plain.Arg(g.Command), plain.Arg(other.Command), plain.Arg(name))
		}
		g.on = append(g.on, other.on...)
	}
	if event != "" {
		if g.on = slices.DeleteFunc(g.on, func(c calls) bool { return c.Event != event }); len(g.on) == 0 {
			g.on = []calls{{Event: event}}
		}
	}
	if !slices.ContainsFunc(g.on, func(c calls) bool { return slices.Contains(events.Names, c.Event) }) {
		return nil, problem.Inputf("the events that transcripts tell are "+strings.Join(events.Names, ", "), "%s is called at %s, which no transcript tells", plain.Arg(name), g.on[0].Event)
	}
	for _, on := range g.on {
		g.Timeout = max(g.Timeout, on.timeout)
	}
	return g, nil
}

// script is the guard in a file, for an event.
func (f *finder) script(name, event string, info fs.FileInfo) (*found, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	command := plain.Arg(path)
	rules := script.Of(content(path), path) == script.Rules
	if rules {
		command = "hook-kit guard " + command
	} else if info.Mode()&0o111 == 0 {
		with, ok := map[string]string{".py": "python3", ".js": "node", ".mjs": "node", ".cjs": "node", ".sh": "sh"}[filepath.Ext(path)]
		if !ok {
			return nil, problem.Inputf("`chmod +x "+plain.Arg(name)+"`", "%s is no program", plain.Arg(name))
		}
		command = with + " " + command
	}
	if event != "" {
		return f.found(command, "", calls{Event: event}), nil
	}
	g := f.found(command, "", calls{Event: events.PreToolUse})
	if file, err := rulefile.Parse(content(path)); rules && err == nil && slices.ContainsFunc(file.Rules, func(r rulefile.Rule) bool { return r.Event == events.Stop }) {
		g.on = append(g.on, calls{Event: events.Stop})
	}
	return g, nil
}

// wants reports whether the guard is called for an event.
func (g *found) wants(e *events.Event) bool {
	return slices.ContainsFunc(g.on, func(c calls) bool { return c.takes(e) })
}

func (c *calls) takes(e *events.Event) bool {
	switch {
	case c.Event != e.Name:
		return false
	case e.Tool == "" || c.tool == nil:
		return true
	case c.camel:
		return c.tool.MatchString(e.OwnTool())
	case c.copilot && (c.tool.MatchString(e.OwnTool()) || e.Tool == "Agent" && c.tool.MatchString("Task")):
		return true
	}
	return c.tool.MatchString(e.Tool)
}

// event is what the guard gets of an event that it is called for.
func (g *found) event(e *events.Event) guard.Event {
	if i := slices.IndexFunc(g.on, func(c calls) bool { return c.takes(e) }); i >= 0 && g.on[i].camel {
		name, input := e.Camel()
		return guard.Event{Name: name, Input: input}
	}
	return guard.Event{Name: e.Name, Input: e.Input}
}

var homeWord = lazyregexp.New(`(^|[\s"'=])(?:~|\$HOME|\$\{HOME\})/`)

// found is a command as it runs in the sandbox, whose HOME is another.
func (f *finder) found(command, agent string, on calls) *found {
	written := command
	command = homeWord.ReplaceAllString(command, "${1}"+strings.ReplaceAll(f.home, "$", "$$")+"/")
	command = strings.NewReplacer("$CLAUDE_PROJECT_DIR", f.project, "${CLAUDE_PROJECT_DIR}", f.project,
		"$COPILOT_PROJECT_DIR", f.project, "${COPILOT_PROJECT_DIR}", f.project).Replace(command)
	g := &found{Guard: guard.Guard{Command: command, Project: f.project, Agent: agent}, agent: agent, written: written, on: []calls{on}}
	for _, word := range words(command) {
		if !filepath.IsAbs(word) {
			continue
		}
		for _, path := range []string{word, real(word)} {
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			if info.ModTime().After(g.changed) {
				g.changed = info.ModTime()
			}
			if path == word && !slices.Contains(g.scripts, path) && script.Of(content(path), path) != "" {
				g.scripts = append(g.scripts, path)
			}
			// What a script calls is beside it. A sandbox has a /tmp of its own.
			if dir := filepath.Dir(filepath.Clean(path)); !f.holdsMore(dir) && !skill.Within("/tmp", []string{dir}) {
				path = dir
			}
			if !slices.Contains(g.Readable, path) {
				g.Readable = append(g.Readable, filepath.Clean(path))
			}
		}
	}
	return g
}

// holdsMore reports whether a folder has the user's home, the project, or an agent's settings in
// it, with its password and its transcripts beside them.
func (f *finder) holdsMore(dir string) bool {
	own := []string{f.home, f.project}
	for _, s := range f.files {
		if !s.among {
			own = append(own, filepath.Dir(s.path))
		}
	}
	return slices.ContainsFunc(own, func(path string) bool { return path != "" && skill.Within(path, []string{dir}) })
}

// real is what links lead to; the path itself, if they lead nowhere.
func real(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

// words are those of a command line, without quotes.
func words(line string) (out []string) {
	commands, err := shell.Commands(line)
	if err != nil {
		return strings.Fields(line)
	}
	for _, c := range commands {
		for _, w := range c.Words {
			out = append(out, w.Text)
		}
	}
	return out
}

// isNamed reports whether name is a command, or the name of a file in it.
func isNamed(command, name string) bool {
	return command == name || slices.ContainsFunc(words(command), func(w string) bool {
		base := filepath.Base(w)
		return w == name || base == name || strings.TrimSuffix(base, filepath.Ext(base)) == name
	})
}

// called is a short name of a command: that of its script.
func called(command string) string {
	all := words(command)
	for _, w := range slices.Backward(all) {
		if strings.Contains(w, "/") {
			return filepath.Base(w)
		}
	}
	if len(all) == 0 {
		return command
	}
	return all[0]
}

// content is that of a file that may be a script, nil if it cannot be read.
func content(path string) []byte {
	text, err := bounded.ReadFile(path, maxScript)
	if err != nil {
		return nil
	}
	return text
}
