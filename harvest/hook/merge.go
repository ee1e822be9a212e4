package hook

import (
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest"
)

// Live is the content of the bus, by session.
type Live struct {
	uses    map[string][]use            // by the session's id
	folders map[string]*harvest.Session // likewise; of which only the working folders are noted
	began   map[string]Record           // likewise; the first, at a commit
}

// A use is one use of a skill, from all records of it.
type use struct {
	Record // the first, completed by later ones
}

// Join makes uses of records: the beginning and the end of a call are one use. A typed
// command without a SKILL.md is none: agents run the hook for commands of every kind.
func Join(records []Record) *Live {
	l := &Live{uses: map[string][]use{}, folders: map[string]*harvest.Session{}, began: map[string]Record{}}
	at := map[string]int{} // session, call → index
	for _, r := range records {
		if r.Event.Source.Signal == harvest.PromptSlashCommand && r.TextHash == "" {
			continue
		}
		if l.folders[r.Session] == nil {
			l.folders[r.Session] = new(harvest.Session)
		}
		l.folders[r.Session].In(r.CWD)
		if !r.OfUse() {
			if _, ok := l.began[r.Session]; !ok && r.Phase == Began {
				l.began[r.Session] = r
			}
			continue
		}
		list := l.uses[r.Session]
		id := ""
		if r.Event.Anchor != nil && r.Event.Anchor.ToolUseID != "" {
			id = r.Session + "\x00" + r.Event.Anchor.ToolUseID
		}
		if i, ok := at[id]; ok && id != "" {
			u := &list[i]
			if u.Success == nil {
				u.Success, u.DurationMS = r.Success, r.DurationMS
			}
			if u.TextHash == "" {
				u.TextHash, u.Dir = r.TextHash, r.Dir
			}
			if u.Guarded == "" {
				u.Guarded = r.Guarded
			}
			continue
		}
		if id != "" {
			at[id] = len(list)
		}
		l.uses[r.Session] = append(list, use{r})
	}
	return l
}

// Sessions returns the ids of the sessions that the bus has uses of, sorted.
func (l *Live) Sessions() []string {
	var ids []string
	for id := range l.uses {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// WorkedIn returns the working folders of a session that are known.
func (l *Live) WorkedIn(session string) []string {
	if s := l.folders[session]; s != nil {
		return s.WorkedIn()
	}
	return nil
}

// Events returns the skill events of a session as they were recorded live, one per use.
func (l *Live) Events(session string) harvest.Sidecar {
	var out harvest.Sidecar
	for _, u := range l.uses[session] {
		out.Version, out.Events = harvest.EventsVersion, append(out.Events, u.Event)
	}
	return out
}

// Merge adds to a session that was read from its transcript what was recorded live:
// the commit at which it began, which text was loaded, what was refused, and uses that
// the transcript does not show as such. A use that is already in the session is not counted again, whatever signal
// it was recognised by. It returns how many uses it added.
func (l *Live) Merge(s *harvest.Session) (added int) {
	if s.Agent != agent {
		return 0
	}
	id, _, _ := strings.Cut(s.ID, "/") // a subagent's session is "session/agent"
	l.commit(s)
	for _, u := range l.uses[id] {
		if u.Agent != s.Subagent {
			continue
		}
		if v := u.in(s); v != nil {
			u.fill(v)
			continue
		}
		turn := slices.IndexFunc(s.Turns, func(t harvest.Turn) bool { return t.ID != "" && t.ID == u.Event.TurnID })
		if turn < 0 {
			continue // the transcript is incomplete or was cut: the next harvest adds it
		}
		v := harvest.Invocation{ID: u.Event.ID, Skill: u.Event.Skill.Name, Turn: turn, Signal: u.Event.Source.Signal, Explicit: true,
			Feedback: harvest.Feedback{Label: harvest.Unknown}}
		if u.Event.Anchor != nil {
			v.ToolUseID = u.Event.Anchor.ToolUseID
		}
		v.Time, _ = time.Parse(time.RFC3339Nano, u.Event.Timestamp) // zero if it has none
		u.fill(&v)
		at := len(s.Invocations)
		for at > 0 && s.Invocations[at-1].Turn > turn {
			at--
		}
		s.Invocations = slices.Insert(s.Invocations, at, v)
		added++
	}
	if added > 0 {
		harvest.Assess(s)
	}
	return added
}

// commit adds the commit at which a session began, if the hook that recorded it ran
// before the first prompt: a session may be older than its hooks.
func (l *Live) commit(s *harvest.Session) {
	r, ok := l.began[s.ID]
	at := harvest.When(r.Event.Timestamp)
	if !ok || s.Commit != "" || s.CWD != r.CWD || len(s.Turns) == 0 || at.IsZero() || at.After(s.Turns[0].Time) {
		return
	}
	s.Commit = r.Head
}

// in finds the use in a session: by the call's id, else as the one of its skill in its
// turn.
func (u *use) in(s *harvest.Session) *harvest.Invocation {
	call := ""
	if u.Event.Anchor != nil {
		call = u.Event.Anchor.ToolUseID
	}
	for i := range s.Invocations {
		if v := &s.Invocations[i]; call != "" && v.ToolUseID == call {
			return v
		}
	}
	for i := range s.Invocations {
		v := &s.Invocations[i]
		if v.Turn < 0 || v.Turn >= len(s.Turns) || u.Event.TurnID == "" || s.Turns[v.Turn].ID != u.Event.TurnID {
			continue
		}
		if call != "" && v.ToolUseID != "" {
			continue // another call
		}
		if name := u.Event.Skill.Name; v.Skill == name || v.Command == name || bare(v.Skill) == bare(name) {
			return v
		}
	}
	return nil
}

// fill adds to v what the transcript lacks.
func (u *use) fill(v *harvest.Invocation) {
	if v.TextHash == "" {
		v.TextHash = u.TextHash
	}
	if v.Dir == "" {
		v.Dir = u.Dir
	}
	if !v.Explicit && u.Event.Source.Confidence == "explicit" { // a plan of the agent's, or a reading of the file
		v.Explicit, v.Signal = true, u.Event.Source.Signal
	}
	v.Failed = v.Failed || u.Guarded != "" || u.Success != nil && !*u.Success
}

// bare is a skill's name without its namespace.
func bare(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }
