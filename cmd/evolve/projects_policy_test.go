package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/store/datadir/policy"
)

// TestProjectsUnderPolicy: what is shown of projects is what holds, by the owner's decisions
// and by the machine's policy.
func TestProjectsUnderPolicy(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("EVOLVE_HOME", filepath.Join(home, "data"))
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(home, ".claude"))
	for _, name := range []string{"shop", "client"} {
		line := fmt.Sprintf(`{"type":"user","message":{"role":"user","content":"list the orders"},"uuid":"u","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/p/%s","sessionId":"%s"}`+"\n", name, name)
		putFile(t, filepath.Join(home, ".claude", "projects", "p", name+".jsonl"), []byte(line))
	}
	p, broken := new(policy.Policy), error(nil)
	p.Projects.Deny, p.Vendors = []string{"/p/client"}, &[]string{"anthropic"}
	m := machine{policy: func() (*policy.Policy, error) { return p, broken }}
	evolve := func(line string) string {
		var out, errs bytes.Buffer
		run(t.Context(), m, strings.Fields(line), strings.NewReader(""), &out, &errs)
		return out.String() + errs.String()
	}
	for _, c := range []struct{ line, want, not string }{
		{"projects allow --all --to openai", "but what is denied by the machine's policy", "and to openai"},
		{"projects list", "/p/client 0 1 denied by the machine's policy -", "undecided"},
		{"projects list", "/p/shop 0 1 allowed -", ""},
		{"projects list --json", `"decision": "denied", "fixed": "denied by the machine's policy"`, ""},
		{"projects allow /p/client", "it is not read all the same: denied by the machine's policy", "goes to openai"},
		{"harvest", "1 new or changed sessions", ""},
		{"privacy", "all may be read, as far as the machine's policy allows", ""},
		{"projects list", "/p/client 0 1 denied by the machine's policy -", "undecided"},
	} {
		got := strings.Join(strings.Fields(evolve(c.line)), " ")
		if !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("evolve %s: no %q, or %q, in %s", c.line, c.want, c.not, got)
		}
	}
	broken = policy.Refuse("it is broken")
	if got := evolve("projects list"); strings.Count(got, "denied by the machine's policy") != 2 || !strings.Contains(got, "nothing is read: the policy of this machine: it is broken") {
		t.Error(got)
	}
}
