package check

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"go.yaml.in/yaml/v3"
)

// Limits of the open Agent Skills specification.
const (
	maxName          = 64   // bytes; a name is ASCII
	maxDescription   = 1024 // characters
	maxCompatibility = 500  // characters
	maxBodyLines     = 500  // advice: Warn
)

var (
	skillName = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

	portableKeys = []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
	claudeKeys   = []string{
		"when_to_use", "argument-hint", "arguments", "disable-model-invocation", "user-invocable",
		"disallowed-tools", "model", "effort", "context", "agent", "background", "hooks", "paths", "shell",
	}
)

// Validate checks d against the specification of skills, a file of standing instructions
// against what agents load. folder is the name of the
// folder that holds it ("" if unknown).
func Validate(of *skill.Document, p Profile, folder string) []Finding {
	var v validation
	d := read(of)
	if err := d.Err(); err != nil {
		line := 0
		var se *skill.SyntaxError
		msg := err.Error()
		if errors.As(err, &se) {
			line, msg = se.Line, se.Msg
		}
		v.add("syntax", Reject, line, "%s", msg)
		return v
	}
	if d.Options().Script != "" {
		return v
	}
	if d.Options().Instructions { // the rules of a SKILL.md are none of theirs
		v.body(d)
		return v
	}
	if !d.HasFrontmatter() {
		v.add("no-frontmatter", Reject, 1, "the file has no frontmatter: name and description are required")
		return v
	}
	v.keys(d, p)
	v.name(d, folder)
	v.description(d)
	v.values(d, p)
	v.body(d)
	return v
}

// Unloadable is the first finding because of which agents would not load d, nil if they would.
func Unloadable(d *skill.Document, p Profile, folder string) *Finding {
	for _, f := range Validate(d, p, folder) {
		if f.Severity == Reject {
			return &f
		}
	}
	return nil
}

type validation []Finding

func (v *validation) add(rule string, s Severity, line int, format string, args ...any) {
	*v = append(*v, Finding{Rule: rule, Severity: s, Line: line, Reason: fmt.Sprintf(format, args...)})
}

// keyLine is the file's line of a key's value, 1 if the key is absent.
func (d *document) keyLine(key string) int {
	if n := d.Value(key); n != nil {
		return n.Line + 1
	}
	return 1
}

func (v *validation) keys(d *document, p Profile) {
	root := d.Frontmatter()
	for i := 0; root != nil && i+1 < len(root.Content); i += 2 {
		k := root.Content[i]
		switch {
		case slices.Contains(portableKeys, k.Value):
		case p == Portable:
			v.add("unknown-key", Reject, k.Line+1, "the key %q is not one of the portable keys (%s)", k.Value, strings.Join(portableKeys, ", "))
		case !slices.Contains(claudeKeys, k.Value):
			hint := ""
			if near := skill.Nearest(k.Value, append(slices.Clone(portableKeys), claudeKeys...)); near != "" {
				hint = fmt.Sprintf("; the nearest is %q", near)
			}
			v.add("unknown-key", Warn, k.Line+1, "the key %q is not known%s", k.Value, hint)
		}
	}
}

func (v *validation) name(d *document, folder string) {
	name, line := d.Name(), d.keyLine("name")
	switch {
	case name == "":
		v.add("name-missing", Reject, line, "the frontmatter has no name")
	case len(name) > maxName:
		v.add("name-length", Reject, line, "the name has %d characters, at most %d are allowed", utf8.RuneCountInString(name), maxName)
	case !skillName.MatchString(name):
		v.add("name-form", Reject, line, "the name %q is not lowercase letters and digits joined by single hyphens", name)
	case folder != "" && folder != name:
		v.add("name-folder", Reject, line, "the name %q is not the name of its folder, %q", name, folder)
	}
}

func (v *validation) description(d *document) {
	text, line := d.Description(), d.keyLine("description")
	switch n := utf8.RuneCountInString(text); {
	case strings.TrimSpace(text) == "":
		v.add("description-missing", Reject, line, "the frontmatter has no description")
	case n > maxDescription:
		v.add("description-length", Reject, line, "the description has %d characters, at most %d are allowed", n, maxDescription)
	}
}

// values checks the types of the other keys.
func (v *validation) values(d *document, p Profile) {
	strict := Warn
	if p == Portable {
		strict = Reject
	}
	for _, key := range []string{"license", "compatibility", "name", "description"} {
		if n := d.Value(key); n != nil && n.Kind != yaml.ScalarNode {
			v.add("value-type", Reject, n.Line+1, "the value of %q is not text", key)
		}
	}
	if c := d.Value("compatibility"); c != nil && c.Kind == yaml.ScalarNode && utf8.RuneCountInString(c.Value) > maxCompatibility {
		n := utf8.RuneCountInString(c.Value)
		v.add("compatibility-length", Reject, c.Line+1, "the compatibility has %d characters, at most %d are allowed", n, maxCompatibility)
	}
	if n := d.Value("allowed-tools"); n != nil && n.Kind != yaml.ScalarNode {
		v.add("value-type", strict, n.Line+1, `the value of "allowed-tools" is not text with spaces between the tools`)
	}
	meta := d.Value("metadata")
	if meta == nil || meta.Tag == "!!null" {
		return
	}
	if meta.Kind != yaml.MappingNode {
		v.add("value-type", strict, meta.Line+1, `the value of "metadata" is not a mapping`)
		return
	}
	wrong := map[string]int{}
	for i := 0; i+1 < len(meta.Content); i += 2 {
		if n := skill.Follow(meta.Content[i+1]); n.Kind != yaml.ScalarNode {
			wrong[meta.Content[i].Value] = n.Line + 1
		}
	}
	for _, key := range slices.Sorted(maps.Keys(wrong)) {
		v.add("value-type", strict, wrong[key], "the value of metadata.%s is not text", key)
	}
}

func (v *validation) body(d *document) {
	body := string(d.raw[d.body:])
	first := d.md.FileLine(d.body)
	if strings.TrimSpace(body) == "" {
		v.add("body-empty", Warn, first, "the body is empty: an agent that loads it learns nothing")
		return
	}
	if n := skill.Tokens(body); n > skill.MaxBodyTokens {
		v.add("body-tokens", Warn, first, "the body has about %d tokens; the specification of skills advises fewer than %d", n, skill.MaxBodyTokens)
	}
	if n := len(d.md.Starts); n > maxBodyLines {
		v.add("body-lines", Warn, first, "the body has %d lines; the specification of skills advises at most %d", n, maxBodyLines)
	}
	if !utf8.ValidString(body) {
		v.add("not-utf8", Reject, first, "the body is not UTF-8")
	}
}
