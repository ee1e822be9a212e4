package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest/corpustest"
	"github.com/skill-evolve/evolve/store"
)

// corpusOf generates the corpus that a test or benchmark harvests:
// EVOLVE_CORPUS_MB is its size in MiB, 2000 sessions from 200 on.
func corpusOf(tb testing.TB, mb int64) (home string, m *corpustest.Manifest) {
	tb.Helper()
	if v := os.Getenv("EVOLVE_CORPUS_MB"); v != "" {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n <= 0 {
			tb.Fatalf("EVOLVE_CORPUS_MB=%q is no size", v)
		}
		mb = n
	}
	home = tb.TempDir()
	sessions := 400
	if mb >= 200 {
		sessions = 2000
	}
	m, err := corpustest.Generate(home, corpustest.Options{Sessions: sessions, Bytes: mb << 20})
	if err != nil {
		tb.Fatal(err)
	}
	return home, m
}

// The stored corpus agrees with its manifest, and no secret is in any byte
// that the harvest stored or printed.
func TestHarvestKeepsWhatItShould(t *testing.T) {
	home, m := corpusOf(t, 12)
	t.Setenv("EVOLVE_HOME", t.TempDir())
	allowEverything(t, os.Getenv("EVOLVE_HOME"))
	ctx := context.Background()
	db, err := store.Open(ctx, filepath.Join(os.Getenv("EVOLVE_HOME"), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // open meanwhile, so that the write-ahead log stays to be looked into
	var stdout, stderr bytes.Buffer
	for _, args := range [][]string{{"harvest", "--json"}, {"harvest", "--events"}, {"harvest"}} {
		if code := run(ctx, machine{}, append(args, "--claude-home", home), nil, &stdout, &stderr); code != 0 {
			t.Fatalf("%v: %d: %s", args, code, stderr.Bytes())
		}
	}
	sessions, err := db.Sessions(ctx, store.SessionFilter{})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := json.Marshal(sessions)
	if err != nil {
		t.Fatal(err)
	}
	texts := [][]byte{stdout.Bytes(), stderr.Bytes(), kept}
	names := ""
	err = filepath.WalkDir(os.Getenv("EVOLVE_HOME"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		texts = append(texts, b)
		names += " " + d.Name()
		return err
	})
	if err != nil || !strings.Contains(names, "evolve.db-wal") {
		t.Fatal(err, names)
	}
	kinds := map[string]bool{}
	planted := 0
	for _, s := range m.Secrets {
		kinds[s.Kind] = true
		if s.Place == corpustest.Prompt || s.Place == corpustest.Answer {
			planted++
		}
	}
	leaks := m.Leaks(texts...)
	for _, s := range leaks {
		t.Errorf("%s in the %s of %s is kept", s.Kind, s.Place, s.Session)
	}
	sc := m.Score(sessions)
	if len(sessions) != m.Files || sc.Found != len(m.Invocations) || sc.Missed+sc.Invented > 0 {
		t.Errorf("%d of %d sessions; uses of skills: %d found, %d missed, %d invented", len(sessions), m.Files, sc.Found, sc.Missed, sc.Invented)
	}
	if sc.Touched*50 > sc.Look {
		t.Errorf("%d of %d look-alikes were replaced: %v", sc.Touched, sc.Look, sc.TouchedOf)
	}
	t.Logf("%d MB in %d files: %d of %d uses found, %d invented; %d of %d secrets in kept text leaked, %d in all, of %d kinds; %d of %d look-alikes replaced; %d of %d reactions understood",
		m.Bytes>>20, m.Files, sc.Found, len(m.Invocations), sc.Invented, len(leaks), planted, len(m.Secrets), len(kinds), sc.Touched, sc.Look, sc.LabelsRight, sc.Labels)
}

// BenchmarkHarvest runs the whole program, SQLite and all, on a corpus in the
// page cache: see docs/benchmarks.md.
func BenchmarkHarvest(b *testing.B) {
	home, m := corpusOf(b, 20)
	program := filepath.Join(b.TempDir(), "evolve")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	var files []string
	err := filepath.WalkDir(home, func(p string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(p, ".jsonl") {
			files = append(files, p)
			_, err = os.ReadFile(p) // into the page cache
		}
		return err
	})
	if err != nil || len(files) != m.Files {
		b.Fatal(err, len(files))
	}
	// harvest returns what the program found and its peak memory in MB.
	harvest := func(b *testing.B, data string) (found struct{ Sessions, Stored int }, peak float64) {
		allowEverything(b, data)
		c := exec.Command(program, "harvest", "--json", "--claude-home", home)
		c.Env = append(os.Environ(), "EVOLVE_HOME="+data)
		var stdout, stderr bytes.Buffer
		c.Stdout, c.Stderr = &stdout, &stderr
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		peaked := make(chan float64)
		done := make(chan struct{})
		go func() { peaked <- peakMemory(c.Process.Pid, done) }()
		err := c.Wait()
		close(done)
		peak = <-peaked
		if err != nil {
			b.Fatalf("%v\n%s", err, stderr.Bytes())
		}
		if err := json.Unmarshal(stdout.Bytes(), &found); err != nil {
			b.Fatal(err)
		}
		return found, peak
	}
	expect := func(b *testing.B, got, want int) {
		if got != want {
			b.Fatalf("%d sessions, want %d", got, want)
		}
	}
	b.Run("cold", func(b *testing.B) {
		b.SetBytes(m.Bytes)
		most := 0.
		for n := 0; b.Loop(); n++ {
			found, peak := harvest(b, filepath.Join(b.TempDir(), fmt.Sprint(n)))
			expect(b, found.Sessions, m.Files)
			most = max(most, peak)
		}
		b.ReportMetric(most, "peak-MB")
	})
	data := b.TempDir()
	harvest(b, data)
	b.Run("idle", func(b *testing.B) {
		for b.Loop() {
			found, _ := harvest(b, data)
			expect(b, found.Sessions, 0)
		}
	})
	b.Run("one-turn", func(b *testing.B) {
		file := files[len(files)/2]
		for n := 0; b.Loop(); n++ {
			b.StopTimer()
			appendTurn(b, file, n)
			b.StartTimer()
			found, _ := harvest(b, data)
			expect(b, found.Sessions, 1)
		}
	})
}

// peakMemory is the largest resident set of a process until it is done, in
// MB, 0 without /proc. (What wait4 reports begins with that of the parent.)
func peakMemory(pid int, done <-chan struct{}) (peak float64) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		var kB float64
		if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
			if _, err := fmt.Sscan(rest, &kB); err == nil {
				peak = max(peak, kB*1024/1e6)
			}
		}
		select {
		case <-done:
			return peak
		case <-tick.C:
		}
	}
}

// appendTurn adds what the user said next to a transcript.
func appendTurn(b *testing.B, name string, n int) {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	_, err = fmt.Fprintf(f, `{"parentUuid":null,"isSidechain":false,"promptId":"later-%d","type":"user","message":{"role":"user","content":"Perfect, thanks!"},"uuid":"u-%d","timestamp":"2026-11-20T10:00:00.000Z","promptSource":"typed","entrypoint":"cli"}`+"\n", n, n)
	if err := errors.Join(err, f.Close()); err != nil {
		b.Fatal(err)
	}
}
