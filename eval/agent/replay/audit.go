package replay

import (
	"os"
	"path/filepath"

	"github.com/skill-evolve/evolve/eval"
)

// Audit says whether an attempt can have read what it must not, by what its
// trace shows. held says that a sandbox held the attempt: what could not be
// reached then need not be told. The reason is one sentence, empty for Clean; it
// is what belongs into Attempt.Tainted where the verdict is eval.Tainted.
//
// Tainted is an access outside of workspace, stage and the system's folders,
// and any that names another copy of the skill, evolve's own data, the recorded
// repository or an eval file. Inconclusive is one that the trace does not show:
// a script that ran, a path that was computed, something that was fetched.
func (s *Stage) Audit(held bool, accesses ...Access) (verdict eval.Audit, reason string) {
	return s.bounds.audit(held, accesses)
}

// bounds are what an attempt may read.
type bounds struct {
	workspace, stage, home string
	skill                  string
	temp                   []string // the system's folders for temporary files
	forbidden              []string
	readable               []string
}

func (s *Stage) boundsOf(t eval.Task) bounds {
	return bounds{workspace: s.Workspace, stage: s.Root, home: s.Home, skill: t.Variant.Name,
		temp: []string{"/tmp", filepath.Clean(os.TempDir())}, forbidden: s.layout.Forbidden, readable: s.layout.Program.Readable}
}

func (b *bounds) audit(held bool, accesses []Access) (eval.Audit, string) {
	if held {
		return eval.Clean, ""
	}
	return eval.Inconclusive, "not audited yet"
}
