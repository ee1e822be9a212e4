package codex

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
)

func (t *transcript) call(n int, kind string, p gjson.Result, at time.Time) {
	turn := t.s.Last()
	name := p.Get("name").Str
	if name == "" {
		name = kind
	}
	turn.Tools = append(turn.Tools, harvest.Tool{Name: t.s.Clean(name)})
	id := strings.Clone(p.Get("call_id").Str)
	line, dir := shell(p)
	t.act(id, name, line, dir, p)
	if id == "" {
		return
	}
	t.tools[id] = ref{len(t.s.Turns) - 1, len(turn.Tools) - 1}
	if strings.Contains(line, "SKILL.md") {
		t.reads[id] = read{n, strings.Clone(p.Get("id").Str), strings.Clone(line), at}
	}
}

// settle records how a call ended. A call that failed once stays failed: the command
// may have succeeded and its output been refused.
func (t *transcript) settle(id string, failed bool) {
	if r, ok := t.tools[id]; ok && failed {
		t.s.Turns[r.turn].Tools[r.tool].Failed = true
	}
}

// done is settle for the record of a call that reads no skill: the record's status is
// more reliable than the command's text.
func (t *transcript) done(id, status string) {
	delete(t.reads, id)
	t.settle(id, status == "failed" || status == "declined")
}

// printed handles the output of a call that may have read a skill. Versions that record
// commands have reported it before.
func (t *transcript) printed(p gjson.Result) {
	id, out := p.Get("call_id").Str, p.Get("output")
	end := outcome([]byte(out.Raw))
	t.over(id, end)
	r, ok := t.reads[id]
	delete(t.reads, id)
	if !ok || end.failed {
		return
	}
	files, one := reading(r.command)
	text, whole := output(out)
	for _, file := range files {
		t.look(id, file, text, one && whole, r)
	}
}

// completed handles the record of a command that reads a skill, or of a call that is not
// in the transcript.
func (t *transcript) completed(n int, item gjson.Result, at time.Time) {
	t.nested(item)
	id := strings.Clone(item.Get("id").Str)
	r, ok := t.reads[id]
	if !ok {
		r = read{line: n, at: at}
	}
	status := item.Get("status").Str
	t.done(id, status)
	if status == "failed" || status == "declined" || item.Get("exit_code").Int() != 0 {
		return
	}
	commands := item.Get("parsed_cmd").Array()
	for _, c := range commands {
		if c.Get("type").Str == "read" {
			t.look(id, c.Get("path").Str, item.Get("aggregated_output").Str, len(commands) == 1 && plainCat(c.Get("cmd").Str), r)
		}
	}
}

// look records that the agent read a skill's file. text is the skill's text if whole.
func (t *transcript) look(id, file, text string, whole bool, r read) {
	name, dir, ok := harvest.SkillFile(file)
	if !ok {
		return
	}
	t.s.Last()
	v := harvest.Invocation{ID: "codex-skill-" + id, Skill: t.s.Clean(name), Signal: harvest.SkillFileRead, ToolUseID: id,
		EntryID: r.entry, Line: r.line, Time: r.at, Dir: t.s.Folder(dir)}
	if id == "" {
		v.ID = lineID(r.line)
	}
	if whole {
		v.BodyHash = harvest.Hash(text)
	}
	t.s.Invoke(v)
}
