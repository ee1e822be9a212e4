package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/tournament/record"
)

func TestVersions(t *testing.T) {
	ctx := t.Context()
	s := open(t)
	s.now = func() time.Time { return day }
	text := []byte("---\r\nname: dataviz\n\x00\xff")
	v0, err := s.SaveVersion(ctx, record.Version{Skill: "dataviz", SHA: "abc1", Author: "you", Text: text})
	must(t, err)
	if v0.N != 0 || !v0.Created.Equal(day) {
		t.Errorf("first version is %+v", v0)
	}
	v1, err := s.SaveVersion(ctx, record.Version{Skill: "dataviz", SHA: "abc2", Parent: "abc1", Author: "evolve",
		Evidence: []byte(`{"e":25}`), Proven: true, Created: day.Add(time.Hour), N: 7, Text: []byte("two")})
	must(t, err)
	if v1.N != 1 {
		t.Errorf("second version has number %d", v1.N)
	}
	same, err := s.SaveVersion(ctx, record.Version{Skill: "dataviz", SHA: "abc2", Author: "you"})
	must(t, err)
	if !reflect.DeepEqual(same, v1) {
		t.Errorf("the same text again gave %+v, want %+v", same, v1)
	}
	back, err := s.SaveVersion(ctx, record.Version{Skill: "dataviz", SHA: "abc1", Text: text})
	must(t, err)
	if back.N != 2 {
		t.Errorf("an older text again has number %d, want 2", back.N)
	}
	list, err := s.Versions(ctx, "dataviz")
	must(t, err)
	if len(list) != 3 || !reflect.DeepEqual(list[0], v0) || !reflect.DeepEqual(list[1], v1) {
		t.Errorf("versions are %+v", list)
	}
	if v, err := s.Version(ctx, "dataviz", 1); err != nil || v.SHA != "abc2" {
		t.Errorf("version 1: %+v, %v", v, err)
	}
	if _, err := s.Version(ctx, "dataviz", 9); !errors.Is(err, ErrNotFound) {
		t.Errorf("version 9: %v", err)
	}
	if v, err := s.VersionBySHA(ctx, "dataviz", "abc1"); err != nil || v.N != 2 {
		t.Errorf("by sha: %+v, %v; want the newest", v, err)
	}
	var ambiguous *AmbiguousError
	if _, err := s.VersionBySHA(ctx, "dataviz", "abc"); !errors.As(err, &ambiguous) || len(ambiguous.Matches) != 2 {
		t.Errorf("by a short sha: %v", err)
	}
	if _, err := s.VersionBySHA(ctx, "review", "abc1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("another skill's version: %v", err)
	}
}

// TestVersionNumbers: two handles that save at once never give a number twice.
func TestVersionNumbers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evolve.db")
	var wg sync.WaitGroup
	const handles, each = 2, 40
	for h := range handles {
		s := openAt(t, path)
		wg.Go(func() {
			for i := range each {
				if _, err := s.SaveVersion(t.Context(), record.Version{Skill: "x", SHA: fmt.Sprint(h, i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	list, err := openAt(t, path).Versions(t.Context(), "x")
	must(t, err)
	if len(list) != handles*each || list[len(list)-1].N != handles*each-1 {
		t.Errorf("%d versions, the last is v%d", len(list), list[len(list)-1].N)
	}
}

func TestInstall(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "evolve.db")
	s := openAt(t, path)
	s.now = func() time.Time { return day }
	const live = "/home/u/.claude/skills/dataviz/SKILL.md"
	must(t, s.SetInstalled(ctx, "dataviz", live, "old"))
	in := Install{Skill: "dataviz", Path: live, From: "old", To: "new", Note: "proven"}
	id, err := s.BeginInstall(ctx, in)
	must(t, err)
	if sha, err := s.Installed(ctx, "dataviz", live); sha != "old" || err != nil {
		t.Errorf("begun, installed is %q, %v", sha, err)
	}
	var pending *PendingError
	if _, err := s.BeginInstall(ctx, in); !errors.As(err, &pending) || pending.Install.ID != id {
		t.Errorf("a second install into the path: %v", err)
	}
	must(t, s.Close()) // the crash

	s = openAt(t, path)
	list, err := s.PendingInstalls(ctx)
	must(t, err)
	in.ID, in.Begun = id, day.Truncate(time.Microsecond)
	if len(list) != 1 || list[0] != in {
		t.Fatalf("pending are %+v, want %+v", list, in)
	}
	if happened, err := s.SettleInstall(ctx, list[0], "old"); happened || err != nil {
		t.Errorf("settled against the old file: %v, %v", happened, err)
	}
	if sha, err := s.Installed(ctx, "dataviz", live); sha != "old" || err != nil {
		t.Errorf("abandoned, installed is %q, %v", sha, err)
	}
	if err := s.FinishInstall(ctx, id); !errors.Is(err, ErrNotFound) {
		t.Errorf("finished an abandoned install: %v", err)
	}

	id, err = s.BeginInstall(ctx, in)
	must(t, err)
	in.ID = id
	if happened, err := s.SettleInstall(ctx, in, "new"); !happened || err != nil {
		t.Errorf("settled against the new file: %v, %v", happened, err)
	}
	must(t, s.FinishInstall(ctx, id))
	if sha, err := s.Installed(ctx, "dataviz", live); sha != "new" || err != nil {
		t.Errorf("finished, installed is %q, %v", sha, err)
	}
	if sha, err := s.Installed(ctx, "dataviz", "/elsewhere"); sha != "" || err != nil {
		t.Errorf("at another path: %q, %v", sha, err)
	}
	if list, err := s.PendingInstalls(ctx); len(list) != 0 || err != nil {
		t.Errorf("still pending: %v, %v", list, err)
	}
	if list, err := s.Installs(ctx, "dataviz"); err != nil || len(list) != 2 || list[0].Outcome != installed || list[1].Outcome != abandoned {
		t.Errorf("history is %+v, %v", list, err)
	}
	if err := s.FinishInstall(ctx, 99); !errors.Is(err, ErrNotFound) {
		t.Errorf("finished an unknown install: %v", err)
	}
}

func TestKernels(t *testing.T) {
	s := open(t)
	if _, ok, err := s.KernelConfirmed(t.Context(), "dataviz", "k"); ok || err != nil {
		t.Errorf("unknown kernel: %v, %v", ok, err)
	}
	must(t, s.ConfirmKernel(t.Context(), "dataviz", "k", day))
	must(t, s.ConfirmKernel(t.Context(), "dataviz", "k", day.Add(time.Hour)))
	at, ok, err := s.KernelConfirmed(t.Context(), "dataviz", "k")
	if !ok || err != nil || !at.Equal(day.Truncate(time.Microsecond)) {
		t.Errorf("confirmed %v at %v, %v", ok, at, err)
	}
	if _, ok, _ := s.KernelConfirmed(t.Context(), "review", "k"); ok {
		t.Error("another skill's kernel counts as confirmed")
	}
}

// TestPlaceKeepsItsTime: looking at a place again does not make what is there newer.
func TestPlaceKeepsItsTime(t *testing.T) {
	s, ctx := open(t), t.Context()
	at := func(d time.Time) {
		t.Helper()
		if got, err := s.Places(ctx, "dataviz"); err != nil || len(got) != 1 || !got[0].At.Equal(d) {
			t.Errorf("%+v, %v; want one place since %v", got, err, d)
		}
	}
	s.now = func() time.Time { return day }
	must(t, s.SetInstalled(ctx, "dataviz", "/p", "aa"))
	s.now = func() time.Time { return day.Add(time.Hour) }
	must(t, s.SetInstalled(ctx, "dataviz", "/p", "aa"))
	at(day)
	must(t, s.SetInstalled(ctx, "dataviz", "/p", "bb"))
	at(day.Add(time.Hour))
}

// TestBeginVersion: a version and the installs that put it in place are written down
// together, or neither is.
func TestBeginVersion(t *testing.T) {
	ctx := t.Context()
	s := open(t)
	to := func(path string) Intent {
		return Intent{Install: Install{Skill: "dataviz", Path: path, From: "abc0", To: "abc1", Op: OpPromote}}
	}
	v := record.Version{Skill: "dataviz", SHA: "abc1", Author: "evolve", Text: []byte("one")}
	if n, err := s.NextVersion(ctx, "dataviz", "abc1"); err != nil || n != 0 {
		t.Errorf("it would be v%d, %v", n, err)
	}
	if _, err := s.BeginInstall(ctx, to("/b").Install); err != nil {
		t.Fatal(err)
	}
	var pending *PendingError
	if _, _, err := s.BeginVersion(ctx, v, []Intent{to("/a"), to("/b")}); !errors.As(err, &pending) {
		t.Errorf("an install into a path that one is pending for: %v", err)
	}
	if all, err := s.Versions(ctx, "dataviz"); err != nil || len(all) > 0 {
		t.Errorf("left %+v, %v", all, err)
	}
	if open, err := s.PendingInstalls(ctx); err != nil || len(open) != 1 {
		t.Errorf("pending are %+v, %v", open, err)
	}
	kept, ids, err := s.BeginVersion(ctx, v, []Intent{to("/a"), to("/c")})
	if err != nil || kept.N != 0 || len(ids) != 2 {
		t.Fatalf("v%d, %v, %v", kept.N, ids, err)
	}
	all, err := s.Installs(ctx, "dataviz")
	must(t, err)
	if len(all) != 3 || kept.Created.After(all[0].Begun) {
		t.Errorf("made at %v, installs %+v", kept.Created, all)
	}
	if again, _, err := s.BeginVersion(ctx, v, nil); err != nil || again.N != 0 {
		t.Errorf("the same text again is v%d, %v", again.N, err)
	}
	if n, err := s.NextVersion(ctx, "dataviz", "abc2"); err != nil || n != 1 {
		t.Errorf("another text would be v%d, %v", n, err)
	}
}
