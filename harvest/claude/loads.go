package claude

import (
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
)

// loads is what a transcript shows of the skills that were loaded.
type loads struct {
	listed map[string]bool               // names of skills that the session may use
	places map[int]place                 // lines of the prompts of turns
	reads  map[string]harvest.Invocation // readings of a SKILL.md without a result yet, by the call's id
	edits  map[int][]string              // folders of the SKILL.md that a turn wrote to

	pending, planned []plan
	// inForce are the skills that this version of the program reports as loaded.
	inForce map[string]bool
	current string // message id
	before  int    // invocations before that message
}

// A place is a prompt's line and the id of its entry.
type place struct {
	line  int
	entry string
}

// A plan is a "$name" in a text by the agent.
type plan struct {
	turn  int
	name  string
	place place
	at    time.Time
}

const (
	maxListed  = 4096 // names of skills in one session
	maxPlanned = 64   // plans that are examined in one turn
)

func newLoads() loads {
	return loads{listed: map[string]bool{}, inForce: map[string]bool{}, places: map[int]place{}, reads: map[string]harvest.Invocation{}, edits: map[int][]string{}}
}

// turn resets what belongs to one turn.
func (l *loads) turn() {
	clear(l.reads)
	l.pending, l.before, l.current = nil, 0, ""
}

// message records the beginning of a message and the number of invocations before it.
func (l *loads) message(id, attribution string, invocations int) {
	if attribution != "" && len(l.inForce) < maxListed {
		l.inForce[strings.Clone(harvest.SkillName(attribution))] = true
	}
	if id == "" || id != l.current {
		l.current, l.before = id, invocations
	}
}

func (l *loads) add(names ...string) {
	for _, n := range names {
		if n != "" && len(n) <= harvest.MaxName && len(l.listed) < maxListed {
			l.listed[n] = true
		}
	}
}

// list reads the names from an attachment by the program. In older versions it holds
// only the text for the agent: a line "- name: description" each.
func (l *loads) list(attachment []byte) {
	a := gjson.ParseBytes(attachment)
	if names := a.Get("names"); names.IsArray() {
		names.ForEach(func(_, n gjson.Result) bool {
			l.add(n.Str)
			return len(l.listed) < maxListed
		})
		return
	}
	for line := range strings.SplitSeq(a.Get("content").Str, "\n") {
		line, ok := strings.CutPrefix(line, "- ")
		if name, _, described := strings.Cut(line, ": "); ok && described && !strings.ContainsAny(name, " <") {
			l.add(name)
		}
	}
}

// lists reports whether name is a listed skill, with or without its namespace.
func (l *loads) lists(name string) bool {
	if l.listed[name] {
		return true
	}
	for listed := range l.listed {
		if plain(listed) == name {
			return true
		}
	}
	return false
}

// plain is a skill's name without its namespace.
func plain(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

// invoke records a use in the last turn.
func (t *transcript) invoke(v harvest.Invocation) {
	t.s.Last()
	v.Turn, v.Explicit = len(t.s.Turns)-1, true
	v.Feedback.Label = harvest.Unknown
	t.s.Invocations = append(t.s.Invocations, v)
}

// load records that the agent called a skill. If the user typed it too, or the agent
// read its SKILL.md, that is the same use.
func (t *transcript) load(n int, rec *record, id, skill string) {
	v := harvest.Invocation{ID: "claude-skill-" + id, Skill: skill, Signal: harvest.SkillToolUse,
		ToolUseID: id, EntryID: rec.uuid, Line: n, Time: rec.at}
	if id == "" {
		v.ID = lineID(n)
	}
	turn := len(t.s.Turns) - 1
	first := !slices.ContainsFunc(t.s.Invocations, func(u harvest.Invocation) bool { return u.Turn == turn && u.Signal == harvest.SkillToolUse })
	for i := range slices.Backward(t.s.Invocations) {
		old := &t.s.Invocations[i]
		if old.Turn != turn {
			break
		}
		if !t.same(old, skill, first, rec) {
			continue
		}
		if v.Command = old.Command; old.Skill != skill && old.Signal == harvest.PromptSlashCommand {
			v.Command = old.Skill
		}
		if v.Command == skill {
			v.Command = ""
		}
		v.Turn, v.Explicit, v.Feedback, v.Dir, v.BodyHash = old.Turn, true, old.Feedback, old.Dir, old.BodyHash
		*old = v
		t.skills[id] = i
		return
	}
	v.Parent = t.parent(rec, skill)
	t.skills[id] = len(t.s.Invocations)
	t.invoke(v)
}

// same reports whether the agent's call of skill is the use old of the same turn. A
// typed command may have another name than the skill that it loads: it is one use with
// the first call, unless the command is itself the name of a skill.
func (t *transcript) same(old *harvest.Invocation, skill string, first bool, rec *record) bool {
	switch old.Signal {
	case harvest.SkillFileRead:
		return old.Skill == skill
	case harvest.PromptSlashCommand:
		if old.Skill == skill || old.Command == skill || plain(skill) == old.Skill {
			return true
		}
		return first && old.BodyHash == "" && rec.attribution != old.Skill && !t.loads.lists(old.Skill)
	}
	return false
}

// parent is the skill whose text made the agent call another one: the one that the
// program reports as loaded, else the last that this turn loaded before the message
// with the call.
func (t *transcript) parent(rec *record, skill string) string {
	if len(t.loads.inForce) > 0 {
		if name := t.s.Skill(rec.attribution); name != skill {
			return name
		}
		return ""
	}
	for i := min(t.loads.before, len(t.s.Invocations)) - 1; i >= 0 && t.s.Invocations[i].Turn == len(t.s.Turns)-1; i-- {
		if v := t.s.Invocations[i]; !v.Failed && v.BodyHash != "" && v.Skill != skill {
			return v.Skill
		}
	}
	return ""
}

// body records which text of a skill was loaded.
func (t *transcript) body(toolUseID, text string) {
	if !strings.HasPrefix(text, bodyMark) {
		return
	}
	if t.held != nil {
		t.held.open()
		t.held = nil
	}
	for i := range slices.Backward(t.s.Invocations) {
		v := &t.s.Invocations[i]
		if v.Turn != len(t.s.Turns)-1 {
			return
		}
		if v.BodyHash != "" || toolUseID != "" && v.ToolUseID != toolUseID || toolUseID == "" && t.typed >= 0 && t.typed != i {
			continue
		}
		args, typed := "", i == t.typed
		if typed {
			args = t.args
			t.typed, t.local = -1, false
		}
		if dir, body, ok := skillBody(text, args); ok {
			v.Dir, v.BodyHash = dir, harvest.Hash(body)
			if typed {
				t.rename(v)
			}
		}
		return
	}
}

// rename gives the use of a typed command the name of the skill that it loaded, if the
// names differ.
func (t *transcript) rename(v *harvest.Invocation) {
	name, _, ok := harvest.SkillFile(v.Dir + "/SKILL.md")
	if !ok || len(name) > harvest.MaxName || name == plain(v.Skill) || t.loads.lists(v.Skill) {
		return
	}
	v.Skill, v.Command = name, v.Skill
}
