package agent

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// The skills beside a skill compete for the call, or are part of the owner's set-up.
func TestOthers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"stones", "gems"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: d\n---\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := &skill.Layout{Getenv: func(string) string { return "" }, ClaudeHome: t.TempDir(), SkillsDir: dir}
	offers := func(b *Backends, compete bool) (names []string) {
		t.Helper()
		out, err := b.Others(l, "stones", compete)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range out {
			if o.SHA == "" || o.Dir != filepath.Join(dir, o.Name) {
				t.Errorf("offer %+v", o)
			}
			names = append(names, o.Name)
		}
		return names
	}
	gems := []string{"gems"}
	if got := offers(&Backends{}, false); got != nil {
		t.Errorf("bare replays have %q beside the skill", got)
	}
	if got := offers(&Backends{}, true); !slices.Equal(got, gems) {
		t.Errorf("%q compete, want %q", got, gems)
	}
	if got := offers(&Backends{Owner: &setup.Set{}}, false); !slices.Equal(got, gems) {
		t.Errorf("%q are part of the set-up, want %q", got, gems)
	}
}
