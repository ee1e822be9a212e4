package hooktest

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// settings are a file with an agent's hooks.
type settings struct {
	agent, path string
	project     string // whose they are; "" for a person's
	among       bool   // other hooks and nothing that is private
}

const (
	maxSettings = 8 << 20 // bytes of a file
	maxFiles    = 200     // in a folder of hooks
)

// settingsOf are the files in which agents find their hooks, in their home and in a project's
// folder for them.
var settingsOf = map[string][]string{"claude": {"settings.json", "settings.local.json"}, "codex": {"hooks.json", "config.toml"}}

// add adds the settings of an agent, and those that it has in the project.
func (f *finder) add(h backend.Home) {
	for _, file := range settingsOf[h.Name] {
		f.files = append(f.files,
			settings{agent: h.Agent, path: filepath.Join(h.Dir, file)}, settings{agent: h.Agent, path: filepath.Join(f.project, "."+h.Name, file), project: f.project})
	}
	if h.Agent != guard.Copilot {
		return
	}
	github := filepath.Join(f.project, ".github")
	f.files = append(f.files, settings{agent: h.Agent, path: filepath.Join(h.Dir, "settings.json")})
	for _, file := range []string{"settings.json", "settings.local.json"} {
		f.files = append(f.files, settings{agent: h.Agent, path: filepath.Join(github, "copilot", file), project: f.project})
	}
	for _, path := range below(filepath.Join(h.Dir, "hooks")) {
		f.files = append(f.files, settings{h.Agent, path, "", true})
	}
	for _, path := range below(filepath.Join(github, "hooks")) {
		f.files = append(f.files, settings{h.Agent, path, f.project, true})
	}
}

// below are the JSON files in a folder and those in it.
func below(dir string) (out []string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read is not there for the agent
		case len(out) == maxFiles:
			return fs.SkipAll
		case d.Type().IsRegular() && filepath.Ext(path) == ".json":
			out = append(out, path)
		}
		return nil
	})
	return out
}

// A group is the hooks for a matcher, or in Copilot's settings a hook itself.
type group struct {
	handler
	Matcher string
	Hooks   []handler
}

// A handler is what is called.
type handler struct {
	Type, Command string
	Timeout       float64 // seconds
	// These are Copilot's.
	Bash, CWD  string
	TimeoutSec float64
	Env        map[string]string
}

// settings are the hooks in a settings file.
func (f *finder) settings(file settings) (out []*found, err error) {
	hooks, err := file.read()
	if err != nil {
		return nil, problem.Inputf("mend the file first", "%s cannot be read: %s", file.path, plain.JSON(err))
	}
	for _, event := range slices.Sorted(maps.Keys(hooks)) {
		for _, g := range hooks[event] {
			on := calls{Event: event, Matcher: g.Matcher}
			if file.agent == guard.Copilot {
				on.Event = events.FromCamel(event)
				on.copilot, on.camel = true, on.Event != event
			}
			if on.tool, err = on.matcher(); err != nil {
				return nil, problem.Inputf("mend it first", "%s: the matcher %q is no pattern", file.path, g.Matcher)
			}
			if g.Hooks == nil && on.copilot {
				g.Hooks = []handler{g.handler}
			}
			for _, h := range g.Hooks {
				if one := f.hook(&h, file.agent, on); one != nil {
					out = append(out, one)
				}
			}
		}
	}
	return out, nil
}

// read is what stands under hooks in the file.
func (s settings) read() (map[string][]group, error) {
	text, err := bounded.ReadFile(s.path, maxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && filepath.Ext(s.path) == ".toml" {
		var in struct{ Hooks map[string]any }
		if err = toml.Unmarshal(text, &in); err == nil {
			delete(in.Hooks, "state") // which of them their user trusts
			text, err = json.Marshal(in)
		}
	}
	var in struct{ Hooks map[string][]group }
	if err == nil {
		err = json.Unmarshal(text, &in)
	}
	return in.Hooks, err
}

// hook is the command of one, nil if it is none.
func (f *finder) hook(h *handler, agent string, on calls) *found {
	on.timeout = time.Duration(cmp.Or(h.TimeoutSec, h.Timeout) * float64(time.Second))
	if !on.copilot {
		if h.Type != "command" || strings.TrimSpace(h.Command) == "" {
			return nil
		}
		return f.found(h.Command, agent, on)
	}
	written := cmp.Or(h.Bash, h.Command)
	if h.Type != "" && h.Type != "command" || written == "" {
		return nil
	}
	g := f.found(f.within(h, written), agent, on)
	g.written = written
	return g
}

// within is a command that Copilot runs in the project, for another folder: with the whole paths
// of files there, and its variables.
func (f *finder) within(h *handler, command string) string {
	dir := h.CWD
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(f.project, dir)
	}
	seen := map[string]bool{}
	for _, word := range words(command) {
		path := filepath.Join(dir, word)
		if info, err := os.Stat(path); filepath.IsAbs(word) || seen[word] || err != nil || !info.Mode().IsRegular() {
			continue
		}
		seen[word] = true
		alone := regexp.MustCompile(`(^|[\s"'=;&|(])` + regexp.QuoteMeta(word) + `($|[\s"';&|)])`)
		command = alone.ReplaceAllString(command, "${1}"+strings.ReplaceAll(path, "$", "$$")+"${2}")
	}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(h.Env))) {
		command = "export " + name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`").Replace(h.Env[name]) + `"; ` + command
	}
	return command
}

var onlyNames = lazyregexp.New(`^[\w|]+$`)

// matcher is how agents read one. Claude Code: names, or else a regular expression; Copilot: one
// for the whole name. It is nil for all.
func (c *calls) matcher() (*regexp.Regexp, error) {
	switch text := c.Matcher; {
	case text == "" || text == "*" && !c.camel:
		return nil, nil
	case c.copilot || onlyNames.MatchString(text):
		return regexp.Compile("^(?:" + text + ")$")
	default:
		return regexp.Compile(text)
	}
}
