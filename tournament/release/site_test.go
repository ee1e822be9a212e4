package release

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/record"
)

var day1 = time.Date(2026, 11, 20, 3, 17, 0, 0, time.UTC)

// A site is a skill in a home of its own, with a version that evolve made and that is
// installed nowhere yet.
type site struct {
	t      *testing.T
	in     *Installer
	home   string
	v0, v1 []byte
	offer  record.Version
	said   []string // by the installer
}

func newSite(t *testing.T) *site {
	home := t.TempDir()
	t.Setenv("HOME", home)
	s := &site{t: t, home: home}
	dir := datadir.Dir(filepath.Join(home, "data"))
	if err := os.MkdirAll(string(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), dir.Database())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	s.in = &Installer{Store: db, Dir: dir, Access: datadir.Writes, Now: time.Now,
		Layout: &skill.Layout{Getenv: func(string) string { return "" }, Configured: func() ([]string, error) { return nil, nil }},
		Say:    func(format string, args ...any) { s.said = append(s.said, fmt.Sprintf(format, args...)) },
		Note:   func(string, hook.NoteKind, string, ...any) {}}
	text := "---\nname: tagger\ndescription: Tags notes.\n---\n\n## Steps\n\nTag them.\n"
	s.v0, s.v1 = []byte(text), []byte(text+"\nAt most three tags.\n")
	s.write("claude", s.v0)
	if err := s.in.Record(t.Context(), s.live()); err != nil {
		t.Fatal(err)
	}
	s.offer = record.Version{Skill: "tagger", SHA: skill.HashText(s.v1), Parent: skill.HashText(s.v0), Author: "evolve", Operator: "reflect",
		Proven: true, Text: s.v1}
	return s
}

func (s *site) path(target string) string {
	return filepath.Join(s.home, "."+target, "skills", "tagger", skill.FileName)
}

func (s *site) write(target string, text []byte) {
	s.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(s.path(target)), 0o700), os.WriteFile(s.path(target), text, 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

// holds demands what is in a target.
func (s *site) holds(target string, want []byte) {
	s.t.Helper()
	if got, err := os.ReadFile(s.path(target)); err != nil || !bytes.Equal(got, want) {
		s.t.Errorf("%s holds %q (%v), want %q", target, got, err, want)
	}
}

func (s *site) live() *skill.Live {
	s.t.Helper()
	live, err := s.in.Layout.Live("tagger")
	if err != nil {
		s.t.Fatal(err)
	}
	return live
}

func (s *site) versions() int {
	s.t.Helper()
	all, err := s.in.Store.Versions(s.t.Context(), "tagger")
	if err != nil {
		s.t.Fatal(err)
	}
	return len(all)
}

// proved stores that the gate has proved a text against another one.
func (s *site) proved(text, against []byte) {
	s.t.Helper()
	sha, base := skill.HashText(text), skill.HashText(against)
	j := s.in.Store.Journal("run-1")
	for _, err := range []error{
		j.SaveRun(s.t.Context(), &record.Run{ID: "run-1", Skill: "tagger", Status: record.Finished, Incumbent: base, Challenger: sha, Started: day1, Ended: day1}),
		j.SaveCandidate(s.t.Context(), &record.Candidate{SHA: sha, Run: "run-1", Seq: 1, Parents: []string{base}, Operator: "reflect", State: record.Pooled, Text: text}),
		j.SaveTrial(s.t.Context(), &record.TrialRecord{Skill: "tagger", Incumbent: base, Challenger: sha, Run: "run-1", Decision: pareto.Promote,
			State: []byte(`{"version":1}`), Updated: day1})} {
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// apply carries out a plan; the error is about any of its targets.
func (s *site) apply(p *Plan, err error) error {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	done, err := s.in.Apply(s.t.Context(), p)
	if err != nil {
		return err
	}
	return done.Refusal()
}

// install puts the offered version in the place of the live text.
func (s *site) install() {
	s.t.Helper()
	if err := s.apply(s.in.PlanProved(s.t.Context(), s.live(), &s.offer, nil)); err != nil {
		s.t.Fatal(err)
	}
}
