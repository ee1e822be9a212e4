package harvest

import (
	"path"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// ownFolder matches the names that evolve gives the folders in which it has
// agents work: the workspace of a case, and the private home of a replaying
// agent, which must be made by os.MkdirTemp with "evolve-case-" or
// "evolve-replay-" before the number. No transcript records its environment, but
// all record their working folder; so that is the mark.
var ownFolder = lazyregexp.New(`^evolve-(?:case|replay)-[0-9]+$`)

// OwnReplay reports whether evolve itself drove a session: it worked in one of
// evolve's folders, or its transcript stands in one. Such a session is what the
// search made of a case; to harvest it would teach the search its own answers.
// ReadFiles passes it over, and so does Mine.
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
