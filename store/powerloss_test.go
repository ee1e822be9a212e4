package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// A disk is what the files of a database hold at one moment.
type disk struct{ db, wal []byte }

func diskOf(t *testing.T, path string) (d disk) {
	t.Helper()
	read := func(name string) []byte {
		b, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return b
	}
	return disk{read(path), read(path + "-wal")}
}

const (
	sector    = 512 // bytes that a disk writes whole
	walHeader = 32  // bytes
)

// lose returns what may be left of a file after the power went while it was
// changed from old to new without a sync: of the sectors that differ each may
// have been written or not, or half (torn), and so may the new length.
func lose(rng *rand.Rand, old, new []byte, kept float64) []byte {
	out := bytes.Clone(old)
	if rng.Float64() < kept || len(new) < len(old) {
		out = append(out, make([]byte, max(0, len(new)-len(old)))...)
	}
	for at := 0; at < len(out) && at < len(new); at += sector {
		end := min(at+sector, len(out), len(new))
		if rng.Float64() < kept {
			if rng.IntN(20) == 0 { // a disk that tears even these
				end = at + rng.IntN(end-at)
			}
			copy(out[at:end], new[at:end])
		}
	}
	return out
}

// states are disks that a power loss may leave between two moments at which everything
// was synced: SQLite writes the log and syncs it; if it then moves the log's pages into
// the database, it syncs that before the log is overwritten. So the two files never
// change in one such step.
func states(rng *rand.Rand, before, after disk, n int) (out []disk) {
	for i := range n {
		kept := []float64{0, 1, .5, .9, .1}[i%5]
		if bytes.Equal(before.db, after.db) {
			from := before.wal
			if len(from) >= walHeader && !bytes.Equal(from[:walHeader], after.wal[:walHeader]) {
				// Where the log begins again, its header is synced before any frame is
				// written over an old one (sqlite.org/src/info/ff5be73dee): else old
				// frames might be taken for new ones.
				begun := slices.Concat(after.wal[:walHeader], from[walHeader:])
				out = append(out, disk{before.db, lose(rng, from, begun, kept)})
				from = begun
			}
			out = append(out, disk{before.db, lose(rng, from, after.wal, kept)})
			continue
		}
		// The log first, the database then.
		out = append(out, disk{before.db, lose(rng, before.wal, after.wal, kept)}, disk{lose(rng, before.db, after.db, kept), after.wal})
	}
	return out
}

// TestPowerLoss saves rollouts one by one and keeps what the files hold after
// each. From every such moment to the next, it makes up what a power loss may
// leave, and opens it: the database is whole, every rollout that was
// acknowledged is there as it was saved, and the one that was not is there whole
// or not at all.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	moments, each := 27, 1
	if os.Getenv("EVOLVE_LONG") == "1" {
		moments, each = 200, 20
	}
	for _, from := range []string{"new", "old schema"} {
		path := filepath.Join(t.TempDir(), "evolve.db")
		if from == "old schema" {
			path = unpackFixture(t, 1)
		}
		rng := rand.New(rand.NewPCG(3, uint64(len(from))))
		last := diskOf(t, path)
		s := openAt(t, path)
		tried, moved := 0, 0
		for i := range moments {
			if i > 0 {
				must(t, s.Journal("r").SaveRollout(ctx, numbered(i)))
			}
			now := diskOf(t, path)
			if !bytes.Equal(now.db, last.db) {
				moved++
			}
			if i > 0 || from == "old schema" { // a file that is being created holds nothing yet
				for _, d := range states(rng, last, now, each) {
					tried++
					survives(t, d, i)
				}
			}
			last = now
			if i%9 == 8 { // pages move into the database often, not every 4 MB
				checkpoint(t, s, "RESTART")
				after := diskOf(t, path)
				for _, d := range states(rng, last, after, each) {
					tried++
					survives(t, d, i+1)
				}
				if !bytes.Equal(after.db, last.db) {
					moved++
				}
				last = after
			}
		}
		t.Logf("%s: %d disks after a power loss opened; pages moved into the database %d times", from, tried, moved)
		if moved < 3 {
			t.Errorf("the database itself was written only %d times: this test shows nothing", moved)
		}
	}
}

func numbered(i int) *eval.Rollout {
	r := rollout(fmt.Sprint("k", i))
	r.Answer = strings.Repeat(fmt.Sprint(i, " "), 97*(i%40))
	return r
}

// survives opens a disk on which rollouts 1 to next-1 were acknowledged.
func survives(t *testing.T, d disk, next int) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	must(t, err)
	path := filepath.Join(dir, "evolve.db")
	must(t, os.WriteFile(path, d.db, 0o600))
	must(t, os.WriteFile(path+"-wal", d.wal, 0o600))
	s, err := Open(context.Background(), path) // looks at every page
	if err != nil {
		t.Fatalf("before rollout %d: %v", next, err)
	}
	defer s.Close()
	for i := 1; i <= next; i++ {
		want := numbered(i)
		got, _, err := s.Journal("r").Rollout(t.Context(), want.Key)
		switch {
		case err != nil:
			t.Fatalf("before rollout %d: %v", next, err)
		case got == nil && i < next:
			t.Fatalf("rollout %d was acknowledged and is lost", i)
		case got != nil && got.Answer != want.Answer:
			t.Fatalf("rollout %d is there by half", i)
		}
	}
	must(t, s.Journal("r").SaveRollout(t.Context(), rollout("after")))
	must(t, os.RemoveAll(dir))
}

// TestSyncsBeforeItAcknowledges looks at the system calls: between the last
// write to the log and the acknowledgement on stdout, the log is synced.
func TestSyncsBeforeItAcknowledges(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	path := filepath.Join(t.TempDir(), "evolve.db")
	c := child(t, path, "run", 3)
	log := filepath.Join(t.TempDir(), "calls")
	c.Args = append([]string{strace, "-f", "-y", "-o", log, "-e", "signal=none", "-e", "trace=write,pwrite64,fsync,fdatasync", "--"}, c.Path)
	c.Path, c.Stderr = strace, nil
	if out, err := c.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "ptrace") {
			t.Skipf("strace may not trace here: %s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
	calls, err := os.ReadFile(log)
	must(t, err)
	wrote := regexp.MustCompile(`pwrite64\(\d+<[^>]*evolve\.db-wal>`)
	synced := regexp.MustCompile(`(fsync|fdatasync)\(\d+<[^>]*evolve\.db-wal>`)
	acknowledged := regexp.MustCompile(`write\(1<.*"run-\d+-\d+`)
	unsynced, n := false, 0
	for line := range strings.Lines(string(calls)) {
		switch {
		case wrote.MatchString(line):
			unsynced = true
		case synced.MatchString(line):
			unsynced = false
		case acknowledged.MatchString(line):
			n++
		}
	}
	if n != 12 || unsynced {
		t.Errorf("%d acknowledgements, the log unsynced at the end: %v", n, unsynced)
	}
	if first, ack := synced.FindIndex(calls), acknowledged.FindIndex(calls); first == nil || ack == nil || first[0] > ack[0] {
		t.Error("a rollout was acknowledged before the log was synced")
	}
}
