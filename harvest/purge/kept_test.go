package purge

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skill-evolve/evolve/store/datadir"
)

// TestLinkedHookState: what a link among the hooks' folders leads to is not removed.
func TestLinkedHookState(t *testing.T) {
	home, outside := datadir.Dir(t.TempDir()), t.TempDir()
	work, link, kept := filepath.Join(outside, "work"), filepath.Join(home.HookState(), "link"), filepath.Join(home.HookState(), "guard", "value-k.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(kept), 0o700), os.WriteFile(kept, nil, 0o600), os.WriteFile(work, nil, 0o600), os.Symlink(outside, link)); err != nil {
		t.Fatal(err)
	}
	paths := keptByHooks(home)
	if !slices.Equal(paths, []string{kept, link}) {
		t.Errorf("%q", paths)
	}
	if err := new(sweep).all(paths); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(work); err != nil {
		t.Error(err)
	}
	if left := inside(home.HookState(), "*"); len(left) != 1 {
		t.Errorf("%q are left", left)
	}
}
