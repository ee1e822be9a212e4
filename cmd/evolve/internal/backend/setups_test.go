package backend

import (
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/deps"
)

func TestSetups(t *testing.T) {
	t.Setenv("HOME", "/home/dev")
	conf, err := parseConfig([]byte("setup:\n  ~/src/web/: npm ci\n  /srv/api: go mod download\nsetup_network: [registries, 'npm.example.com:443', 'pypi.org:443']\n"))
	if err != nil {
		t.Fatal(err)
	}
	b := &agent.Spec{Setup: "make deps"}
	for range 2 { // a run that is resumed has them already
		if err := setups(b, conf); err != nil {
			t.Fatal(err)
		}
		if b.Setup != "make deps" || len(b.Setups) != 2 || b.Setups["/home/dev/src/web"] != "npm ci" || b.Setups["/srv/api"] != "go mod download" {
			t.Errorf("%+v", b)
		}
		if len(b.SetupHosts) != len(deps.Registries)+1 || !slices.Contains(b.SetupHosts, "npm.example.com:443") || slices.Contains(b.SetupHosts, registries) {
			t.Errorf("hosts %q", b.SetupHosts)
		}
	}
	if err := setups(&agent.Spec{SetupHosts: []string{"example.com"}}, new(Config)); err == nil || !strings.Contains(err.Error(), "is no host:port") {
		t.Errorf("a host without a port: %v", err)
	}
	if err := setups(new(agent.Spec), &Config{Setup: map[string]string{"src": "make"}}); err == nil || !strings.Contains(err.Error(), "no absolute folder") {
		t.Errorf("a relative folder: %v", err)
	}
	none := new(agent.Spec)
	if err := setups(none, new(Config)); err != nil || none.Setups != nil || none.SetupHosts != nil {
		t.Errorf("%+v, %v", none, err)
	}
}
