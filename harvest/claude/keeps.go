package claude

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

const (
	// cleanupDays is after how many days Claude Code removes a transcript if its
	// settings say nothing.
	cleanupDays = 30
	maxSettings = 16 << 20 // bytes
)

// keeps is for how many days Claude Code keeps the transcripts in a home.
func keeps(home string) int { return keepsUnder(home, managed()) }

// keepsUnder is cleanupPeriodDays: as the administrator's settings in the folder managed
// fix it, or else the least in the settings of the home. 0, with which Claude Code keeps
// no transcripts, is 0 days.
func keepsUnder(home, managed string) int {
	files, _ := filepath.Glob(filepath.Join(managed, "managed-settings.d", "*.json"))
	slices.Sort(files)
	slices.Reverse(files) // the last one counts, and each of them more than the file
	for _, file := range append(files, filepath.Join(managed, "managed-settings.json")) {
		if days := period(file); days != nil {
			return *days
		}
	}
	least := -1
	for _, name := range []string{"settings.json", "settings.local.json"} {
		if days := period(filepath.Join(home, name)); days != nil && (least < 0 || *days < least) {
			least = *days
		}
	}
	if least < 0 {
		return cleanupDays
	}
	return least
}

// period is cleanupPeriodDays in a file of settings, nil if it is not there.
func period(file string) *int {
	var s struct {
		Days *float64 `json:"cleanupPeriodDays"`
	}
	text, err := bounded.ReadFile(file, maxSettings)
	if err != nil || json.Unmarshal(text, &s) != nil || s.Days == nil || !(*s.Days >= 0) {
		return nil
	}
	days := int(min(*s.Days, 1e6))
	return &days
}

// managed is the folder of the settings that an administrator of the machine has made.
func managed() string {
	return cmp.Or(map[string]string{"darwin": "/Library/Application Support/ClaudeCode", "windows": `C:\Program Files\ClaudeCode`}[runtime.GOOS], "/etc/claude-code")
}
