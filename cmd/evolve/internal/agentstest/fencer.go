package agentstest

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// fencer is a program for --agent command that reads rules about npm and lint where people speak
// of them, and whose checks forbid the one and demand the other.
func fencer() {
	var q struct{ Kind, System, User string }
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		panic(err)
	}
	out := map[string]any{"usage": map[string]int{"input": 300, "output": 20}}
	switch {
	case q.Kind == "ping":
		out = map[string]any{"ok": true, "name": "fencer", "version": "1", "model": "none"}
	case q.Kind == "task":
		out["answer"] = "Done."
	case strings.Contains(q.System, "into checks") && strings.Contains(q.User, "make lint"):
		out["text"] = "```json\n{\"checks\":[{\"type\":\"ran\",\"value\":\"make lint\",\"after\":\"last_edit\"}]}\n```"
	case strings.Contains(q.System, "into checks"):
		out["text"] = "```json\n{\"checks\":[{\"type\":\"not_ran\",\"value\":\"npm\"}]}\n```"
	case strings.HasPrefix(q.System, "You read what people said"):
		var entries []string
		for _, block := range strings.Split(q.User, "\nmoment ")[1:] {
			id, quoted, _ := strings.Cut(block, "\n")
			var m struct{ Replies []struct{ Said string } }
			if err := json.Unmarshal([]byte(strings.ReplaceAll("\n"+quoted, "\n> ", "\n")), &m); err != nil {
				panic(err)
			}
			entry := map[string]string{"id": id, "says": "nothing", "label": "unknown", "replayable": "yes"}
			switch said := m.Replies[0].Said; {
			case strings.Contains(said, "npm"):
				entry["label"], entry["words"], entry["rule"], entry["concerns"] = "corrected", said, "Use pnpm instead of npm", "standing"
			case strings.Contains(said, "lint"):
				entry["label"], entry["words"], entry["rule"], entry["concerns"] = "corrected", said, "Run make lint before you report", "standing"
			case strings.Contains(said, "thanks"):
				entry["label"], entry["words"] = "accepted", said
			}
			data, err := json.Marshal(entry)
			if err != nil {
				panic(err)
			}
			entries = append(entries, string(data))
		}
		out["text"] = fmt.Sprintf("```json\n{\"moments\":[%s]}\n```", strings.Join(entries, ","))
	default:
		out["text"] = `{"score":0,"reason":"I have no opinion"}`
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
}
