// Package permission knows the rules of Claude Code's settings that deny a tool call or have its
// user asked: which calls one is about, and which one would be about refused calls.
package permission

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/guard/rulefile"
	"github.com/skill-evolve/evolve/eval/shell"
)

// A Rule is one of the lists deny and ask: Tool, or Tool(Spec).
type Rule struct{ Tool, Spec string }

func (r Rule) String() string {
	if r.Spec == "" {
		return r.Tool
	}
	return r.Tool + "(" + r.Spec + ")"
}

// A Call is one of a tool.
type Call struct {
	Tool    string
	Input   json.RawMessage
	Project string // the folder in which the session began
}

// edits are the tools whose files a rule on Edit is about.
var edits = []string{"Edit", "MultiEdit", "Write", "NotebookEdit"}

// Parse reads a rule on commands, on files that are edited, or on a whole tool. Others are an
// error: what they match is not known here.
func Parse(text string) (Rule, error) {
	tool, spec, scoped := strings.Cut(text, "(")
	if scoped {
		var closed bool
		if spec, closed = strings.CutSuffix(spec, ")"); !closed || spec == "" {
			return Rule{}, fmt.Errorf("%q has no closed specifier", text)
		}
	}
	switch {
	case tool == "" || strings.ContainsAny(tool, ") \t\n"):
		return Rule{}, fmt.Errorf("%q names no tool", text)
	case scoped && tool != "Bash" && tool != "Edit":
		return Rule{}, fmt.Errorf("what %q matches is not known", text)
	case tool == "Edit" && strings.HasPrefix(spec, "~"):
		return Rule{}, fmt.Errorf("%q is about a home that is not known", text)
	}
	return Rule{tool, spec}, nil
}

// Matches reports whether a rule is about a call. Of a line of commands each counts; those in a
// string for another shell do not, nor do those that the shell computes.
func (r Rule) Matches(c Call) bool {
	switch {
	case r.Tool == "Edit" && slices.Contains(edits, c.Tool):
		return r.Spec == "" || rulefile.Under(r.Spec, c.file(), c.Project)
	case r.Tool != c.Tool:
		return false
	case r.Spec == "":
		return true
	}
	line := c.command()
	commands, _ := top(line)
	return r.matchesCommand(strings.TrimSpace(line)) || slices.ContainsFunc(commands, func(words []string) bool {
		return r.matchesCommand(strings.Join(words, " "))
	})
}

// matchesCommand reports whether the rule is about one command. A ":*" or " *" at the rule's end
// matches any arguments, and none; a star elsewhere matches any text.
func (r Rule) matchesCommand(text string) bool {
	prefix, open := strings.CutSuffix(r.Spec, ":*")
	if !open {
		prefix, open = strings.CutSuffix(r.Spec, " *")
	}
	if strings.Contains(prefix, "*") {
		return wild(r.Spec).MatchString(text)
	}
	return text == prefix || open && strings.HasPrefix(text, prefix+" ")
}

func wild(spec string) *regexp.Regexp {
	if prefix, ok := strings.CutSuffix(spec, ":*"); ok {
		spec = prefix + " *"
	}
	parts := strings.Split(spec, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$")
}

func (c *Call) command() string {
	var in struct{ Command string }
	_ = json.Unmarshal(c.Input, &in) // else it has none
	return in.Command
}

func (c *Call) file() string {
	var in struct {
		File string `json:"file_path"`
		Note string `json:"notebook_path"`
	}
	_ = json.Unmarshal(c.Input, &in) // else it has none
	if in.File == "" {
		return in.Note
	}
	return in.File
}

// others run a command line that is a word of theirs, which a rule does not look into.
var others = []string{"bash", "sh", "zsh", "dash", "ksh", "eval"}

// top are the commands of a line, each up to the first word that the shell computes. whole:
// nothing is left out.
func top(line string) (out [][]string, whole bool) {
	commands, err := shell.Commands(line)
	if err != nil || slices.ContainsFunc(commands, func(c shell.Command) bool { return slices.Contains(others, c.Name()) }) {
		return nil, false
	}
	whole = true
	for i := range commands {
		var words []string
		for _, w := range commands[i].Words {
			words = append(words, w.Text)
			if !w.Whole {
				whole = false
				break
			}
		}
		out = append(out, words)
	}
	return out, whole
}
