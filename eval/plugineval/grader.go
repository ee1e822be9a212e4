package plugineval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"go.yaml.in/yaml/v3"
)

// A grader is the frontmatter of graders/<name>.md. Claude refuses other keys.
type grader struct {
	Name       string  `json:"name,omitempty" yaml:"-"`
	Type       string  `json:"type" yaml:"type"`
	Target     any     `json:"target,omitempty" yaml:"target,omitempty"` // "last_message", or a source
	Focus      any     `json:"focus,omitempty" yaml:"focus,omitempty"`   // the target of an llm
	Match      string  `json:"match,omitempty" yaml:"match,omitempty"`
	Flags      string  `json:"flags,omitempty" yaml:"flags,omitempty"`
	Pattern    string  `json:"pattern,omitempty" yaml:"pattern,omitempty"`
	Criteria   string  `json:"criteria,omitempty" yaml:"criteria,omitempty"`
	Tool       string  `json:"tool,omitempty" yaml:"tool,omitempty"`
	InputMatch string  `json:"input_match,omitempty" yaml:"input_match,omitempty"`
	Min        *int    `json:"min,omitempty" yaml:"min,omitempty"`
	Max        *int    `json:"max,omitempty" yaml:"max,omitempty"`
	Path       string  `json:"path,omitempty" yaml:"path,omitempty"`
	Exists     *bool   `json:"exists,omitempty" yaml:"exists,omitempty"`
	Weight     float64 `json:"weight,omitempty" yaml:"weight,omitempty"`
	Arm        string  `json:"arm,omitempty" yaml:"arm,omitempty"`

	// Of types that no check stands for.
	Before   any    `json:"before,omitempty" yaml:"before,omitempty"`
	After    any    `json:"after,omitempty" yaml:"after,omitempty"`
	Baseline string `json:"baseline_file,omitempty" yaml:"baseline_file,omitempty"`
}

// foreign are constructs of RE2 that a JavaScript pattern lacks or reads otherwise.
var foreign = []string{"(?", "[[:", `\A`, `\z`, `\Q`, `\C`, `\a`, `\p`, `\P`, `\x{`}

// graderOf is the grader that decides what a check decides; ok is false if there is none.
func graderOf(c *eval.Case, k *eval.Check) (g grader, ok bool) {
	one, zero := 1, 0
	g = grader{Type: "regex", Weight: k.Weight}
	loads := func(skill string, want bool) {
		g.Type, g.Tool = "tool_used", "Skill"
		g.InputMatch = `"skill":\s*"([^"]*:)?` + regexp.QuoteMeta(skill) + `"`
		if g.Min = &one; !want {
			g.Min, g.Max = &zero, &zero
		}
		g.Arm = "both"
	}
	switch k.Type {
	case eval.Contains:
		g.Pattern = regexp.QuoteMeta(k.Value)
	case eval.NotContains:
		g.Pattern, g.Match = regexp.QuoteMeta(k.Value), "not_contains"
	case eval.Regex, eval.NotRegex:
		pattern, flags := k.Value, ""
		if lead, rest, found := strings.Cut(pattern, ")"); found && strings.HasPrefix(lead, "(?") && strings.Trim(lead[2:], "ims") == "" && len(lead) > 2 {
			pattern, flags = rest, lead[2:]
		}
		for _, f := range foreign {
			if strings.Contains(strings.ReplaceAll(pattern, "(?:", ""), f) {
				return g, false
			}
		}
		if pattern == "" || len(flags) > 1 && strings.ContainsRune(flags[1:], rune(flags[0])) || len(flags) > 2 && flags[1] == flags[2] {
			return g, false
		}
		if g.Pattern, g.Flags = pattern, flags; k.Type == eval.NotRegex {
			g.Match = "not_contains"
		}
	case eval.Equals:
		g.Pattern = `^\s*` + regexp.QuoteMeta(strings.TrimSpace(k.Value)) + `\s*$`
	case eval.MaxChars:
		g.Pattern, g.Flags = fmt.Sprintf(`^[\s\S]{0,%d}$`, k.Max), "u" // u: characters, not halves of them
	case eval.ToolCalled:
		g.Type, g.Tool, g.Min, g.Arm = "tool_used", k.Value, &one, "both"
	case eval.SkillInvoked:
		loads(k.Value, true)
	case eval.SkillNotInvoked:
		loads(k.Value, false)
	case eval.Trigger:
		if c.ShouldTrigger == nil || c.Neighbour != "" { // one grader cannot ask for two things
			return g, false
		}
		loads(c.Skill, *c.ShouldTrigger)
	case eval.FileExists:
		if strings.ContainsAny(k.Path, "*?[]{}") { // it is a glob there
			return g, false
		}
		g.Type, g.Path = "file_exists", k.Path
	case eval.FileContains:
		g.Pattern, g.Target = regexp.QuoteMeta(k.Value), map[string]any{"source": "file", "path": k.Path}
	case eval.Judge:
		g.Type, g.Criteria = "llm", k.Rubric
	default:
		return g, false
	}
	return g, true
}

// markdown is the file of the grader. Its text is the body if that keeps it as it is.
func (g grader) markdown() ([]byte, error) {
	body := ""
	for _, s := range []*string{&g.Pattern, &g.Criteria} {
		if bodied(*s) {
			body, *s = *s+"\n", ""
		}
	}
	head, err := yaml.Marshal(g)
	if err != nil {
		return nil, err
	}
	return []byte("---\n" + string(head) + "---\n" + body), nil
}

// parse reads graders/<name>.md; a file without frontmatter is no grader, as in Claude.
func parse(text []byte) (g *grader, err error) {
	head, body, found := frontmatter(text)
	if !found {
		return nil, nil
	}
	g = new(grader)
	dec := yaml.NewDecoder(bytes.NewReader(head))
	dec.KnownFields(true)
	if err := dec.Decode(g); err != nil {
		return nil, fmt.Errorf("its frontmatter is no grader that evolve knows: %s", strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n ", ""), "yaml: "))
	}
	if g.Type == "" {
		return nil, errors.New("its frontmatter names no type")
	}
	switch text := strings.TrimSpace(string(body)); {
	case g.Type == "regex" && g.Pattern == "":
		g.Pattern = text
	case g.Type == "llm" && g.Criteria == "":
		g.Criteria = text
	}
	return g, nil
}

// frontmatter divides a Markdown file.
func frontmatter(text []byte) (head, body []byte, found bool) {
	text = bytes.ReplaceAll(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	rest, found := bytes.CutPrefix(text, []byte("---\n"))
	if !found {
		return nil, text, false
	}
	head, body, found = bytes.Cut(append([]byte("\n"), rest...), []byte("\n---\n"))
	if !found {
		if head, found = bytes.CutSuffix(head, []byte("\n---")); !found {
			return nil, text, false
		}
	}
	return append(head, '\n'), body, true
}

// check is the check that decides what the grader decides; ok is false if there is none.
func (g *grader) check() (k eval.Check, ok bool) {
	k = eval.Check{Weight: g.Weight}
	answer := func(target any) bool { return target == nil || target == "last_message" }
	switch {
	case g.Type == "llm" && answer(g.Focus):
		k.Type, k.Rubric = eval.Judge, g.Criteria
	case g.Type == "regex" && strings.Trim(g.Flags, "imsdgu") == "" && (g.Match == "" || g.Match == "contains" || g.Match == "not_contains"):
		k.Type, k.Value = eval.Regex, g.Pattern
		if flags := strings.Trim(strings.Map(func(r rune) rune {
			if strings.ContainsRune("ims", r) {
				return r
			}
			return -1
		}, g.Flags), " "); flags != "" {
			k.Value = "(?" + flags + ")" + g.Pattern
		}
		if g.Match == "not_contains" {
			k.Type = eval.NotRegex
		}
		if answer(g.Target) {
			break
		}
		file, _ := json.Marshal(g.Target)
		var t struct{ Source, Path string }
		if json.Unmarshal(file, &t) != nil || t.Source != "file" || k.Type != eval.Regex || g.Flags != "" || regexp.QuoteMeta(g.Pattern) != g.Pattern {
			return k, false
		}
		k.Type, k.Path = eval.FileContains, t.Path
	case g.Type == "file_exists" && (g.Exists == nil || *g.Exists) && !strings.ContainsAny(g.Path, "*?[]{}"):
		k.Type, k.Path = eval.FileExists, g.Path
	case g.Type == "tool_used" && g.InputMatch == "" && g.Max == nil && (g.Min == nil || *g.Min == 1):
		k.Type, k.Value = eval.ToolCalled, g.Tool
	default:
		return k, false
	}
	return k, k.Validate() == nil
}
