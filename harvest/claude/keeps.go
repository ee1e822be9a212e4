package claude

import (
	"encoding/json"
	"path/filepath"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

const (
	// cleanupDays is after how many days Claude Code removes a transcript if its
	// settings say nothing.
	cleanupDays = 30
	maxSettings = 16 << 20 // bytes
)

// keeps is cleanupPeriodDays in the settings of a home.
func keeps(home string) int {
	var s struct {
		Days *float64 `json:"cleanupPeriodDays"`
	}
	text, err := bounded.ReadFile(filepath.Join(home, "settings.json"), maxSettings)
	if err != nil || json.Unmarshal(text, &s) != nil || s.Days == nil || !(*s.Days >= 0) {
		return cleanupDays
	}
	return int(min(*s.Days, 1e6))
}
