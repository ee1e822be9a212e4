package store

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// unpackFixture writes testdata/vN.db.gz to a new place.
func unpackFixture(t *testing.T, n int) (path string) {
	t.Helper()
	zipped, err := os.ReadFile(fixtureName(n))
	must(t, err)
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	must(t, err)
	content, err := io.ReadAll(z)
	must(t, err)
	path = filepath.Join(t.TempDir(), "evolve.db")
	must(t, os.WriteFile(path, content, 0o600))
	return path
}

func fixtureName(n int) string { return fmt.Sprintf("testdata/v%d.db.gz", n) }

// makeFixture writes the fixture of version n: that of the version before,
// migrated by one script, with a row in every table that has none.
func makeFixture(t *testing.T, n int) {
	path := unpackFixture(t, n-1)
	db, err := sql.Open("sqlite3", dsn(path))
	must(t, err)
	_, err = db.Exec(migrations()[n-1] + fmt.Sprintf("; PRAGMA user_version = %d", n))
	must(t, err)
	for table, columns := range columnsOf(t, db) {
		var rows int
		must(t, db.QueryRow(`SELECT count(*) FROM `+table).Scan(&rows))
		if rows > 0 {
			continue
		}
		var values []string
		for _, c := range columns {
			switch {
			case table == "acts" && c.name == "session":
				values = append(values, `(SELECT id FROM sessions)`)
			case table == "acts" && c.name == "path":
				values = append(values, `(SELECT path FROM sessions)`)
			case c.name == "body" && c.kind == "TEXT":
				values = append(values, `'{}'`)
			case c.kind == "BLOB":
				values = append(values, `x'00ff'`)
			case c.kind == "INTEGER":
				values = append(values, `1`)
			case c.kind == "REAL":
				values = append(values, `0.5`)
			default:
				values = append(values, `'`+c.name+`'`)
			}
		}
		_, err := db.Exec(`INSERT INTO ` + table + ` VALUES (` + strings.Join(values, ", ") + `)`)
		must(t, err)
	}
	_, err = db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	must(t, err)
	must(t, db.Close())
	content, err := os.ReadFile(path)
	must(t, err)
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	must(t, err)
	_, err = z.Write(content)
	must(t, errors.Join(err, z.Close(), os.WriteFile(fixtureName(n), out.Bytes(), 0o644)))
}

type column struct{ name, kind string }

func columnsOf(t *testing.T, db *sql.DB) map[string][]column {
	t.Helper()
	rows, err := db.Query(`SELECT m.name, c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid`)
	must(t, err)
	defer rows.Close()
	out := map[string][]column{}
	for rows.Next() {
		var table string
		var c column
		must(t, rows.Scan(&table, &c.name, &c.kind))
		out[table] = append(out[table], c)
	}
	must(t, rows.Err())
	return out
}

// contents are the rows of each table, in the given columns.
func contents(t *testing.T, db *sql.DB, columns map[string][]column) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for table, cs := range columns {
		var names []string
		for _, c := range cs {
			names = append(names, `quote("`+c.name+`")`)
		}
		rows, err := db.Query(`SELECT ` + strings.Join(names, ` || ',' || `) + ` FROM ` + table + ` ORDER BY 1`)
		must(t, err)
		for rows.Next() {
			var row string
			must(t, rows.Scan(&row))
			out[table] = append(out[table], row)
		}
		must(t, errors.Join(rows.Err(), rows.Close()))
	}
	return out
}

// TestMigrateFromEveryVersion: a database of each version, with something in
// every table, opens as the present schema, and every value in it is as it was.
func TestMigrateFromEveryVersion(t *testing.T) {
	now := len(migrations())
	for n := 2; n < now && *update; n++ {
		if _, err := os.Stat(fixtureName(n)); err != nil { // what is there was released
			makeFixture(t, n)
		}
	}
	fresh := schema(t, open(t))
	for n := 1; n < now; n++ {
		path := unpackFixture(t, n)
		db, err := sql.Open("sqlite3", dsn(path))
		must(t, err)
		columns := columnsOf(t, db)
		want := contents(t, db, columns)
		must(t, db.Close())
		for table := range columns {
			if len(want[table]) == 0 && table != "purged" { // purging would empty the others
				t.Errorf("version %d: the fixture has nothing in %s", n, table)
			}
		}
		s := openAt(t, path)
		if got := schema(t, s); !reflect.DeepEqual(got, fresh) {
			t.Errorf("version %d: the schema is not the one of a new database\n got %q\nwant %q", n, got, fresh)
		}
		if got := contents(t, readerOf(t, s), columns); !reflect.DeepEqual(got, want) {
			t.Errorf("version %d: the contents changed\n got %q\nwant %q", n, got, want)
		}
		must(t, s.Journal("after").SaveRollout(t.Context(), rollout("after")))
		must(t, s.CheckPages(t.Context()))
	}
}

// TestMigrateTogether: processes that open a database of an older version, or a
// new one, at the same moment all get the present one, and nothing is lost.
func TestMigrateTogether(t *testing.T) {
	for n := range len(migrations()) {
		path := filepath.Join(t.TempDir(), "evolve.db")
		had := 0
		if n > 0 {
			path = unpackFixture(t, n)
			had = 1
		}
		var all []*exec.Cmd
		for i := range 4 {
			c := child(t, path, fmt.Sprint("process", i), 2)
			must(t, c.Start())
			all = append(all, c)
		}
		for i, c := range all {
			if err := c.Wait(); err != nil {
				t.Errorf("version %d, process %d: %v", n, i, err)
			}
		}
		s := openAt(t, path)
		if rs, err := s.Rollouts(t.Context(), RolloutFilter{}); err != nil || len(rs) != had+4*4*2 {
			t.Errorf("version %d: %d rollouts, %v; want %d", n, len(rs), err, had+4*4*2)
		}
		must(t, s.CheckPages(t.Context()))
	}
}

// TestNewerIsLeftAlone: not a byte of a newer database changes, and nothing is
// put beside it.
func TestNewerIsLeftAlone(t *testing.T) {
	path := unpackFixture(t, 1)
	db, err := sql.Open("sqlite3", dsn(path))
	must(t, err)
	_, err = db.Exec("PRAGMA user_version = 99; CREATE TABLE dreams (what TEXT)")
	must(t, err)
	must(t, db.Close())
	want, err := os.ReadFile(path)
	must(t, err)
	var newer *NewerError
	if _, err := Open(t.Context(), path); !errors.As(err, &newer) || !strings.Contains(err.Error(), path) {
		t.Fatalf("error %v", err)
	}
	got, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Error("the file was changed")
	}
	beside, err := filepath.Glob(path + "*")
	must(t, err)
	for _, name := range beside {
		if info, err := os.Stat(name); err == nil && name != path && info.Size() > 0 && !strings.HasSuffix(name, "-shm") {
			t.Errorf("%s was put beside it", name)
		}
	}
}
