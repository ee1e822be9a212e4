package events

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/jsonl"
)

// copilotCLI is the name of Copilot CLI in sessions.
const copilotCLI = "copilot-cli"

// copilotNames are the names of its tools for hooks at events that are spelled as Claude Code
// spells them; the others keep theirs.
var copilotNames = map[string]string{
	"bash": "Bash", "powershell": "Bash", "view": "Read", "create": "Write", "edit": "Edit", "apply_patch": "Edit", "str_replace_editor": "Edit",
	"task": "Agent", "glob": "Glob", "grep": "Grep", "rg": "Grep", "web_fetch": "WebFetch", "ask_user": "AskUserQuestion", "update_todo": "TodoWrite",
}

// Copilot rebuilds the events of one transcript of Copilot CLI, its subagents' among them, in
// the form for hooks at PreToolUse; Camel has that for hooks at preToolUse. A line that cannot
// be read is a Problem; the error is ctx's.
func Copilot(ctx context.Context, r io.Reader, file string) ([]Event, []harvest.Problem, error) {
	c := &copilot{file: file, session: filepath.Base(filepath.Dir(file)), calls: map[string]call{}, agents: map[string]*copilotAgent{"": {}}}
	problems, err := jsonl.Scan(ctx, r, file, c.wants, c.line)
	return c.events, problems, err
}

// A copilotLine is one of a transcript.
type copilotLine struct {
	Type, Timestamp, AgentID string
	Data                     struct {
		SessionID, CWD, Content, Source string
		Context                         struct{ CWD string }
		AgentName, AgentType            string // of a subagent
		ToolCallID, ToolName            string
		ParentToolCallID, TurnID        string
		Arguments                       json.RawMessage
		ToolRequests                    []struct{}
		Success                         bool
		Error                           struct{ Code, Message string }
		Result                          struct{ Content, Kind, Feedback string }
		DecisionSource                  string
		Request                         struct{ Kind, ToolCallID, HookMessage string } `json:"permissionRequest"`
	}
}

// copilot follows one transcript line by line.
type copilot struct {
	file         string
	n            int
	events       []Event
	session, cwd string
	begins       string // why the session does, until its first prompt: only then do hooks hear of it
	idle         bool   // it has answered
	turns        bool   // calls have turns
	calls        map[string]call
	agents       map[string]*copilotAgent // the subagents by their ids, and the main agent
}

type copilotAgent struct {
	kind   string
	answer *string // its message, if it calls no tool
}

// wants leaves out what the program keeps for itself, which is most of a transcript.
func (c *copilot) wants(line []byte) bool {
	_, kind, _ := bytes.Cut(line[:min(len(line), 64)], []byte(`{"type":"`))
	kind, _, _ = bytes.Cut(kind, []byte(`"`))
	switch string(kind) {
	case "system.message", "hook.start", "hook.end", "session.usage_record", "session.shutdown":
		return false
	}
	return true
}

// line takes line n. It reports whether the line is one of Copilot's.
func (c *copilot) line(n int, raw []byte) bool {
	l := new(copilotLine)
	_ = json.Unmarshal(raw, l) // it is valid JSON; a field of another type is as none
	c.n = n
	d := &l.Data
	if d.ParentToolCallID != "" && l.AgentID == "" { // of a subagent, in a version that called no hooks for subagents
		return true
	}
	switch l.Type {
	case "session.start":
		c.session, c.cwd, c.begins = cmp.Or(d.SessionID, c.session), d.Context.CWD, "new"
	case "session.resume":
		c.cwd, c.begins = cmp.Or(d.Context.CWD, c.cwd), "resume"
	case "session.context_changed":
		c.cwd = cmp.Or(d.CWD, c.cwd)
	case "user.message":
		c.prompt(l)
	case "system.notification":
		if c.idle { // else it is seen with what comes next, and no hook hears of it
			c.prompt(l)
		}
	case "subagent.started":
		c.agent(l).kind = cmp.Or(d.AgentType, d.AgentName)
	case "subagent.completed":
		c.ended(l)
	case "assistant.message":
		c.idle = false
		c.agent(l).answer = nil
		if len(d.ToolRequests) == 0 {
			c.agent(l).answer = &d.Content
		}
	case "assistant.turn_end":
		if c.agent(l).answer != nil {
			c.add(l, Stop, map[string]any{"transcript_path": c.file, "stop_reason": "end_turn", "stop_hook_active": false})
		}
		if a := c.agent(l); l.AgentID == "" {
			a.answer, c.idle = nil, a.answer != nil
		}
	case "tool.execution_start":
		c.call(l)
	case "tool.execution_complete":
		c.end(l)
	case "permission.requested":
		if k, ok := c.calls[c.key(l, d.Request.ToolCallID)]; ok && d.Request.Kind == "hook" {
			e := &c.events[k.event]
			e.Said = append(e.Said, Said{Ask: true, Reason: d.Request.HookMessage, Time: harvest.When(l.Timestamp)})
		}
	case "permission.completed":
		c.decided(l)
	}
	return strings.Contains(l.Type, ".") || l.Type == "abort"
}

func (c *copilot) agent(l *copilotLine) *copilotAgent {
	if c.agents[l.AgentID] == nil {
		c.agents[l.AgentID] = &copilotAgent{}
	}
	return c.agents[l.AgentID]
}

func (c *copilot) add(l *copilotLine, name string, fields map[string]any) *Event {
	at := harvest.When(l.Timestamp)
	fields["session_id"], fields["hook_event_name"], fields["cwd"] = c.session, name, c.cwd
	if !at.IsZero() {
		fields["timestamp"] = at.Format("2006-01-02T15:04:05.000Z")
	}
	if l.AgentID != "" {
		if name != SubagentStop {
			fields["session_id"] = l.AgentID
		}
		fields["agent_id"], fields["agent_type"], fields["parent_agent_id"] = l.AgentID, c.agent(l).kind, c.session
	}
	input, err := json.Marshal(fields)
	if err != nil {
		panic(err) // all of it came from JSON
	}
	c.events = append(c.events, Event{Name: name, Input: input, Time: at, Line: c.n})
	return &c.events[len(c.events)-1]
}

// prompt is what a person or another agent typed. What a skill or the program put in is none.
func (c *copilot) prompt(l *copilotLine) {
	if s := l.Data.Source; l.AgentID == "" && s != "" && s != "user" {
		return
	}
	if c.begins != "" && l.AgentID == "" {
		c.add(l, SessionStart, map[string]any{"source": c.begins, "initial_prompt": l.Data.Content})
		c.begins = ""
	}
	c.idle = false
	c.add(l, UserPromptSubmit, map[string]any{"prompt": l.Data.Content})
}

// ended is of a subagent.
func (c *copilot) ended(l *copilotLine) {
	if a := c.agent(l); a.answer != nil && l.AgentID != "" {
		c.add(l, SubagentStop, map[string]any{"transcript_path": c.file, "agent_name": l.Data.AgentName, "last_assistant_message": *a.answer,
			"stop_reason": "end_turn", "stop_hook_active": false})
	}
}

func (c *copilot) key(l *copilotLine, id string) string { return l.AgentID + "/" + id }

func (c *copilot) call(l *copilotLine) {
	d := &l.Data
	if c.turns = c.turns || d.TurnID != ""; c.turns && d.TurnID == "" {
		return // the program's own, of which no hook hears
	}
	var text string
	if json.Unmarshal(d.Arguments, &text) == nil && strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		d.Arguments = json.RawMessage(text) // some models' calls are recorded unparsed
	}
	if len(d.Arguments) == 0 {
		d.Arguments = json.RawMessage("null")
	}
	tool := cmp.Or(copilotNames[d.ToolName], d.ToolName)
	e := c.add(l, PreToolUse, map[string]any{"tool_name": tool, "tool_input": d.Arguments})
	e.Tool, e.Own, e.Call = tool, d.ToolName, d.ToolCallID
	c.calls[c.key(l, d.ToolCallID)] = call{len(c.events) - 1, tool, d.Arguments}
}

// decided is the answer to a question for permission. A call may need several.
func (c *copilot) decided(l *copilotLine) {
	k, ok := c.calls[c.key(l, l.Data.ToolCallID)]
	if !ok || l.Data.DecisionSource != "human_response" {
		return
	}
	e, r := &c.events[k.event], &l.Data.Result
	switch {
	case r.Kind == "denied-interactively-by-user":
		e.Outcome, e.Words = Refused, r.Feedback
	case strings.HasPrefix(r.Kind, "approved") && e.Outcome == Unknown:
		e.Outcome = Permitted
	}
}

// end ends a call.
func (c *copilot) end(l *copilotLine) {
	d := &l.Data
	k, ok := c.calls[c.key(l, d.ToolCallID)]
	if !ok {
		return
	}
	delete(c.calls, c.key(l, d.ToolCallID))
	name, fields := PostToolUse, map[string]any{"tool_name": k.tool, "tool_input": k.input}
	was := &c.events[k.event]
	switch {
	case d.Error.Code == "rejected":
		was.Outcome = Refused
		return
	case d.Error.Code == "denied" && !strings.HasPrefix(d.Error.Message, copilotHides):
		if was.Outcome != Refused {
			was.Outcome = Stopped
			was.Said = append(was.Said, copilotSaid(d.Error.Message, harvest.When(l.Timestamp))...)
		}
		return
	case d.Success:
		fields["tool_result"] = map[string]string{"result_type": "success", "text_result_for_llm": d.Result.Content}
	default:
		name, fields["error"] = PostToolUseFailure, d.Error.Message
	}
	if was.Outcome == Unknown {
		was.Outcome = Ran
	}
	if d.Error.Code == "denied" { // a hook has hidden its result
		return
	}
	own := was.Own
	e := c.add(l, name, fields)
	e.Tool, e.Own, e.Call = k.tool, own, d.ToolCallID
}

const (
	copilotHook  = "Denied by preToolUse hook" // in the result of a call
	copilotHides = "Tool result blocked: "     // by a hook after the call
	copilotAsks  = " (unable to ask user for confirmation): "
)

// copilotSaid reads the result of a call that was stopped: what a hook said, if it was one.
func copilotSaid(text string, at time.Time) []Said {
	rest, ok := strings.CutPrefix(text, copilotHook)
	if !ok {
		return nil
	}
	if reason, ok := strings.CutPrefix(rest, copilotAsks); ok {
		return []Said{{Ask: true, Reason: reason, Time: at}}
	}
	reason, _ := strings.CutPrefix(rest, ": ")
	if reason == rest { // it names the file of a hook that failed
		reason = ""
	}
	return []Said{{Reason: reason, Time: at}}
}
