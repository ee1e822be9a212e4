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
	names := map[string]string{}
	for _, id := range []string{"a/b", "a_b", "a:b", ".a_b", strings.Repeat("é", 5000), strings.Repeat("é", 5001), "x\xff", "x\ufffd"} {
		name := sidecarName(id)
		if len(name) > 255 || names[name] != "" {
			t.Errorf("%.10q has the name %.20q, as %.10q", id, name, names[name])
		}
		names[name] = id
	}
	if name := sidecarName("956e2661-152c"); name != "956e2661-152c.skills.json" {
		t.Errorf("an ordinary id has the name %q", name)
	}
	if name := sidecarName("../../etc/x"); strings.HasPrefix(name, ".") {
		t.Errorf("a hidden file: %s", name)
	}
}
