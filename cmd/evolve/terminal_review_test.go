//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/store"
)

// firstRun is a skill with held-out cases that only a judge can check, and no review yet:
// the demo's, without its person.
func firstRun(t *testing.T) (s *station, home string) {
	demo := filepath.Join(t.TempDir(), "demo")
	c := exec.Command(os.Args[0], "demo", "--keep", demo, "--quiet")
	c.Env = []string{"EVOLVE_TEST_AS_MAIN=1", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	db, err := store.Open(t.Context(), filepath.Join(demo, "evolve", "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s = &station{t: t, skills: t.TempDir()}
	if s.cases, err = db.Cases(t.Context(), demoSkill); err != nil {
		t.Fatal(err)
	}
	v0, err := db.Version(t.Context(), demoSkill, 0)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(s.skills, demoSkill)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), v0.Text, 0o600); err != nil {
		t.Fatal(err)
	}
	return s, s.home()
}

// TestTerminalFirstReview: between search and gate, a run at a terminal offers the reviews
// that the first look at the judge takes. With them the first run comes to a verdict; who
// does not want to, or stops in the middle, is told what waits, and another run asks for
// the rest.
func TestTerminalFirstReview(t *testing.T) {
	t.Parallel()
	s, home := firstRun(t)
	person, byPrompt := simulated.Demo().Person(), map[string]*eval.Case{}
	for i := range s.cases {
		byPrompt[plain.Excerpt(s.cases[i].Prompt, 300)] = &s.cases[i]
	}
	run := func(home string) *seat {
		return s.sit(120, home, []string{"--skill", demoSkill, "--no-harvest", "--agent", "simulated", "--seed", "2", "--concurrency", "4"})
	}
	const offer = `Say now which is better\? \(later: evolve review dataviz\) \[y/N\]`
	screen := regexp.MustCompile(`(?s).*asked: (.*?)\r\n── 1 ──\r\n(.*?)\r\n── 2 ──\r\n(.*?)\r\nbetter: 1, 2 or = \(s skip, q quit\) $`)
	labels := func(home string) (n int) {
		db := s.open(home)
		defer db.Close()
		all, err := db.Labels(t.Context(), demoSkill)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range all {
			if l.Choice != store.Same {
				n++
			}
		}
		return n
	}
	// answer answers the pair on the screen as the made-up person does, and reports whether
	// that is a label.
	answer := func(p *seat, shown int) bool {
		p.await(fmt.Sprintf(`pair %d of \d+[\s\S]*better: 1, 2 or = \(s skip, q quit\)`, shown))
		p.mu.Lock()
		m := screen.FindStringSubmatch(p.raw.String())
		p.mu.Unlock()
		if m == nil || byPrompt[m[1]] == nil {
			t.Fatalf("pair %d is about no case: %q", shown, m)
		}
		word := "="
		switch d := person.Prefers(byPrompt[m[1]], m[2], m[3]); {
		case d > 0:
			word = "1"
		case d < 0:
			word = "2"
		}
		p.press(word + "\n")
		return word != "="
	}

	no := s.home()
	p := run(no)
	p.await(offer)
	p.press("\n")
	has(t, p.leaves(exitDone), `evolve review dataviz`)
	if n := labels(no); n != 0 {
		t.Errorf("%d labels of who did not want to", n)
	}

	p = run(home)
	p.await(`its word counts once it agrees with you on 20 pairs`)
	p.await(offer)
	p.press("y\n")
	given := 0
	for shown := 1; given < 3; shown++ {
		if answer(p, shown) {
			given++
		}
	}
	p.await(`better: 1, 2 or =`)
	p.press("q\n")
	has(t, p.leavesPlain(), `evolve review dataviz`)
	if n := labels(home); n != 3 {
		t.Fatalf("%d labels, want 3", n)
	}

	p = run(s.home())
	p.await(offer)
	p.press("y\n")
	given = 0
	for shown := 1; given < 20; shown++ {
		if answer(p, shown) {
			given++
		}
	}
	lines := strings.Join(p.leavesPlain(), "\n")
	if !regexp.MustCompile(`judge +agrees with your labels: agreement`).MatchString(lines) || !regexp.MustCompile(`verdict +better \(at most 5 % luck\): `).MatchString(lines) {
		t.Errorf("the first run says\n%s", lines)
	}
}
