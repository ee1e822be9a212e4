// Package moments chooses the turns of people's sessions that become cases of a file of
// standing instructions: all turns in which the file was loaded are its population, a coin
// draws some of them, and of these the ones that can be replayed are cases.
package moments

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// Loads reports whether an agent loads a file in a session that began in folder; version is
// "" if it is not known.
type Loads func(agent, version string, file subject.Ref, folder string) bool

// A Turn is one of a population.
type Turn struct {
	Session *harvest.Session
	Index   int
	// Family is the first session of the conversation: a resumed one has its turns, too.
	Family string
}

// key names a turn in all sessions that have it.
func (t Turn) key() string {
	if id := t.Session.Turns[t.Index].ID; id != "" {
		return id
	}
	return fmt.Sprintf("%s#%d", t.Session.ID, t.Index)
}

func (t Turn) time() time.Time {
	if at := t.Session.Turns[t.Index].Time; !at.IsZero() {
		return at
	}
	return t.Session.Started
}

// A Population has the turns of people in which a file was loaded, the oldest session first.
type Population struct {
	Turns    []Turn
	Sessions int // that have them
}

// Of is the population of a file. project maps a folder to its repository, so that the
// sessions in a worktree are the repository's. As for skills, sessions that a program
// drove, subagents, evolve's own replays and copies do not count. Of a turn that a resumed
// session repeats, the first session has it.
func Of(sessions []*harvest.Session, file subject.Ref, loads Loads, project func(folder string) string) *Population {
	p := &Population{}
	known := map[[2]string]string{} // turn → family
	loaded := map[[2]string]bool{}  // by agent and folder: loads may look at files
	for _, s := range harvest.Distinct(sessions) {
		if s.Subagent != "" || s.Headless || harvest.OwnReplay(s) {
			continue
		}
		folder, ok := within(s, file, project)
		if !ok {
			continue
		}
		at := [2]string{s.Agent, folder}
		if _, asked := loaded[at]; !asked {
			loaded[at] = loads(s.Agent, "", file, folder)
		}
		if !loaded[at] {
			continue
		}
		p.Sessions++
		family := s.ID
		for i := range s.Turns {
			if first, again := known[[2]string{s.Agent, Turn{s, i, ""}.key()}]; again {
				family = first
				break
			}
		}
		for i := range s.Turns {
			t := Turn{s, i, family}
			name := [2]string{s.Agent, t.key()}
			if _, again := known[name]; !again && strings.TrimSpace(s.Turns[i].Prompt) != "" {
				known[name] = family
				p.Turns = append(p.Turns, t)
			}
		}
	}
	return p
}

// within is the folder in which a session began, and whether a file may be loaded there: one
// of a person's is loaded everywhere, one of a repository in it. The folders of sessions that
// come with a repository are of other machines; they stand for its top.
func within(s *harvest.Session, file subject.Ref, project func(string) string) (folder string, ok bool) {
	if folders := s.WorkedIn(); len(folders) > 0 {
		folder = folders[0]
	}
	root, _ := file.Place()
	switch {
	case root == "~":
		return folder, true
	case strings.HasPrefix(s.Path, root+harvest.CheckpointMark+"/"):
		return root, true
	case folder == "":
		return "", false
	}
	if rel, err := filepath.Rel(root, folder); err == nil && filepath.IsLocal(rel) {
		return folder, true
	}
	return root, project(folder) == project(root)
}
