package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A spread is a skill of two versions that goes to three targets and back while
// its processes are killed.
type spread struct {
	t          *testing.T
	home, data string
	texts      [][]byte // v0 and v1
	files      []install.FolderFile
	// paths of the SKILL.md: the skill's home, another agent's folder with a
	// copy of its owner's, and one without the skill.
	paths []string
}

func newSpread(t *testing.T) *spread {
	home := t.TempDir()
	s := &spread{t: t, home: home, data: filepath.Join(home, "data"), paths: []string{
		filepath.Join(home, ".claude", "skills", "tagger", skill.FileName), filepath.Join(home, ".codex", "skills", "tagger", skill.FileName),
		filepath.Join(home, ".pi", "agent", "skills", "tagger", skill.FileName)}}
	for _, body := range []string{"Tag them.", "Tag them.\n\nAt most three tags."} {
		s.texts = append(s.texts, []byte("---\nname: tagger\ndescription: Tags notes.\n---\n\n"+body+"\n"+string(bytes.Repeat([]byte("More of it.\n"), 2000))))
	}
	for _, p := range s.paths[:2] {
		s.write(p, s.texts[0])
	}
	dir := filepath.Dir(s.paths[0])
	for _, name := range []string{"scripts/run.sh", "references/a.md", "references/deep/b.md"} {
		s.write(filepath.Join(dir, name), bytes.Repeat([]byte(name+"\n"), 500))
	}
	var err error
	if s.files, err = install.Survey(dir); err != nil {
		t.Fatal(err)
	}
	s.must("rollback", "tagger", "--to", "claude") // records v0; there is nothing before it
	db := s.open()
	if _, err := db.SaveVersion(t.Context(), record.Version{Skill: "tagger", SHA: skill.HashText(s.texts[1]), Parent: skill.HashText(s.texts[0]),
		Author: "evolve", Operator: "reflect", Proven: true, Text: s.texts[1]}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *spread) write(path string, text []byte) {
	s.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *spread) open() *store.Store {
	s.t.Helper()
	db, err := store.Open(s.t.Context(), filepath.Join(s.data, "evolve.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	return db
}

func (s *spread) process(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = []string{"EVOLVE_TEST_AS_MAIN=1", "EVOLVE_HOME=" + s.data, "HOME=" + s.home, "PATH=" + os.Getenv("PATH")}
	return c
}

// must runs a command to its end, which may be that there is nothing to do.
func (s *spread) must(args ...string) {
	s.t.Helper()
	out, err := s.process(args...).CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !(errors.As(err, &ended) && ended.ExitCode() == exitUsage) {
		s.t.Fatalf("evolve %q: %v: %s", args, err, out)
	}
}

// holds is which version is at each place: 0, 1, or -1 for nothing. Anything else
// is a failure, and so is a folder without all its files.
func (s *spread) holds(when string) []int {
	s.t.Helper()
	out := make([]int, len(s.paths))
	for i, p := range s.paths {
		text, err := os.ReadFile(p)
		out[i] = slices.IndexFunc(s.texts, func(v []byte) bool { return bytes.Equal(v, text) })
		if os.IsNotExist(err) && i == 2 {
			continue
		}
		if err != nil || out[i] < 0 {
			s.t.Fatalf("%s: %s holds no version: %v, %d bytes", when, p, err, len(text))
		}
		if i == 2 {
			if files, err := install.Survey(filepath.Dir(p)); err != nil || !slices.Equal(files, s.files) {
				s.t.Fatalf("%s: a copy without all its files: %+v, %v", when, files, err)
			}
		}
	}
	return out
}

// TestKillTargets kills promotions to three targets and rollbacks from them
// at random moments: 10 of them, 200 with EVOLVE_LONG=1. Each target holds a
// version whole, or nothing, at any time; the same command again finishes,
// and then the store agrees with the files.
func TestKillTargets(t *testing.T) {
	kills, seed := 10, uint64(4)
	if os.Getenv("EVOLVE_LONG") == "1" {
		kills, seed = 200, uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
	}
	s := newSpread(t)
	rng := rand.New(rand.NewPCG(3, seed))
	promote := []string{"promote", "tagger@v1", "--to", "claude,codex,pi"}
	rollback := []string{"rollback", "tagger"}
	took := time.Hour
	for range 2 {
		began := time.Now()
		s.must(promote...)
		took = min(took, time.Since(began))
		if got := s.holds("at first"); !slices.Equal(got, []int{1, 1, 1}) {
			t.Fatalf("a promotion made %v", got)
		}
		s.must(rollback...)
		if got := s.holds("at first"); !slices.Equal(got, []int{0, 0, -1}) {
			t.Fatalf("a rollback made %v", got)
		}
	}
	between, alive := 0, 0
	for k := range kills {
		args, want := promote, []int{1, 1, 1}
		if k%2 == 1 {
			args, want = rollback, []int{0, 0, -1}
		}
		c := s.process(args...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration((.4 + .8*rng.Float64()) * float64(took))) // the moment is what this test is about
		_ = c.Process.Kill()                                               // it may have ended
		if c.Wait() != nil {
			alive, took = alive+1, took*11/10
		} else { // this machine has become faster
			took = took * 8 / 10
		}
		got := s.holds("after a kill")
		if got[0] != got[1] || (got[2] == 1) != (got[0] == 1) {
			between++
		}
		if k%6 == 0 {
			s.must("log", "tagger") // looks, and changes nothing
			if again := s.holds("after a look"); !slices.Equal(got, again) {
				t.Fatalf("a look made %v of %v", again, got)
			}
		}
		again := args
		if k%2 == 0 {
			again = []string{"promote", "tagger"} // what is to be finished needs no name
			if slices.Equal(got, []int{0, 0, -1}) {
				again = args
			}
		}
		if slices.Equal(got, want) {
			again = args // settles what was done and not written down; status would only say so
		}
		s.must(again...)
		if got := s.holds("after the next command"); !slices.Equal(got, want) {
			t.Fatalf("kill %d of %q: the next %q made %v, want %v", k, args, again, got, want)
		}
		s.known(want)
	}
	t.Logf("%d kills, %d of a living process, %d between targets; the last were within %v", kills, alive, between, took)
	if alive == 0 {
		t.Error("no kill found a process")
	}
}

// known demands that the store agrees with the file of each place, and that
// no other files are left.
func (s *spread) known(want []int) {
	s.t.Helper()
	db := s.open()
	defer db.Close()
	places, err := db.Places(s.t.Context(), "tagger")
	if err != nil {
		s.t.Fatal(err)
	}
	at := map[string]string{}
	for _, p := range places {
		at[p.Path] = p.SHA
	}
	for i, p := range s.paths {
		sha := ""
		if want[i] >= 0 {
			sha = skill.HashText(s.texts[want[i]])
		}
		if at[p] != sha {
			s.t.Errorf("the store says %.12s is at %s, and it is %.12s", at[p], p, sha)
		}
	}
	if open, err := db.PendingInstalls(s.t.Context()); err != nil || len(open) > 0 {
		s.t.Errorf("written down and not done: %+v, %v", open, err)
	}
	for _, p := range s.paths {
		for _, pattern := range []string{".evolve-plant-*", "tagger/.SKILL.md.evolve-*"} {
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(p)), pattern)); len(left) > 0 {
				s.t.Errorf("left %q", left)
			}
		}
	}
}
