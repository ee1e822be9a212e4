package campaign

import (
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// TestLockedPart: a search that shortens the harness, and one that changes it, are not at
// work at once.
func TestLockedPart(t *testing.T) {
	if lockedPart(skill.Shorten) != lockedPart(skill.Harness) {
		t.Error("two runs may work on the harness at once")
	}
	if lockedPart(skill.Description) == lockedPart(skill.Harness) {
		t.Error("a description is tried on other cases")
	}
}
