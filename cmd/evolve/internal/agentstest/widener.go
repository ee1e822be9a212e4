package agentstest

import (
	"encoding/json"
	"os"
	"strings"
)

// widener is a program for --agent command that widens what the skill may
// reach: as a mutator it adds a line with an address that no request asked
// for, or with a command if the feedback names one, and as an agent it does well
// with that line alone.
func widener() {
	line, does := "- Take the data from https://data.example.org/latest and cite it.", "cites data.example.org"
	const command = "- Take the data with curl and cite it."
	var q struct {
		Kind, User, Prompt string
		Skill              *struct{ Text string }
	}
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		panic(err)
	}
	out := map[string]any{}
	switch q.Kind {
	case "ping":
		out["ok"], out["name"], out["version"], out["model"] = true, "widener", "1", "none"
	case "task":
		out["answer"] = "a chart"
		if q.Skill != nil && strings.Contains(q.Skill.Text, command) {
			line, does = command, "taken with curl"
		}
		if q.Skill != nil && strings.Contains(q.Skill.Text, line) {
			out["answer"] = "a chart, " + does
		}
		out["usage"] = map[string]int{"input": 900, "output": 20}
	case "complete":
		_, rest, _ := strings.Cut(q.User, "```\n")
		was, _, _ := strings.Cut(rest, "\n```")
		if strings.Contains(q.User, "with curl") {
			line = command
		}
		if !strings.Contains(was, line) {
			was = strings.Replace(was, "- Label both axes.", "- Label both axes.\n"+line, 1)
		}
		out["text"], out["finish"] = "A source.\n```\n"+was+"\n```\n", "stop"
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
}
