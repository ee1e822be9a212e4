//go:build unix

package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// With installPath set, the test binary is an installer that can be killed,
// traced, or run on a full disk.
const (
	installPath = "EVOLVE_TEST_INSTALL"
	installDie  = "EVOLVE_TEST_DIE_AT"
	installSize = "EVOLVE_TEST_SIZE" // of the new text, in bytes
)

var steps = []step{resolved, locked, compared, created, halfway, complete, checked, renamed, synced}

func TestMain(m *testing.M) {
	if path := os.Getenv(installPath); path != "" {
		os.Exit(installer(path))
	}
	if dir := os.Getenv(plantDir); dir != "" {
		os.Exit(planter(dir))
	}
	os.Exit(m.Run())
}

// installer replaces "old" by a text, and kills itself at the given point.
func installer(path string) int {
	size := 0
	fmt.Sscan(os.Getenv(installSize), &size)
	err := install(path, skill.HashText([]byte("old")), newText(size), func(now step) {
		if string(now) == os.Getenv(installDie) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func newText(size int) []byte { return append([]byte("new"), bytes.Repeat([]byte("x"), size)...) }

func installerProcess(t *testing.T, path string, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe)
	c.Env = append(append(os.Environ(), installPath+"="+path), env...)
	return c
}

// TestInstallKilledAtEveryStep: the live file is the old text or the new one,
// whole, and the next installer is not disturbed and cleans up.
func TestInstallKilledAtEveryStep(t *testing.T) {
	reached := 0
	for _, s := range steps {
		path := live(t, "old", 0o644)
		err := installerProcess(t, path, installDie+"="+string(s), installSize+"=9000").Run()
		var died *exec.ExitError
		if !errors.As(err, &died) || died.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("%s: the installer ended with %v and was to be killed", s, err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := "old"
		if s == renamed || s == synced {
			want = string(newText(9000))
			reached++
		}
		if string(got) != want {
			t.Errorf("killed at %s: the live file holds %d bytes beginning with %.10q", s, len(got), got)
		}
		if err := Install(path, skill.HashText(got), []byte("next")); err != nil {
			t.Errorf("after a kill at %s: %v", s, err)
		}
		holds(t, path, "next")
	}
	if reached != 2 {
		t.Errorf("%d kills came after the rename, want 2", reached)
	}
}

// TestInstallFolderReplaced: another folder, or a symlink to one, that takes the
// place of the skill's folder at any step is not written to.
func TestInstallFolderReplaced(t *testing.T) {
	for _, how := range []string{"symlink", "folder", "gone", "parent"} {
		for _, s := range steps {
			path := live(t, "old", 0o644)
			dir := filepath.Dir(path)
			elsewhere := filepath.Dir(live(t, "old", 0o600)) // the same text: comparing it tells nothing
			aside := dir + ".aside"
			err := install(path, skill.HashText([]byte("old")), []byte("new"), func(now step) {
				if now != s {
					return
				}
				var err error
				switch how {
				case "symlink":
					err = errors.Join(os.Rename(dir, aside), os.Symlink(elsewhere, dir))
				case "folder":
					err = errors.Join(os.Rename(dir, aside), os.Rename(elsewhere, dir))
				case "gone":
					err = os.Rename(dir, aside)
				case "parent": // of the skills, by a symlink to another one
					up := filepath.Dir(dir)
					aside = filepath.Join(up+".aside", filepath.Base(dir))
					err = errors.Join(os.Rename(up, up+".aside"), os.Symlink(filepath.Dir(elsewhere), up))
				}
				if err != nil {
					t.Fatal(err)
				}
			})
			name := how + " at " + string(s)
			if err == nil || !errors.Is(err, fs.ErrNotExist) && !strings.Contains(err.Error(), "replaced") && !strings.Contains(err.Error(), "leads to") {
				t.Errorf("%s: error %v", name, err)
			}
			other := elsewhere
			if how == "folder" {
				other = dir
			}
			if how != "gone" {
				holds(t, filepath.Join(other, skill.FileName), "old")
			}
			want := "old"
			if s == checked || s == renamed || s == synced {
				want = "new" // put into the folder that was there, and said so
			}
			holds(t, filepath.Join(aside, skill.FileName), want)
		}
	}
}

// TestInstallFileTurnedIntoLink: the file is replaced by a symlink to a file
// outside with the expected text. What is outside stays.
func TestInstallFileTurnedIntoLink(t *testing.T) {
	for _, s := range []step{resolved, locked, compared, complete} {
		path, outside := live(t, "old", 0o644), live(t, "old", 0o644)
		err := install(path, skill.HashText([]byte("old")), []byte("new"), func(now step) {
			if now == s {
				if err := errors.Join(os.Remove(path), os.Symlink(outside, path)); err != nil {
					t.Fatal(err)
				}
			}
		})
		if err == nil {
			t.Errorf("at %s: installed through a symlink that came later", s)
		}
		holds(t, outside, "old")
		holds(t, path, "old")
	}
}

// TestInstallPathTurnedIntoLink: a symlink in a path that had none was put there
// since.
func TestInstallPathTurnedIntoLink(t *testing.T) {
	path, other := live(t, "old", 0o644), live(t, "old", 0o644)
	if err := Install(path, skill.HashText([]byte("old")), []byte("new")); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new")
	dir := filepath.Dir(path)
	if err := errors.Join(os.Rename(dir, dir+".aside"), os.Symlink(filepath.Dir(other), dir)); err != nil {
		t.Fatal(err)
	}
	err := Install(path, skill.HashText([]byte("old")), []byte("new"))
	if err == nil || !strings.Contains(err.Error(), "leads to") {
		t.Errorf("error %v", err)
	}
	holds(t, other, "old")
	if err := Install(filepath.Join(resolvedDir(t), skill.FileName), skill.HashText([]byte("old")), []byte("new")); !errors.As(err, new(*DriftError)) {
		t.Errorf("of no file: %v", err)
	}
}

func TestInstallOddPaths(t *testing.T) {
	path := live(t, "old", 0o644)
	dir := filepath.Dir(path)
	for _, odd := range []string{"", ".", "..", "/", dir, dir + "/", dir + "/..", dir + "/.", path + "\x00", dir + "/\x00/" + skill.FileName, path + "/" + skill.FileName} {
		for _, want := range []string{"", skill.HashText([]byte("old"))} {
			if err := Install(odd, want, []byte("new")); err == nil {
				t.Errorf("installed into %q", odd)
			}
		}
		holds(t, path, "old")
	}
	// A way there and back is a way.
	if err := Install(filepath.Join(dir, "x")+"/../"+skill.FileName, skill.HashText([]byte("old")), []byte("new")); err == nil {
		holds(t, path, "new") // a system that cleans paths before it looks
	} else {
		holds(t, path, "old")
	}
}

// TestInstallTwoProcesses: of installers in processes of their own one wins,
// and the others get an error.
func TestInstallTwoProcesses(t *testing.T) {
	path := live(t, "old", 0o644)
	var all []*exec.Cmd
	var errs []*bytes.Buffer
	for i := range 4 {
		c, b := installerProcess(t, path, fmt.Sprintf("%s=%d", installSize, 1000+i)), &bytes.Buffer{}
		c.Stderr = b
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all, errs = append(all, c), append(errs, b)
	}
	won := -1
	for i, c := range all {
		err := c.Wait()
		switch {
		case err == nil && won >= 0:
			t.Errorf("installers %d and %d both say that they replaced the text", won, i)
		case err == nil:
			won = i
		case !strings.Contains(errs[i].String(), "the file was edited"):
			t.Errorf("installer %d: %v: %s", i, err, errs[i])
		}
	}
	if won < 0 {
		t.Fatal("no installer succeeded")
	}
	holds(t, path, string(newText(1000+won)))
}

// TestInstallKeepsOwner: only root can make the situation.
func TestInstallKeepsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("giving a file away needs root")
	}
	path := live(t, "old", 0o640)
	if err := os.Chown(path, 12345, 23456); err != nil {
		t.Skip(err)
	}
	if err := Install(path, skill.HashText([]byte("old")), []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 12345 || st.Gid != 23456 || info.Mode().Perm() != 0o640 {
		t.Errorf("owner %d:%d, mode %v", st.Uid, st.Gid, info.Mode().Perm())
	}
}

// TestInstallSyncs looks at the system calls: the new text is synced before the
// rename and the folder after it.
func TestInstallSyncs(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	path := live(t, "old", 0o644)
	c := installerProcess(t, path)
	log := filepath.Join(t.TempDir(), "calls")
	c.Args = append([]string{strace, "-f", "-y", "-o", log, "-e", "signal=none", "-e", "trace=fsync,fdatasync,renameat,renameat2,rename,write", "--"}, c.Args...)
	c.Args[len(c.Args)-1], c.Path = c.Path, strace
	if out, err := c.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "ptrace") {
			t.Skipf("strace may not trace here: %s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
	calls, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	dir := regexp.QuoteMeta(filepath.Dir(path))
	order := regexp.MustCompile(`(?s)write\(\d+<` + dir + `/\.SKILL\.md\.evolve-.*fsync\(\d+<` + dir + `/\.SKILL\.md\.evolve-[^>]*>` +
		`.*renameat2?\(.*"SKILL\.md".*fsync\(\d+<` + dir + `/?>`)
	if !order.Match(calls) {
		t.Errorf("not write, sync, rename, sync of the folder:\n%s", calls)
	}
}
