package host

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOnBattery reads what Linux tells of power supplies.
func TestOnBattery(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("BAT0/type", "Battery\n")
	if OnBattery(dir) {
		t.Error("a battery alone (a mouse's, say) counts as being on battery")
	}
	put("AC/type", "Mains\n")
	put("AC/online", "0\n")
	if !OnBattery(dir) {
		t.Error("with the mains offline it is not on battery")
	}
	put("AC/online", "1\n")
	if OnBattery(dir) || OnBattery(filepath.Join(dir, "none")) {
		t.Error("on battery with the mains online, or where nobody tells")
	}
}
