package outgoing

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/skill-evolve/evolve/eval/plain"
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
