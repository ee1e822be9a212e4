package main

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/store"
)

// What opens the database, by whether it writes to it.
var openers = []struct {
	args   string
	writes bool
}{
	{"status", false}, {"cases list dataviz", false}, {"log dataviz", false}, {"show dataviz@v0", false}, {"diff dataviz", false},
	{"report last", false}, {"sessions list", false}, {"sleep status", false}, {"show dataviz --why", false}, {"cases export dataviz", false},
	{"harvest", true}, {"promote dataviz --unproven", true}, {"rollback dataviz", true}, {"review dataviz", true},
	{"sessions purge --all --yes", true}, {"cases drop dataviz x", true}, {"compare dataviz none --agent simulated --yes", true},
	{"reject dataviz@challenger", true}, {"sleep run --agent simulated", true},
	{"--skill dataviz --agent simulated --no-harvest --max-rollouts 9", true},
}

// TestEveryCommandMeetsDamage: with any damage to the database a command
// reports it, with the file's name and what to do, or does not need the
// damaged part; nothing is written to it, nothing is rebuilt, nothing
// crashes.
func TestEveryCommandMeetsDamage(t *testing.T) {
	claude, home := person(t), t.TempDir()
	srv := httptest.NewServer(&plotter{})
	defer srv.Close()
	if code, _, errs := runHere(t, home, "--skill", "dataviz", "--claude-home", claude, "--agent", "openai", "--base-url", srv.URL+"/v1",
		"--model", "plotter", "--reflect-model", "helper", "--max-rollouts", "40"); code != exitDone {
		t.Fatalf("exit %d: %s", code, errs)
	}
	path := filepath.Join(home, "evolve.db")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	all := func(from, to int) func([]byte) []byte {
		return func(b []byte) []byte {
			for i := from; i < to; i++ {
				b[i] = byte(i*31 + 7)
			}
			return b
		}
	}
	pages := len(whole) / page
	skill, err := os.ReadFile(filepath.Join(claude, "skills", "dataviz", "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []struct {
		name   string
		damage func([]byte) []byte
		says   string // "" if nothing need be said of it by who only reads
		always bool   // every command must say it
	}{
		{"damaged header", all(0, 100), "is damaged, or not a database of evolve", true},
		{"empty header page", func(b []byte) []byte { clear(b[:page]); return b }, "is damaged, or not a database of evolve", true},
		{"truncated to half a page", func(b []byte) []byte { return b[:page/2] }, "is damaged, or not a database of evolve", true},
		{"truncated", func(b []byte) []byte { return b[:pages/2*page+77] }, "is damaged, or not a database of evolve", false},
		{"damaged in the middle", all(pages/2*page, pages/2*page+page), "is damaged, or not a database of evolve", false},
		{"damaged near its end", all((pages-3)*page, (pages-2)*page), "is damaged, or not a database of evolve", false},
		{"emptied", func([]byte) []byte { return nil }, "is empty, but was in use", true},
		{"of a newer evolve", func(b []byte) []byte { copy(b[60:], "\x00\x00\x03\xe7"); return b }, "install a newer evolve", true},
	} {
		bad := d.damage(bytes.Clone(whole))
		said := 0
		for _, o := range openers {
			for _, suffix := range []string{"-wal", "-shm"} {
				_ = os.Remove(path + suffix)
			}
			copies, _ := filepath.Glob(path + ".damaged-*")
			for _, c := range copies {
				_ = os.Remove(c)
			}
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			code, out, errs := runHere(t, home, append(strings.Fields(o.args), "--claude-home", claude)...)
			what := d.name + ": evolve " + o.args
			if strings.Contains(errs, "panic") {
				t.Fatalf("%s: %s", what, errs)
			}
			tells := strings.Contains(errs, d.says) && strings.Contains(errs, "evolve.db")
			if d.always || o.writes {
				if code != exitFailed || !tells {
					t.Errorf("%s: exit %d, and does not say %q of evolve.db:\n%s%s", what, code, d.says, out, errs)
				}
				if !strings.Contains(errs, "hint: ") {
					t.Errorf("%s: no hint:\n%s", what, errs)
				}
			}
			if tells {
				said++
			} else if code == exitFailed && !strings.Contains(errs, d.says) {
				t.Errorf("%s: it fails, and does not say why: %s", what, errs)
			}
			now, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(now, bad) {
				t.Errorf("%s: it changed the file (%v)", what, err)
			}
			copies, _ = filepath.Glob(path + ".damaged-????????????")
			if o.writes && !d.always && len(copies) != 1 {
				t.Errorf("%s: copies %v, want one", what, copies)
			}
			for _, c := range copies {
				if kept, err := os.ReadFile(c); err != nil || !bytes.Equal(kept, bad) {
					t.Errorf("%s: the copy is not what was found (%v)", what, err)
				}
				if !strings.Contains(errs, filepath.Base(c)) {
					t.Errorf("%s: it does not say where the copy is: %s", what, errs)
				}
			}
		}
		if said < 11 {
			t.Errorf("%s: told of by %d commands only", d.name, said)
		}
	}
	if now, err := os.ReadFile(filepath.Join(claude, "skills", "dataviz", "SKILL.md")); err != nil || !bytes.Equal(now, skill) {
		t.Errorf("the live skill changed: %v", err)
	}
}

// A log of which only a part was written before the power went is no damage:
// what it holds whole is there, every command works.
func TestHalfALogIsNoDamage(t *testing.T) {
	s := newStation(t, 0)
	home := t.TempDir()
	db := s.open(home)
	for i := range s.cases {
		if _, _, err := db.SaveCases(t.Context(), s.cases[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(home, "evolve.db")
	var files [2][]byte
	for i, suffix := range []string{"", "-wal"} { // as a crash leaves them
		var err error
		if files[i], err = os.ReadFile(path + suffix); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, part := range []float64{0.6, 0.7, 0.85, 0.97, 1} {
		cut := t.TempDir()
		for i, suffix := range []string{"", "-wal"} {
			b := files[i]
			if i == 1 {
				n := int(part*float64(len(b))) - 1
				b = append(b[:n:n], "half a frame"...)
			}
			if err := os.WriteFile(filepath.Join(cut, "evolve.db"+suffix), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, args := range [][]string{{"status"}, {"cases", "list", s.cases[0].Skill}, {"harvest"}, {"doctor"}} {
			code, out, errs := runHere(t, cut, append(args, "--claude-home", filepath.Join(cut, "none"), "--skills-dir", s.skills)...)
			if code != exitDone && args[0] != "doctor" || strings.Contains(out+errs, "damaged") {
				t.Errorf("%v of the log: evolve %s: exit %d: %s%s", part, args[0], code, out, errs)
			}
		}
		db, err := store.Open(t.Context(), filepath.Join(cut, "evolve.db"))
		if err != nil {
			t.Fatal(err)
		}
		cases, err := db.Cases(t.Context(), "")
		if err != nil || len(cases) < last || len(cases) == 0 {
			t.Errorf("%v of the log: %d cases, %d with less of it, %v", part, len(cases), last, err)
		}
		last = len(cases)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if last < len(s.cases)-1 {
		t.Errorf("%d of %d cases with all of the log but a frame", last, len(s.cases))
	}
}

// TestRemovedDatabase: every command, even one that only reads, reports a
// database that is gone from beside the staged files, and none makes a new
// one.
func TestRemovedDatabase(t *testing.T) {
	claude, home := person(t), t.TempDir()
	at := filepath.Join(home, "staged", "dataviz", "12", "SKILL.md")
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"log dataviz", "status", "doctor", "harvest"} {
		code, out, errs := runHere(t, home, append(strings.Fields(args), "--claude-home", claude)...)
		if said := out + errs; code != exitFailed || !strings.Contains(said, "is missing, but was in use: staged/") || !strings.Contains(said, "restore evolve.db from a backup") {
			t.Errorf("evolve %s: exit %d:\n%s", args, code, said)
		}
		if made, _ := filepath.Glob(filepath.Join(home, "evolve.db*")); len(made) > 0 {
			t.Errorf("evolve %s made %q", args, made)
		}
	}
}
