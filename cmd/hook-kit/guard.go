package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/eval/guard/rulefile"
	"github.com/skill-evolve/evolve/harvest/hook/kit"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// guard answers by a rule file. A file that is no valid one stops nothing, and its log says so:
// a person would not see that the guard is off.
func (k *program) guard(file string) (code int, err error) {
	e := k.event()
	if e == nil {
		return kit.Go, nil
	}
	f, err := read(file)
	if err != nil {
		k.note(e, strings.TrimSuffix(filepath.Base(file), ".json"), err.Error())
		return kit.Failed, err
	}
	if r := f.Find(k.call(e)); r != nil {
		fmt.Fprintln(k.stderr, r.Say) // what is stopped is stopped even if nobody reads why
		return kit.Stop, nil
	}
	return kit.Go, nil
}

func read(file string) (*rulefile.File, error) {
	text, err := bounded.ReadFile(file, rulefile.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	f, err := rulefile.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("guard: %s: %w", file, err)
	}
	return f, nil
}

// call is what rules see of an event. Their paths begin at the project if the agent names it and
// works in it, because a shell's cd moves the folder of the event.
func (k *program) call(e *kit.Event) *rulefile.Call {
	c := &rulefile.Call{Tool: e.Field("tool_name"), Command: e.Field("tool_input.command"), File: e.Field("tool_input.file_path"), Root: e.Field("cwd")}
	if c.File == "" {
		c.File = e.Field("tool_input.notebook_path")
	}
	if c.File != "" && !filepath.IsAbs(c.File) {
		c.File = filepath.Join(c.Root, c.File)
	}
	project := filepath.Clean(k.getenv("CLAUDE_PROJECT_DIR"))
	if below, err := filepath.Rel(project, c.Root); err == nil && below != ".." && !strings.HasPrefix(below, "../") && filepath.IsAbs(project) {
		c.Root = project
	}
	return c
}
