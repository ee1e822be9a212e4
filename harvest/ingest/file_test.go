package ingest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/harvest/moments"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/draws"
)

const file = "file:~:.claude/CLAUDE.md"

// A library has sessions, each turn of which names itself: "s3.2" in its request, "a3.2" in
// its answer.
type library struct {
	t        *testing.T
	g        *ingest.Ingester
	sessions []*harvest.Session
}

func newLibrary(t *testing.T) *library {
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &library{t: t, g: &ingest.Ingester{Store: db, Layout: &skill.Layout{Getenv: func(string) string { return "" }, SkillsDir: t.TempDir()},
		Now: func() time.Time { return time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC) }}}
}

// say adds turns to session n, and has them read: each as the next message says.
func (l *library) say(t *rapid.T, n, turns int) {
	for len(l.sessions) <= n {
		k := len(l.sessions)
		l.sessions = append(l.sessions, &harvest.Session{ID: fmt.Sprint("session-", k), Agent: "claude-code", Path: fmt.Sprint("/p/", k), CWD: "/src",
			Started: time.Date(2026, 3, 1+k, 9, 0, 0, 0, time.UTC)})
	}
	s := l.sessions[n]
	for range turns {
		i := len(s.Turns)
		said := rapid.SampledFrom([]string{"No, as a table, the way it was before", "Now write the tests of the parser", "push it", "Perfect, then name it after the team"}).Draw(t, "said")
		s.Turns = append(s.Turns, harvest.Turn{ID: fmt.Sprint(n, ".", i), Time: s.Started.Add(time.Duration(i) * time.Hour),
			Prompt: fmt.Sprintf("%s s%d.%d", said, n, i), Answer: fmt.Sprintf("Done with the work of a%d.%d now.", n, i)})
	}
	for i := range len(s.Turns) - 1 {
		next := s.Turns[i+1].Prompt
		r := &harvest.Reading{Label: harvest.Unknown, Replayable: rapid.SampledFrom([]string{"yes", "yes", "no"}).Draw(t, "replayable"), By: "model"}
		switch {
		case strings.HasPrefix(next, "No"):
			r.Label, r.Words, r.Reply = harvest.Corrected, "as a table", i+1
		case strings.HasPrefix(next, "Perfect"):
			r.Label, r.Words, r.Reply = harvest.Accepted, "Perfect", i+1
		}
		if s.Turns[i].Reading == nil {
			s.Turns[i].Reading = r
		}
	}
	harvest.Assess(s)
}

func (l *library) mine(t rapid.TB) (map[string]eval.Case, *moments.Counts) {
	ctx := l.t.Context()
	for _, s := range l.sessions {
		if err := l.g.Store.SaveSession(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	_, stats, err := l.g.Mine(ctx, file, ingest.Mining{})
	if err != nil {
		t.Fatal(err)
	}
	cases, err := l.g.Store.Cases(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]eval.Case{}
	for _, c := range cases {
		out[c.ID] = c
	}
	return out, stats.Moments
}

// The cases of a file: none knows anything that came after its request; what no coin drew is
// train only; sessions are not divided; a harvest without news changes nothing; and when
// sessions go on, what was drawn stays drawn, unless a model finds that it cannot be replayed.
func TestMineFile(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		l := newLibrary(outer)
		for n := range rapid.IntRange(1, 8).Draw(t, "sessions") {
			l.say(t, n, rapid.IntRange(1, 5).Draw(t, "turns"))
		}
		first, counts := l.mine(t)
		drawn, splits := 0, map[string]map[eval.Split]bool{}
		for _, c := range first {
			var n, turn int
			if _, err := fmt.Sscanf(c.Source.Turn, "%d.%d", &n, &turn); err != nil {
				t.Fatal(err)
			}
			before := c.Prompt
			for _, m := range c.Context {
				before += "\n" + m.Text
			}
			for later := turn; later < len(l.sessions[n].Turns); later++ {
				if strings.Contains(before, fmt.Sprintf("a%d.%d ", n, later)) || later > turn && strings.Contains(before, fmt.Sprintf("s%d.%d", n, later)) {
					t.Fatalf("case of turn %d.%d has words of turn %d: %q", n, turn, later, before)
				}
			}
			if turn > 0 && len(c.Context) == 0 {
				t.Fatalf("case of turn %d.%d has no context", n, turn)
			}
			if c.TrainOnly() {
				if c.Split != eval.Train && c.Split != eval.Unassigned || c.Source.Outcome != "corrected" {
					t.Fatalf("%+v", c)
				}
			} else {
				drawn++
			}
			if splits[c.Cluster] == nil {
				splits[c.Cluster] = map[eval.Split]bool{}
			}
			if splits[c.Cluster][c.Split] = true; len(splits[c.Cluster]) > 1 {
				t.Fatalf("cluster %s is divided: %v", c.Cluster, splits[c.Cluster])
			}
		}
		if drawn != counts.Cases() || len(first)-drawn != counts.Taught {
			t.Fatalf("%d cases, %d drawn: %+v", len(first), drawn, counts)
		}
		if again, same := l.mine(t); !reflect.DeepEqual(again, first) || !reflect.DeepEqual(same, counts) {
			t.Fatalf("a harvest without news: %+v, before %+v", same, counts)
		}
		for n := range l.sessions {
			l.say(t, n, rapid.IntRange(0, 3).Draw(t, "more"))
		}
		now, _ := l.mine(t)
		for id, was := range first {
			c, ok := now[id]
			var n, turn int
			fmt.Sscanf(was.Source.Turn, "%d.%d", &n, &turn)
			switch r := l.sessions[n].Turns[turn].Reading; {
			case ok && (c.Split != was.Split || c.TrainOnly() != was.TrainOnly()):
				t.Fatalf("case %s went from %s to %s", id, was.Split, c.Split)
			case !ok && (r == nil || r.Replayable == "yes"):
				t.Fatalf("case %s is gone", id)
			case ok && r != nil && r.Replayable != "yes":
				t.Fatalf("case %s is there, and cannot be replayed", id)
			}
		}
	})
}

// What its owner draws from now on adds to what was drawn, and a forecast stores nothing.
func TestAffordFile(t *testing.T) {
	for seed := range 5 {
		l := newLibrary(t)
		rapid.Custom(func(rt *rapid.T) bool {
			for n := range 6 {
				l.say(rt, n, 4)
			}
			return true
		}).Example(seed)
		for _, s := range l.sessions {
			if err := l.g.Store.SaveSession(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.g.Count(t.Context(), file, ingest.Mining{}); err != nil {
			t.Fatal(err)
		}
		if d, err := draws.Of(t.Context(), l.g.Store, file); err != nil || d != nil {
			t.Fatalf("a forecast has drawn: %+v, %v", d, err)
		}
		if err := draws.Keep(t.Context(), l.g.Store, moments.NewDraw(file, new(moments.Population), l.g.Now())); err != nil {
			t.Fatal(err)
		}
		var before []string
		for _, share := range []float64{.1, .3, .5} {
			if _, err := l.g.Afford(t.Context(), file, share); err != nil {
				t.Fatal(err)
			}
			cases, _ := l.mine(t)
			var now []string
			for id := range cases {
				now = append(now, id)
			}
			for _, id := range before {
				if !slices.Contains(now, id) {
					t.Fatalf("share %v: case %s is gone", share, id)
				}
			}
			before = now
		}
		d, err := l.g.Draw(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := json.Marshal(d); err != nil || !strings.Contains(string(data), `"share":0.5`) {
			t.Fatalf("%s, %v", data, err)
		}
	}
}

// The requests of a repository below a file's folder are none of the file's.
func TestMineFileAboveARepository(t *testing.T) {
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"shop/.git", "notes"} {
		if err := os.MkdirAll(filepath.Join(work, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{".", "shop"} {
		if err := os.WriteFile(filepath.Join(work, dir, "CLAUDE.md"), []byte("Be kind.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for folder, want := range map[string]map[string]int{
		"notes": {work: 1, filepath.Join(work, "shop"): 0},
		"shop":  {work: 0, filepath.Join(work, "shop"): 1},
	} {
		l := newLibrary(t)
		if err := l.g.Store.SaveSession(t.Context(), &harvest.Session{ID: "s", Agent: "claude-code", Path: "/p/1", CWD: filepath.Join(work, folder),
			Started: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), Turns: []harvest.Turn{{ID: "1", Prompt: "Now write the tests of the parser", Answer: "Done."}}}); err != nil {
			t.Fatal(err)
		}
		for root, n := range want {
			_, stats, err := l.g.Mine(t.Context(), "file:"+root+":CLAUDE.md", ingest.Mining{})
			if err != nil {
				t.Fatal(err)
			}
			if stats.Moments.Sessions != n {
				t.Errorf("in %s, the file of %s has %d sessions, want %d", folder, root, stats.Moments.Sessions, n)
			}
		}
	}
}
