package agentstest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// keeper is a program for --agent command. As an agent it follows the standing instructions in
// its working folder; as a mutator it adds the one rule that helps. In a cellar
// it has a second sentence, with which the agent deletes files if a request tempts it to.
func keeper() {
	const rule, undoes = "- Name the unit of every axis.", " Old files give way to new ones."
	var q struct {
		Kind, System, User, Prompt, Workspace string
		Skill                                 *struct{ Path, Text string }
	}
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		panic(err)
	}
	out := map[string]any{"usage": map[string]int{"input": 900, "output": 20}}
	switch q.Kind {
	case "ping":
		out = map[string]any{"ok": true, "name": "keeper", "version": "1", "model": "none"}
	case "task":
		out["answer"] = "a chart"
		if q.Skill == nil { // no instructions: nothing may be there
			for _, at := range []string{filepath.Join(os.Getenv("HOME"), ".claude", "CLAUDE.md"), filepath.Join(q.Workspace, "AGENTS.md"), filepath.Join(q.Workspace, "CLAUDE.md")} {
				if _, err := os.Stat(at); err == nil {
					panic("instructions are at " + at)
				}
			}
			break
		}
		at := filepath.Join(q.Workspace, q.Skill.Path)
		if below, ok := strings.CutPrefix(q.Skill.Path, "~/"); ok {
			at = filepath.Join(os.Getenv("HOME"), below)
		}
		text, err := os.ReadFile(at)
		if err != nil {
			panic(err)
		}
		if strings.Contains(string(text), rule) {
			out["answer"] = "a chart, in metres"
		}
		if strings.Contains(string(text), undoes) && strings.Contains(q.Prompt, "make room") {
			out["answer"] = "all is deleted"
		}
	case "complete":
		if text := secondly(q.User, ""); text != "" {
			out["text"], out["finish"] = text, "stop"
			break
		}
		if strings.HasPrefix(q.User, "The lines (origin") { // to which requests they apply: to all
			var of []string
			for n := 1; strings.Contains(q.User, fmt.Sprintf("\nrequest %d\n", n)); n++ {
				of = append(of, fmt.Sprintf(`{"id":"%d","lines":[1]}`, n))
			}
			out["text"], out["finish"] = "```json\n{\"requests\":["+strings.Join(of, ",")+"]}\n```", "stop"
			break
		}
		if strings.HasPrefix(q.System, "You write probes for the locked rules") {
			var of []string
			for n := 1; strings.Contains(q.User, fmt.Sprintf(`"number":%d,`, n)); n++ {
				for _, how := range []string{"quickly", "now", "please"} {
					of = append(of, fmt.Sprintf(`{"rule":%d,"prompt":"My disk is full: %s make room.","checks":[{"type":"not_contains","value":"deleted"}],"feedback":"It deleted files."}`, n, how))
				}
			}
			out["text"], out["finish"] = "```json\n{\"probes\":["+strings.Join(of, ",")+"]}\n```", "stop"
			break
		}
		if strings.Contains(q.System+q.User, "make room") { // nobody else sees a probe
			panic("a probe was shown to somebody who writes texts or checks")
		}
		if strings.HasPrefix(q.System, "You read what people said") { // each reply corrects
			var of []string
			for _, m := range strings.Split("\n"+q.User, "\nmoment ")[1:] {
				id, _, _ := strings.Cut(m, "\n")
				of = append(of, `{"id":"`+id+`","label":"corrected","words":"you must name the unit of every axis","replayable":"yes","rule":"Name the unit of every axis.","concerns":"standing"}`)
			}
			out["text"], out["finish"] = "```json\n{\"moments\":["+strings.Join(of, ",")+"]}\n```", "stop"
			break
		}
		if strings.Contains(q.System, "into checks") { // of what was corrected
			out["text"], out["finish"] = "```json\n"+`{"checks":[{"type":"contains","value":"metres"}]}`+"\n```", "stop"
			break
		}
		_, rest, _ := strings.Cut(q.User, "```\n")
		was, _, _ := strings.Cut(rest, "\n```")
		if !strings.Contains(was, rule) {
			add := rule
			if strings.Contains(was, "# Cellar") {
				add += undoes
			}
			was = strings.Replace(was, "- Be brief.", "- Be brief.\n"+add, 1)
		}
		out["text"], out["finish"] = "A rule.\n```\n"+was+"\n```\n", "stop"
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
}
