package agentstest

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// warden is a program for --agent command that finds a rule in a refusal with "never" or
// "always", and nothing else in any.
func warden() {
	var q struct{ Kind, System, User string }
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		panic(err)
	}
	out := map[string]any{"usage": map[string]int{"input": 300, "output": 20}}
	switch {
	case q.Kind == "ping":
		out = map[string]any{"ok": true, "name": "warden", "version": "1", "model": "none"}
	case strings.HasPrefix(q.System, "You read why people refused"):
		var entries []string
		for _, block := range strings.Split(q.User, "\ncall ")[1:] {
			id, quoted, _ := strings.Cut(block, "\n")
			var c struct{ Tool, Input, Said string }
			if err := json.Unmarshal([]byte(strings.ReplaceAll("\n"+quoted, "\n> ", "\n")), &c); err != nil {
				panic(err)
			}
			entry := map[string]string{"id": id, "says": "it was early", "holds": "timing"}
			if strings.Contains(c.Said, "never") || strings.Contains(c.Said, "always") {
				entry["holds"], entry["words"], entry["rule"] = "rule", c.Said, "As they said: "+c.Said
			}
			data, err := json.Marshal(entry)
			if err != nil {
				panic(err)
			}
			entries = append(entries, string(data))
		}
		out["text"] = fmt.Sprintf("```json\n{\"refusals\":[%s]}\n```", strings.Join(entries, ","))
	default:
		out["text"] = "I have no opinion."
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
}
