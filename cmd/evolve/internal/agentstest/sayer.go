package agentstest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// sayer is a program for --agent command that answers with what its skill has it say, but
// for what a skill beside it forbids. As a judge it is content with everything.
func sayer() {
	var q struct {
		Kind   string
		Skill  *struct{ Text string }
		Others []struct{ Dir string }
	}
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		panic(err)
	}
	out := map[string]any{}
	switch q.Kind {
	case "ping":
		out["ok"], out["name"], out["version"], out["model"] = true, "sayer", "1", "none"
	case "task":
		answer := "done"
		after := func(text, mark string, do func(word string)) {
			for line := range strings.Lines(text) {
				if word, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
					do(word)
				}
			}
		}
		if q.Skill != nil {
			after(q.Skill.Text, "- Say ", func(word string) { answer += " " + word })
		}
		for _, o := range q.Others {
			text, err := os.ReadFile(filepath.Join(o.Dir, "SKILL.md"))
			if err != nil {
				panic(err)
			}
			after(string(text), "- Leave out ", func(word string) { answer = strings.ReplaceAll(answer, word, "") })
		}
		out["answer"], out["usage"] = answer, map[string]int{"input": 900, "output": 20}
	case "complete":
		out["text"], out["finish"] = `{"score":1,"reason":"fine"}`, "stop"
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
}
