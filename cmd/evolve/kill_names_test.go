package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestNamesLeadNowhere: a skill's name is looked up among the folders that are
// there, so that none leads out of them. Nothing is made, read or changed.
func TestNamesLeadNowhere(t *testing.T) {
	claude, home := person(t), t.TempDir()
	outside := filepath.Join(filepath.Dir(claude), "outside")
	if err := os.Mkdir(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(claude, "skills", "dataviz", "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "SKILL.md"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	files := func() (n int) {
		err := filepath.WalkDir(filepath.Dir(claude), func(string, fs.DirEntry, error) error { n++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := files()
	for _, name := range []string{"../../outside", "../skills/dataviz", outside, "dataviz/../../../outside", "dataviz/", "./dataviz",
		"dataviz\x00", "\x00", "..", ".", "/", `..\outside`, "../../outside@v0", "dataviz\n"} {
		for _, args := range [][]string{
			{"promote", name, "--unproven", "--force"}, {"rollback", name}, {"diff", name}, {"log", name},
			{"--skill", name, "--agent", "simulated", "--no-harvest", "--yes"},
		} {
			code, out, errs := runHere(t, home, append(args, "--claude-home", claude)...)
			if code != exitUsage && code != exitFailed {
				t.Errorf("evolve %q: exit %d\n%s%s", args, code, out, errs)
			}
		}
	}
	if now, err := os.ReadFile(filepath.Join(outside, "SKILL.md")); err != nil || string(now) != string(text) {
		t.Errorf("the skill outside changed: %v", err)
	}
	if n := files(); n != before {
		t.Errorf("%d files and folders, %d before", n, before)
	}
	if made, _ := filepath.Glob(filepath.Join(home, "staged", "*")); len(made) > 0 {
		t.Errorf("staged %v", made)
	}
}
