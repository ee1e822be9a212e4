package hook

import (
	"time"

	"github.com/skill-evolve/evolve/eval/git"
	"github.com/skill-evolve/evolve/harvest"
)

// head records the commit that is checked out in the session's folder, once at its
// beginning and once for each that a turn ends at. No program is started. A folder
// without a commit has none.
func (h *Host) head(in *input) error {
	if in.cwd == "" || in.subagent != "" {
		return nil
	}
	commit, err := git.Head(in.cwd)
	if err != nil {
		return nil //nolint:nilerr // no repository, or none that files show
	}
	phase := Began
	if in.event == Stop {
		phase = Stopped
	}
	_, err = Append(h.Home, Record{Key: key(in.session, commit, string(phase)), Phase: phase, Session: in.session, CWD: in.cwd, Head: commit, Event: event(h.now())})
	return err
}

// event is that of a record of no use.
func event(at time.Time) harvest.Event {
	return harvest.Event{Source: harvest.EventSource{Agent: agent}, Timestamp: at.UTC().Format(time.RFC3339Nano)}
}

// NoteTree records how a session left its folder: the commit that is checked out, and
// whether the tree differs from it, nil if that is not known.
func NoteTree(home string, f Finished, head string, dirty *bool, at time.Time) error {
	_, err := Append(home, Record{Key: key(f.Session, f.Time.Format(time.RFC3339Nano), string(Left)), Phase: Left, Session: f.Session, CWD: f.CWD,
		Head: head, Dirty: dirty, Event: event(at)})
	return err
}
