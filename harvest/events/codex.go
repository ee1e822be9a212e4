package events

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/jsonl"
)

// codexCLI is the name of Codex in sessions.
const codexCLI = "codex"

// Codex rebuilds the events of one transcript of Codex: of its tools only commands and patches.
// A transcript does not say that a user was asked and gave permission, and a call that its user
// refused ends as one at which the agent was stopped: no call of Codex is Permitted, and few
// are Refused.
func Codex(ctx context.Context, r io.Reader, file string) ([]Event, []harvest.Problem, error) {
	c := &codex{file: file, calls: map[string]call{}}
	problems, err := jsonl.Scan(ctx, r, file, func(line []byte) bool { return !bytes.Contains(line, []byte(`"type":"world_state"`)) }, c.line)
	return c.events, problems, err
}

// A codexLine is one of a transcript.
type codexLine struct {
	Timestamp, Type string
	Payload         struct {
		Type, ID, CWD, Model, Name string
		SessionID                  string                `json:"session_id"`
		TurnID                     string                `json:"turn_id"`
		ApprovalPolicy             string                `json:"approval_policy"`
		Profile                    struct{ Type string } `json:"permission_profile"`
		Arguments, Input           string
		CallID                     string `json:"call_id"`
		Output                     json.RawMessage
		LastAgentMessage           *string `json:"last_agent_message"`
		Item                       struct {
			Type, ID, Status string
			Content          json.RawMessage
			AggregatedOutput *string `json:"aggregated_output"`
		}
	}
}

// codex follows one transcript line by line.
type codex struct {
	file                            string
	n                               int
	events                          []Event
	session, cwd, turn, model, mode string
	calls                           map[string]call
}

// line takes line n. It reports whether the line is one of Codex's.
func (c *codex) line(n int, raw []byte) bool {
	l := new(codexLine)
	_ = json.Unmarshal(raw, l) // it is valid JSON; a field of another type is as none
	c.n = n
	p := &l.Payload
	switch l.Type {
	case "session_meta":
		c.session, c.cwd = or(p.ID, p.SessionID), p.CWD
	case "turn_context":
		c.context(l)
	case "response_item":
		c.item(l)
	case "event_msg":
		switch {
		case p.Type == "item_completed" && p.Item.Type == "UserMessage":
			text, _ := texts(p.Item.Content)
			c.add(l, UserPromptSubmit, "", map[string]any{"prompt": text})
		case p.Type == "item_completed" && p.Item.Type == "CommandExecution" && p.Item.AggregatedOutput != nil:
			c.end(l, p.Item.ID, p.Item.Status, *p.Item.AggregatedOutput)
		case p.Type == "task_complete" && p.LastAgentMessage != nil:
			c.add(l, Stop, "", map[string]any{"stop_hook_active": false, "last_assistant_message": *p.LastAgentMessage})
		}
	}
	return l.Type != ""
}

// context begins a turn, and with the first one the session.
func (c *codex) context(l *codexLine) {
	p := &l.Payload
	c.turn, c.model, c.cwd, c.mode = p.TurnID, p.Model, or(p.CWD, c.cwd), "default"
	if p.ApprovalPolicy == "never" && p.Profile.Type == "disabled" {
		c.mode = "bypassPermissions"
	}
	if len(c.events) == 0 {
		c.add(l, SessionStart, "", map[string]any{"source": "startup"})
	}
}

func (c *codex) add(l *codexLine, name, tool string, fields map[string]any) int {
	fields["session_id"], fields["hook_event_name"], fields["cwd"], fields["transcript_path"] = c.session, name, c.cwd, c.file
	put(fields, "model", c.model)
	put(fields, "permission_mode", c.mode)
	if name != SessionStart {
		put(fields, "turn_id", c.turn)
	}
	input, err := json.Marshal(fields)
	if err != nil {
		panic(err) // all of it came from JSON
	}
	c.events = append(c.events, Event{Name: name, Tool: tool, Input: input, Time: harvest.When(l.Timestamp), Line: c.n})
	return len(c.events) - 1
}

// item takes a call, or its output for the model.
func (c *codex) item(l *codexLine) {
	p := &l.Payload
	tool, command := "", ""
	switch {
	case p.Type == "function_call" && (p.Name == "exec_command" || p.Name == "shell_command"):
		var args struct{ Cmd, Command string }
		_ = json.Unmarshal([]byte(p.Arguments), &args) // else it is no command
		tool, command = "Bash", or(args.Cmd, args.Command)
	case p.Type == "custom_tool_call" && p.Name == "apply_patch":
		tool, command = "apply_patch", p.Input
	case p.Type == "function_call_output", p.Type == "custom_tool_call_output":
		c.output(l)
	}
	if command == "" {
		return
	}
	input, _ := json.Marshal(map[string]string{"command": command})
	at := c.add(l, PreToolUse, tool, map[string]any{"tool_name": tool, "tool_input": json.RawMessage(input), "tool_use_id": p.CallID})
	c.calls[p.CallID] = call{at, tool, input}
}

// output ends a call of which no other record told the end.
func (c *codex) output(l *codexLine) {
	k, ok := c.calls[l.Payload.CallID]
	if !ok {
		return
	}
	var text string
	if json.Unmarshal(l.Payload.Output, &text) != nil {
		return
	}
	switch {
	case strings.HasSuffix(text, "aborted by user"): // refused, or stopped at work
		delete(c.calls, l.Payload.CallID)
	case strings.Contains(text, "rejected by user"):
		c.events[k.event].Outcome = Refused
		delete(c.calls, l.Payload.CallID)
	case strings.Contains(text, codexHook):
		e := &c.events[k.event]
		e.Outcome, e.Said = Stopped, []Said{{Reason: codexReason(text), Time: harvest.When(l.Timestamp)}}
		delete(c.calls, l.Payload.CallID)
	case k.tool == "apply_patch":
		c.end(l, l.Payload.CallID, "", text)
	default:
		c.events[k.event].Outcome = Ran // its output was cut for the model
	}
}

// end ends a call that ran.
func (c *codex) end(l *codexLine, id, status, output string) {
	k, ok := c.calls[id]
	if !ok {
		return
	}
	delete(c.calls, id)
	if status == "declined" {
		c.events[k.event].Outcome = Refused
		return
	}
	c.events[k.event].Outcome = Ran
	c.add(l, PostToolUse, k.tool, map[string]any{"tool_name": k.tool, "tool_input": k.input, "tool_use_id": id, "tool_response": output})
}
