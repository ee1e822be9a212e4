package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/report/serve"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/sleep/work"
)

// crashTargets are the places of the tests below, in the order in which they
// are written: the skill's home, a copy of its owner's, and a target without
// the skill.
var crashTargets = []string{"claude", "codex", "pi"}

// crashPoints are the moments at which a process may die while it puts a text into three
// places: before anything is written down (0), after the whole intention is (1), and then
// for each place after its file is there and after that was recorded.
const crashPoints = 2 + 2*3

// crashed is a home in which a process that put the proved text in place, or took it
// back, was killed.
func crashed(t *testing.T, op string, point int) *roaming {
	r := newRoaming(t)
	r.configure("targets: [claude, codex, pi]\n")
	r.write("codex", r.v0)
	r.proved(r.v1, r.v0)
	live := r.live()
	if err := r.db.ConfirmKernel(t.Context(), "tagger", live.Doc.KernelHash(), day1); err != nil {
		t.Fatal(err)
	}
	if op == store.OpRollback {
		if err := r.promote(""); err != nil {
			t.Fatal(err)
		}
		live = r.live()
	}
	if point == 0 {
		return r
	}
	files, err := install.Survey(filepath.Dir(r.path("claude")))
	if err != nil {
		t.Fatal(err)
	}
	from, to, text := r.v0, r.v1, r.v1
	if op == store.OpRollback {
		from, to, text = r.v1, r.v0, r.v0
	}
	var intents []store.Intent
	for _, target := range crashTargets {
		in := store.Intent{Install: store.Install{Skill: "tagger", Path: r.path(target), From: skill.HashText(from), To: skill.HashText(to), Op: op}}
		if target == "pi" && op == store.OpPromote {
			in.From, in.Files = "", files
		} else if target == "pi" {
			in.To, in.Files = "", files
		}
		intents = append(intents, in)
	}
	var ids []int64
	if op == store.OpPromote {
		_, ids, err = r.db.BeginVersion(t.Context(), r.offer, intents)
	} else {
		ids, err = r.db.BeginInstalls(t.Context(), intents)
	}
	if err != nil {
		t.Fatal(err)
	}
	for k, target := range crashTargets {
		dir := filepath.Dir(r.path(target))
		switch in := intents[k]; {
		case point < 2+2*k:
			if in.From == "" && point == 1+2*k { // it dies while the folder is put together
				plantBed(t, dir, "SKILL.md")
			}
			return r
		case in.From == "":
			if err = install.Plant(dir, live.Dir, files, text); point == 2+2*k { // or before the empty one is removed
				plantBed(t, dir, "")
			}
		case in.To == "":
			_, err = install.Uproot(dir, in.From, files)
		default:
			err = install.Install(in.Path, in.From, text)
		}
		if err == nil && point >= 3+2*k {
			err = r.db.FinishInstall(t.Context(), ids[k])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// plantBed makes the folder that is left of one that was put together for dir, with
// that file in it, "" for none.
func plantBed(t *testing.T, dir, file string) {
	t.Helper()
	bed := filepath.Join(filepath.Dir(dir), ".evolve-plant-ABC")
	if file != "" {
		bed = filepath.Join(bed, filepath.Base(dir))
	}
	if err := os.MkdirAll(bed, 0o700); err != nil {
		t.Fatal(err)
	}
	if file != "" {
		if err := os.WriteFile(filepath.Join(bed, file), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// browse does an act as the page of evolve serve does it.
func (r *roaming) browse(act serve.Act) error {
	looking := *r.a
	looking.access, looking.open.db, looking.open.scratch, looking.conf = datadir.Looks, nil, nil, nil
	looking.Stdout, looking.Stderr = io.Discard, io.Discard
	db, err := looking.store(r.t.Context())
	if err != nil {
		return err
	}
	defer looking.close()
	s := served(&looking, db)
	p, err := s.Plan(r.t.Context(), act, "tagger", "")
	if err != nil {
		return err
	}
	if p.Refusal != nil {
		return p.Refusal
	}
	_, err = s.Do(r.t.Context(), act, "tagger", p.At, p.Seen, false)
	return err
}

// TestCrashPoints: wherever a process dies that puts a text into three places, or takes
// it back, the same act once more ends in the same state, by whatever way it is asked
// for: the command, the page of evolve serve, or a night that goes on. A rollback takes
// an interrupted promotion back from the same points.
func TestCrashPoints(t *testing.T) {
	night := func(r *roaming) *work.Worker { return nightWork(t, r.a, r.db) }
	promote := map[string]func(*roaming) error{
		"promote": func(r *roaming) error { return r.promote("") },
		"serve":   func(r *roaming) error { return r.browse(serve.Promote) },
		"a night": func(r *roaming) error {
			if err := approveNoProbes(filepath.Join(r.home, "data"), r.live()); err != nil {
				return err
			}
			_, err := night(r).Parts().Install(r.t.Context(), sleep.Task{Skill: "tagger", Run: "run-" + r.offer.SHA[:6]},
				sleep.Result{Challenger: r.offer.SHA, Incumbent: r.offer.Parent})
			return err
		},
	}
	rollback := map[string]func(*roaming) error{
		"rollback": func(r *roaming) error { return rollbackLive(r.t.Context(), r.a, "tagger") },
		"serve":    func(r *roaming) error { return r.browse(serve.Rollback) },
		"a night": func(r *roaming) error {
			_, err := night(r).Parts().Rollback(r.t.Context(), &sleep.Alarm{Skill: "tagger", Version: r.offer.SHA, Before: r.offer.Parent})
			return err
		},
	}
	for _, c := range []struct {
		name    string
		crashed string // what was interrupted
		first   int    // the first point from which it can be ended so
		act     map[string]func(*roaming) error
		back    bool // it ends with the text of before
	}{
		{"finish a promotion", store.OpPromote, 0, promote, false},
		{"finish a rollback", store.OpRollback, 0, rollback, true},
		{"take a promotion back", store.OpPromote, 1, rollback, true},
	} {
		for point := c.first; point < crashPoints; point++ {
			if c.crashed == store.OpRollback && point == crashPoints-1 {
				continue // it was done: another one would go one step further back
			}
			for by, act := range c.act {
				if by == "a night" && c.back && c.crashed == store.OpPromote && point < 2 {
					continue // there is no alarm about a text that was never in place
				}
				t.Run(fmt.Sprintf("%s/%d/%s", c.name, point, by), func(t *testing.T) {
					r := crashed(t, c.crashed, point)
					if err := act(r); err != nil {
						t.Fatal(err)
					}
					want := map[string][]byte{"claude": r.v1, "codex": r.v1, "pi": r.v1}
					if c.back {
						want = map[string][]byte{"claude": r.v0, "codex": r.v0, "pi": nil}
					}
					if c.crashed == store.OpPromote && c.back && point < 4 { // evolve has not touched it, and knows nothing of it
						delete(want, "codex")
						r.holds("codex", r.v0)
					}
					r.settled(want)
					if left, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(r.path("pi"))), ".evolve-plant-*")); len(left) > 0 {
						t.Errorf("left %q", left)
					}
					if n := r.versions(); n != 2 {
						t.Errorf("%d versions of two texts", n)
					}
					notes := filepath.Join(filepath.Dir(r.path("pi")), "notes.md")
					if _, err := os.Stat(notes); (err == nil) == c.back {
						t.Errorf("the other files of the copy: %v", err)
					}
				})
			}
		}
	}
}

// TestGivenUpPromotionStillWaits: after a promotion that a crash interrupted
// before it touched a file, and that was given up since, the candidate still
// waits: the next promote installs it.
func TestGivenUpPromotionStillWaits(t *testing.T) {
	r := crashed(t, store.OpPromote, 0)
	if err := promoteSkill(t.Context(), r.a, "tagger@v0", promoteFlags{}); err != nil { // it was there all the time
		t.Fatal(err)
	}
	r.holds("claude", r.v0)
	if err := r.promote(""); err != nil {
		t.Fatal(err)
	}
	r.holds("claude", r.v1)
}
