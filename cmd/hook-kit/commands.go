package main

import (
	"encoding/json"

	"github.com/skill-evolve/evolve/eval/shell"
)

// A command is one simple command, as a line of JSON. A text ends before what the shell
// computes when it runs; Computed are the numbers, from 0, of the words that are cut so.
type command struct {
	Program   string     `json:"program"` // its name without a folder; "" if it is computed
	Words     []string   `json:"words"`
	Computed  []int      `json:"computed,omitempty"`
	Assigns   []string   `json:"assigns,omitempty"`
	Redirects []redirect `json:"redirects,omitempty"`
	// CD is the folder in which the command runs, relative to that in which the line
	// began; "" is that folder.
	CD         string `json:"cd,omitempty"`
	CDComputed bool   `json:"cd_computed,omitempty"`
}

type redirect struct {
	Op       string `json:"op"`
	To       string `json:"to"`
	Computed bool   `json:"computed,omitempty"`
}

// commands prints the simple commands of a line, each on a line, and at the end why they
// may not be all.
func (k *program) commands(args []string) error {
	line := ""
	if len(args) > 0 {
		line = args[0]
	} else if e := k.event(); e != nil {
		line = e.Field("tool_input.command")
	}
	enc := json.NewEncoder(k.stdout)
	enc.SetEscapeHTML(false)
	list, incomplete := shell.Commands(line)
	for i := range list {
		if err := enc.Encode(asCommand(&list[i])); err != nil {
			return err
		}
	}
	if incomplete != nil {
		return enc.Encode(map[string]string{"incomplete": incomplete.Error()})
	}
	return nil
}

func asCommand(c *shell.Command) command {
	out := command{Program: c.Name(), Words: []string{}, CD: c.Dir.Text, CDComputed: !c.Dir.Whole}
	for i, w := range c.Words {
		out.Words = append(out.Words, w.Text)
		if !w.Whole {
			out.Computed = append(out.Computed, i)
		}
	}
	for _, a := range c.Assigns {
		out.Assigns = append(out.Assigns, a.Text)
	}
	for _, r := range c.Redirects {
		out.Redirects = append(out.Redirects, redirect{r.Op, r.Word.Text, !r.Word.Whole})
	}
	return out
}
