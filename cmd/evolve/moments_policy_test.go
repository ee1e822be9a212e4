package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/store/datadir/policy"
)

// TestMomentsUnderPolicy: the machine's policy lowers how much is kept of agents' work,
// whatever its owner chose, and takes nothing that they chose away.
func TestMomentsUnderPolicy(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("EVOLVE_HOME", filepath.Join(home, "data"))
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(home, ".claude"))
	putFile(t, filepath.Join(home, ".claude", "projects", "p", "s.jsonl"), []byte(`{"type":"user","message":{"role":"user","content":"list the orders"},"uuid":"u","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/p","sessionId":"s"}`+"\n"))
	p := new(policy.Policy)
	m := machine{policy: func() (*policy.Policy, error) { return p, nil }}
	for _, c := range []struct {
		most      work.Level
		line      string
		want, not string
	}{
		{work.Commands, "projects allow --all", "allowed", ""},
		{work.Commands, "privacy", "moments   commands: ", ""},
		{work.Commands, "harvest", "1 new or changed sessions", "until you choose"},
		{work.Off, "harvest", "0 new or changed sessions", "until you choose"}, // there is nothing to choose
		{work.All, "harvest", "until you choose", ""},
		{work.Commands, "harvest --moments all", "the policy of this machine: it allows --moments commands at most", ""},
		{work.All, "harvest --moments all", "0 new or changed sessions", "until you choose"},
		{work.All, "privacy", "moments   all: ", ""},
		{work.Off, "privacy", "moments   off: ", "until you choose"},
		{work.Commands, "harvest --moments off", "0 new or changed sessions", ""},
		{work.All, "privacy", "moments   off: ", "until you choose"},
	} {
		p.Moments = &c.most
		var out, errs bytes.Buffer
		run(t.Context(), m, strings.Fields(c.line), strings.NewReader(""), &out, &errs)
		if got := out.String() + errs.String(); !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("at most %v, evolve %s: no %q, or %q, in %s", c.most, c.line, c.want, c.not, got)
		}
	}
}
