package replay_test

import (
	"fmt"
	"path/filepath"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// What every agent does around its child: open a stage, pass its paths to the child,
// and read the changes.
func Example() {
	doc, err := skill.Parse([]byte("---\nname: stones\ndescription: Names gemstones.\n---\nName the stone.\n"), skill.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	task := eval.Task{Variant: eval.Variant{Name: "stones", Doc: doc}, Case: &eval.Case{Prompt: "Name the red one"}}
	stage, err := replay.Open(task, replay.Layout{Config: ".claude", Forbidden: []string{"/home/dev/.claude"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = stage.Close() }()
	fmt.Println(replay.Prompt(task, "/stones"))
	where, _ := filepath.Rel(stage.Root, stage.Skill)
	fmt.Println(filepath.ToSlash(where))
	env := stage.Env(replay.Config{}, "CLAUDE_CONFIG_DIR="+stage.Config)
	_ = env // of the child, which runs in stage.Workspace

	calls := replay.Accesses("Bash", []byte(`{"command":"cat /home/dev/.claude/skills/stones/SKILL.md"}`), false)
	fmt.Println(stage.Audit(false, calls...))
	changed, err := stage.Changed()
	fmt.Println(changed, err)
	// Output:
	// /stones Name the red one
	// home/.claude/skills/stones
	// tainted read /home/dev/.claude/skills/stones/SKILL.md: what evolve must hide
	// [] <nil>
}
