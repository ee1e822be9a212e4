package corpustest_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/harvest/corpustest"
)

// read harvests a corpus.
func read(t *testing.T, dir string) []harvest.Session {
	t.Helper()
	var all []harvest.Session
	problems, err := claude.Kind.Source(dir, harvest.Options{}).Sessions(context.Background(), nil, func(s *harvest.Session) error {
		all = append(all, *s)
		return nil
	})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return all
}

// The reader finds what was planted, and keeps nothing that it must not.
func TestHarvestOfTheCorpus(t *testing.T) {
	dir := t.TempDir()
	m, err := corpustest.Generate(dir, corpustest.Options{Sessions: 600, Bytes: 20 << 20, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if m.Bytes < 19<<20 || m.Bytes > 23<<20 || m.Files < 600 {
		t.Errorf("%d files, %d bytes", m.Files, m.Bytes)
	}
	kinds := map[string]int{}
	kept := 0
	for _, s := range m.Secrets {
		if s.Place == corpustest.Prompt || s.Place == corpustest.Answer {
			kinds[s.Kind]++
			kept++
		}
	}
	if len(kinds) < 40 || kept < 1000 || len(m.Invocations) < 600 {
		t.Fatalf("%d kinds of secrets, %d in what is kept, %d uses", len(kinds), kept, len(m.Invocations))
	}
	all := read(t, dir)
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	leaks := m.Leaks(data)
	for _, s := range leaks {
		t.Errorf("%s in the %s of %s: %q", s.Kind, s.Place, s.Session, s.Parts)
	}
	t.Logf("%d secrets of %d kinds, %d kept", kept, len(kinds), len(leaks))
	sc := m.Score(all)
	for i, w := range sc.Wrong {
		if i < 20 {
			t.Error(w)
		}
	}
	if sc.Missed+sc.Invented > 0 || sc.Found != len(m.Invocations) || sc.LabelsRight != sc.Labels || sc.Labels < 100 {
		t.Errorf("uses: %d found, %d missed, %d invented; %d of %d reactions understood", sc.Found, sc.Missed, sc.Invented, sc.LabelsRight, sc.Labels)
	}
	if sc.Touched*50 > sc.Look || sc.Look < 500 {
		t.Errorf("%d of %d look-alikes were replaced: %v", sc.Touched, sc.Look, sc.TouchedOf)
	}
}

// A score that finds nothing wrong must be able to.
func TestScore(t *testing.T) {
	dir := t.TempDir()
	m, err := corpustest.Generate(dir, corpustest.Options{Sessions: 8, Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if sc := m.Score(nil); sc.Found != 0 || sc.Missed != len(m.Invocations) || sc.Touched != sc.Look || sc.Look == 0 {
		t.Errorf("%+v", sc)
	}
	all := read(t, dir)
	more := all[0].Invocations[0]
	all[0].Invocations = append(all[0].Invocations, more)
	if sc := m.Score(all); sc.Invented != 1 {
		t.Errorf("%+v", sc)
	}
	var raw []byte
	for _, s := range all {
		b, err := os.ReadFile(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw, b...)
	}
	if n := len(m.Leaks(raw)); n != len(m.Secrets) {
		t.Errorf("%d of %d secrets are in the transcripts", n, len(m.Secrets))
	}
}

func TestGenerateIsDeterministic(t *testing.T) {
	sum := func(seed uint64) (out [32]byte) {
		dir := t.TempDir()
		if _, err := corpustest.Generate(dir, corpustest.Options{Sessions: 25, Bytes: 1 << 20, Seed: seed}); err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(p)
			h.Write([]byte(p[len(dir):]))
			h.Write(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		h.Sum(out[:0])
		return out
	}
	a, b, c := sum(7), sum(7), sum(8)
	if a != b || a == c {
		t.Error("the same seed must give the same corpus, another one another")
	}
}
