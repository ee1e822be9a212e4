package harvest

import (
	"path"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// ownFolder matches the names of the folders in which evolve has agents work: the
// workspace of a case, and the private home of a replaying agent. Both must be made by
// os.MkdirTemp with "evolve-case-" or "evolve-replay-" before the number. All
// transcripts record their working folder and none its environment, so the folder is
// the mark.
var ownFolder = lazyregexp.New(`^evolve-(?:case|replay)-[0-9]+$`)

// OwnReplay reports whether evolve itself drove a session: it worked in one of evolve's
// folders, or its transcript is in one. Such a session came from a case, so harvesting
// it would teach the search its own answers. ReadFiles and Mine skip it.
func OwnReplay(s *Session) bool { return inOwnFolder(s.CWD) || inOwnFolder(s.Path) }

func inOwnFolder(name string) bool {
	name = strings.ReplaceAll(name, `\`, "/")
	for ; name != "" && name != "." && name != "/"; name = path.Dir(name) {
		if ownFolder.MatchString(path.Base(name)) {
			return true
		}
	}
	return false
}
