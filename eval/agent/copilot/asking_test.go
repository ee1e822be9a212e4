package copilot

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// TestAskingLeavesNothing: with Asking no folder is made for the unpacked runtime, and
// the identity is the same.
func TestAskingLeavesNothing(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(t.TempDir(), "cache")
	for _, asking := range []bool{true, false} {
		a, err := New(t.Context(), replay.Config{Path: self, Model: "m", BaseURL: "http://127.0.0.1:1/v1", Asking: asking,
			Credentials: []string{"COPILOT_PROVIDER_API_KEY=a-long-key-of-nobody"}, Env: []string{fakeVar + "=", cacheVar + "=" + cache}})
		if err != nil {
			t.Fatal(err)
		}
		if id := a.Identity(); id.Version != "9.8.7" {
			t.Errorf("asking %v: version %q", asking, id.Version)
		}
		if _, err := os.Stat(cache); (err == nil) == asking {
			t.Errorf("asking %v: the folder is there: %v", asking, err == nil)
		}
	}
}
