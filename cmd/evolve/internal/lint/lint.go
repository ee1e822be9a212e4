// Package lint is the command that checks a skill, a file of instructions or the script of a hook
// against the rules, and against the text that it is to replace. It asks no model.
package lint

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/mutate/standing"
)

// Parts are what the command works with.
type Parts struct {
	Terminal *term.Terminal
	Layout   func() *skill.Layout
}

// Command is `evolve kernel check`.
func (p Parts) Command() *cobra.Command {
	profile, base := string(check.ClaudeCode), ""
	c := &cobra.Command{
		Use:   "check SKILL|FILE",
		Short: "Check a SKILL.md or a file of instructions against the rules; exit code 2 if it breaks one",
		Long: `check reads a SKILL.md, a file of instructions or the script of a hook, and names each
line that breaks a rule. With --base FILE it also compares the text with the one that it is to replace:
what is locked must be the same, and what asks for more than that text did (hosts,
tools, paths, commands) or overrides other rules is named; the exit code is then 4.
The size is printed beside the other's. No model is asked, nothing is run or stored:
docs/ci.md has a pull request checked so.`,
		Example: "  evolve kernel check dataviz\n  evolve kernel check ./SKILL.md\n  evolve kernel check AGENTS.md --base before.md",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return problem.Inputf("for example `evolve kernel check ./SKILL.md`", "kernel check needs a skill or a file")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return p.check(args[0], base, check.Profile(profile)) },
	}
	c.Flags().StringVar(&base, "base", "", "the text that it is to replace")
	c.Flags().StringVar(&profile, "profile", profile, "rules: claude or portable")
	return c
}

// A report is what --json prints: schema 1.
type report struct {
	Schema   int       `json:"schema"`
	Path     string    `json:"path"`
	OK       bool      `json:"ok"`
	Tokens   int       `json:"tokens"`                // about
	Before   *int      `json:"base_tokens,omitempty"` // of the text that it is to replace
	Findings []finding `json:"findings"`
}

type finding struct {
	Line int `json:"line"`
	// Severity is "error", "held" (a person has to decide: the firewall) or "warning".
	Severity string `json:"severity"`
	Rule     string `json:"rule"`
	Message  string `json:"message"`
}

var severities = map[check.Severity]string{check.Warn: "warning", check.Quarantine: "held", check.Reject: "error"}

func (p Parts) check(arg, base string, profile check.Profile) error {
	if !profile.Known() {
		return problem.Inputf("the profiles are claude and portable", "unknown profile %q", profile)
	}
	s, err := p.read(arg, profile)
	if err != nil {
		return err
	}
	r := report{Schema: 1, Path: s.path, Tokens: skill.Tokens(string(s.doc.Render())), Findings: []finding{}}
	errs, refused := 0, 0
	for _, f := range s.found {
		if f.Severity == check.Reject {
			errs++
		}
	}
	if base != "" {
		before, err := p.before(s.doc, base)
		if err != nil {
			return err
		}
		n := skill.Tokens(string(before.Render()))
		r.Before = &n
		for _, f := range check.Check(before, s.doc, profile) {
			if slices.Contains(s.found, f) {
				continue
			}
			s.found = append(s.found, f)
			if f.Severity > check.Warn {
				refused++
			}
		}
	}
	slices.SortStableFunc(s.found, func(f, g check.Finding) int { return f.Line - g.Line })
	for _, f := range s.found {
		r.Findings = append(r.Findings, finding{f.Line, severities[f.Severity], f.Rule, f.Reason})
	}
	r.OK = errs+refused == 0
	if err := p.Terminal.Print(r, r.text()); err != nil || r.OK {
		return err
	}
	if errs > 0 {
		return problem.Inputf("mend the lines that are named, then check again", "%s has %s", s.path, plain.Counted(errs, "error"))
	}
	return problem.Refusef("take the lines that are named out, or have a person decide", "%s changes what is locked, or asks for more than %s does (%s)", s.path, base, plain.Counted(refused, "finding"))
}

func (r report) text() string {
	var b strings.Builder
	for _, f := range r.Findings {
		place := plain.Line(r.Path)
		if f.Line > 0 {
			place += fmt.Sprintf(":%d", f.Line)
		}
		fmt.Fprintf(&b, "%s: %s: %s (%s)\n", place, f.Severity, plain.Text(f.Message), f.Rule)
	}
	if r.OK {
		fmt.Fprintf(&b, "%s: no errors\n", plain.Line(r.Path))
	}
	if r.Before != nil {
		fmt.Fprintf(&b, "%s: about %d tokens (%+d)\n", plain.Line(r.Path), r.Tokens, r.Tokens-*r.Before)
	}
	return b.String()
}

// before is the text that doc is to replace, read as doc was.
func (p Parts) before(doc *skill.Document, base string) (*skill.Document, error) {
	text, err := skill.ReadFile(base)
	if err != nil {
		return nil, problem.Inputf("--base is the file as it was", "read the text before: %w", err)
	}
	before, _ := skill.Parse(text, doc.Options()) // a text that does not parse is a finding
	return before, nil
}

// A subject is a text with what was found in it alone.
type subject struct {
	path  string
	doc   *skill.Document
	found []check.Finding
}

// read reads a skill or a file and checks it by itself.
func (p Parts) read(arg string, profile check.Profile) (s subject, err error) {
	loads := standing.Loader{Layout: p.Layout()}
	if key, ok := loads.Instructions(arg); ok {
		if s.found, err = loads.Findings(key); err != nil {
			return s, err
		}
		s.path = arg
		text, err := skill.ReadFile(arg)
		if err != nil { // Findings has said so
			text = nil
		}
		s.doc, _ = skill.Parse(text, skill.Options{Instructions: true})
		return s, nil
	}
	if skill.IsScript(arg) {
		return p.script(arg, profile)
	}
	path, folder, err := p.find(arg)
	if err != nil {
		return s, err
	}
	text, err := skill.ReadFile(path)
	if err != nil {
		return s, problem.Inputf("name a skill, a folder with a SKILL.md, a SKILL.md or a file of instructions", "read skill: %w", err)
	}
	// A text that does not parse is a document, too; Validate reports the reason.
	doc, _ := skill.Parse(text, skill.Options{})
	return subject{path, doc, check.Validate(doc, profile, folder)}, nil
}

// script reads the script of a hook and checks it by itself.
func (p Parts) script(arg string, profile check.Profile) (s subject, err error) {
	l := p.Layout()
	key, err := l.Key(arg)
	if err == nil {
		s.path, err = l.FilePath(key)
	}
	if err != nil {
		return s, err
	}
	text, err := skill.ReadFile(s.path)
	if err != nil {
		return s, problem.Inputf("name the script of a hook by its path", "read script: %w", err)
	}
	s.doc, _ = skill.Parse(text, skill.OptionsOf(key)) // Validate says why not
	if s.found = check.Validate(s.doc, profile, ""); len(bytes.TrimSpace(text)) == 0 {
		s.found = append(s.found, check.Finding{Rule: "syntax", Severity: check.Reject, Reason: skill.NoText})
	}
	return s, nil
}

// find finds the SKILL.md for a skill's name, a folder or a file, and the name of its folder.
func (p Parts) find(arg string) (path, folder string, err error) {
	if !strings.ContainsAny(arg, `/\`) && !strings.HasSuffix(arg, ".md") {
		reg, err := p.Layout().Registry()
		if err != nil {
			return "", "", err
		}
		e, err := reg.Lookup(arg)
		var broken *skill.BrokenSkillError
		if errors.As(err, &broken) {
			return broken.Path, broken.Name, nil
		}
		if err == nil {
			return e.Path, e.Name, nil
		}
		if info, serr := os.Stat(arg); serr != nil || !info.IsDir() {
			return "", "", err
		}
	}
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		arg = filepath.Join(arg, skill.FileName)
	}
	abs, err := filepath.Abs(arg)
	if err != nil {
		return "", "", fmt.Errorf("find %s: %w", arg, err)
	}
	if filepath.Base(abs) == skill.FileName {
		folder = filepath.Base(filepath.Dir(abs))
	}
	return arg, folder, nil
}
