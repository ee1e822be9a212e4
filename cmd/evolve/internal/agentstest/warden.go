package agentstest

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// warden is a program for --agent command that finds a rule in a refusal with "never" or
// "always", and nothing else in any. It also improves the script of a hook that is to stop
// pushes with --force.
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
	case strings.HasPrefix(q.User, "This sh script is a hook."):
		out["text"] = forged(q.User)
	case strings.HasPrefix(q.User, "This rule file is a hook."):
		why, words := "It stops every command.", ""
		if strings.Contains(q.User, "Earlier changes") {
			why, words = "It looks for the flag.", `, "program": "git", "words": ["push", "--force"]`
		}
		rule := `  {"tool": "Bash"` + words + `, "say": "Push without force."}`
		if words != "" {
			rule += ",\n" + strings.Replace(rule, "--force", "-f", 1)
		}
		out["text"] = why + "\n\n```json\n{\"version\": 1, \"rules\": [\n" + rule + "\n]}\n```"
	default:
		out["text"] = "I have no opinion."
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
}

// forged are the next texts of a script, in the order in which a model might think of them:
// one that calls another program, one that stops too much, and one that is right.
func forged(user string) string {
	_, script, _ := strings.Cut(user, "```\n")
	script, _, _ = strings.Cut(script, "```\n")
	head, _, _ := strings.Cut(script, "# /kernel\n")
	head += "# /kernel\n"
	why, rule := "It asks git.", "if git config --get push.default | grep -q -e --force; then exit 2; fi\n"
	switch {
	case strings.Contains(user, "It stops every push."):
		why, rule = "It looks for the flag anywhere in a push.", `case $in in
*"git commit"*) ;;
*"git push"*--force* | *"git push"*" -f"*) echo "push without force" >&2; exit 2 ;;
esac
`
	case strings.Contains(user, "Earlier changes"):
		why, rule = "It stops every push.", `case $in in
*"git push"*) echo "push without force" >&2; exit 2 ;;
esac
`
	}
	return why + "\n\n```sh\n" + head + rule + "```\n"
}
