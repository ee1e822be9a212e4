package casefiles

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/usage"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/casefile"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/spf13/cobra"
)

// New is `evolve cases new`.
func New(t *term.Terminal) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "new SKILL",
		Short: "Print three cases as examples, to be changed into your own",
		Long: `new prints a case whose answer is checked, one with a file in the working folder,
and one that asks whether the agent loads the skill. Change them, then
evolve cases check and evolve cases import. evolve help cases-format has the rest.`,
		Example: "  evolve cases new dataviz\n  evolve cases new dataviz -o mine.jsonl",
		Args:    usage.Exact(1, "a skill"),
		RunE: func(_ *cobra.Command, args []string) error {
			if !named(args[0]) {
				return problem.Inputf("a skill is named by its folder's name, for example dataviz", "%q names no skill", args[0])
			}
			var b bytes.Buffer
			if err := casefile.WriteLines(&b, examples(args[0])); err != nil {
				return err
			}
			if file == "" {
				_, err := t.Stdout.Write(term.EscapedJSON(b.Bytes()))
				return err
			}
			if err := create(file, b.Bytes()); err != nil {
				return err
			}
			return t.Print(map[string]any{"schema": 1, "file": file}, fmt.Sprintf("3 examples written to %s\nnext: change them, `evolve cases check %[1]s`, `evolve cases import %[1]s`\n", plain.Line(file)))
		},
	}
	c.Flags().StringVarP(&file, "output", "o", "", "write to this new file")
	return c
}

// named reports whether a skill or a file of instructions can have that name.
func named(name string) bool {
	return skill.PlainName(name) || subject.Parse(name).Kind == subject.File
}

func create(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return problem.Inputf("name a new file", "%s exists", plain.Line(file))
	case err != nil:
		return problem.Inputf("name a file in a folder that exists", "write examples: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write examples: %w", err)
	}
	return nil
}

func examples(skill string) []eval.Case {
	no := false
	return []eval.Case{
		{ID: "answer", Skill: skill, Prompt: "Our revenue grew from 10 to 4,000 dollars a week. Which scale should the chart have?", Checks: []eval.Check{
			{Type: eval.Regex, Value: "(?i)log(arithmic)? scale", Feedback: "revenue over orders of magnitude needs a log scale"},
			{Type: eval.MaxChars, Max: 400, Feedback: "a short question gets a short answer"}}},
		{ID: "file", Skill: skill, Prompt: "Write a summary of data.csv to summary.md", Files: map[string]string{"data.csv": "week,usd\n1,10\n2,4000\n"}, Checks: []eval.Check{
			{Type: eval.FileContains, Path: "summary.md", Value: "4000", Weight: 2},
			{Type: eval.Judge, Rubric: "The summary names both weeks and nothing that data.csv does not say."}}},
		{ID: "not-this-skill", Skill: skill, Prompt: "What time is it in Lisbon?", ShouldTrigger: &no, Checks: []eval.Check{{Type: eval.Trigger}}},
	}
}
