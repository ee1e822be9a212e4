package entire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
)

// maxSessionEvents limits the skill events that are read of one session, because each
// is compared with all others.
const maxSessionEvents = 5 * maxEvents

// events reads the skill events of a record's metadata.json and leaves out invalid
// ones. If there is an error, it returns those before.
func (r *record) events(o *objects) (out []harvest.Event, err error) {
	m, _, err := r.metadata(o)
	if err != nil {
		return nil, nil // describe has reported it
	}
	n := 0
	m.Get("skill_events").ForEach(func(_, v gjson.Result) bool {
		if n++; n > maxEvents {
			err = fmt.Errorf("metadata.json: more than %d skill events: the rest is left out", maxEvents)
			return false
		}
		var e harvest.Event
		if v.IsObject() && json.Unmarshal([]byte(v.Raw), &e) == nil && strings.TrimSpace(e.Skill.Name) != "" {
			out = append(out, e)
		}
		return true
	})
	return out, err
}

// join adds the skill events that Entire recorded to the uses in the transcript.
// records come newest first, because the latest record is the most complete. A use in
// both keeps Entire's id and the rest of ours, which has the skill's text and the exact
// line.
func (h *harvesting) join(s *harvest.Session, records []*record) {
	read := map[string]bool{} // metadata that several records share
	left := maxSessionEvents
	for _, r := range records {
		oid := r.files["metadata.json"]
		if oid == "" || read[oid] {
			continue
		}
		read[oid] = true
		events, err := r.events(&h.objects)
		if len(events) > left {
			events, err = events[:left], fmt.Errorf("the session has more than %d skill events: the rest is left out", maxSessionEvents)
		}
		h.joinEvents(s, r, events)
		if err != nil {
			h.problem(s.Path, r.String()+": "+err.Error())
		}
		if left -= len(events); left == 0 {
			break
		}
	}
	slices.SortStableFunc(s.Invocations, func(a, b harvest.Invocation) int {
		return cmp.Or(cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Line, b.Line))
	})
}

func (h *harvesting) joinEvents(s *harvest.Session, r *record, events []harvest.Event) {
	for _, e := range events {
		v := harvest.Invocation{
			ID: h.clean(s, h.secrets.Redact, e.ID), Skill: harvest.SkillName(h.clean(s, h.secrets.Redact, e.Skill.Name)), Signal: e.Source.Signal,
			Explicit: e.Source.Confidence != "inferred", ToolUseID: e.Native["tool_use_id"], Feedback: harvest.Feedback{Label: harvest.Unknown},
		}
		if len(v.Skill) > harvest.MaxName || len(v.Signal) > harvest.MaxName || strings.ContainsAny(v.Skill, "\n\r") {
			continue
		}
		v.Time = harvest.When(e.Timestamp)
		if a := e.Anchor; a != nil {
			v.ToolUseID, v.Line = cmp.Or(a.ToolUseID, v.ToolUseID), max(0, a.Start)
			if len(a.EntryIDs) > 0 {
				v.EntryID = a.EntryIDs[0]
			}
		}
		v.Turn = turnOf(s, e.TurnID, v.Time)
		if i := find(s, v); i >= 0 {
			u := &s.Invocations[i]
			if u.Signal != harvest.SkillToolUse && v.Signal == harvest.SkillToolUse {
				// A native signal is stronger than a typed command.
				u.Signal, u.Explicit, u.ToolUseID = v.Signal, v.Explicit, v.ToolUseID
			}
			u.ID = cmp.Or(v.ID, u.ID)
			continue
		}
		if typed := v.Signal == harvest.PromptSlashCommand || v.Signal == harvest.InputSlashCommand; typed && (h.opts.Exists == nil || !h.opts.Exists(v.Skill)) {
			continue // Entire records every "/name", skill or not
		}
		if v.Turn < 0 {
			h.problem(s.Path, r.String()+": a skill event of no turn: "+v.Skill)
			continue
		}
		s.Invocations = append(s.Invocations, v)
	}
}

// find returns the index of the use in s that v repeats, or -1. Lines are compared
// last: Entire counts only those that it could parse.
func find(s *harvest.Session, v harvest.Invocation) int {
	for _, same := range []func(u harvest.Invocation) bool{
		func(u harvest.Invocation) bool { return v.ToolUseID != "" && u.ToolUseID == v.ToolUseID },
		func(u harvest.Invocation) bool {
			return v.ID != "" && u.ID == v.ID || v.EntryID != "" && u.EntryID == v.EntryID && u.Skill == v.Skill
		},
		func(u harvest.Invocation) bool {
			distinct := v.ToolUseID != "" && u.ToolUseID != "" // two calls in one turn
			return u.Skill == v.Skill && u.Turn == v.Turn && !distinct
		},
		func(u harvest.Invocation) bool {
			return u.Skill == v.Skill && u.Signal == v.Signal && u.Line == v.Line && v.ToolUseID == ""
		},
	} {
		if i := slices.IndexFunc(s.Invocations, same); i >= 0 {
			return i
		}
	}
	return -1
}

// turnOf is the turn with that id, or else the one that was in progress at a time; -1
// if there is none.
func turnOf(s *harvest.Session, id string, at time.Time) int {
	if i := slices.IndexFunc(s.Turns, func(t harvest.Turn) bool { return id != "" && t.ID == id }); i >= 0 {
		return i
	}
	if len(s.Turns) == 1 {
		return 0
	}
	last := -1
	for i, t := range s.Turns {
		if !at.IsZero() && !t.Time.IsZero() && !t.Time.After(at) {
			last = i
		}
	}
	return last
}
