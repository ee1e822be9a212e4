package setup

import (
	"encoding/json"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

const (
	// notesIndex is the one of Claude Code's notes that loads with every session, up to
	// notesLoaded bytes (25 KB, as its documentation has it).
	notesIndex  = "MEMORY.md"
	notesLoaded = 25_000
)

// settings reads a file of settings in JSON; nothing of it is copied.
func settings(at string) (s struct {
	McpServers        map[string]any
	Hooks             map[string]any
	EnabledPlugins    map[string]bool
	AutoMemoryEnabled *bool
	AutoMemoryDir     string `json:"autoMemoryDirectory"`
	OutputStyle       string
	Packages          []any
	Extensions        []any
}) {
	text, err := bounded.ReadFile(at, maxBytes)
	if err == nil {
		_ = json.Unmarshal(text, &s) // what cannot be read configures nothing
	}
	return s
}

// claude collects the notes that Claude Code keeps of each project.
func claude(c *collector) {
	s := settings(filepath.Join(c.config, "settings.json"))
	state := filepath.Join(c.where.Home, ".claude.json")
	if c.where.Config != filepath.Join(c.where.Home, c.folder) {
		state = filepath.Join(c.config, ".claude.json")
	}
	c.lack("MCP server", slices.Concat(keys(settings(state).McpServers), keys(s.McpServers)))
	c.lack("hook", keys(s.Hooks))
	maps.DeleteFunc(s.EnabledPlugins, func(_ string, on bool) bool { return !on })
	c.lack("plugin", keys(s.EnabledPlugins))
	if s.OutputStyle != "" && s.OutputStyle != "default" {
		c.lack("output style", []string{s.OutputStyle})
	}
	if off := c.where.Getenv("CLAUDE_CODE_DISABLE_AUTO_MEMORY"); s.AutoMemoryEnabled != nil && !*s.AutoMemoryEnabled || off != "" && off != "0" && off != "false" {
		return
	}
	c.set.Notes = map[string][]File{}
	if s.AutoMemoryDir != "" {
		c.lack("note folder", []string{s.AutoMemoryDir})
		return
	}
	projects, _ := os.ReadDir(filepath.Join(c.config, "projects")) // else it has seen none
	c.set.folders = map[string][]string{}
	for _, p := range projects {
		folder := path.Join("projects", p.Name(), "memory")
		for _, name := range c.below(folder) {
			if path.Ext(name) != ".md" {
				continue
			}
			if text, ok := c.read(filepath.Join(c.config, filepath.FromSlash(name)), path.Join(c.folder, name)); ok {
				c.set.Notes[p.Name()] = append(c.set.Notes[p.Name()], File{strings.TrimPrefix(name, folder+"/"), text})
			}
		}
		if len(c.set.Notes[p.Name()]) > 0 {
			c.set.folders[p.Name()] = workedIn(filepath.Join(c.config, "projects", p.Name()))
		}
	}
}

// codex names what it wrote down of earlier sessions, if its owner has switched that on, and
// takes none of it: where it loads, another model is asked to write it anew, at every start
// and whatever the settings say (0.169.0).
func codex(c *collector) {
	text, err := bounded.ReadFile(filepath.Join(c.config, "config.toml"), maxBytes)
	if err != nil {
		return
	}
	t := toml(string(text))
	if t["features.memories"] == "true" && t["memories.use_memories"] != "false" {
		c.lack("memory", []string{"memories/memory_summary.md"})
	}
	servers, told := map[string]bool{}, []string(nil)
	for key := range t {
		if rest, ok := strings.CutPrefix(key, "mcp_servers."); ok {
			name, _, _ := strings.Cut(rest, ".")
			servers[name] = true
		}
	}
	for _, key := range []string{"developer_instructions", "model_instructions_file", "experimental_instructions_file",
		"project_doc_fallback_filenames", "project_doc_max_bytes", "personality"} {
		if _, ok := t[key]; ok {
			told = append(told, key)
		}
	}
	c.lack("MCP server", keys(servers))
	c.lack("setting", told)
}

// toml reads the keys of a file of settings, with the names of their tables before them, and
// their values as they are written. That is enough to tell which settings there are.
func toml(text string) map[string]string {
	out, table := map[string]string{}, ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			name, _, _ = strings.Cut(name, "]")
			table = strings.ReplaceAll(strings.TrimSpace(strings.TrimPrefix(name, "[")), `"`, "") + "."
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			value, _, _ = strings.Cut(value, "#")
			out[table+strings.ReplaceAll(strings.TrimSpace(key), `"`, "")] = strings.TrimSpace(value)
		}
	}
	return out
}

func pi(c *collector) {
	s := settings(filepath.Join(c.config, "settings.json"))
	var names []string
	for _, x := range slices.Concat(s.Packages, s.Extensions) {
		if name, ok := x.(string); ok {
			names = append(names, name)
		} else if o, ok := x.(map[string]any); ok {
			name, _ := o["source"].(string)
			names = append(names, name)
		}
	}
	for _, name := range c.below("extensions") {
		name, _, _ = strings.Cut(strings.TrimPrefix(name, "extensions/"), "/")
		names = append(names, name)
	}
	c.lack("extension", names)
}

func copilot(c *collector) {
	c.lack("MCP server", keys(settings(filepath.Join(c.config, "mcp-config.json")).McpServers))
	var plugins []string
	for _, name := range c.below("installed-plugins") {
		elem := strings.Split(name, "/")
		plugins = append(plugins, elem[min(2, len(elem)-1)])
	}
	c.lack("plugin", plugins)
	var dirs []string
	for dir := range strings.SplitSeq(c.where.Getenv("COPILOT_CUSTOM_INSTRUCTIONS_DIRS"), ",") {
		if dir = strings.TrimSpace(dir); dir != "" {
			dirs = append(dirs, dir)
		}
	}
	c.lack("instruction folder", dirs)
}

func keys[V any](m map[string]V) []string { return slices.Collect(maps.Keys(m)) }
