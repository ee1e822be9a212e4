package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/casefiles"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/usage"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/checkout"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/harvest/moments"
	"github.com/skill-evolve/evolve/tournament/report/serve"
	"github.com/spf13/cobra"
)

func newCasesCommand(a *global) *cobra.Command {
	c := &cobra.Command{
		Use:     "cases",
		Short:   "Look at the cases of a skill, add your own, remove some",
		Example: "  evolve cases list dataviz\n  evolve cases import mine.jsonl",
		Long: `A case is a request with checks that tell a good answer from a bad one. Cases
come from your sessions (evolve harvest) or from a file (evolve cases import).
They are exported as JSON Lines, one case a line, or in the format of another program.
evolve help cases-format has the format, with an example of every type of check.`,
	}
	export := casefiles.Export(&a.Terminal, func(ctx context.Context, name, split string) ([]eval.Case, error) {
		g, err := casesOf(ctx, a)
		if err != nil {
			return nil, err
		}
		return g.Cases(ctx, name, split)
	})
	parent(c, newCasesListCommand(a), newCasesShowCommand(a), casefiles.New(&a.Terminal), casefiles.Check(&a.Terminal), newCasesImportCommand(a), export,
		newCasesEditCommand(a), newCasesDropCommand(a), newCasesGenerateCommand(a), newCasesDrawCommand(a))
	return c
}

// splitFlag is --split.
func splitFlag(c *cobra.Command, split *string) {
	c.Flags().StringVar(split, "split", "", "only the cases of this split: train, val or test")
}

func newCasesListCommand(a *global) *cobra.Command {
	var o casesListOptions
	c := &cobra.Command{
		Use:     "list SKILL",
		Short:   "List the cases of a skill",
		Example: "  evolve cases list dataviz\n  evolve cases list dataviz --outcome corrected --text legend",
		Args:    exactArgs(1, "a skill"),
		RunE:    func(c *cobra.Command, args []string) error { return casesList(c.Context(), a, args[0], o) },
	}
	splitFlag(c, &o.split)
	c.Flags().StringVar(&o.outcome, "outcome", "", "only cases of uses with this outcome: "+strings.Join(outcomes, ", "))
	c.Flags().StringVar(&o.text, "text", "", "only cases whose id, request, checks or answer contain this text")
	c.Flags().BoolVar(&o.all, "all", false, fmt.Sprintf("every case, not the first %d alone", casesShown))
	return c
}

type casesListOptions struct {
	split, outcome, text string
	all                  bool
}

// casesShown is how many cases are listed without --all; --json has all.
const casesShown = 20

var outcomes = []string{string(harvest.Corrected), string(harvest.Accepted), string(harvest.Rejected), string(harvest.Repeated), string(harvest.Abandoned), string(harvest.Unknown)}

// A listedCase is one case in `evolve cases list --json`.
type listedCase struct {
	ID      string     `json:"id"`
	Split   eval.Split `json:"split"`
	Origin  string     `json:"origin"`
	Outcome string     `json:"outcome,omitempty"`
	Session time.Time  `json:"session_time,omitzero"` // when it was recorded
	Cluster string     `json:"cluster"`
	Commit  string     `json:"commit"` // how far it is known: exact, approximate or none
	Checks  []string   `json:"checks"` // their types
	Prompt  string     `json:"prompt"`
}

func listed(c *eval.Case) listedCase {
	l := listedCase{ID: c.ID, Split: c.Split, Origin: c.Origin(), Session: c.Recorded(), Cluster: eval.ClusterOf(c), Commit: string(checkout.KnownOf(c)), Prompt: c.Prompt}
	if c.Source != nil && c.Source.Origin != "" {
		l.Outcome = c.Source.Outcome
	}
	for _, k := range c.Checks {
		l.Checks = append(l.Checks, k.Type)
	}
	return l
}

func casesList(ctx context.Context, a *global, name string, o casesListOptions) error {
	if o.outcome != "" && !slices.Contains(outcomes, o.outcome) {
		return usage.UnknownWord("outcome", o.outcome, outcomes)
	}
	g, err := casesOf(ctx, a)
	if err != nil {
		return err
	}
	all, err := g.Cases(ctx, name, "") // a short id must fit one case of all
	if err != nil {
		return err
	}
	cases, err := g.Cases(ctx, name, o.split)
	if err != nil {
		return err
	}
	cases = slices.DeleteFunc(cases, func(c eval.Case) bool {
		return o.outcome != "" && listed(&c).Outcome != o.outcome || !serve.Mentions(&c, o.text)
	})
	draw, err := g.Draw(ctx, name)
	if err != nil {
		return err
	}
	list := []listedCase{}
	for i := range cases {
		list = append(list, listed(&cases[i]))
	}
	var b strings.Builder
	if len(list) == 0 && len(all) > 0 {
		fmt.Fprintf(&b, "%s of %s, and none that was asked for\n", plain.Counted(len(all), "case"), name)
	} else if len(list) == 0 {
		fmt.Fprintf(&b, "no cases of %s\nnext: `evolve harvest` makes some of your sessions, `evolve cases import FILE` brings your own\n", name)
		if draw != nil {
			b.WriteString(draw.Text())
		}
	} else {
		t := a.NewTable(&b)
		fmt.Fprintln(t, "ID\tSPLIT\tORIGIN\tCHECKS\tPROMPT")
		heads := map[string]string{}
		for i, head := range casefiles.Heads(idsOf(all)) {
			heads[all[i].ID] = head
		}
		for i, l := range list {
			if i == casesShown && !o.all {
				break
			}
			origin := l.Origin
			if l.Outcome != "" {
				origin += ", " + l.Outcome
			}
			if !l.Session.IsZero() {
				origin += ", " + dayOf(l.Session)
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", plain.Text(heads[l.ID]), orDash(string(l.Split)), origin, tally(l.Checks), headOf(plain.Text(l.Prompt), 60))
		}
		if err := t.Flush(); err != nil {
			return err
		}
		if n := len(list) - casesShown; n > 0 && !o.all {
			fmt.Fprintf(&b, "… and %d more: --all lists them\n", n)
		}
		notes, err := g.Waiting(ctx, name)
		if err != nil {
			return err
		}
		n := ingest.SplitCounts(cases)
		fmt.Fprintf(&b, "%s: %d train, %d val, %d test\n%s", plain.Counted(len(list), "case"), n[eval.Train], n[eval.Val], n[eval.Test], notes)
	}
	return a.Print(struct {
		Schema int           `json:"schema"`
		Skill  string        `json:"skill"`
		Cases  []listedCase  `json:"cases"`
		Draw   *moments.Draw `json:"draw,omitempty"` // of the moments of a file
	}{1, name, list, draw}, plain.Text(b.String()))
}

func idsOf(cases []eval.Case) []string {
	ids := make([]string, len(cases))
	for i := range cases {
		ids[i] = cases[i].ID
	}
	return ids
}

// tally counts check types in order of first appearance: "2 contains, 1
// judge".
func tally(words []string) string {
	n := map[string]int{}
	var order []string
	for _, w := range words {
		if n[w] == 0 {
			order = append(order, w)
		}
		n[w]++
	}
	for i, w := range order {
		order[i] = fmt.Sprintf("%d %s", n[w], w)
	}
	return strings.Join(order, ", ")
}

// headOf is the beginning of a text on one line, at most n characters.
func headOf(s string, n int) string {
	s = oneLine(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func newCasesShowCommand(a *global) *cobra.Command {
	return &cobra.Command{
		Use:     "show SKILL ID",
		Short:   "Print one case in full",
		Example: "  evolve cases show dataviz rev-01",
		Args:    exactArgs(2, "a skill and a case"),
		RunE:    func(c *cobra.Command, args []string) error { return casesShow(c.Context(), a, args[0], args[1]) },
	}
}

func casesShow(ctx context.Context, a *global, name, id string) error {
	g, err := casesOf(ctx, a)
	if err != nil {
		return err
	}
	c, err := g.Case(ctx, name, id)
	if err != nil {
		return err
	}
	var b strings.Builder
	row := func(word, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", word, fmt.Sprintf(format, args...))
	}
	row("case", "%s of %s", c.ID, c.Skill)
	use := orDash(string(c.Split))
	if on := g.SpentOn(ctx, c); on != "" {
		use += fmt.Sprintf(", used by the trial of new text %.12s", on)
	}
	if c.TrainOnly() {
		use += ", train only: no coin drew it, it was chosen because it was corrected"
	}
	row("split", "%s", use)
	row("cluster", "%s", eval.ClusterOf(c))
	if s := c.Source; s != nil {
		row("source", "%s", oneLine(strings.Join([]string{s.Origin, s.Outcome, plain.Agent(s.Agent), s.Session}, " ")))
		if len(s.Beside) > 0 {
			row("", "also loaded: %s; attributed to %s, because %s", oneLine(strings.Join(s.Beside, ", ")), c.Skill, s.Because)
		}
		if n := len(s.Also); n > 0 {
			row("", "the model had seen cases of %s, too", plain.Counted(n, "other session"))
		}
	}
	if at := c.Recorded(); !at.IsZero() {
		age := "of " + dayOf(at)
		if a.machine.clock != nil {
			age += ", " + plain.Counted(int(a.machine.clock().Sub(at).Hours()/24), "day") + " old"
		}
		row("session", "%s", age)
	}
	if w := c.Workspace; w != nil {
		row("workspace", "%s %s", w.Repo, w.Commit)
	}
	if c.Workspace != nil || c.Origin() == "mined" {
		row("commit", "%s", checkout.KnownOf(c))
	}
	for _, path := range sortedKeys(c.Files) {
		row("file", "%s (%d bytes)", path, len(c.Files[path]))
	}
	for _, m := range c.Context {
		fmt.Fprintf(&b, "\n%s said before\n%s\n", m.Role, indent(m.Text))
	}
	fmt.Fprintf(&b, "\nprompt\n%s\n", indent(c.Prompt))
	for i, k := range c.Checks {
		fmt.Fprintf(&b, "\ncheck %d: %s", i+1, k.Type)
		if k.Weight != 0 && k.Weight != 1 {
			fmt.Fprintf(&b, " (weight %g)", k.Weight)
		}
		b.WriteByte('\n')
		unmet := ""
		if k.Spec().Work {
			bare := k
			bare.Feedback = ""
			unmet = bare.Blame()
		}
		for _, f := range []struct{ word, text string }{{"value", k.Value}, {"path", k.Path}, {"after", k.After}, {"rubric", k.Rubric}, {"schema", string(k.Schema)},
			{"command", strings.Join(k.Command, " ")}, {"fails if", unmet}, {"feedback", k.Feedback}} {
			if f.text != "" {
				fmt.Fprintf(&b, "  %-9s %s\n", f.word, strings.ReplaceAll(f.text, "\n", "\n            "))
			}
		}
		if k.Max > 0 {
			fmt.Fprintf(&b, "  %-9s %d characters\n", "max", k.Max)
		}
	}
	if c.Reference != "" {
		fmt.Fprintf(&b, "\naccepted answer\n%s\n", indent(c.Reference))
	}
	return a.Print(c, plain.Text(b.String()))
}

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n  ")
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func newCasesDropCommand(a *global) *cobra.Command {
	return &cobra.Command{
		Use:     "drop SKILL ID...",
		Short:   "Remove cases; the next harvest does not bring them back",
		Example: "  evolve cases drop dataviz rev-01 rev-02",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return problem.Inputf("usage: "+c.UseLine(), "%s needs a skill and a case", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return casesDrop(c.Context(), a, args[0], args[1:]) },
	}
}

func casesDrop(ctx context.Context, a *global, name string, ids []string) error {
	g, err := casesOf(ctx, a)
	if err != nil {
		return err
	}
	dropped, left, err := g.Drop(ctx, name, ids)
	if err != nil {
		return err
	}
	return a.Print(map[string]any{"schema": 1, "skill": name, "dropped": dropped, "left": left},
		fmt.Sprintf("%s dropped, %s has %d left\n", plain.Counted(len(dropped), "case"), name, left))
}
