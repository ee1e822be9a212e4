package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// generation puts the skill's folder somewhere else, as home-manager does: a copy with
// another text, and the symlink leads to it.
func (r *roaming) generation(name string, text []byte) {
	r.t.Helper()
	link, dir := filepath.Dir(r.path("claude")), filepath.Join(r.home, name)
	err := os.CopyFS(dir, os.DirFS(link))
	if err == nil {
		err = errors.Join(os.RemoveAll(link), os.Symlink(dir, link), os.WriteFile(filepath.Join(dir, skill.FileName), text, 0o600))
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// TestSkillWhosePathLeadsElsewhere: an edit that comes with another folder behind the
// same symlink is an edit of what was live last, not of what was rolled back; what
// waits stays on trial with it, and a rollback goes back to what was live.
func TestSkillWhosePathLeadsElsewhere(t *testing.T) {
	for name, forget := range map[string]bool{"known": false, "of a database that knew no homes": true} {
		t.Run(name, func(t *testing.T) {
			r := newRoaming(t)
			ctx := t.Context()
			look := func() {
				t.Helper()
				if forget {
					if err := r.db.SetHome(ctx, "tagger", r.path("claude"), r.live().Path+" of nobody", ""); err != nil {
						t.Fatal(err)
					}
				}
				if err := installerOf(r.a, r.db).Record(ctx, r.live()); err != nil {
					t.Fatal(err)
				}
			}
			r.generation("gen1", r.v0)
			look()
			r.proved(r.v1, r.v0)
			if err := errors.Join(r.promote(""), rollbackLive(ctx, r.a, "tagger")); err != nil {
				t.Fatal(err)
			}
			waits := r.proved(bytes.Replace(r.v0, []byte("Tag them."), []byte("Tag them, briefly."), 1), r.v0)
			edited := bytes.Replace(r.v0, []byte("Tags notes."), []byte("Tags all notes."), 1)
			r.generation("gen2", edited)
			look()
			v, err := r.db.VersionBySHA(ctx, "tagger", skill.HashText(edited))
			if err != nil || v.Parent != skill.HashText(r.v0) || v.Note != "edited by hand" {
				t.Fatalf("the edit: %+v, %v; want it made from v0", v, err)
			}
			if on, _, err := installerOf(r.a, r.db).WaitingTrial(ctx, r.live()); err != nil || on == nil || !strings.HasPrefix(on.Challenger, waits) {
				t.Errorf("on trial: %+v, %v; want %s", on, err, waits)
			}
			if forget {
				return
			}
			places, err := r.db.Places(ctx, "tagger")
			if err != nil || len(places) != 1 {
				t.Errorf("it is in %+v, %v; want one place", places, err)
			}
			if err := rollbackLive(ctx, r.a, "tagger"); err != nil {
				t.Fatal(err)
			}
			r.holds("claude", r.v0)
		})
	}
}
