package agentstest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// rambler is a program for --agent command that rambles: as an agent it tags
// requests by the skill, as a mutator it writes down what the feedback asks
// for, and as a judge it never gives a judgement.
//
// If its folder holds a file "stall", it answers a request that contains
// "slowly" only after that is gone; a file "stalled" shows that it waits.
func rambler() {
	var q struct {
		Kind, System, User, Prompt string
		Skill                      *struct{ Text string }
	}
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		panic(err)
	}
	out := map[string]any{"usage": map[string]int{"input": 300, "output": 20}}
	switch q.Kind {
	case "ping":
		out = map[string]any{"ok": true, "name": "rambler", "version": "1", "model": "none"}
	case "task":
		if strings.Contains(q.Prompt, "slowly") {
			stall(os.Args[1])
		}
		out["answer"] = "no tags"
		if q.Skill != nil {
			out["answer"] = "tags: " + q.Skill.Text
		}
	case "complete":
		out["finish"] = "stop"
		if out["text"] = secondly(q.User, ""); out["text"] != "" {
			break
		}
		_, rest, fenced := strings.Cut(q.User, "```\n")
		if !fenced || strings.Contains(q.System, "score") {
			out["text"] = "I think that this is a fine answer, on the whole."
			break
		}
		was, _, _ := strings.Cut(rest, "\n```")
		for _, tag := range []string{"red", "green", "blue"} {
			if line := "- Tag colours " + tag + "."; strings.Contains(q.User, "tag it "+tag) && !strings.Contains(was, line) {
				was += "\n" + line
			}
		}
		out["text"] = "Tags.\n```\n" + was + "\n```\n"
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
}

func stall(dir string) {
	there := func(name string) bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }
	if !there("stall") {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, "stalled"), nil, 0o600); err != nil {
		panic(err)
	}
	for there("stall") {
		time.Sleep(5 * time.Millisecond)
	}
}
