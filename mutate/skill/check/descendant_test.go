package check

import (
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// TestDescendantGuardsWhatIsTheOwners: the owner's guard may not go in any
// step of a search; one that the search itself has put in may.
func TestDescendantGuardsWhatIsTheOwners(t *testing.T) {
	doc := func(lines string) *skill.Document {
		t.Helper()
		d, err := skill.Parse([]byte("---\nname: ship\ndescription: Ships.\n---\n\n# Ship\n\n"+lines), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	const (
		work  = "- Write the notes.\n"
		asks  = "- Ask the user before you publish the release.\n"
		never = "- Never delete a branch.\n"
	)
	for _, c := range []struct {
		name                string
		root, parent, child string
		flagged             bool
	}{
		{"the owner's", work + asks, work + asks + never, work + never, true},
		{"the search's own", work + asks, work + asks + never, work + asks, false},
		{"both", work + asks, work + asks + never, work, true},
		{"approved before", work + asks, work + never, work, false},
		{"of the root itself", work + asks, work + asks, work, true},
	} {
		found := false
		for _, f := range Descendant(doc(c.root), doc(c.parent), doc(c.child), ClaudeCode) {
			found = found || f.Rule == removedCheck && f.Severity == Quarantine
		}
		if found != c.flagged {
			t.Errorf("%s: flagged %v, want %v", c.name, found, c.flagged)
		}
	}
}
