package hookuse

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/eval/shell"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/ownwords"
	"github.com/skill-evolve/evolve/harvest/refusals"
)

// How an agent comes back.
const (
	same      = "same"
	rewritten = "rewritten"
)

// maxSaid is how many characters of a user's message are kept.
const maxSaid = 300

// back is the first call after the i-th, which was stopped, that is the same or a rewrite of
// it; nil if there is none. What was called before the agent was told, beside it, is not. A
// rewrite after the user's next prompt is another piece of work.
func (r *reader) back(s *hooktest.Session, i int, told time.Time) *Back {
	was, prompted := formOf(&s.Events[i]), false
	for k := i + 1; k < len(s.Events); k++ {
		e := &s.Events[k]
		if e.Name == events.UserPromptSubmit {
			prompted = prompted || r.own(e) != ""
			continue
		}
		if e.Time.Before(told) {
			continue
		}
		is := formOf(e)
		how := ""
		switch {
		case is.equal(was):
			how = same
		case !prompted && is.like(was):
			how = rewritten
		default:
			continue
		}
		return &Back{How: how, Time: e.Time, Tool: e.Tool, What: r.clean(hooktest.What(e)), Outcome: e.Outcome, id: refusals.ID(e)}
	}
	return nil
}

// said are the user's own words after the i-th event, in their next prompt or refusal.
func (r *reader) said(s *hooktest.Session, i int) string {
	for k := i; k < len(s.Events); k++ {
		e := &s.Events[k]
		if e.Name == events.PreToolUse && strings.TrimSpace(e.Words) != "" {
			return r.ownOf(e.Words)
		}
		if e.Name == events.UserPromptSubmit && !injected(e) {
			return r.own(e)
		}
	}
	return ""
}

func prompt(e *events.Event) string {
	var in struct{ Prompt string }
	_ = json.Unmarshal(e.Input, &in) // ours
	return in.Prompt
}

func injected(e *events.Event) bool { return harvest.Injected(prompt(e)) }

// own is what the user typed of a prompt.
func (r *reader) own(e *events.Event) string {
	if injected(e) {
		return ""
	}
	return r.ownOf(prompt(e))
}

// ownOf is redacted before it is cut: half a secret is no pattern's.
func (r *reader) ownOf(text string) string {
	return harvest.Head(strings.TrimSpace(ownwords.Of(r.clean(ownwords.CutInjected(text)))), maxSaid)
}

// A form is what calls are compared by.
type form struct {
	tool  string
	input map[string]any
	about string      // of a tool that is neither a shell nor an editor: its name and file
	files []string    // that it writes
	runs  [][2]string // programs, each with the first word that is no flag
}

func formOf(e *events.Event) form {
	f := form{tool: e.Tool}
	_ = json.Unmarshal(refusals.Input(e), &f.input) // an input that is no object equals none
	text := func(name string) string { s, _ := f.input[name].(string); return s }
	switch e.Tool {
	case "Bash":
		commands, _ := shell.Commands(text("command")) // what of it can be read
		for i := range commands {
			f.run(&commands[i])
		}
		f.input = map[string]any{"command": strings.TrimSpace(text("command"))} // its description may be another
	case "apply_patch":
		for line := range strings.Lines(text("command")) {
			for _, mark := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: "} {
				if file, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
					f.files = append(f.files, file)
				}
			}
		}
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		f.files = []string{cmp.Or(text("file_path"), text("notebook_path"))}
	default:
		f.about = e.Tool + " " + text("file_path")
	}
	return f
}

// run adds a simple command, and the files into which it writes.
func (f *form) run(c *shell.Command) {
	for _, to := range c.Redirects {
		if slices.Contains([]string{">", ">>", ">|", "&>", "&>>"}, to.Op) && to.Word.Whole && !strings.HasPrefix(to.Word.Text, "/dev/") {
			f.files = append(f.files, to.Word.Text)
		}
	}
	name := c.Name()
	if name == "" || name == "cd" {
		return
	}
	words, first := c.Words[1:], ""
	for i, w := range words {
		if takes := i > 0 && name == "git" && slices.Contains([]string{"-C", "-c"}, words[i-1].Text); !takes && !strings.HasPrefix(w.Text, "-") {
			first = w.Text
			break
		}
	}
	f.runs = append(f.runs, [2]string{name, first})
}

func (f form) equal(other form) bool {
	return f.tool == other.tool && f.input != nil && reflect.DeepEqual(f.input, other.input)
}

// like reports whether two calls have a program with its subcommand in common, write the same
// file, or are of one other tool.
func (f form) like(other form) bool {
	return f.about != "" && f.about == other.about ||
		slices.ContainsFunc(f.runs, func(run [2]string) bool { return slices.Contains(other.runs, run) }) ||
		slices.ContainsFunc(f.files, func(file string) bool {
			return slices.ContainsFunc(other.files, func(o string) bool { return samePath(file, o) })
		})
}

// samePath compares files of which one may be relative to a folder that is not known.
func samePath(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	b = strings.TrimPrefix(b, "./")
	return b != "" && (a == b || strings.HasSuffix(a, "/"+b))
}
