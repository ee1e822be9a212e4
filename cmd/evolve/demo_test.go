package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/report"
)

// TestReadmeShowsTheDemo: the block in README.md is what the demo prints, but for the
// name of the run and the time that it took.
func TestReadmeShowsTheDemo(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(readme), "It prints\n\n")
	if !ok {
		t.Fatal("README.md has no demo")
	}
	var want strings.Builder
	for line := range strings.Lines(rest) {
		text, ok := strings.CutPrefix(line, "    ")
		if !ok {
			break
		}
		want.WriteString(text)
	}
	t.Setenv("EVOLVE_HOME", t.TempDir())
	var out bytes.Buffer
	if code := run(context.Background(), machine{}, []string{"demo"}, strings.NewReader(""), &out, &out); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out.Bytes())
	}
	same := func(s string) string {
		s = regexp.MustCompile(`(?m)^(?:search|trial): \d+/.*\n`).ReplaceAllString(s, "") // how far it is, after some seconds
		s = regexp.MustCompile(`\b\d{8}-\d{6}-[0-9a-f]{6}\b`).ReplaceAllString(s, "RUN")
		// The demo's sessions end an hour before it is run.
		s = regexp.MustCompile(`, (\w{3}–)?\w{3} \d{4}; of other work`).ReplaceAllString(s, ", MONTH; of other work")
		return regexp.MustCompile(`(?m), [\d.]+ m?s$`).ReplaceAllString(s, ", TIME")
	}
	if got, want := same(out.String()), same(want.String()); got != want {
		t.Errorf("README.md is not what the demo prints:\n%s", diffLines(want, got))
	}
}

// diffLines shows the lines in which two texts differ.
func diffLines(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	var b strings.Builder
	for i := range max(len(w), len(g)) {
		var x, y string
		if i < len(w) {
			x = w[i]
		}
		if i < len(g) {
			y = g[i]
		}
		if x != y {
			b.WriteString("-" + x + "\n+" + y + "\n")
		}
	}
	return b.String()
}

// A tourist types every command that is printed as the next one, as it is printed, and
// at once.
type tourist struct {
	t     *testing.T
	typed map[string]bool
}

var (
	inBackticks = regexp.MustCompile("`((?:evolve|export) [^`]+)`")
	exported    = regexp.MustCompile(`(\w+)=(\S+)`)
)

// types runs a command line and, if asked to, every command that its output
// suggests.
func (o *tourist) types(line string, code int) string {
	o.t.Helper()
	o.typed[line] = true
	var out bytes.Buffer
	args := strings.Fields(line)[1:]
	if got := run(context.Background(), machine{}, args, strings.NewReader(""), &out, &out); got != code {
		o.t.Errorf("%s: exit code %d, want %d\n%s", line, got, code, out.String())
	}
	for text := range strings.Lines(out.String()) {
		if !regexp.MustCompile(`^\s*(next|hint|kept|waiting)\b|^\s*→`).MatchString(text) {
			continue
		}
		for _, m := range inBackticks.FindAllStringSubmatch(text, -1) {
			switch next := m[1]; {
			case strings.HasPrefix(next, "export "):
				for _, e := range exported.FindAllStringSubmatch(next, -1) {
					o.t.Setenv(e[1], e[2])
				}
			case !o.typed[next]:
				o.types(next, 0)
			}
		}
	}
	return out.String()
}

// TestDemoStory: in a demo that was kept, whatever is printed as the next command
// works as it is printed, hints of refusals too, and the demo's proof goes back and
// forth.
func TestDemoStory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "EVOLVE_HOME", "CLAUDE_CONFIG_DIR"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("PATH", "/nowhere") // no agent but the demo's own
	o := &tourist{t: t, typed: map[string]bool{"evolve rollback dataviz": true}}
	o.types("evolve demo --keep "+dir, 0)
	if got := os.Getenv("EVOLVE_HOME"); got != filepath.Join(dir, "evolve") {
		t.Fatalf("the demo's home is %q", got)
	}
	live := func(version string) {
		t.Helper()
		if out := o.types("evolve status", 0); !strings.Contains(out, version) {
			t.Errorf("live is not %s:\n%s", version, out)
		}
	}
	live(" v1 better ")
	for _, line := range []string{"evolve harvest", "evolve log dataviz", "evolve show dataviz", "evolve diff dataviz v0 v1", "evolve compare dataviz v0 v1",
		"evolve compare dataviz none v1", "evolve report last", "evolve sleep status", "evolve sleep run --dry-run", "evolve --skill dataviz --dry-run"} {
		if out := o.types(line, 0); regexp.MustCompile(`(?m)^.*(forecast|spent|run ).*\$`).MatchString(out) {
			t.Errorf("%s speaks of dollars, and nothing was paid:\n%s", line, out)
		}
	}
	o.types("evolve promote dataviz@v1", 0) // it is in place
	for range 2 {
		o.typed = map[string]bool{}
		o.types("evolve rollback dataviz", 0) // and what it prints: evolve promote dataviz@v1
		live(" v1 better ")
	}
	o.typed = map[string]bool{"evolve promote dataviz@v1": true}
	o.types("evolve rollback dataviz", 0)
	live(" v0 ")
	o.typed = map[string]bool{"evolve --skill dataviz": true, "evolve rollback dataviz": true}
	o.types("evolve promote dataviz", exitRefused) // its hint: evolve promote dataviz@v1
	live(" v1 better ")
}

// TestDemoFiguresAgree: one figure is the same wherever it is shown: in the run's result,
// in its report and page, and in the columns of a comparison and their difference.
func TestDemoFiguresAgree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	prints := func(into any, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(context.Background(), machine{}, args, strings.NewReader(""), &out, &errs); code != 0 {
			t.Fatalf("%v: exit code %d\n%s", args, code, errs.String())
		}
		if into != nil {
			if err := json.Unmarshal(out.Bytes(), into); err != nil {
				t.Fatalf("%v: %v", args, err)
			}
		}
		return out.String()
	}
	var r runResult
	prints(&r, "demo", "--keep", dir, "--json")
	t.Setenv("EVOLVE_HOME", filepath.Join(dir, "evolve"))
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(dir, ".claude"))
	if r.Spent.CostUSD != 0 || !r.Spent.CostKnown || !r.Spent.Simulated || r.Spent.TokensIn == 0 {
		t.Errorf("nobody paid for what is simulated: %+v", r.Spent)
	}
	var m report.Model
	prints(&m, "report", "last", "--json")
	for _, c := range m.Candidates {
		want := r.Incumbent.Metrics
		switch c.Role {
		case "challenger":
			want = r.Challenger.Metrics
		case "incumbent":
		default:
			continue
		}
		if c.Metrics.Quality != want.Quality || c.Metrics.Retries != want.Retries || c.Metrics.Cases != want.Cases || want.Cases != 13 {
			t.Errorf("the report has %+v of the %s, the run %+v", c.Metrics, c.Role, want)
		}
	}
	page := html.UnescapeString(prints(nil, "report", "last", "-o", "-"))
	v := r.Verdict
	pairs, heard := map[string]float64{}, 0 // pairs by cluster: the cases of one session are one
	for _, c := range m.Cases {
		if c.Split != string(eval.Test) || c.Late || len(c.Arms) < 2 {
			continue
		}
		pairs[c.Cluster] += *c.Arms[1].Quality - *c.Arms[0].Quality
		heard++
	}
	wins, losses := 0, 0
	for _, d := range pairs {
		if d > 0 {
			wins++
		} else if d < 0 {
			losses++
		}
	}
	if len(pairs) != v.Cases || wins != v.Wins || losses != v.Losses {
		t.Errorf("the report has %d pairs, %d won and %d lost, the run %+v", len(pairs), wins, losses, v)
	}
	wanted := []string{
		fmt.Sprintf("On %d of your past requests: %d better, %d worse, %d the same", v.Cases, v.Wins, v.Losses, v.Ties),
		fmt.Sprintf("Better with the new text (%d)", v.Wins),
		report.Worth(r.Worth, "v0", r.Incumbent.Metrics.Cases), eval.FreeSimulated}
	if v.Losses > 0 {
		wanted = append(wanted, fmt.Sprintf("Worse with the new text (%d)", v.Losses))
	}
	for _, want := range wanted {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(page, " in the evidence, ") && !strings.Contains(page, fmt.Sprintf("; %d in the evidence, ", heard)) {
		t.Error("the page counts other cases in the evidence")
	}
	for _, arms := range [][]string{{"v0", "v1"}, {"none", "v1"}, {"v0", "v1", "--recorded"}} {
		var c report.Comparison
		prints(&c, append([]string{"compare", demoSkill, "--json", "-q"}, arms...)...)
		for _, d := range c.Objectives {
			if d.Unit == "difference" && math.Abs(*d.B-*d.A-*d.Delta) > 1e-9 {
				t.Errorf("%v: %s %v and %v differ by %v", arms, d.Objective, *d.A, *d.B, *d.Delta)
			}
			if d.Delta != nil && (*d.Delta < *d.Low || *d.Delta > *d.High) {
				t.Errorf("%v: %s %v is outside of %v to %v", arms, d.Objective, *d.Delta, *d.Low, *d.High)
			}
		}
	}
}

// TestDemoSessionsArePast: with any clock and zone, the sessions of the demo
// are before now, and in the same order.
func TestDemoSessionsArePast(t *testing.T) {
	order := func(dir string, now time.Time) (sessions []string) {
		t.Helper()
		first := map[string]time.Time{}
		err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".jsonl" {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for line := range bytes.Lines(b) {
				var k struct{ Timestamp time.Time }
				if err := json.Unmarshal(line, &k); err != nil || k.Timestamp.IsZero() {
					continue
				}
				if !now.IsZero() && !k.Timestamp.Before(now) {
					t.Errorf("%s: %v is not before %v", e.Name(), k.Timestamp, now)
				}
				if at, ok := first[e.Name()]; !ok || k.Timestamp.Before(at) {
					first[e.Name()] = k.Timestamp
				}
			}
			sessions = append(sessions, e.Name())
			return nil
		})
		if err != nil || len(first) != len(sessions) || len(first) < 50 {
			t.Fatalf("%d sessions, %d with times, %v", len(sessions), len(first), err)
		}
		slices.SortFunc(sessions, func(x, y string) int { return first[x].Compare(first[y]) })
		return sessions
	}
	want := order("demodata/home", time.Time{})
	for _, now := range []time.Time{
		time.Date(2020, 2, 29, 23, 59, 59, 0, time.FixedZone("west", -11*3600)),
		time.Date(2026, 11, 22, 1, 0, 0, 0, time.FixedZone("east", 14*3600)),
		time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		a := newGlobal(strings.NewReader(""), new(bytes.Buffer), new(bytes.Buffer))
		a.Now = func() time.Time { return now }
		dir := filepath.Join(t.TempDir(), "kept")
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // laid out is enough
		_ = runDemo(ctx, a, dir)
		if got := order(dir, now); !slices.Equal(got, want) {
			t.Errorf("at %v the sessions are in another order", now)
		}
	}
}
