package claude

import (
	"os"
	"path/filepath"
	"testing"
)

// The administrator's settings come first, the last of them; of the owner's the least days
// count. A value that is none counts as none.
func TestKeeps(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int
	}{
		"nothing":               {nil, 30},
		"the owner's":           {map[string]string{"home/settings.json": "90"}, 90},
		"local, shorter":        {map[string]string{"home/settings.json": "90", "home/settings.local.json": "7"}, 7},
		"local, longer":         {map[string]string{"home/settings.json": "20", "home/settings.local.json": "70"}, 20},
		"none are kept":         {map[string]string{"home/settings.json": "0"}, 0},
		"none, in local":        {map[string]string{"home/settings.json": "60", "home/settings.local.json": "0"}, 0},
		"half a day":            {map[string]string{"home/settings.json": "0.5"}, 0},
		"managed":               {map[string]string{"home/settings.json": "90", "etc/managed-settings.json": "10"}, 10},
		"managed, none":         {map[string]string{"home/settings.json": "90", "etc/managed-settings.json": "0"}, 0},
		"managed, longer":       {map[string]string{"home/settings.json": "10", "etc/managed-settings.json": "60"}, 60},
		"managed, in parts":     {map[string]string{"etc/managed-settings.json": "10", "etc/managed-settings.d/10-a.json": "20", "etc/managed-settings.d/20-b.json": "15"}, 15},
		"managed without it":    {map[string]string{"home/settings.json": "90", "etc/managed-settings.json": "null"}, 90},
		"no number":             {map[string]string{"home/settings.json": `"5"`, "home/settings.local.json": "-1"}, 30},
		"more than can be said": {map[string]string{"home/settings.json": "1e300"}, 1e6},
	} {
		dir := t.TempDir()
		for file, days := range c.files {
			path := filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(`{"model":"x","cleanupPeriodDays":`+days+`}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := keepsUnder(filepath.Join(dir, "home"), filepath.Join(dir, "etc")); got != c.want {
			t.Errorf("%s: %d days, want %d", name, got, c.want)
		}
	}
}
