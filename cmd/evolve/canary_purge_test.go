package main

import (
	"bytes"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A purge cannot empty the log while another process reads it: it fails with
// that message, and the same command finishes later. Then no byte of the
// session is in the database, its log, its index of the log, or anywhere.
func TestPurgeWhileSomebodyReads(t *testing.T) {
	t.Parallel()
	claude, home, temp := plant(t), t.TempDir(), t.TempDir()
	allowEverything(t, home)
	evolve := func(args ...string) (int, string) {
		t.Helper()
		c := exec.Command(os.Args[0], append(args, "--claude-home", claude)...)
		c.Env = []string{"EVOLVE_TEST_AS_MAIN=1", "EVOLVE_HOME=" + home, "HOME=" + home, "TMPDIR=" + temp, "PATH=" + os.Getenv("PATH")}
		var both bytes.Buffer
		c.Stdout, c.Stderr = &both, &both
		_ = c.Run()
		return c.ProcessState.ExitCode(), both.String()
	}
	if code, said := evolve("harvest"); code != exitDone {
		t.Fatalf("exit %d: %s", code, said)
	}
	words := planted("a")
	if where := bytesUnder(t, home, words); len(where) == 0 {
		t.Fatal("nothing of the session is stored: this test shows nothing")
	}
	// The reader keeps the moment before the purge.
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(home, "evolve.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM sessions").Scan(&n); err != nil || n == 0 {
		t.Fatalf("%d sessions, %v", n, err)
	}
	code, said := evolve("sessions", "purge", canaries["a"], "--yes")
	if code != exitFailed || !strings.Contains(said, "removed, but not yet overwritten") || !strings.Contains(said, "another process is using the database") {
		t.Errorf("exit %d: %s", code, said)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	// Its connection stays open, so that log and index stay, too.
	if code, said := evolve("sessions", "purge", canaries["a"], "--yes"); code != exitDone {
		t.Fatalf("exit %d: %s", code, said)
	}
	for _, root := range []string{home, temp} {
		if where := bytesUnder(t, root, words); len(where) > 0 {
			t.Errorf("after the purge: %v", where)
		}
	}
}
