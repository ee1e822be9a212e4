package claude

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// skills are those that were loaded, in order of first use: by the Skill tool,
// or by reading the SKILL.md below dir, where the offered skills are.
func (s *stream) skills(dir string) []string {
	var out []string
	for i := range s.calls.All {
		c := &s.calls.All[i]
		if c.Failed || !c.Answered {
			continue
		}
		var in struct {
			Skill   string `json:"skill"`
			Command string `json:"command"`
			Path    string `json:"file_path"`
		}
		if json.Unmarshal(c.Input, &in) != nil {
			continue
		}
		name := ""
		switch c.Name {
		case "Skill":
			name = in.Skill
			if name == "" {
				name = in.Command // the field's name in earlier versions
			}
			name = strings.TrimPrefix(strings.TrimSpace(name), "/")
		case "Read":
			at := filepath.Dir(filepath.Clean(in.Path))
			if filepath.Base(in.Path) == "SKILL.md" && filepath.Dir(at) == dir {
				name = filepath.Base(at)
			}
		}
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
