package policy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/work"
)

func trusted(fs.FileInfo) error { return nil }

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if p, err := read(path, trusted); p != nil || err != nil {
		t.Fatalf("without a file: %v, %v", p, err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("vendors: [anthropic]\nhosts: [api.anthropic.com, \"models.acme.test:8443\"]\nnights: false\ntargets: []\ncaps: {max_cost_usd: 5, max_duration: 2h}\nkeep_days: 30\nmoments: commands\nprojects: {allow: [/srv/work], deny: [/srv/work/client]}\n")
	p, err := read(path, trusted)
	if err != nil {
		t.Fatal(err)
	}
	for what, ok := range map[string]bool{
		"the vendor":          p.Vendor("anthropic"),
		"another vendor":      !p.Vendor("openai"),
		"this machine":        p.Vendor(""),
		"the host":            p.Host("api.anthropic.com", "443"),
		"the port":            p.Host("models.acme.test", "8443"),
		"another port":        !p.Host("models.acme.test", "443"),
		"no night":            p.Night() != nil,
		"no target":           p.Targets != nil && len(*p.Targets) == 0,
		"retention":           p.KeepDays == 30,
		"without a policy":    (*Policy)(nil).Vendor("openai") && (*Policy)(nil).Host("x", "1") && (*Policy)(nil).Night() == nil,
		"moments":             *p.Moments == work.Commands,
		"the caps":            p.Caps == Caps{CostUSD: 5, Duration: 2 * time.Hour},
		"the project":         (*p.Projects.Allow)[0] == "/srv/work",
		"the denied project":  p.Projects.Deny[0] == "/srv/work/client",
		"vendors if left out": new(Policy).Vendor("openai"),
	} {
		if !ok {
			t.Errorf("%s: %+v", what, p)
		}
	}
	for _, bad := range []string{"vendor: [x]\n", "projects: {allow: [work]}\n", "caps: {max_cost_usd: -1}\n", "caps: {max_cost_usd: .nan}\n", "keep_days: -1\n", "moments: some\n", "moments:\n", "moments: [all]\n", "- x\n", "vendors:\n  # - anthropic\n", "projects:\n", "projects:\n  allow:\n", "nights: false\n---\nnights: true\n"} {
		write(bad)
		if _, err := read(path, trusted); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	write("")
	if p, err := read(path, trusted); err != nil || p == nil || !p.Vendor("x") {
		t.Errorf("an empty file: %v, %v", p, err)
	}
	write("nights: false\n")
	_, err = read(path, func(fs.FileInfo) error { return errors.New("it does not belong to root") })
	if kind, _ := problem.Of(err); kind != problem.Refused {
		t.Errorf("somebody else's file: %v", err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := read(path, byRoot); err == nil || !strings.Contains(err.Error(), "root") {
		t.Errorf("a file that everybody can write: %v", err)
	}
}

func TestCap(t *testing.T) {
	for _, c := range []struct {
		chosen, limit, want float64
		refused             bool
	}{{0, 0, 0, false}, {3, 0, 3, false}, {0, 5, 5, false}, {3, 5, 3, false}, {5, 5, 5, false}, {6, 5, 5, true}} {
		got, err := Cap("max-cost-usd", c.chosen, c.limit)
		if got != c.want || (err != nil) != c.refused {
			t.Errorf("Cap(%v, %v) = %v, %v", c.chosen, c.limit, got, err)
		}
	}
}
