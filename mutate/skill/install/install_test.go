package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// live writes a SKILL.md into a new folder and returns its path.
func live(t *testing.T, text string, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(resolvedDir(t), "tagger", skill.FileName)
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// resolvedDir is a new folder whose path leads through no symlink.
func resolvedDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// holds fails unless the file has the text and its folder holds nothing else.
func holds(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), want %q", path, got, err, want)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("the folder holds %v, want only %s", entries, skill.FileName)
	}
}

func TestInstallReplacesAndKeepsMode(t *testing.T) {
	path := live(t, "old", 0o640)
	if err := Install(path, skill.HashText([]byte("old")), []byte("new")); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	// The way back is the same call.
	if err := Install(path, skill.HashText([]byte("new")), []byte("old")); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "old")
}

func TestInstallRefusesDrift(t *testing.T) {
	path := live(t, "edited", 0o644)
	err := Install(path, skill.HashText([]byte("old")), []byte("new"))
	var drift *DriftError
	if !errors.As(err, &drift) || drift.Live != skill.HashText([]byte("edited")) || drift.Want != skill.HashText([]byte("old")) || drift.Path != path {
		t.Fatalf("error %#v", err)
	}
	holds(t, path, "edited")

	err = Install(path, "", []byte("new"))
	if !errors.As(err, &drift) {
		t.Fatalf("want no file: error %v", err)
	}
	holds(t, path, "edited")

	for _, gone := range []string{filepath.Join(filepath.Dir(path), "sub", skill.FileName), filepath.Join(resolvedDir(t), skill.FileName)} {
		err = Install(gone, skill.HashText([]byte("old")), []byte("new"))
		if !errors.As(err, &drift) || drift.Live != "" {
			t.Errorf("file gone: error %v", err)
		}
		if _, err := os.Stat(gone); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("something was written to %s", gone)
		}
	}
}

func TestInstallSeesAnEditWhileItWrites(t *testing.T) {
	path := live(t, "old", 0o644)
	err := install(path, skill.HashText([]byte("old")), []byte("new"), func(now step) {
		if now != complete {
			return
		}
		if err := os.WriteFile(path, []byte("edited"), 0o644); err != nil {
			t.Fatal(err)
		}
	})
	var drift *DriftError
	if !errors.As(err, &drift) {
		t.Fatalf("error %v", err)
	}
	holds(t, path, "edited")
}

func TestInstallSameTextIsSuccess(t *testing.T) {
	path := live(t, "new", 0o444)
	before, _ := os.Stat(path)
	if err := Install(path, skill.HashText([]byte("old")), []byte("new")); err != nil {
		t.Fatal(err)
	}
	after, _ := os.Stat(path)
	if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Error("the file was written again")
	}
}

// Whoever asks for a change has resolved the path: a symlink in it is new.
func TestInstallRefusesSymlinks(t *testing.T) {
	target, home := live(t, "old", 0o644), resolvedDir(t)
	for name, to := range map[string]string{skill.FileName: target, "tagger": filepath.Dir(target), "dangling": filepath.Join(home, "nowhere")} {
		link := filepath.Join(home, name)
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
		if name == "tagger" {
			link = filepath.Join(link, skill.FileName)
		}
		if err := Install(link, skill.HashText([]byte("old")), []byte("new")); err == nil || !strings.Contains(err.Error(), "leads to") && name != "dangling" {
			t.Errorf("%s: error %v", name, err)
		}
	}
	holds(t, target, "old")
}

func TestInstallCleansUpAfterACrash(t *testing.T) {
	path := live(t, "old", 0o644)
	// The installer dies with its temporary file complete: the old text is live.
	func() {
		defer func() { _ = recover() }()
		_ = install(path, skill.HashText([]byte("old")), []byte("half"), func(now step) {
			if now == complete {
				panic("power cut")
			}
		})
	}()
	stale := filepath.Join(filepath.Dir(path), tempPrefix+"12345")
	if err := os.WriteFile(stale, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Fatalf("after the crash the file holds %q", got)
	}
	if err := Install(path, skill.HashText([]byte("old")), []byte("new")); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new")
}

func TestInstallReadOnlyFolder(t *testing.T) {
	path := live(t, "old", 0o644)
	dir := filepath.Dir(path)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o755) })
	if os.Geteuid() == 0 {
		t.Skip("root writes into read-only folders")
	}
	err := Install(path, skill.HashText([]byte("old")), []byte("new"))
	var drift *DriftError
	if !errors.Is(err, fs.ErrPermission) || errors.As(err, &drift) || !strings.HasPrefix(err.Error(), "install "+path) {
		t.Errorf("error %v", err)
	}
	holds(t, path, "old")
}

func TestInstallRefusesWhatIsNoFile(t *testing.T) {
	path := filepath.Join(resolvedDir(t), skill.FileName)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Install(path, skill.HashText([]byte("old")), []byte("x")); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("error %v", err)
	}
}

func TestConcurrentInstallersExcludeEachOther(t *testing.T) {
	path := live(t, "old", 0o644)
	const n = 8
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			errs[i] = Install(path, skill.HashText([]byte("old")), fmt.Appendf(nil, "new %d", i))
		})
	}
	wg.Wait()
	won := -1
	for i, err := range errs {
		var drift *DriftError
		switch {
		case err == nil && won >= 0:
			t.Errorf("installers %d and %d both say that they replaced the old text", won, i)
		case err == nil:
			won = i
		case !errors.As(err, &drift):
			t.Errorf("installer %d: %v", i, err)
		}
	}
	if won < 0 {
		t.Fatal("no installer succeeded")
	}
	holds(t, path, fmt.Sprintf("new %d", won))
}
