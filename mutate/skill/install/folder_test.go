//go:build unix

package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// grown makes a skill with supporting files, and returns its folder.
func grown(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tagger")
	for name, mode := range map[string]fs.FileMode{skill.FileName: 0o640, "scripts/run.sh": 0o755, "references/deep/a.md": 0o444, ".git/config": 0o644} {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(name), 0o600), os.Chmod(at, mode)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(filepath.Join(dir, "references"), 0o750), os.Symlink("../scripts/run.sh", filepath.Join(dir, "references", "run"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// state lists what is below a folder: mode, name, content or target.
func state(t *testing.T, dir string) (lines []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, at)
		var text []byte
		switch {
		case info.Mode().IsRegular():
			text, err = os.ReadFile(at)
		case info.Mode()&fs.ModeSymlink != 0:
			var to string
			to, err = os.Readlink(at)
			text = []byte(to)
		}
		lines = append(lines, fmt.Sprintf("%v %s %s", info.Mode(), name, text))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestPlantCopiesAndUprootTakesBack(t *testing.T) {
	from := grown(t)
	files, err := Survey(from)
	if err != nil || len(files) != 3 {
		t.Fatalf("%+v, %v; want three files", files, err)
	}
	above := filepath.Join(t.TempDir(), "agent", "skills")
	dir := filepath.Join(above, "tagger")
	if err := Plant(dir, from, files, []byte("new")); err != nil {
		t.Fatal(err)
	}
	want := state(t, from)
	want = slices.DeleteFunc(want, func(l string) bool { return strings.Contains(l, ".git") })
	for i := range want {
		want[i] = strings.Replace(want[i], "SKILL.md SKILL.md", "SKILL.md new", 1)
	}
	if got := state(t, dir); !slices.Equal(got, want) {
		t.Errorf("the copy is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if err := Plant(dir, from, files, []byte("other")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("planted over a skill: %v", err)
	}
	// What was edited since stays, and a text that is not the one expected stops it.
	var drift *DriftError
	if _, err := Uproot(dir, skill.HashText([]byte("else")), files); !errors.As(err, &drift) {
		t.Errorf("removed an edited SKILL.md: %v", err)
	}
	if got := state(t, dir); !slices.Equal(got, want) {
		t.Errorf("a refused removal left\n%s", strings.Join(got, "\n"))
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "scripts", "run.sh"), []byte("mine"), 0o755),
		os.WriteFile(filepath.Join(dir, "notes.md"), []byte("mine"), 0o600)); err != nil {
		t.Fatal(err)
	}
	kept, err := Uproot(dir, skill.HashText([]byte("new")), files)
	if err != nil || !slices.Equal(kept, []string{"notes.md", "scripts/run.sh"}) {
		t.Errorf("kept %q, %v", kept, err)
	}
	if _, err := os.Stat(filepath.Join(dir, skill.FileName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("SKILL.md is there still: %v", err)
	}
	if err := errors.Join(os.RemoveAll(dir), Plant(dir, from, files, []byte("new"))); err != nil {
		t.Fatal(err)
	}
	if kept, err := Uproot(dir, skill.HashText([]byte("new")), files); err != nil || len(kept) > 0 || len(state(t, above)) != 1 {
		t.Errorf("an untouched copy left %q, %v, %q", kept, err, state(t, above))
	}
}

func TestSurveyRefusesWhatLeadsOut(t *testing.T) {
	for name, make := range map[string]func(dir string) error{
		"a file elsewhere":    func(d string) error { return os.Symlink("../../../../etc/passwd", filepath.Join(d, "x")) },
		"an absolute one":     func(d string) error { return os.Symlink("/etc/passwd", filepath.Join(d, "x")) },
		"a folder elsewhere":  func(d string) error { return os.Symlink("/etc", filepath.Join(d, "scripts", "x")) },
		"nothing":             func(d string) error { return os.Symlink("gone", filepath.Join(d, "x")) },
		"a pipe":              func(d string) error { return syscall.Mkfifo(filepath.Join(d, "x"), 0o600) },
		"a loop":              func(d string) error { return os.Symlink("x", filepath.Join(d, "x")) },
		"out and in by names": func(d string) error { return os.Symlink("../tagger/SKILL.md", filepath.Join(d, "x")) },
	} {
		dir := grown(t)
		if err := make(dir); err != nil {
			t.Fatal(err)
		}
		if files, err := Survey(dir); err == nil {
			t.Errorf("%s: listed %+v", name, files)
		}
	}
}

func TestPlantRefuses(t *testing.T) {
	from := grown(t)
	files, err := Survey(from)
	if err != nil {
		t.Fatal(err)
	}
	above := t.TempDir()
	for _, name := range []string{"..", ".", ".hidden", "a\x00b"} {
		if err := Plant(above+"/"+name, from, files, []byte("new")); err == nil {
			t.Errorf("planted as %q", name)
		}
	}
	// A file that changes while it is copied is not copied half old, half new.
	if err := os.WriteFile(filepath.Join(from, "scripts", "run.sh"), []byte("edited"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Plant(filepath.Join(above, "tagger"), from, files, []byte("new")); err == nil || !strings.Contains(err.Error(), "changed while") {
		t.Errorf("copied an edited file: %v", err)
	}
	// A symlink in the place is not followed.
	if err := errors.Join(os.WriteFile(filepath.Join(from, "scripts", "run.sh"), []byte("scripts/run.sh"), 0o755), os.Symlink(t.TempDir(), filepath.Join(above, "linked"))); err != nil {
		t.Fatal(err)
	}
	if err := Plant(filepath.Join(above, "linked"), from, files, []byte("new")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("planted through a symlink: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(above, ".*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// With plantDir set the test binary plants, or uproots, and dies at the given
// point.
const (
	plantDir  = "EVOLVE_TEST_PLANT"
	plantFrom = "EVOLVE_TEST_PLANT_FROM"
	plantTake = "EVOLVE_TEST_UPROOT"
)

func planter(dir string) int {
	files, err := Survey(os.Getenv(plantFrom))
	if err == nil {
		die := func(now step) {
			if string(now) == os.Getenv(installDie) {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		}
		if os.Getenv(plantTake) != "" {
			_, err = uproot(dir, skill.HashText([]byte("new")), files, die)
		} else {
			err = plant(dir, os.Getenv(plantFrom), files, []byte("new"), die)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestPlantKilledAtEveryStep: the skill is there whole or not at all, and the next
// one finishes and leaves nothing of the first.
func TestPlantKilledAtEveryStep(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from := grown(t)
	files, err := Survey(from)
	if err != nil {
		t.Fatal(err)
	}
	reached := map[bool]int{}
	for _, take := range []bool{false, true} {
		for _, s := range steps {
			above := t.TempDir()
			dir := filepath.Join(above, "tagger")
			c := exec.Command(exe)
			c.Env = append(os.Environ(), plantDir+"="+dir, plantFrom+"="+from, installDie+"="+string(s))
			if take {
				c.Env = append(c.Env, plantTake+"=1")
				if err := Plant(dir, from, files, []byte("new")); err != nil {
					t.Fatal(err)
				}
			}
			out, err := c.CombinedOutput()
			if err == nil {
				continue // it has no such step
			}
			if c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("%s: %v: %s", s, err, out)
			}
			reached[take]++
			text, err := os.ReadFile(filepath.Join(dir, skill.FileName))
			there := err == nil
			if there && string(text) != "new" || !there && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("killed at %s: %q, %v", s, text, err)
			}
			if !take && there && len(state(t, dir)) != 8 {
				t.Errorf("killed at %s: half a copy: %q", s, state(t, dir))
			}
			if take {
				if kept, err := Uproot(dir, skill.HashText([]byte("new")), files); err != nil || len(kept) > 0 || len(state(t, above)) != 1 {
					t.Errorf("after a kill at %s: %q, %v, %q", s, kept, err, state(t, above))
				}
				continue
			}
			if err := Plant(dir, from, files, []byte("new")); err != nil && !(there && errors.Is(err, fs.ErrExist)) {
				t.Errorf("after a kill at %s: %v", s, err)
			}
			SweepPlants(above)
			if entries, _ := os.ReadDir(above); len(entries) != 1 || len(state(t, dir)) != 8 {
				t.Errorf("after a kill at %s: %v, %q", s, entries, state(t, dir))
			}
		}
	}
	if reached[false] < 8 || reached[true] < 5 {
		t.Errorf("died at %d and %d steps only", reached[false], reached[true])
	}
}
