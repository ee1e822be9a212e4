package backend

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/deps"
	"github.com/skill-evolve/evolve/eval/problem"
)

// registries stands for the hosts of public packages, as a host of --setup-network.
const registries = "registries"

// setups fills in how b prepares dependencies.
func setups(b *agent.Spec, conf *Config) error {
	if len(b.Setups) == 0 && len(conf.Setup) > 0 {
		b.Setups = map[string]string{}
		for dir, line := range conf.Setup {
			if rest, ok := strings.CutPrefix(dir, "~/"); ok {
				home, err := os.UserHomeDir()
				if err != nil {
					return err
				}
				dir = filepath.Join(home, rest)
			}
			if !filepath.IsAbs(dir) {
				return problem.Inputf("for example ~/src/web: npm ci", "config.yaml: setup: %q is no absolute folder", dir)
			}
			b.Setups[filepath.Clean(dir)] = line
		}
	}
	if len(b.SetupHosts) == 0 {
		b.SetupHosts = conf.SetupNetwork
	}
	var hosts []string
	for _, host := range b.SetupHosts {
		if host == registries {
			hosts = append(hosts, deps.Registries...)
			continue
		}
		if name, port, err := net.SplitHostPort(host); err != nil || name == "" || port == "" {
			return problem.Inputf("for example --setup-network registries, or registry.example.com:443", "--setup-network %q is no host:port", host)
		}
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	b.SetupHosts = slices.Compact(hosts)
	return nil
}
