package ingest

import (
	"strings"
	"testing"
)

// A session's id does not lead out of the folder.
func TestSidecarName(t *testing.T) {
	for _, id := range []string{"../../etc/x", "..", `a\b`, "c:d", "e\x00f", "."} {
		if name := sidecarName(id); strings.ContainsAny(name, "/\\:\x00") || strings.HasPrefix(name, "..") {
			t.Errorf("%q is put into %q", id, name)
		}
	}
	if name := sidecarName("../../etc/x"); strings.HasPrefix(name, ".") {
		t.Errorf("a hidden file: %s", name)
	}
}
