// Package newhook writes the skeleton of a hook, with its cases.
package newhook

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/usage"
	"github.com/skill-evolve/evolve/eval/guard/rulefile"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/hook/kit"
)

//go:embed template
var templates embed.FS

// A language is one that a skeleton can be in.
type language struct{ name, ending, comment string }

var languages = []language{{"sh", ".sh", "#"}, {"python", ".py", "#"}, {"node", ".mjs", "//"}}

// An example is the rule of a skeleton at an event: a field with Match is answered with
// Answer. At the events of tools it is the commands of a shell call that are looked at.
type example struct {
	event, field, match, answer, text string
	yes, no                           string // the field in two cases
}

// A skeleton is an example, maybe with cases of its own.
type skeleton struct {
	example
	tools string // at whose calls it is called; "" is Bash alone
	own   []decided
}

// and stands between the events of an example with several.
const and = " and "

var examples = []example{
	{"PreToolUse", "", "", kit.Block, "Do not force a push: ask the user.", "cd web && git push --force", "git push"},
	{"PostToolUse", "", "", kit.Block, "The push was forced: tell the user.", "cd web && git push --force", "git push"},
	{"PostToolBatch", "tool_calls", "<tool_use_error>", kit.Context, "A call was refused: read why before you try it again.", "<tool_use_error>Unknown skill: tidy</tool_use_error>", "ok"},
	{"UserPromptSubmit", "prompt", "release", kit.Context, "Read RELEASING.md before you begin.", "make a release of the library", "fix the test of the parser"},
	{"UserPromptExpansion", "command_name", "deploy", kit.Context, "Read DEPLOYING.md before you begin.", "deploy", "review"},
	{"SessionStart", "source", "startup", kit.Context, "Run the linter before you commit.", "startup", "resume"},
	{"Stop", "last_assistant_message", "TODO", kit.Block, "Something is left to do: do it, or tell the user why not.", "Done, with one TODO left.", "Done."},
	{"SubagentStop", "last_assistant_message", "TODO", kit.Block, "Something is left to do: do it, or report why not.", "Done, with one TODO left.", "Done."},
}

// Values are those of the flags, by their names.
func Values() map[string][]string {
	v := map[string][]string{}
	for _, e := range examples {
		v["event"] = append(v["event"], e.event)
	}
	for _, l := range languages {
		v["lang"] = append(v["lang"], l.name)
	}
	return v
}

// Written is what was made.
type Written struct {
	Schema   int      `json:"schema"`
	Hook     string   `json:"hook"`
	Event    string   `json:"event"`
	Language string   `json:"language"`
	Folder   string   `json:"folder"`
	Files    []string `json:"files"` // below it
}

// Command is `evolve hooks new`.
func Command(t *term.Terminal) *cobra.Command {
	var event, lang string
	c := &cobra.Command{
		Use:   "new NAME",
		Short: "Write the skeleton of a hook of your own, with its cases",
		Long: `new makes the folder NAME in the current one: a script that answers one event of
Claude Code, with an example of a rule; cases, each an event with the decision on it;
test.sh, which tries them; and a README. Nothing is installed.`,
		Example: "  evolve hooks new no-force\n  evolve hooks new finish --event Stop --lang python",
		Args:    usage.Exact(1, "a name"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := os.Getwd()
			if err != nil {
				return fmt.Errorf("find the current folder: %w", err)
			}
			w, err := Write(dir, args[0], event, lang)
			if err != nil {
				return err
			}
			return t.Print(w, fmt.Sprintf(`%s is a hook at %s: an example, and %s
  next    `+"`sh %[4]s/test.sh`"+` tries the cases; %[4]s/README.md tells how to install it
  needs   hook-kit on PATH: `+"`go install github.com/skill-evolve/evolve/cmd/hook-kit@latest`"+`
`, filepath.Join(w.Hook, w.Files[0]), w.Event, plain.Counted(len(w.Files)-3, "case"), w.Hook))
		},
	}
	c.Flags().SortFlags = false
	c.Flags().StringVar(&event, "event", "PreToolUse", "what it answers: "+strings.Join(Values()["event"], ", "))
	c.Flags().StringVar(&lang, "lang", "sh", "sh, python or node")
	return c
}

// Write makes the folder of a hook in dir. What exists is never overwritten.
func Write(dir, name, event, lang string) (*Written, error) {
	if err := kit.ValidName(name); err != nil {
		return nil, problem.Inputf("`evolve hooks new no-force`", "%v", err)
	}
	i := slices.IndexFunc(examples, func(e example) bool { return e.event == event })
	if i < 0 {
		return nil, usage.UnknownWord("event", event, Values()["event"])
	}
	j := slices.IndexFunc(languages, func(l language) bool { return l.name == lang })
	if j < 0 {
		return nil, usage.UnknownWord("language", lang, Values()["lang"])
	}
	if strings.EqualFold(name+languages[j].ending, tests) {
		return nil, problem.Inputf("choose another name", "%s is the script that tries the cases", tests)
	}
	return write(dir, name, &skeleton{example: examples[i]}, &languages[j], nil)
}

// WriteRule makes the folder of a rule file in dir with one rule, about commands. call is one that
// it stops, its case.
func WriteRule(dir, name string, r rulefile.Rule, call string) (*Written, error) {
	if err := kit.ValidName(name); err != nil {
		return nil, fmt.Errorf("write a rule file: %w", err)
	}
	text, err := (&rulefile.File{Version: 1, Rules: []rulefile.Rule{r}}).Text()
	if err != nil {
		return nil, err
	}
	return write(dir, name, &skeleton{example: example{event: "PreToolUse", answer: kit.Block, yes: call, no: r.Program + " --version"}}, &language{name: "rules", ending: ".json"}, text)
}

// write makes a folder; rules are those of a rule file, nil for the example of a script.
func write(dir, name string, e *skeleton, l *language, rules []byte) (*Written, error) {
	folder := filepath.Join(dir, name)
	files, err := texts(folder, name, e, l, rules)
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(folder, 0o755); errors.Is(err, fs.ErrExist) {
		return nil, problem.Inputf("choose another name, or move it away", "%s exists already", name)
	} else if err != nil {
		return nil, fmt.Errorf("make the hook's folder: %w", err)
	}
	w := &Written{Schema: 1, Hook: name, Event: e.event, Language: l.name, Folder: folder}
	for _, f := range files {
		path := filepath.Join(folder, f.name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, f.text, f.mode)
		}
		if err != nil {
			_ = os.RemoveAll(folder) // it was made here
			return nil, fmt.Errorf("write the hook: %w", err)
		}
		w.Files = append(w.Files, f.name)
	}
	return w, nil
}

// tests is the script that tries the cases. A hook of that name would be overwritten by it, and
// start itself for ever.
const tests = "test.sh"

type file struct {
	name string
	text []byte
	mode fs.FileMode
}

// texts are the files of a skeleton, the script first, then test.sh and the README, then
// the cases.
func texts(folder, name string, e *skeleton, l *language, rules []byte) ([]file, error) {
	script, guard := name+l.ending, ""
	if rules != nil {
		guard = "hook-kit guard "
	}
	command := map[string]any{"type": "command", "command": guard + plain.Arg(filepath.Join(folder, script)), "timeout": 5}
	entries := map[string]any{}
	for event := range strings.SplitSeq(e.event, and) {
		entry := map[string]any{"hooks": []any{command}}
		if e.field == "" && event != rulefile.Stop {
			entry["matcher"] = cmp.Or(e.tools, "Bash")
		}
		entries[event] = []any{entry}
	}
	settings, err := encode(entries, "")
	if err != nil {
		return nil, err
	}
	data := map[string]any{"Name": name, "Event": e.event, "Script": script, "Comment": l.comment, "Entry": string(bytes.TrimSpace(settings)), "Commands": e.field == "",
		"Field": e.field, "Match": e.match, "Answer": e.answer, "Text": e.text, "Stops": strings.HasSuffix(e.event, "Stop"), "Guard": guard}
	files := []file{{name: script, mode: 0o755}, {name: tests, mode: 0o755}, {name: "README.md", mode: 0o644}}
	for i, source := range []string{"hook" + l.ending, tests, "README.md"} {
		if i == 0 && rules != nil {
			files[0].text, files[0].mode = rules, 0o644
			continue
		}
		t, err := template.ParseFS(templates, "template/"+source)
		if err != nil {
			return nil, fmt.Errorf("read the skeleton: %w", err)
		}
		var b bytes.Buffer
		if err := t.Execute(&b, data); err != nil {
			return nil, fmt.Errorf("write the skeleton: %w", err)
		}
		files[i].text = b.Bytes()
	}
	all := e.own
	if all == nil {
		all = e.cases()
	}
	for _, c := range all {
		text, err := encode(c, "  ")
		if err != nil {
			return nil, err
		}
		files = append(files, file{filepath.Join("cases", c.name+".json"), text, 0o644})
	}
	return files, nil
}

func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write the skeleton: %w", err)
	}
	return b.Bytes(), nil
}

// A decided is a file of cases.
type decided struct {
	name     string
	Decision string         `json:"decision"`
	Before   map[string]any `json:"before,omitempty"` // an event that came first
	Event    map[string]any `json:"event"`
}

// cases are one that the rule is about, one that it is not about, and of the end of a turn
// one that the hook has kept from ending already.
func (e *example) cases() []decided {
	event := func(value string) map[string]any {
		m := map[string]any{"session_id": "s-1", "transcript_path": "/home/you/.claude/projects/-home-you-web/s-1.jsonl", "cwd": "/home/you/web",
			"hook_event_name": e.event, "prompt_id": "p-1", "permission_mode": "default"}
		call := map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": value}, "tool_use_id": "toolu_1"}
		switch e.event {
		case "PostToolUse":
			call["tool_response"] = map[string]any{"stdout": "", "stderr": "", "interrupted": false}
			fallthrough
		case "PreToolUse":
			maps.Copy(m, call)
		case "PostToolBatch":
			m["tool_calls"] = []any{map[string]any{"tool_name": "Skill", "tool_input": map[string]any{"skill": "tidy"}, "tool_use_id": "toolu_1", "tool_response": value}}
		default:
			m[e.field] = value
		}
		if e.event == "Stop" || e.event == "SubagentStop" {
			m["stop_hook_active"] = false
		}
		return m
	}
	out := []decided{{e.answer, e.answer, nil, event(e.yes)}, {"go", "go", nil, event(e.no)}}
	if e.event == "Stop" || e.event == "SubagentStop" {
		again := event(e.yes)
		again["stop_hook_active"] = true
		out = append(out, decided{"go-again", "go", nil, again})
	}
	return out
}
