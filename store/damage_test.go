package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/record"
)

// everything reads all that the store holds, as a command would; the error is
// that of the first reading that failed.
func everything(ctx context.Context, s *Store) (string, error) {
	var b strings.Builder
	var errs []error
	add := func(v any, err error) {
		fmt.Fprintf(&b, "%+v\n", v)
		errs = append(errs, err)
	}
	runs, err := s.Runs(ctx, "")
	add(runs, err)
	rollouts, err := s.Rollouts(ctx, RolloutFilter{})
	add(rollouts, err)
	cases, err := s.Cases(ctx, "")
	add(cases, err)
	sessions, err := s.Sessions(ctx, SessionFilter{})
	add(sessions, err)
	uses, err := s.Invocations(ctx, "dataviz")
	add(uses, err)
	versions, err := s.Versions(ctx, "")
	add(versions, err)
	candidates, err := s.Candidates(ctx, "r1")
	add(candidates, err)
	events, err := s.Events(ctx, "r1")
	add(events, err)
	installs, err := s.Installs(ctx, "dataviz")
	add(installs, err)
	return b.String(), errors.Join(append(errs, s.Check(ctx))...)
}

// TestDamagedPageAnywhere damages the pages of a database in turn (each with
// EVOLVE_LONG=1). Either it is
// found when the database is opened, read or checked, or everything is still
// there; and before anything is written, a copy of what was found is beside it.
func TestDamagedPageAnywhere(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	whole := open(t)
	fill(t, whole)
	for i := range 12 {
		r := rollout(fmt.Sprint("long", i))
		r.Answer = strings.Repeat(fmt.Sprint("words ", i), 400*i) // overflow pages
		must(t, whole.Journal("r1").SaveRollout(ctx, r))
		ses := session(fmt.Sprint("more", i), fmt.Sprint("/more", i), use("u", "dataviz", harvest.Corrected, day))
		ses.Turns[0].Prompt = strings.Repeat("plot ", 700*i)
		must(t, whole.SaveSession(ctx, ses))
	}
	text := bytes.Repeat([]byte("A rule of the skill.\n"), 900)
	_, err := whole.SaveVersion(ctx, record.Version{Skill: "long", SHA: skill.HashText(text), Text: text})
	must(t, err)
	want, err := everything(ctx, whole)
	must(t, err)
	must(t, whole.Close())
	good, err := os.ReadFile(whole.Path())
	must(t, err)

	const page = 4096
	rng := rand.New(rand.NewPCG(6, 6))
	found, harmless := 0, 0
	every := 7 * page // pages 1, 8, 15, …
	if os.Getenv("EVOLVE_LONG") == "1" {
		every = page
	}
	for at := 0; at < len(good); at += every {
		for _, how := range []string{"zeros", "garbage", "torn"} {
			bad := bytes.Clone(good)
			hurt := bad[at : at+page]
			switch how {
			case "zeros":
				clear(hurt)
			case "torn":
				clear(hurt[page/2:])
			case "garbage":
				for i := range hurt {
					hurt[i] = byte(rng.Uint32())
				}
			}
			if bytes.Equal(bad, good) {
				continue
			}
			name := fmt.Sprintf("page %d, %s", at/page+1, how)
			path := filepath.Join(t.TempDir(), "evolve.db")
			must(t, os.WriteFile(path, bad, 0o600))
			got := ""
			s, err := Open(ctx, path)
			if err == nil {
				if got, err = everything(ctx, s); err != nil {
					if e := s.Journal("r").SaveRollout(ctx, rollout("after")); e == nil {
						t.Errorf("%s: a write after the damage was found", name)
					}
				}
				must(t, s.Close())
			}
			var corrupt *CorruptError
			switch {
			case err == nil && got == want:
				harmless++
				continue
			case !errors.As(err, &corrupt) || corrupt.Path != path || !strings.Contains(err.Error(), path):
				t.Fatalf("%s: error %v", name, err)
			}
			found++
			if strings.Contains(err.Error(), "another program") { // the first page: nothing will ever be written to it
				after, err := os.ReadFile(path)
				must(t, err)
				if !bytes.Equal(after, bad) {
					t.Errorf("%s: a file that is no database was written to", name)
				}
				continue
			}
			kept, err := os.ReadFile(corrupt.Copy)
			must(t, err)
			if !bytes.Equal(kept, bad) {
				t.Errorf("%s: the copy is not what was found", name)
			}
			// The same damage again makes no second copy.
			if s, err := Open(ctx, path); err == nil {
				_, _ = everything(ctx, s)
				must(t, s.Close())
			}
			if copies, err := filepath.Glob(path + ".damaged-*"); err != nil || len(copies) > 2 {
				t.Errorf("%s: copies %v, %v", name, copies, err)
			}
		}
	}
	t.Logf("%d damaged databases found out, %d with everything still there", found, harmless)
	if found < 2*len(good)/every {
		t.Errorf("only %d of about %d damages were found", found, 3*len(good)/every)
	}
}
