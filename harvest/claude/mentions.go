package claude

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// plan keeps each "$name" of a text that the agent wrote before its next call.
func (l *loads) plan(turn, n int, rec *record, text string) {
	if strings.IndexByte(text, '$') < 0 {
		return
	}
	for _, m := range skill.Mentions(text, func(id string) bool { return l.listed[id] }) {
		if len(l.pending) == maxPlanned {
			return
		}
		if len(m.ID) <= harvest.MaxName {
			l.pending = append(l.pending, plan{turn, m.ID, place{n, rec.uuid}, rec.at})
		}
	}
}

// settle turns these into plans, because a call follows. A text that no call follows is
// the answer, addressed to the user.
func (l *loads) settle() {
	l.planned = append(l.planned, l.pending...)
	l.pending = nil
}

// look records a reading of a skill's SKILL.md, and a change of it: editing a skill is
// not using it.
func (t *transcript) look(n int, rec *record, b *block) {
	switch b.name {
	case "Read", "Edit", "MultiEdit", "Write":
	default:
		return
	}
	name, dir, ok := harvest.SkillFile(gjson.GetBytes(b.input, "file_path").Str)
	if !ok || path.Base(path.Dir(strings.ReplaceAll(dir, `\`, "/"))) != "skills" {
		return
	}
	name, dir = t.s.Clean(name), t.s.Clean(dir)
	turn := len(t.s.Turns) - 1
	if b.name != "Read" {
		t.loads.edits[turn] = append(t.loads.edits[turn], dir)
		return
	}
	if b.id != "" {
		t.loads.reads[b.id] = harvest.Invocation{ID: "claude-skill-" + b.id, Skill: name, Signal: harvest.SkillFileRead, Dir: dir,
			ToolUseID: b.id, Tool: b.name, EntryID: rec.uuid, Line: n, Time: rec.at}
	}
}

// looked handles the result of a reading: if it failed, the agent saw nothing.
func (t *transcript) looked(id string, failed bool) {
	v, ok := t.loads.reads[id]
	if !ok {
		return
	}
	delete(t.loads.reads, id)
	if !failed {
		t.s.Invoke(v)
	}
}

// mentions records the skills that a "$name" asks for. It runs at the end, because a
// session lists its skills after the first prompt. Only a listed name counts, and only
// one that resolves to a single skill (skill.Resolve). In the agent's plans it shows
// only that the skill was to be used.
func (t *transcript) mentions() {
	t.s.Invocations = slices.DeleteFunc(t.s.Invocations, func(v harvest.Invocation) bool {
		return v.Signal == harvest.SkillFileRead && slices.Contains(t.loads.edits[v.Turn], v.Dir)
	})
	if len(t.loads.listed) == 0 {
		return
	}
	known := func(id string) bool { return t.loads.listed[id] }
	var callable []skill.Callable
	for i, turn := range t.s.Turns {
		if t.s.Subagent != "" || strings.IndexByte(turn.Prompt, '$') < 0 ||
			!slices.ContainsFunc(skill.Mentions(turn.Prompt, known), func(m skill.Mention) bool { return known(m.ID) }) {
			continue
		}
		if callable == nil {
			for _, name := range slices.Sorted(maps.Keys(t.loads.listed)) {
				callable = append(callable, skill.Callable{Name: name})
			}
		}
		if name := skill.Resolve(turn.Prompt, callable).Activated; name != "" {
			at := t.loads.places[i]
			t.mention(harvest.Invocation{ID: harvest.PromptEventID(Agent, name, turn.Time), Skill: name, Explicit: true, Turn: i,
				Line: at.line, EntryID: at.entry, Time: turn.Time})
		}
	}
	for _, p := range t.loads.planned {
		if known(p.name) {
			t.mention(harvest.Invocation{ID: harvest.PromptEventID(Agent, p.name, p.at), Skill: p.name, Turn: p.turn,
				Line: p.place.line, EntryID: p.place.entry, Time: p.at})
		}
	}
}

// mention records v, unless its turn has a use of the skill already. If the agent read
// SKILL.md, the user's mention made it do so.
func (t *transcript) mention(v harvest.Invocation) {
	v.Signal, v.Feedback = harvest.DollarMention, harvest.Feedback{Label: harvest.Unknown}
	if v.ID == "" {
		v.ID = lineID(v.Line)
	}
	at := 0
	for i := range t.s.Invocations {
		old := &t.s.Invocations[i]
		if old.Turn == v.Turn && old.Skill == v.Skill {
			if v.Explicit && !old.Explicit {
				v.Dir, v.BodyHash = old.Dir, old.BodyHash
				*old = v
			}
			return
		}
		if old.Turn < v.Turn || old.Turn == v.Turn && !v.Explicit {
			at = i + 1
		}
	}
	t.s.Invocations = slices.Insert(t.s.Invocations, at, v)
}
