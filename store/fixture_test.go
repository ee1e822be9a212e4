package store

import (
	"context"
	"database/sql"
	"flag"
	"reflect"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/store/sqlite"
	"github.com/skill-evolve/evolve/tournament/record"
)

var update = flag.Bool("update", false, "write the fixtures in testdata that are missing")

// fill writes one record of every kind.
func fill(t *testing.T, s *Store) {
	ctx := t.Context()
	s.now = func() time.Time { return day }
	j := s.Journal("r1")
	must(t, j.SaveRun(ctx, &record.Run{ID: "r1", Skill: "dataviz", Status: record.Interrupted, Started: day}))
	must(t, j.SaveCandidate(ctx, &record.Candidate{SHA: "aa", Run: "r1", Text: []byte("text")}))
	must(t, j.AppendEvent(ctx, record.Event{Run: "r1", Time: day, Kind: "start"}))
	must(t, j.SaveRollout(ctx, rollout("k")))
	must(t, j.SaveCompletion(ctx, "k", eval.ByJudge, &eval.Completion{Text: "reply"}))
	must(t, j.SaveTrial(ctx, &record.TrialRecord{Skill: "dataviz", Incumbent: "aa", Challenger: "bb", State: []byte(`{}`)}))
	must(t, j.SpendCase(ctx, "dataviz", "aa", "bb", "a", ""))
	save(t, s, 1, 0, aCase("a"))
	must(t, s.SaveSession(ctx, session("s1", "/a", use("u", "dataviz", harvest.Corrected, day))))
	cur, err := s.Cursor(ctx, "claude")
	must(t, err)
	cur.Mark("/a", 1, day)
	must(t, cur.Flush(ctx))
	_, err = s.SaveVersion(ctx, record.Version{Skill: "dataviz", SHA: "aa", Text: []byte("text")})
	must(t, err)
	_, err = s.BeginInstall(ctx, Install{Skill: "dataviz", Path: "/p", From: "aa", To: "bb"})
	must(t, err)
	must(t, s.SetInstalled(ctx, "dataviz", "/p", "aa"))
	must(t, s.ConfirmKernel(ctx, "dataviz", "k", day))
}

// TestFixtureV1 opens a database that the first schema wrote: everything in it
// is there, and it has become the present schema.
func TestFixtureV1(t *testing.T) {
	path := unpackFixture(t, 1)
	ctx := t.Context()
	s, fresh := openAt(t, path), open(t)
	if got, want := schema(t, s), schema(t, fresh); !reflect.DeepEqual(got, want) {
		t.Errorf("the schema is not the one of a new database\n got %q\nwant %q", got, want)
	}
	j := s.Journal("r1")
	if r, freshRow, err := j.Rollout(ctx, "k"); err != nil || !freshRow || !reflect.DeepEqual(r, rollout("k")) {
		t.Errorf("rollout: %+v, %v", r, err)
	}
	if c, err := j.Completion(ctx, "k"); err != nil || c.Text != "reply" {
		t.Errorf("completion: %+v, %v", c, err)
	}
	if r, err := s.UnfinishedRun(ctx, "dataviz"); err != nil || r.ID != "r1" || !r.Started.Equal(day) {
		t.Errorf("run: %+v, %v", r, err)
	}
	if c, err := s.Candidate(ctx, "aa"); err != nil || string(c.Text) != "text" {
		t.Errorf("candidate: %+v, %v", c, err)
	}
	if e, err := s.Events(ctx, "r1"); err != nil || len(e) != 1 || e[0].Kind != "start" {
		t.Errorf("events: %+v, %v", e, err)
	}
	if r, err := j.Trial(ctx, "dataviz", "aa", "bb"); err != nil || r == nil {
		t.Errorf("trial: %+v, %v", r, err)
	}
	if m, err := j.SpentCases(ctx, "dataviz"); err != nil || m.By["a"] != "bb" {
		t.Errorf("spent: %v, %v", m, err)
	}
	if c, err := s.Case(ctx, "dataviz", "a"); err != nil || !reflect.DeepEqual(*c, aCase("a")) {
		t.Errorf("case: %+v, %v", c, err)
	}
	if l, err := s.Sessions(ctx, SessionFilter{}); err != nil || len(l) != 1 || l[0].Turns[0].Prompt != "plot it" {
		t.Errorf("sessions: %+v, %v", l, err)
	}
	if u, err := s.SkillUses(ctx); err != nil || len(u) != 1 || u[0].Corrected != 1 {
		t.Errorf("uses: %+v, %v", u, err)
	}
	if c, err := s.Cursor(ctx, "claude"); err != nil || !c.Seen("/a", 1, day) {
		t.Errorf("cursor: %v", err)
	}
	// What version 1 knew of a file is too little to pass it over.
	if c, err := s.Cursor(ctx, "claude"); err != nil {
		t.Error(err)
	} else if f, ok := c.File("/a"); !ok || f.Inode != 0 || f.Last != "" || f.Size != 1 {
		t.Errorf("file: %+v", f)
	}
	must(t, s.Remember(ctx, "s1", "k", []byte("answer")))
	if v, err := s.Version(ctx, "dataviz", 0); err != nil || string(v.Text) != "text" {
		t.Errorf("version: %+v, %v", v, err)
	}
	if p, err := s.PendingInstalls(ctx); err != nil || len(p) != 1 || p[0].To != "bb" {
		t.Errorf("installs: %+v, %v", p, err)
	}
	if sha, err := s.Installed(ctx, "dataviz", "/p"); err != nil || sha != "aa" {
		t.Errorf("installed: %q, %v", sha, err)
	}
	if at, ok, err := s.KernelConfirmed(ctx, "dataviz", "k"); err != nil || !ok || !at.Equal(day.Truncate(time.Microsecond)) {
		t.Errorf("kernel: %v, %v", ok, err)
	}
}

// dsn opens a database as the store does.
func dsn(path string) string {
	return "file:" + path + "?mode=rw&_journal_mode=WAL&_synchronous=FULL&_busy_timeout=5000&_txlock=immediate&_foreign_keys=on&_secure_delete=on"
}

// readerOf is another handle to a store's file, which reads.
func readerOf(t *testing.T, s *Store) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+s.Path()+"?mode=ro&_busy_timeout=5000&_query_only=on")
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// checkpoint folds a store's log into its file.
func checkpoint(t *testing.T, s *Store, mode string) {
	t.Helper()
	db, err := sql.Open("sqlite3", dsn(s.Path()))
	must(t, err)
	defer db.Close()
	var held, pages, folded int
	must(t, db.QueryRow("PRAGMA wal_checkpoint("+mode+")").Scan(&held, &pages, &folded))
	if held != 0 {
		t.Fatal("the log is held")
	}
}

// schema returns the database's own description, version included.
func schema(t *testing.T, s *Store) []string {
	t.Helper()
	lines, err := sqlite.Query(context.Background(), s.DB, func(rows *sql.Rows) (line string, err error) {
		err = rows.Scan(&line)
		return line, err
	}, `SELECT name || ': ' || coalesce(sql, '') FROM sqlite_master ORDER BY name`)
	must(t, err)
	versions, err := sqlite.Query(context.Background(), s.DB, func(rows *sql.Rows) (v string, err error) {
		err = rows.Scan(&v)
		return v, err
	}, `PRAGMA user_version`)
	must(t, err)
	return append(lines, versions...)
}
