package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/guard"
	"github.com/skill-evolve/evolve/store/datadir/policy"
)

// No flag is above the policy of the machine; what a flag leaves open has its cap.
func TestUnderPolicy(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("EVOLVE_HOME", filepath.Join(home, "data"))
	no := false
	p := &policy.Policy{Nights: &no, Targets: &[]string{"codex"}, Caps: policy.Caps{Rollouts: 50, CostUSD: 2, Tokens: 1e6, Duration: time.Hour}, KeepDays: 7}
	m := machine{policy: func() (*policy.Policy, error) { return p, nil }}
	evolve := func(line string) (int, string) {
		var out, errs bytes.Buffer
		code := run(t.Context(), m, strings.Fields(line), strings.NewReader(""), &out, &errs)
		return code, out.String() + errs.String()
	}
	for line, want := range map[string]string{
		"--skill x --max-rollouts 51":    "--max-rollouts 50 at most",
		"--skill x --max-cost-usd 2.5":   "--max-cost-usd 2 at most",
		"--skill x --max-tokens 2000000": "--max-tokens 1000000 at most",
		"compare x --max-cost-usd 3":     "--max-cost-usd 2 at most",
		"--skill x --max-duration 2h":    "--max-duration 1h0m0s at most",
		"sleep run":                      "no nights",
		"sleep install --at 03:00":       "no nights",
	} {
		if code, text := evolve(line); code != exitRefused || !strings.Contains(text, want) || !strings.Contains(text, policy.Path) {
			t.Errorf("evolve %s: exit %d, %s", line, code, text)
		}
	}
	p.Nights = nil
	if code, text := evolve("sleep install --at 03:00 -- --max-cost-usd 9"); code != exitRefused || !strings.Contains(text, "--max-cost-usd 2 at most") {
		t.Errorf("a night's flags: exit %d, %s", code, text)
	}
	root := newRoot(&global{machine: m})
	c, _, err := root.Find([]string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	if err := guard.Caps(p, c.Flags()); err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]string{"max-rollouts": "50", "max-cost-usd": "2", "max-tokens": "1000000", "max-duration": "1h0m0s"} {
		if got := c.Flags().Lookup(flag); got.Value.String() != want || got.Changed {
			t.Errorf("--%s is %s by default, want %s, and not as if it was typed", flag, got.Value, want)
		}
	}
	if code, text := evolve("doctor"); code == exitUsage || !strings.Contains(text, "max_cost_usd: 2") || !strings.Contains(text, policy.Path) {
		t.Errorf("doctor: exit %d, %s", code, text)
	}
	m.policy = func() (*policy.Policy, error) { return nil, policy.Refuse("it is broken") }
	if code, text := evolve("--skill x"); code != exitRefused || !strings.Contains(text, "broken") {
		t.Errorf("a policy that cannot be read: exit %d, %s", code, text)
	}
	if code, text := evolve("status"); code != exitDone {
		t.Errorf("a look under a policy that cannot be read: exit %d, %s", code, text)
	}
	for line, want := range map[string]int{"projects deny /client": exitDone, "sessions purge --all --yes": exitDone, "projects allow /client": exitRefused} {
		if code, text := evolve(line); code != want {
			t.Errorf("evolve %s under a policy that cannot be read: exit %d, %s", line, code, text)
		}
	}
}

// A proved text goes to the targets of the policy alone, and what is elsewhere can be
// taken back all the same.
func TestTargetsUnderPolicy(t *testing.T) {
	r := newRoaming(t)
	at := r.proved(r.v1, r.v0)
	only := []string{"codex"}
	m := machine{policy: func() (*policy.Policy, error) { return &policy.Policy{Targets: &only}, nil }}
	evolve := func(m machine, args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := run(t.Context(), m, args, strings.NewReader(""), &out, &errs)
		return code, out.String() + errs.String()
	}
	if code, text := evolve(m, "promote", "tagger@"+at[:12]); code != exitRefused || !strings.Contains(text, "names no target claude") {
		t.Errorf("exit %d, %s", code, text)
	}
	if got, err := os.ReadFile(r.path("claude")); err != nil || !bytes.Equal(got, r.v0) {
		t.Errorf("the live text is %q, %v", got, err)
	}
	if code, text := evolve(machine{}, "promote", "tagger@"+at[:12]); code != exitDone {
		t.Fatalf("without a policy: exit %d, %s", code, text)
	}
	if code, text := evolve(m, "rollback", "tagger"); code != exitDone {
		t.Errorf("rollback: exit %d, %s", code, text)
	}
	if got, err := os.ReadFile(r.path("claude")); err != nil || !bytes.Equal(got, r.v0) {
		t.Errorf("after the rollback: %q, %v", got, err)
	}
	m.policy = func() (*policy.Policy, error) { return nil, policy.Refuse("it is broken") }
	if code, text := evolve(m, "rollback", "tagger"); strings.Contains(text, "broken") { // there is nothing more to take back
		t.Errorf("a rollback under a policy that cannot be read: exit %d, %s", code, text)
	}
}
