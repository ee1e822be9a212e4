package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// A Guarded is the reason why a skill's text must not be loaded: it is a candidate in
// quarantine that was not approved.
type Guarded struct {
	Schema int    `json:"schema"`
	Skill  string `json:"skill"`
	SHA    string `json:"sha256"` // of the SKILL.md
	Reason string `json:"reason"`
}

func (g *Guarded) Error() string {
	return fmt.Sprintf("skill %[1]s is not loaded: its text %.12[2]s is in quarantine (%[3]s); `evolve approve %[1]s@%.12[2]s` releases it, `evolve rollback %[1]s` puts the text before it back",
		g.Skill, g.SHA, g.Reason)
}

var sha256Name = lazyregexp.New(`^[0-9a-f]{64}$`)

func guardFile(home, sha string) string { return filepath.Join(home, "quarantine", sha+".json") }

// Quarantine keeps a text from being loaded wherever hooks are installed.
func Quarantine(home string, g Guarded) error {
	if !sha256Name.MatchString(g.SHA) {
		return fmt.Errorf("quarantine text: %q is no SHA-256", g.SHA)
	}
	g.Schema = 1
	return writeState(guardFile(home, g.SHA), g)
}

// Release takes a text out of quarantine. It does nothing for a text that is not in it.
func Release(home, sha string) error {
	if !sha256Name.MatchString(sha) {
		return fmt.Errorf("release text: %q is no SHA-256", sha)
	}
	if err := os.Remove(guardFile(home, sha)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("release text: %w", err)
	}
	return nil
}

// guard returns why the text must not be loaded; nil if it may be. An entry that cannot
// be read blocks nothing.
func (h *Host) guard(name, sha string) *Guarded {
	if sha == "" {
		return nil
	}
	b, err := readFile(guardFile(h.Home, sha))
	if err != nil {
		return nil
	}
	var g Guarded
	if err := json.Unmarshal(b, &g); err != nil || g.SHA != sha || g.Schema != 1 {
		h.log("guard", fmt.Sprintf("the entry of %.12s cannot be read", sha))
		return nil
	}
	g.Skill = name
	return &g
}
