package newhook

import (
	"fmt"
	"maps"
	"path"
	"strings"

	"github.com/skill-evolve/evolve/eval/guard/rulefile"
	"github.com/skill-evolve/evolve/harvest/hook/kit"
)

// WriteOrder makes the folder of a rule file in dir with rules about an order, and cases of the
// first of them.
func WriteOrder(dir, name string, rules []rulefile.Rule) (*Written, error) {
	if err := kit.ValidName(name); err != nil {
		return nil, fmt.Errorf("write a rule file: %w", err)
	}
	text, err := (&rulefile.File{Version: 1, Rules: rules}).Text()
	if err != nil {
		return nil, err
	}
	e := &skeleton{example: example{event: "PreToolUse"}, tools: "Bash|Edit|MultiEdit|NotebookEdit|Write", own: ordered(&rules[0])}
	for _, r := range rules {
		if r.Event == rulefile.Stop {
			e.event = "PreToolUse" + and + rulefile.Stop
		}
	}
	return write(dir, name, e, &language{name: "rules", ending: ".json"}, text)
}

// ordered are the cases of an order: what waits behind an edit, without one, and behind what has
// to run.
func ordered(r *rulefile.Rule) []decided {
	event := func(name string, fields map[string]any) map[string]any {
		m := map[string]any{"session_id": "s-1", "transcript_path": "/home/you/.claude/projects/-home-you-web/s-1.jsonl", "cwd": "/home/you/web",
			"hook_event_name": name, "prompt_id": "p-1", "permission_mode": "default"}
		maps.Copy(m, fields)
		return m
	}
	run := func(line string) map[string]any {
		return event("PreToolUse", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": line}, "tool_use_id": "toolu_2"})
	}
	file := strings.NewReplacer("**/", "", "**", "x", "*", "x", "?", "x").Replace(r.SinceEdit)
	if strings.HasPrefix(file, "//") {
		file = file[1:]
	} else {
		file = path.Join("/home/you/web", file, map[bool]string{true: "x"}[file == ""])
	}
	edit := event("PreToolUse", map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": file, "content": "x"}, "tool_use_id": "toolu_1"})
	if r.Event == rulefile.Stop {
		end := func(again bool) map[string]any {
			return event(rulefile.Stop, map[string]any{"stop_hook_active": again})
		}
		return []decided{{"block", kit.Block, edit, end(false)}, {"go", "go", nil, end(false)}, {"go-again", "go", edit, end(true)}}
	}
	line := strings.Join(append([]string{r.Program}, r.Words...), " ")
	return []decided{{"block", kit.Block, edit, run(line)}, {"go", "go", nil, run(line)}, {"go-after", "go", edit, run(r.UnlessRan[0] + " && " + line)}}
}
