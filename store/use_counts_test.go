package store

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/store/sqlite"
)

// recount counts all uses from the beginning.
const recount = `SELECT skill, ` + countOf + ` FROM (` + distinctUses + `) WHERE ?1 = '' GROUP BY skill ORDER BY 2 DESC, skill`

// What was counted before is what counting now would give, whatever came, was
// changed or went in between, copies of sessions among it.
func TestUseCountsAreNeverStale(t *testing.T) {
	s, ctx := open(t), t.Context()
	rng := rand.New(rand.NewPCG(1, 2))
	labels := []harvest.Label{harvest.Accepted, harvest.Corrected, harvest.Rejected, harvest.Repeated, harvest.Abandoned}
	seen := map[int]bool{}
	for step := range 150 {
		id, path := fmt.Sprint("s", rng.IntN(6)), fmt.Sprint("/", rng.IntN(6))
		switch rng.IntN(5) {
		case 0:
			must(t, s.Do(ctx, func(tx *tx) error { _, err := tx.Exec(`DELETE FROM sessions WHERE id = ?`, id); return err }))
		case 1:
			k := rng.IntN(3) // not SQLite's random(), which has no seed
			must(t, s.Do(ctx, func(tx *tx) error {
				_, err := tx.Exec(`UPDATE invocations SET skill = 'skill-' || (1 + (rowid + ?) % 3), label = 'rejected' WHERE session = ?`, k, id)
				return err
			}))
		default: // saved, or saved anew
			ses := session(id, path)
			for range rng.IntN(4) {
				k := rng.IntN(4)
				u := use(fmt.Sprint("u", k), fmt.Sprint("skill-", k%2), labels[rng.IntN(len(labels))], day.Add(time.Duration(k)*time.Hour))
				u.Failed, u.Feedback.Unread = rng.IntN(6) == 0, rng.IntN(2) == 0
				ses.Invocations = append(ses.Invocations, u)
			}
			ses.Headless = rng.IntN(4) == 0
			must(t, s.SaveSession(ctx, ses))
		}
		want, err := sqlite.Query(ctx, s.DB, scanUse, recount, "")
		must(t, err)
		for range 2 { // counted, and read back
			if got, err := s.SkillUses(ctx); err != nil || !reflect.DeepEqual(got, append([]SkillUse{}, want...)) {
				t.Fatalf("step %d: kept %+v, counted %+v, %v", step, got, want, err)
			}
		}
		for _, u := range want {
			seen[u.Uses] = true
		}
	}
	if len(seen) < 4 {
		t.Errorf("only %d different counts were seen: the steps test little", len(seen))
	}
}

// TestUsesAreCountedByWhoOnlyLooks: a read-only store includes uses that were not
// counted yet, and returns the same counts as a writable one.
func TestUsesAreCountedByWhoOnlyLooks(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	must(t, s.SaveSession(ctx, session("s1", "/a", use("u1", "charts", harvest.Corrected, day), use("u2", "tables", harvest.Accepted, day))))
	_, err := s.SkillUses(ctx)
	must(t, err)
	must(t, s.SaveSession(ctx, session("s2", "/b", use("u3", "tables", harvest.Rejected, day), use("u4", "tables", harvest.Repeated, day))))
	ro, err := OpenReadOnly(ctx, s.Path())
	must(t, err)
	defer ro.Close()
	got, err := ro.SkillUses(ctx)
	must(t, err)
	want, err := s.SkillUses(ctx)
	must(t, err)
	if len(got) != 2 || got[0].Uses != 3 || !reflect.DeepEqual(got, want) {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}
