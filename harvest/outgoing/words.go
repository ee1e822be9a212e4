package outgoing

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// Short is a folder as its owner would type it, on one line.
func Short(folder string) string {
	home, err := os.UserHomeDir()
	if err != nil || folder == home || !skill.Within(folder, []string{home}) {
		return plain.Line(folder)
	}
	rel, err := filepath.Rel(home, folder)
	if err != nil {
		return plain.Line(folder)
	}
	return plain.Line(filepath.Join("~", rel))
}

// Vendor is the vendor that its owner names: as it is, or by a host or an address of its own.
func Vendor(name string) (string, error) {
	known := agent.Vendors()
	switch {
	case slices.Contains(known, name), strings.HasPrefix(name, "command:"):
		return name, nil
	case strings.ContainsAny(name, ".:/"):
		if to := agent.At(name); len(to) > 0 && !strings.ContainsAny(to[0].Vendor, " /") {
			return to[0].Vendor, nil
		}
		return "", problem.Inputf("text for this machine stays here: leave it out", "%q is no vendor", name)
	}
	if near := skill.Nearest(name, known); near != "" {
		return "", problem.Inputf("did you mean "+near+"?", "unknown vendor %q", name)
	}
	if strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || name == "" {
		return "", problem.Inputf("the vendors are "+strings.Join(known, ", ")+", and hosts", "%q is no vendor", name)
	}
	return strings.ToLower(name), nil
}

// size is a number of bytes in words.
func size(n int) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%d KB", (n+999)/1000)
	}
	return plain.Thousands(int64(n)) + " bytes"
}
