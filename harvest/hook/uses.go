package hook

import (
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// agent is the name, in skill events, of the agent whose hooks these are.
const agent = "claude-code"

// maxPrompt is how much of a prompt is recorded, in bytes.
const maxPrompt = 16 << 10

// tools records the agent's own calls of skills, before and after.
func (h *Host) tools(in *input) (r reply, err error) {
	if len(in.calls) == 0 {
		return r, nil
	}
	found := h.finder(in.cwd)
	var records []Record
	for _, c := range in.calls {
		name := h.nameOf(c.skill)
		if name == "" {
			continue
		}
		rec := h.record(in, harvest.Invocation{ID: "claude-skill-" + c.id, Skill: name, Signal: harvest.SkillToolUse, ToolUseID: c.id})
		rec.Phase, rec.Success, rec.DurationMS = Ended, c.success, c.ms
		if in.event == PreToolUse {
			rec.Phase = Started
		}
		of := c.id
		if of == "" { // an agent that gives its calls no id: once per prompt
			rec.Event.ID, of = "", h.promptOf(in)+"\x1f"+name
		}
		rec.Key = key(in.session, of, string(rec.Phase))
		live := found.load(name)
		rec.TextHash, rec.Dir = live.hash, live.dir
		if in.event == PreToolUse {
			if g := h.guard(name, live.hash); g != nil {
				r.guard, rec.Guarded = g, g.Reason
			}
		}
		records = append(records, rec)
	}
	if len(records) > 0 && h.notes(in) {
		_, err = Append(h.Home, records...)
	}
	return r, err
}

// promptOf is the id of the prompt. If the agent reports none, repeated events cannot
// be recognised: each gets its time as id.
func (h *Host) promptOf(in *input) string {
	if in.promptID != "" {
		return in.promptID
	}
	return h.now().UTC().Format(time.RFC3339Nano)
}

// typed records a "/skill" of the user's.
func (h *Host) typed(in *input) (r reply, err error) {
	name := h.nameOf(in.command)
	if name == "" {
		return r, nil
	}
	live := h.finder(in.cwd).load(name)
	r.guard = h.guard(name, live.hash)
	return r, h.prompted(in, harvest.PromptSlashCommand, "/"+name, name, live, r.guard)
}

// prompted records that the user asked for a skill.
func (h *Host) prompted(in *input, signal harvest.Signal, command, name string, live text, guard *Guarded) error {
	if !h.notes(in) {
		return nil
	}
	rec := h.record(in, harvest.Invocation{Skill: name, Signal: signal})
	rec.Phase, rec.TextHash, rec.Dir = Prompted, live.hash, live.dir
	rec.Key = key(in.session, h.promptOf(in), command)
	if guard != nil {
		rec.Guarded = guard.Reason
	}
	c, cerr := h.config()
	if cerr == nil && c.RecordPrompts {
		rec.Prompt, _ = redact.Typed(h.redactor(), in.prompt)
		rec.Prompt = clip(rec.Prompt, maxPrompt)
	}
	if _, err := Append(h.Home, rec); err != nil {
		return err
	}
	return cerr
}

// record begins the record of a use, now.
func (h *Host) record(in *input, v harvest.Invocation) Record {
	v.Time, v.Explicit = h.now(), true
	if v.Signal != harvest.SkillToolUse {
		v.ID = harvest.PromptEventID(agent, v.Skill, v.Time)
	}
	one := harvest.Events(&harvest.Session{Agent: agent, Turns: []harvest.Turn{{ID: in.promptID}}, Invocations: []harvest.Invocation{v}})
	e := one.Events[0]
	e.Anchor = nil // hooks do not know the line
	if v.ToolUseID != "" {
		e.Anchor = &harvest.Anchor{ToolUseID: v.ToolUseID}
	}
	return Record{Session: in.session, CWD: in.cwd, Agent: in.subagent, Event: e}
}

// nameOf is a skill's name as it is recorded, "" if it is not valid.
func (h *Host) nameOf(s string) string {
	name := harvest.SkillName(s)
	if len(name) > maxID || strings.ContainsAny(name, "\n\r") {
		return ""
	}
	return h.clean(name)
}

// key identifies what is recorded once: (session, tool call, phase) or (session,
// prompt, command).
func key(session, of, what string) string {
	return strings.Join([]string{session, of, what}, "|")
}

// clip cuts s at a character boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "\n[…]"
}

// using is the line that names the skill of the turn (specs/mentions.md).
func using(name string) string { return fmt.Sprintf("Using skill: %s", name) }

// hashOf hashes a text as the store and the gate do.
func hashOf(b []byte) string { return skill.HashText(b) }
