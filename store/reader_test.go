package store

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
)

// TestLongReader: a long read sees one consistent state and blocks no writer. A purge
// meanwhile removes the data, and reports that it has not overwritten everything yet;
// purging again does.
func TestLongReader(t *testing.T) {
	t.Parallel() // it waits for a lock
	ctx := t.Context()
	s := open(t)
	const secret = "XYZZYsecretXYZZY"
	bad := session("s1", "/a", use("u", "dataviz", harvest.Corrected, day))
	bad.Turns[0].Prompt = secret
	must(t, s.SaveSession(ctx, bad))
	reader, err := readerOf(t, s).BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	must(t, err)
	count := func() (n int) {
		must(t, reader.QueryRow(`SELECT count(*) FROM rollouts`).Scan(&n))
		return n
	}
	if n := count(); n != 0 {
		t.Fatalf("%d rollouts at first", n)
	}
	for i := range 50 {
		must(t, s.Journal("r").SaveRollout(ctx, rollout(fmt.Sprint(i))))
	}
	if n := count(); n != 0 {
		t.Errorf("the reader sees %d rollouts that came later", n)
	}
	report, err := s.PurgeSessions(ctx, []string{"s1"})
	if err == nil || !strings.Contains(err.Error(), "not yet overwritten") || report.Sessions != 1 {
		t.Errorf("purge beside a reader: %+v, %v", report, err)
	}
	must(t, reader.Rollback())
	if _, err := s.PurgeSessions(ctx, []string{"s1"}); err != nil {
		t.Errorf("purging again: %v", err)
	}
	if n := occurrences(t, s, secret); n != 0 {
		t.Errorf("the secret still stands %d times in the files", n)
	}
}
