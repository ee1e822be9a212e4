package hook

import (
	"errors"
	"io"
	"strings"

	"github.com/skill-evolve/evolve/harvest/hook/kit"
	"github.com/tidwall/gjson"
)

const (
	maxID    = 256  // bytes of an id of the agent's
	maxPath  = 4096 // bytes of a path: no system opens a longer one
	maxCalls = 256  // of skills in one batch
)

// An input is what the agent passes to a hook (Claude Code 2.1.329). A field that is
// missing, or of another type than expected, is empty.
type input struct {
	event      string
	session    string
	transcript string
	cwd        string
	prompt     string // the user's text
	promptID   string
	source     string // of SessionStart: startup, resume, clear or compact
	command    string // typed, without the slash
	subagent   string // id of the agent, if it is not the main one
	calls      []call
}

// A call is one tool call. Of its arguments only the skill's name is read.
type call struct {
	tool, id, skill string
	success         *bool  // nil: still running
	ms              *int64 // its duration, if that is reported
}

// readInput reads the event that an agent writes.
func readInput(event string, r io.Reader) (*input, error) {
	raw, err := kit.ReadValue(r)
	if err != nil {
		return nil, err
	}
	return parseInput(event, raw)
}

// parseInput reads the fields that evolve uses from raw, which is valid JSON.
func parseInput(event string, raw []byte) (*input, error) {
	root := gjson.ParseBytes(raw)
	if !root.IsObject() {
		return nil, errors.New("read input: it is no object")
	}
	text := func(name string) string { return clean(root.Get(name).Str) }
	in := &input{event: event, session: text("session_id"), transcript: text("transcript_path"), cwd: text("cwd"),
		prompt: text("prompt"), promptID: text("prompt_id"), source: text("source"), command: text("command_name"), subagent: text("agent_id")}
	if event == SubagentStop {
		in.transcript = text("agent_transcript_path")
	}
	if len(in.cwd) > maxPath {
		in.cwd = "" // else every folder above it would be searched
	}
	if len(in.transcript) > maxPath {
		in.transcript = ""
	}
	switch named := text("hook_event_name"); {
	case named != "" && named != event:
		return nil, errors.New("read input: it is that of another event")
	case in.session == "":
		return nil, errors.New("read input: it names no session")
	}
	for _, id := range []string{in.session, in.promptID, in.command, in.subagent} {
		if len(id) > maxID || strings.ContainsAny(id, "\n\r") {
			return nil, errors.New("read input: a name in it is too long or has several lines")
		}
	}
	switch event {
	case PreToolUse, PostToolUse:
		in.add(root)
	case PostToolBatch:
		root.Get("tool_calls").ForEach(func(_, c gjson.Result) bool {
			in.add(c)
			return len(in.calls) < maxCalls
		})
	}
	return in, nil
}

// add records one call, if it loads a skill.
func (in *input) add(r gjson.Result) {
	c := call{tool: r.Get("tool_name").Str, id: clean(r.Get("tool_use_id").Str)}
	c.skill = clean(r.Get("tool_input").Get("skill").Str)
	if c.tool != "Skill" || len(c.id) > maxID || strings.ContainsAny(c.id, "\n\r") {
		return
	}
	if in.event != PreToolUse {
		c.success = succeeded(r.Get("tool_response"))
	}
	if ms := r.Get("duration_ms"); ms.Type == gjson.Number && ms.Num >= 0 && ms.Num < 1e12 {
		n := ms.Int()
		c.ms = &n
	}
	in.calls = append(in.calls, c)
}

// succeeded reads a tool's response: an object with its own status, or the text for the
// model.
func succeeded(r gjson.Result) *bool {
	ok := true
	switch {
	case r.IsObject() && r.Get("success").Exists():
		ok = r.Get("success").Bool()
	case r.Type == gjson.String:
		ok = !strings.Contains(r.Str, "<tool_use_error>")
	case r.IsArray():
		ok = !strings.Contains(r.Raw, "<tool_use_error>")
	}
	return &ok
}

// clean copies a text out of the input, without invalid bytes.
func clean(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\ufffd")
}
