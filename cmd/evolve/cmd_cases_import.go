package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/store"
	"github.com/spf13/cobra"
)

func newCasesImportCommand(a *app) *cobra.Command {
	var trust bool
	var of string
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Bring cases from JSON Lines or skill-creator's evals.json, all or none",
		Long: `FILE holds cases as JSON Lines, one a line, or is skill-creator's evals.json: its
expectations (or assertions) become checks for a judge, and the files that it
names are taken along from its folder. A trigger set ([{query, should_trigger}])
becomes trigger cases of --skill. - is stdin.`,
		Args: exactArgs(1, "a file (- is stdin)"),
		RunE: func(c *cobra.Command, args []string) error { return a.casesImport(c.Context(), args[0], of, trust) },
	}
	c.Flags().StringVar(&of, "skill", "", "the skill that a trigger set asks for, where it does not say so itself")
	c.Flags().BoolVar(&trust, "trust-checks", false, "also take checks that run programs; read them first")
	return c
}

// An importReport is what `evolve cases import --json` prints: schema 1.
type importReport struct {
	Schema    int                           `json:"schema"`
	Read      int                           `json:"read"`
	Added     int                           `json:"added"`
	Changed   int                           `json:"changed"`
	Unchanged int                           `json:"unchanged"`
	LeftOut   int                           `json:"left_out"`
	Redacted  int                           `json:"redactions"`
	Repeated  int                           `json:"repeated"` // put into the cluster of what they repeat
	Skills    map[string]map[eval.Split]int `json:"skills"`   // all cases of the skills that the file has
	Warnings  []string                      `json:"warnings"`
}

func (a *app) casesImport(ctx context.Context, file, of string, trust bool) error {
	text, name, err := a.readInput(file)
	if err != nil {
		return err
	}
	r := &importReport{Schema: 1, Skills: map[string]map[eval.Split]int{}, Warnings: []string{}}
	read := readCases
	if eval.IsEvals(text) {
		read = func(r *importReport, text []byte, name, file string) ([]eval.Case, func(int) string, error) {
			return readEvals(r, text, name, file, of)
		}
	}
	cases, where, err := read(r, text, name, file)
	if err != nil {
		return err
	}
	if len(cases) == 0 {
		return problem.Inputf("one case a line, for example from `evolve cases export SKILL`", "%s holds no cases", name)
	}
	reg, err := a.registry()
	if err != nil {
		return err
	}
	r.Read = len(cases)
	for i := range cases {
		at := func() string { return where(i) }
		n, err := acceptable(a.redactor(), &cases[i], trust, at)
		if err != nil {
			return err
		}
		r.Redacted += n
		if err := r.meet(reg, cases[i].Skill, at); err != nil {
			return err
		}
	}
	if r.Redacted > 0 {
		r.warn("%s replaced by placeholders before anything was stored", plain.Counted(r.Redacted, "secret"))
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	if err := a.saveImport(ctx, db, cases, r); err != nil {
		return err
	}
	return a.printImport(r)
}

// readCases reads cases as JSON Lines; where says where the i-th one stands.
func readCases(_ *importReport, text []byte, name, _ string) (cases []eval.Case, where func(i int) string, err error) {
	cases, err = eval.ReadCases(bytes.NewReader(text), name)
	if err != nil {
		return nil, nil, problem.Inputf("nothing was imported; mend that line and import the file again", "%v", err)
	}
	return cases, func(i int) string { return fmt.Sprintf("%s:%d: case %q", name, lineOf(text, i), cases[i].ID) }, nil
}

// readEvals reads an eval file of skill-creator, and the files beside it that it
// names; or a trigger set, whose skill is of where it does not name one.
func readEvals(r *importReport, text []byte, name, file, of string) (cases []eval.Case, where func(i int) string, err error) {
	var dir fs.FS
	folder := ""
	if file != "-" {
		abs, err := filepath.Abs(file)
		if err != nil {
			return nil, nil, fmt.Errorf("read evals: %w", err)
		}
		root, err := os.OpenRoot(filepath.Dir(abs)) // links that lead out of it are not followed
		if err != nil {
			return nil, nil, fmt.Errorf("read evals: %w", err)
		}
		defer root.Close()
		dir, folder = root.FS(), filepath.Base(filepath.Dir(abs))
	}
	cases, ignored, err := eval.ReadEvals(text, name, dir, folder)
	switch {
	case errors.Is(err, eval.ErrTriggerSet):
		if cases, ignored, err = eval.ReadTriggers(text, name, of); err != nil {
			return nil, nil, problem.Inputf("nothing was imported; a trigger set needs --skill NAME, and each entry a query and should_trigger", "%v", err)
		}
	case err != nil:
		return nil, nil, problem.Inputf("nothing was imported; mend that eval and import the file again", "%v", err)
	}
	if len(ignored) > 0 {
		r.warn("left out what a case has no place for: %s", strings.Join(ignored, ", "))
	}
	return cases, func(i int) string { return fmt.Sprintf("%s: evals[%d]: case %q", name, i, cases[i].ID) }, nil
}

// maxImport is how much is imported at once, in bytes.
const (
	maxImport   = 256 << 20
	splitImport = "nothing was imported; cut it into several files"
)

// readInput reads a whole file, or stdin for "-", and says what to call it.
func (a *app) readInput(file string) (text []byte, name string, err error) {
	if file == "-" {
		text, err = bounded.ReadAll(a.Stdin, maxImport)
		if err != nil {
			return nil, "", problem.Hinted(fmt.Errorf("read stdin: %w", err), splitImport)
		}
		return text, "stdin", nil
	}
	text, err = bounded.ReadFile(file, maxImport)
	_, large := errors.AsType[*bounded.TooLargeError](err)
	switch {
	case large:
		return nil, "", problem.Inputf(splitImport, "read cases: %v", err)
	case errors.Is(err, bounded.ErrNotRegular):
		return nil, "", problem.Inputf("name a file of JSON Lines; of what a program prints: PROGRAM | evolve cases import -", "read cases: %v", err)
	case err != nil:
		return nil, "", problem.Inputf("name a file of JSON Lines, or - for stdin", "read cases: %v", err)
	}
	return text, file, nil
}

// acceptable makes a case fit to be stored: its secrets are replaced, how many
// is returned. A check that runs a program needs trust, and one that compares
// with a secret cannot be kept: it would be another check without it. Neither
// can a name that would tell a secret, or a terminal what to do.
func acceptable(d redact.Redactor, c *eval.Case, trust bool, at func() string) (redacted int, err error) {
	clean := func(s *string) {
		var n int
		*s, n = d.Redact(*s)
		redacted += n
	}
	clean(&c.Prompt)
	clean(&c.Reference)
	for i := range c.Context {
		clean(&c.Context[i].Text)
	}
	if c.Source != nil {
		for _, s := range []*string{&c.Source.Agent, &c.Source.Session, &c.Source.Turn, &c.Source.Origin, &c.Source.Outcome} {
			clean(s)
		}
	}
	names := []string{c.ID, c.Cluster, c.Skill, c.Neighbour}
	if c.Workspace != nil {
		names = append(names, c.Workspace.Repo, c.Workspace.Commit)
	}
	for path := range c.Files {
		names = append(names, path)
	}
	for _, name := range names {
		if printed := plain.Text(name); printed != name || strings.ContainsAny(name, "\n\t") {
			return 0, problem.Refusef("nothing was imported; name it in letters that can be printed", "%s: the name of the case, of a file or of its repository holds control characters", at())
		}
		if _, n := d.Redact(name); n > 0 {
			return 0, problem.Refusef("nothing was imported; name it without, the name is written down and sent", "%s: the name of the case, of a file or of its repository holds a secret", at())
		}
	}
	for path, text := range c.Files {
		clean(&text)
		c.Files[path] = text
	}
	for i := range c.Checks {
		k := &c.Checks[i]
		if k.Executing() && !trust {
			return 0, problem.Refusef("nothing was imported; read the commands, then use --trust-checks", "%s: checks[%d] runs a program (%s)", at(), i, k.Type)
		}
		clean(&k.Rubric)
		clean(&k.Feedback)
		for _, s := range append([]string{k.Value, k.Path, string(k.Schema)}, k.Command...) {
			if _, n := d.Redact(s); n > 0 {
				return 0, problem.Refusef("nothing was imported; compare with something that may be written down", "%s: checks[%d] holds a secret", at(), i)
			}
		}
	}
	return redacted, nil
}

// meet notes a skill that the file has cases of; one that nobody knows is
// accepted, and said.
func (r *importReport) meet(reg *skill.Registry, name string, at func() string) error {
	if r.Skills[name] != nil {
		return nil
	}
	r.Skills[name] = map[eval.Split]int{}
	_, err := reg.Lookup(name)
	var unknown *skill.UnknownSkillError
	var broken *skill.BrokenSkillError
	switch {
	case errors.As(err, &unknown) && unknown.Nearest != "":
		r.warn("there is no skill %s (did you mean %s?): its cases wait for it", name, unknown.Nearest)
	case errors.As(err, &unknown):
		r.warn("there is no skill %s yet: its cases wait for it", name)
	case err != nil && !errors.As(err, &broken):
		return problem.Inputf("a skill is named as its folder is", "%s: %v", at(), err)
	}
	return nil
}

func (r *importReport) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// saveImport stores the cases skill by skill and compares what is there now with
// what was brought.
func (a *app) saveImport(ctx context.Context, db *store.Store, cases []eval.Case, r *importReport) error {
	before := map[[2]string]eval.Case{}
	stored, err := db.Cases(ctx, "")
	if err != nil {
		return err
	}
	for _, c := range stored {
		before[[2]string{c.Skill, c.ID}] = c
	}
	r.Repeated = joinRepeats(cases, stored)
	if _, _, err := db.SaveCases(ctx, cases); err != nil { // all or none, over all skills
		return err
	}
	other := 0
	for _, name := range sortedKeys(r.Skills) {
		if err := a.saveCases(ctx, db, name, nil); err != nil {
			return err
		}
		now, err := db.Cases(ctx, name)
		if err != nil {
			return err
		}
		r.Skills[name] = splitCounts(now)
		kept := map[string]eval.Case{}
		for _, c := range now {
			kept[c.ID] = c
		}
		for _, c := range cases {
			if c.Skill != name {
				continue
			}
			old, had := before[[2]string{name, c.ID}]
			is, has := kept[c.ID]
			switch {
			case !has:
				r.LeftOut++
				continue
			case !had:
				r.Added++
			case sameCase(old, is):
				r.Unchanged++
			default:
				r.Changed++
			}
			if c.Split != eval.Unassigned && c.Split != is.Split {
				other++
			}
		}
	}
	if r.LeftOut > 0 {
		r.warn("%s left out: you dropped them, or purged their session (source.origin \"imported\" brings a dropped one back)", plain.Counted(r.LeftOut, "case"))
	}
	if r.Repeated > 0 {
		r.warn("%s nearly repeated: put into the cluster, and the split, of what they repeat", plain.Counted(r.Repeated, "case"))
	}
	if other > 0 {
		r.warn("%s another split than the file says: a case keeps the use it was once put to", plain.Counted(other, "case")+" kept")
	}
	return nil
}

func sameCase(a, b eval.Case) bool {
	a.Split, b.Split = eval.Unassigned, eval.Unassigned
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func (a *app) printImport(r *importReport) error {
	if a.JSON {
		return a.PrintJSON(r)
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(a.Stderr, "warning: %s\n", plain.Text(w))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s read: %d new, %d changed, %d as before\n", plain.Counted(r.Read, "case"), r.Added, r.Changed, r.Unchanged)
	for _, name := range sortedKeys(r.Skills) {
		n := r.Skills[name]
		fmt.Fprintf(&b, "%s: now %d train, %d val, %d test\n", name, n[eval.Train], n[eval.Val], n[eval.Test])
	}
	_, err := fmt.Fprint(a.Stdout, a.Folded(b.String()))
	return err
}
