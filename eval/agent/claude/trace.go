package claude

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// maxInput is how much of a tool's input is kept, in bytes.
const maxInput = 2 << 10

// trace is the tool calls in order. One that was never answered has failed: the
// run ended in it.
func (s *stream) trace() []eval.ToolCall {
	var out []eval.ToolCall
	for i := range s.calls {
		c := &s.calls[i]
		out = append(out, eval.ToolCall{Name: c.name, Input: replay.Clip(replay.Compact(c.input), maxInput), Failed: c.failed || !c.answered})
	}
	return out
}

// accesses is what the calls reached for. One without an answer may have read
// all the same.
func (s *stream) accesses() []replay.Access {
	var out []replay.Access
	for i := range s.calls {
		c := &s.calls[i]
		out = append(out, replay.Accesses(c.name, c.input, c.failed)...)
	}
	return out
}

// skills are those that were loaded, in order of first use: by the Skill tool,
// or by reading the SKILL.md below dir, where the offered skills are.
func (s *stream) skills(dir string) []string {
	var out []string
	for i := range s.calls {
		c := &s.calls[i]
		if c.failed || !c.answered {
			continue
		}
		var in struct {
			Skill   string `json:"skill"`
			Command string `json:"command"`
			Path    string `json:"file_path"`
		}
		if json.Unmarshal(c.input, &in) != nil {
			continue
		}
		name := ""
		switch c.name {
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
