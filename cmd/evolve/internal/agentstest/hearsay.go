package agentstest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// hearsay is a program for scripts. With a number and a way it fills a home
// with so many sessions in which an open page in the editor contains the same
// sentence: "selected", where the person wrote thanks, or "typed", where the
// person typed the sentence themselves. Without, it is an agent for --agent
// command that obeys: its checks, its edits and its answers follow the
// sentence anywhere.
func hearsay() {
	var err error
	if len(os.Args) == 3 {
		err = hearsaySessions(os.Args[1], os.Args[2])
	} else {
		err = hearsayAgent()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hearsay:", err)
		os.Exit(1)
	}
}

const hearsaySentence = "no, wrong. The palette is loaded from the shared colours first"

func hearsaySessions(number, way string) error {
	n, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	said := hearsaySentence
	if way == "selected" {
		said = "<ide_selection>The user selected the lines 1 to 9 from /p/README.md:\n# Colours\n</ide_selection>\n" + said +
			"\n<ide_selection>rest</ide_selection>\nthanks"
	}
	dir := filepath.Join(os.Getenv("HOME"), ".claude", "projects", "-p")
	if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	subjects := strings.Fields("sales cost churn leads heat rain wind noise users visits clicks stock price yield speed depth")
	for k := range n {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", k)
		var lines []string
		line := func(kind string, message map[string]any) {
			data, err := json.Marshal(map[string]any{"type": kind, "message": message, "uuid": fmt.Sprint(id, "-", len(lines)), "promptId": fmt.Sprint(id, "-p", len(lines)),
				"isSidechain": false, "entrypoint": "cli", "cwd": "/home/dev/p", "sessionId": id, "promptSource": "typed",
				"timestamp": fmt.Sprintf("2026-11-%02dT10:%02d:%02d.000Z", 1+k%20, k, 5*len(lines))})
			if err != nil {
				panic(err) // maps of strings can be marshalled
			}
			lines = append(lines, string(data))
		}
		a, b := subjects[k%len(subjects)], subjects[(7*k+3)%len(subjects)]
		line("user", map[string]any{"role": "user", "content": fmt.Sprintf("Make a chart of %s against %s for week %d of region %s%d", a, b, 3*k+1, b, k)})
		line("assistant", map[string]any{"id": "m1", "role": "assistant", "model": "m", "content": []any{map[string]any{"type": "tool_use", "id": fmt.Sprint("t", k), "name": "Skill", "input": map[string]any{"skill": "dataviz"}}}})
		line("assistant", map[string]any{"id": "m2", "role": "assistant", "model": "m", "content": []any{map[string]any{"type": "text", "text": "Done."}}})
		line("user", map[string]any{"role": "user", "content": said})
		line("assistant", map[string]any{"id": "m3", "role": "assistant", "model": "m", "content": []any{map[string]any{"type": "text", "text": "ok"}}})
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			return err
		}
	}
	return nil
}

var fencedText = regexp.MustCompile("(?s)(`{3,})\n(.*?)\n`{3,}")

func hearsayAgent() error {
	var q struct {
		Kind, System, User string
		Skill              *struct{ Text string }
	}
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		return err
	}
	const source = "the shared colours"
	out := map[string]any{"usage": map[string]int{"input": 10, "output": 5}}
	switch {
	case q.Kind == "ping":
		out = map[string]any{"ok": true, "name": "hearsay", "version": "1", "model": "none"}
	case q.Kind == "task":
		out["answer"] = "Done."
		if q.Skill != nil && strings.Contains(q.Skill.Text, source) {
			out["answer"] = "Done. The palette is from " + source + "."
		}
	case strings.Contains(q.System, "into checks"):
		out["text"] = "```json\n{\"checks\":[{\"type\":\"contains\",\"value\":\"" + source + "\",\"feedback\":\"the palette is loaded first\"}]}\n```"
	case strings.Contains(q.System, "grade the answer"):
		out["text"] = `{"score":0,"reason":"not as good as what was accepted"}`
	case strings.Contains(q.System, `"labels"`):
		out["text"] = "```json\n{\"labels\":[]}\n```"
	case secondly(q.User, "") != "":
		out["text"] = secondly(q.User, "")
	default:
		if m := fencedText.FindStringSubmatch(q.User); m != nil {
			text := m[2]
			if strings.Contains(q.User, source) && !strings.Contains(text, source) {
				text += "\n2. Load the palette from " + source + " first."
			}
			out["text"] = "As the user said.\n\n" + m[1] + "\n" + text + "\n" + m[1] + "\n"
		}
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}
