package store

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store/sqlite"
)

// With childPath set, the test binary is a writer of TestKill or
// TestTwoProcesses.
const (
	childPath  = "EVOLVE_TEST_STORE"
	childName  = "EVOLVE_TEST_WRITER"
	childCount = "EVOLVE_TEST_COUNT"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		var count int
		fmt.Sscan(os.Getenv(childCount), &count)
		does := func() error { return writeRollouts(path, os.Getenv(childName), count) }
		if count < 0 {
			does = func() error { return printRollouts(path, os.Getenv(childName)) }
		}
		if err := does(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if sqlite.DriverMissing() != nil {
		// Without cgo only one thing can be tested: the error of Open.
		flag.Parse()
		if err := flag.Set("test.run", "^TestWithoutCgo$"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// writeRollouts saves rollouts from several goroutines and prints each key
// after its save was acknowledged; count 0 is until it is killed.
func writeRollouts(path, name string, count int) error {
	s, err := Open(context.Background(), path)
	if err != nil {
		return err
	}
	j := s.Journal(name)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for w := range 4 {
		wg.Go(func() {
			for i := 0; count == 0 || i < count; i++ {
				r := rollout(fmt.Sprintf("%s-%d-%d", name, w, i))
				r.Answer = strings.Repeat("x", i%9000) // overflow pages now and then
				err := j.SaveRollout(context.Background(), r)
				mu.Lock()
				if err != nil {
					errs = append(errs, err)
				} else {
					fmt.Println(r.Key)
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, s.Close())...)
}

// printRollouts prints the keys that a command which only looks sees.
func printRollouts(path, name string) error {
	s, err := OpenReadOnly(context.Background(), path)
	if err != nil {
		return err
	}
	rs, err := s.Rollouts(context.Background(), RolloutFilter{Run: name})
	for _, r := range rs {
		fmt.Println(r.Key)
	}
	return errors.Join(err, s.Close())
}

func child(t *testing.T, path, name string, count int) *exec.Cmd {
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childPath+"="+path, childName+"="+name, fmt.Sprintf("%s=%d", childCount, count))
	cmd.Stderr = os.Stderr
	return cmd
}

// TestKill: a writer that is killed at any instant loses nothing that it has
// acknowledged, and leaves a whole database.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evolve.db")
	acknowledged := map[string]bool{}
	for round := range 6 {
		cmd := child(t, path, fmt.Sprintf("run%d", round), 0)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			acknowledged[lines.Text()] = true
			if n == 100+37*round {
				must(t, cmd.Process.Kill())
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the writer ended by itself")
		}

		s, err := Open(t.Context(), path)
		must(t, err)
		var verdict string
		must(t, readerOf(t, s).QueryRow("PRAGMA integrity_check").Scan(&verdict))
		if verdict != "ok" {
			t.Fatalf("round %d: %s", round, verdict)
		}
		all, err := s.Rollouts(t.Context(), RolloutFilter{})
		must(t, err)
		kept := map[string]bool{}
		for _, r := range all {
			kept[r.Key] = true
		}
		for key := range acknowledged {
			if !kept[key] {
				t.Errorf("round %d: %s was acknowledged and is lost", round, key)
			}
		}
		must(t, s.Close())
	}
	if len(acknowledged) < 600 {
		t.Errorf("only %d saves were tried", len(acknowledged))
	}
}

// TestTwoProcesses: two processes and this one write into one database.
func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evolve.db")
	const each = 100
	one, two := child(t, path, "one", each), child(t, path, "two", each)
	must(t, one.Start())
	must(t, two.Start())
	s := openAt(t, path)
	for i := range each {
		must(t, s.Journal("three").SaveRollout(t.Context(), rollout(fmt.Sprint("three-", i))))
	}
	if err := errors.Join(one.Wait(), two.Wait()); err != nil {
		t.Fatal(err)
	}
	for run, want := range map[string]int{"one": 4 * each, "two": 4 * each, "three": each} {
		if rs, err := s.Rollouts(t.Context(), RolloutFilter{Run: run}); err != nil || len(rs) != want {
			t.Errorf("%d rollouts of %s, %v; want %d", len(rs), run, err, want)
		}
	}
}

// TestDiskFull: a write without room fails once, leaves nothing of itself, and older
// data stays readable; with room again, writing works.
func TestDiskFull(t *testing.T) {
	ctx := t.Context()
	s := open(t)
	must(t, s.Journal("r").SaveRollout(ctx, rollout("first")))
	limit := func(pages int) {
		must(t, s.Do(ctx, func(x *tx) error {
			var n int
			_, err := x.Row(fmt.Sprintf("PRAGMA max_page_count = %d", pages), nil, &n)
			return err
		}))
	}
	limit(1) // SQLite takes the present size, if that is more
	cases := make([]eval.Case, 200)
	for i := range cases {
		cases[i] = aCase(fmt.Sprint("case-", i))
		cases[i].Prompt = strings.Repeat("x", 10_000)
	}
	_, _, err := s.SaveCases(ctx, cases)
	var noRoom *FullError
	if !errors.As(err, &noRoom) || noRoom.Path != s.Path() || strings.Count(err.Error(), "no room") != 1 {
		t.Errorf("got %v, want one FullError", err)
	}
	if list, err := s.Cases(ctx, ""); len(list) != 0 || err != nil {
		t.Errorf("%d cases were kept, %v; want none", len(list), err)
	}
	if r, _, err := s.Journal("r").Rollout(ctx, "first"); r == nil || err != nil {
		t.Errorf("what was there: %v, %v", r, err)
	}

	// Of saves that are committed together, those that fit are kept.
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			r := rollout(fmt.Sprint("k", i))
			if i%2 == 0 {
				r.Answer = strings.Repeat("y", 1_000_000)
			}
			err := s.Journal("r").SaveRollout(ctx, r)
			var noRoom *FullError
			if err != nil && !errors.As(err, &noRoom) {
				t.Errorf("save %d: %v", i, err)
			}
			if i%2 == 0 && err == nil {
				t.Errorf("save %d of 1 MB fit into a full disk", i)
			}
			if kept, _, e := s.Journal("r").Rollout(ctx, r.Key); e != nil || (kept != nil) != (err == nil) {
				t.Errorf("save %d said %v, and kept is %v (%v)", i, err, kept != nil, e)
			}
		})
	}
	wg.Wait()
	limit(1 << 30)
	must(t, s.Journal("r").SaveRollout(ctx, rollout("after")))
	var verdict string
	must(t, readerOf(t, s).QueryRow("PRAGMA integrity_check").Scan(&verdict))
	if verdict != "ok" {
		t.Error(verdict)
	}
}
