package copilot

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
)

// invoke adds a use to the last turn and returns its index; -1 if the turn has too
// many. A typed command, a call and a read of the skill's file in one turn are one use,
// and the call is the most informative of them; two calls are two uses.
func (t *transcript) invoke(v harvest.Invocation) int {
	t.s.Last()
	v.Turn = len(t.s.Turns) - 1
	v.Feedback.Label = harvest.Unknown
	uses := 0
	for i, old := range slices.Backward(t.s.Invocations) {
		if old.Turn != v.Turn {
			break
		}
		if uses++; uses == harvest.MaxUses {
			return -1
		}
		if old.Skill == v.Skill && old.Signal != harvest.SkillToolUse {
			if v.Dir == "" {
				v.Dir = old.Dir
			}
			v.BodyHash = old.BodyHash
			t.s.Invocations[i] = v
			return i
		}
	}
	t.s.Invocations = append(t.s.Invocations, v)
	return len(t.s.Invocations) - 1
}

// done records how a call ended.
func (t *transcript) done(e event) {
	id := e.data.Get("toolCallId").Str
	t.over(id, e)
	bad := !e.data.Get("success").Bool() || e.data.Get("shellExecution.exitCode").Int() != 0
	if c, ok := t.tools[id]; ok && c.tool >= 0 {
		t.s.Turns[c.turn].Tools[c.tool].Failed = bad
	}
	p, ok := t.loading[id]
	if !ok {
		return
	}
	delete(t.loading, id)
	if p.read == nil {
		t.s.Invocations[p.use].Failed = bad || e.data.Get("toolTelemetry.properties.found").Str == "false"
		return
	}
	if !bad {
		t.looked(*p.read)
	}
}

// looked records a read of a skill's file, unless the turn has a stronger signal of
// that skill's use, or too many uses. The read may have ended in a later turn.
func (t *transcript) looked(v harvest.Invocation) {
	uses := 0
	for i, old := range slices.Backward(t.s.Invocations) {
		if old.Turn < v.Turn || uses == harvest.MaxUses {
			break
		}
		uses++
		if old.Turn == v.Turn && old.Skill == v.Skill {
			if old.Dir == "" {
				t.s.Invocations[i].Dir = v.Dir
			}
			return
		}
	}
	if uses < harvest.MaxUses {
		v.Feedback.Label = harvest.Unknown
		t.s.Invocations = append(t.s.Invocations, v)
	}
}

// loaded handles a skill.invoked event, which holds the exact text that was loaded.
func (t *transcript) loaded(e event) {
	v := harvest.Invocation{ID: nativeID("", e), Skill: t.s.Skill(e.data.Get("name").Str), Signal: harvest.SkillToolUse, Tool: "skill",
		Explicit: true, EntryID: e.id, Line: e.line, Time: e.at}
	if v.Skill == "" {
		return
	}
	t.invoked[v.Skill] = true
	_, v.Dir, _ = harvest.SkillFile(t.s.Clean(e.data.Get("path").Str))
	if body := e.data.Get("content"); body.Type == gjson.String {
		v.BodyHash = harvest.Hash(body.Str)
	}
	typed := strings.HasPrefix(e.data.Get("trigger").Str, "user")
	if typed {
		v.Signal, v.Tool = harvest.PromptSlashCommand, ""
	}
	if !t.load(v, typed) {
		t.early = &v
	}
}

// load adds the data of a skill.invoked event to the use that it belongs to. It returns
// false for a skill that was loaded by hand if the last prompt did not ask for one: the
// prompt is still to come.
func (t *transcript) load(v harvest.Invocation, typed bool) bool {
	if typed && len(t.s.Turns) == 0 {
		return false
	}
	t.s.Last()
	v.Turn = len(t.s.Turns) - 1
	v.Feedback.Label = harvest.Unknown
	from := len(t.s.Invocations)
	for from > 0 && t.s.Invocations[from-1].Turn == v.Turn {
		from--
	}
	match := func(same func(old harvest.Invocation) bool) bool {
		for i := from; i < len(t.s.Invocations); i++ {
			old := t.s.Invocations[i]
			if old.BodyHash == "" && old.Signal != harvest.SkillFileRead && same(old) {
				// A command may have another name than the skill that it loads.
				u := &t.s.Invocations[i]
				u.Skill, u.Dir, u.BodyHash = v.Skill, v.Dir, v.BodyHash
				return true
			}
		}
		return false
	}
	switch {
	case match(func(old harvest.Invocation) bool { return old.Skill == v.Skill }),
		match(func(old harvest.Invocation) bool { return base(old.Skill) == base(v.Skill) }),
		typed && match(func(old harvest.Invocation) bool { return old.Signal == harvest.PromptSlashCommand }):
		return true
	}
	if _, command := harvest.SlashCommand(t.s.Last().Prompt); typed && !command && t.early == nil {
		return false
	}
	if len(t.s.Invocations)-from < harvest.MaxUses {
		t.s.Invocations = append(t.s.Invocations, v)
	}
	return true
}

// base is a skill's name without its plugin's.
func base(skill string) string { return skill[strings.LastIndexByte(skill, ':')+1:] }
