package agentstest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// picker is a program for --agent command. As an agent it loads each skill on
// offer whose description shares a kind of work with the request; as a mutator it
// names the kinds that were missed and takes out those that were mistaken.
func picker() {
	var q struct {
		Kind, User, Prompt string
		Forced             bool
		Skill              *struct{ Name, Text, Dir string }
		Others             []struct{ Name, Dir string }
	}
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		panic(err)
	}
	kinds := []string{"chart", "plot", "graph", "slide", "table"}
	out := map[string]any{}
	switch q.Kind {
	case "ping":
		out["ok"], out["name"], out["version"], out["model"] = true, "picker", "1", "none"
	case "task":
		loaded := []string{}
		pick := func(name, dir string) {
			text, err := os.ReadFile(filepath.Join(dir, "SKILL.md"))
			if err != nil {
				panic(err)
			}
			front, _, _ := strings.Cut(strings.TrimPrefix(string(text), "---\n"), "\n---")
			for _, k := range kinds {
				if strings.Contains(q.Prompt, k) && strings.Contains(strings.ToLower(front), k) {
					loaded = append(loaded, name)
					return
				}
			}
		}
		if q.Skill != nil {
			pick(q.Skill.Name, q.Skill.Dir)
		}
		for _, o := range q.Others {
			pick(o.Name, o.Dir)
		}
		out["answer"], out["skills"] = "done", loaded
		out["usage"] = map[string]int{"input": 900, "output": 20}
	case "complete":
		if text := secondly(q.User, ""); text != "" {
			out["text"], out["finish"] = text, "stop"
			break
		}
		_, rest, _ := strings.Cut(q.User, "```\n")
		was, _, _ := strings.Cut(rest, "\n```")
		for _, part := range strings.Split(q.User, "\nRequest ")[1:] {
			for _, k := range kinds {
				switch {
				case !strings.Contains(part, "(wrong;") || !strings.Contains(part, k):
				case strings.Contains(part, "was not loaded"):
					if !strings.Contains(was, k) {
						was += " Use it for a " + k + "."
					}
				default:
					was = strings.ReplaceAll(was, k, "picture")
				}
			}
		}
		out["text"], out["finish"] = "Kinds of work.\n```\n"+was+"\n```\n", "stop"
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
}
