package hook

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/hook/kit"
	"github.com/skill-evolve/evolve/store/datadir"
)

func numbered(i int) Record {
	return Record{Key: fmt.Sprintf("s|%d|start", i), Phase: Started, Session: "s", Event: harvest.Event{ID: fmt.Sprint(i)}}
}

// TestAppend: concurrent writers lose nothing, and a repeated record is written once.
func TestAppend(t *testing.T) {
	home := t.TempDir()
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			if _, err := Append(home, numbered(i/2)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	text := must(os.ReadFile(filepath.Join(home, BusFile)))
	if n := strings.Count(string(text), "\n"); n != 100 {
		t.Errorf("%d lines, want 100", n)
	}
	if rs, broken, err := Read(home); len(rs) != 100 || broken != 0 || err != nil {
		t.Errorf("%d records, %d broken, %v", len(rs), broken, err)
	}
	if info := must(os.Stat(filepath.Join(home, BusFile))); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// TestCutLine: an incomplete line by a killed hook is ignored, and damages no other
// line.
func TestCutLine(t *testing.T) {
	home := t.TempDir()
	if rs, broken, err := Read(home); len(rs) != 0 || broken != 0 || err != nil {
		t.Errorf("no bus: %d records, %d broken, %v", len(rs), broken, err)
	}
	for i := range 3 {
		if _, err := Append(home, numbered(i)); err != nil {
			t.Fatal(err)
		}
	}
	bus := filepath.Join(home, BusFile)
	whole := must(os.ReadFile(bus))
	for cut := range len(whole) {
		if err := os.WriteFile(bus, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		before, _, err := Read(home)
		if err != nil {
			t.Fatal(err)
		}
		if added, err := Append(home, numbered(9)); err != nil || added != 1 {
			t.Fatalf("cut at %d: added %d, %v", cut, added, err)
		}
		rs, broken, err := Read(home)
		if err != nil || len(rs) != len(before)+1 || rs[len(rs)-1].Event.ID != "9" || broken > 1 {
			t.Fatalf("cut at %d: %d records after %d, %d broken, %v", cut, len(rs), len(before), broken, err)
		}
	}
	// What is no record, or one of a later version, is passed over.
	more := "{}\n\n  \n" + `{"v":2,"key":"later"}` + "\n" + strings.Repeat("x", maxLine+10) + "\n" + string(whole) + string(whole)
	if err := os.WriteFile(bus, []byte(more), 0o600); err != nil {
		t.Fatal(err)
	}
	if rs, broken, err := Read(home); err != nil || len(rs) != 3 || broken != 3 {
		t.Errorf("%d records, %d broken, %v", len(rs), broken, err)
	}
}

// TestHeldLock: a lock that is never released costs a moment and no record.
func TestHeldLock(t *testing.T) {
	home := t.TempDir()
	l := flock.New(filepath.Join(home, BusFile+".lock"))
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer l.Close()
	synctest.Test(t, func(t *testing.T) {
		from := time.Now()
		if added, err := Append(home, numbered(1)); added != 1 || err != nil {
			t.Errorf("added %d, %v", added, err)
		}
		if took := time.Since(from); took < kit.LockWait || took > 2*kit.LockWait {
			t.Errorf("it waited %v", took)
		}
	})
}

// TestState: another process sees the old file or the new one, never half of one.
func TestState(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "queue", "x.json")
	long := strings.Repeat("x", 100_000)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 200 {
			if err := writeState(path, Finished{Schema: 1, Session: fmt.Sprint(i), CWD: long}); err != nil {
				t.Error(err)
			}
		}
		close(stop)
	})
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if f, err := readFinished(path); !errors.Is(err, os.ErrNotExist) && (err != nil || f.CWD != long) {
					t.Errorf("%+v, %v", f.Session, err)
					return
				}
			}
		}
	})
	wg.Wait()
	outside, state := t.TempDir(), datadir.Dir(dir).HookState()
	if err := errors.Join(os.MkdirAll(filepath.Join(state, "guard"), 0o700), os.Symlink(outside, filepath.Join(state, "link"))); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(outside, kit.TempPrefix+"1")
	left := []string{filepath.Join(dir, "queue", kit.TempPrefix+"1"), filepath.Join(state, "guard", kit.TempPrefix+"1")}
	for _, path := range append(left, kept) {
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, noon, noon)); err != nil {
			t.Fatal(err)
		}
	}
	if err := Harvested(dir, noon.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("what a killed hook left is still there: %v", err)
		}
	}
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("what a link leads to is gone: %v", err)
	}
}

// TestNoted: what a person's hook notes is on the same bus, is no use of a skill, and its
// words go with those of its session.
func TestNoted(t *testing.T) {
	home := t.TempDir()
	e, err := kit.Parse([]byte(`{"session_id":"s","hook_event_name":"PreToolUse","tool_use_id":"t"}`))
	if err != nil {
		t.Fatal(err)
	}
	h := &kit.Hook{Home: home, Name: "guard", Event: e, Now: func() time.Time { return noon }}
	if added, err := h.Note(map[string]string{"stopped": "git push"}); !added || err != nil {
		t.Fatal(added, err)
	}
	if _, err := Append(home, numbered(1)); err != nil {
		t.Fatal(err)
	}
	rs, broken, err := Read(home)
	if err != nil || len(rs) != 2 || broken != 0 {
		t.Fatalf("%d records, %d broken, %v", len(rs), broken, err)
	}
	r := rs[0]
	if r.OfUse() || r.Phase != Noted || r.Session != "s" || r.Hook != "guard" || r.On != "PreToolUse" || r.Note["stopped"] != "git push" || !harvest.When(r.Event.Timestamp).Equal(noon) {
		t.Errorf("%+v", r)
	}
	if ids := Join(rs[:1]).Sessions(); len(ids) != 0 {
		t.Errorf("uses in %v", ids)
	}
	if err := Forget(home, func(session string, _ time.Time) bool { return session == "s" }); err != nil {
		t.Fatal(err)
	}
	if rs, _, err := Read(home); err != nil || len(rs) != 2 || rs[0].Hook != "guard" || rs[0].Note != nil {
		t.Errorf("%+v, %v", rs, err)
	}
}
