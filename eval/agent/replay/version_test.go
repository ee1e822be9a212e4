package replay

import (
	"strings"
	"testing"
)

func TestAtLeast(t *testing.T) {
	for version, want := range map[string]string{
		"0.169.0": "", "0.170.1": "", "1.0.0-beta.2": "", "codex-cli 0.169.0": "",
		"0.168.9": "too old", "0.1.0": "too old", "": "names no version", "dev": "names no version",
		"99999999999999999999.0.0": "names no version",
	} {
		err := AtLeast("codex", version, "0.169.0", "npm install x")
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "npm install x")) {
			t.Errorf("AtLeast(%q) = %v, want %q", version, err, want)
		}
	}
}
