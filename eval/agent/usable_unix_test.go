//go:build unix

package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// What a check's program is known by are the files that it names, and no devices:
// those have no end.
func TestProgramsOfChecks(t *testing.T) {
	script := filepath.Join(t.TempDir(), "grade.sh")
	content := func(text string) string {
		if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return new(Spec).programs([]eval.Case{{Checks: []eval.Check{{Type: eval.Command, Command: []string{"sh", script, "/dev/zero"}}}}}).Content
	}
	one := content("exit 0")
	if one == "" || content("exit 0") != one || content("exit 1") == one {
		t.Error("an edit of the program does not show")
	}
}
