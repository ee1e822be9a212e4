//go:build unix

package hook

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// A skill's file may be anything that a folder can hold: a device without end
// would take the memory, at which Go exits with the code that blocks.
func TestStrangeFiles(t *testing.T) {
	d := newDesk(t, "zero", "pipe", "dataviz")
	file := func(name string) string { return filepath.Join(d.Claude, "skills", name, skill.FileName) }
	if err := errors.Join(os.Remove(file("zero")), os.Symlink("/dev/zero", file("zero")), os.Remove(file("pipe")), syscall.Mkfifo(file("pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"zero", "pipe"} {
		within(t, name, func() {
			d.fire(Go, PreToolUse, `{"session_id":"s","tool_name":"Skill","tool_use_id":"`+name+`","tool_input":{"skill":"`+name+`"}}`)
			d.fire(Go, UserPromptSubmit, `{"session_id":"s","prompt_id":"`+name+`","prompt":"$`+name+` or $dataviz"}`)
		})
	}
	for _, r := range d.records() {
		if r.Event.Skill.Name != "dataviz" && r.TextHash != "" {
			t.Errorf("%s has a text", r.Key)
		}
	}
	for _, name := range []string{"config.yaml", filepath.Join("plugins", "installed_plugins.json")} {
		for _, dir := range []string{d.Home, d.Claude} {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink("/dev/zero", path)); err != nil {
				t.Fatal(err)
			}
		}
	}
	within(t, "configuration", func() { d.fire(Failed, UserPromptExpansion, slash) })
}
