package agentstest

import (
	"encoding/json"
	"os"
	"strings"
)

// vetter is a program for --agent command whose checks ask for go vet after the last edit if
// it is shown that the work was recorded, and for nothing that can be used otherwise. Of what
// people reply it reads nothing.
func vetter() {
	var q struct{ Kind, System, User string }
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		panic(err)
	}
	out := map[string]any{"usage": map[string]int{"input": 300, "output": 20}}
	switch {
	case q.Kind == "ping":
		out = map[string]any{"ok": true, "name": "vetter", "version": "1", "model": "none"}
	case q.Kind == "task":
		out["answer"] = "Done."
	case strings.Contains(q.System, "into checks") && strings.Contains(q.System, `{"type":"ran"`) && strings.Contains(q.User, `"accepted_work"`):
		out["text"] = "```json\n" + `{"checks":[{"type":"ran","value":"go vet","after":"last_edit"},{"type":"ran","value":"go vet"}]}` + "\n```"
	case strings.HasPrefix(q.System, "You read what people said"):
		out["text"] = "```json\n{\"moments\":[]}\n```"
	default:
		out["text"] = `{"score":0,"reason":"I have no opinion"}`
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
}
