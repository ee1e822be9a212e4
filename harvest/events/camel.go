package events

import (
	"cmp"
	"encoding/json"
	"time"
)

// camelNames are the events as Copilot spells them for hooks that get its own fields.
var camelNames = map[string]string{
	SessionStart: "sessionStart", UserPromptSubmit: "userPromptSubmitted", PreToolUse: "preToolUse", PostToolUse: "postToolUse",
	PostToolUseFailure: "postToolUseFailure", Stop: "agentStop", SubagentStop: "subagentStop",
}

// camelFields are the fields that are spelled in another way there.
var camelFields = map[string]string{
	"session_id": "sessionId", "initial_prompt": "initialPrompt", "tool_name": "toolName", "tool_input": "toolArgs", "tool_result": "toolResult",
	"transcript_path": "transcriptPath", "stop_reason": "stopReason", "last_assistant_message": "response",
	"agent_id": "agentId", "agent_name": "agentName", "agent_type": "agentType", "parent_agent_id": "parentAgentId",
}

// FromCamel is the name here of an event as Copilot spells it; name itself, if it is none.
func FromCamel(name string) string {
	for ours, camel := range camelNames {
		if camel == name {
			return ours
		}
	}
	return name
}

// Camel is an event of Copilot as it is for hooks at preToolUse and its like: its name, and the
// object on stdin, which has the tool's own name and the time in milliseconds.
func (e *Event) Camel() (name string, input json.RawMessage) {
	var in map[string]json.RawMessage
	_ = json.Unmarshal(e.Input, &in) // ours
	out := map[string]any{}
	for field, value := range in {
		if to, ok := camelFields[field]; ok {
			field = to
		}
		out[field] = value
	}
	delete(out, "hook_event_name")
	if e.Tool != "" {
		out["toolName"] = e.OwnTool()
	}
	var at time.Time
	if json.Unmarshal(in["timestamp"], &at) == nil {
		out["timestamp"] = at.UnixMilli()
	}
	var result struct {
		Type string `json:"result_type"`
		Text string `json:"text_result_for_llm"`
	}
	if json.Unmarshal(in["tool_result"], &result) == nil {
		out["toolResult"] = map[string]string{"resultType": result.Type, "textResultForLlm": result.Text}
	}
	input, err := json.Marshal(out)
	if err != nil {
		panic(err) // all of it came from JSON
	}
	return camelNames[e.Name], input
}

// ownNames are what most tools of copilotNames are called, of those that share a name.
var ownNames = map[string]string{"Bash": "bash", "Read": "view", "Write": "create", "Edit": "edit", "Agent": "task", "Glob": "glob", "Grep": "grep",
	"WebFetch": "web_fetch", "AskUserQuestion": "ask_user", "TodoWrite": "update_todo"}

// OwnTool is the tool of an event of Copilot as Copilot calls it: Own, or what it is likely to
// be of an event that was kept without.
func (e *Event) OwnTool() string {
	if own, ok := ownNames[e.Tool]; ok && e.Own == "" {
		var in struct {
			Input json.RawMessage `json:"tool_input"`
		}
		if _ = json.Unmarshal(e.Input, &in); own == "edit" && len(in.Input) > 0 && in.Input[0] == '"' {
			return "apply_patch" // whose input is a text
		}
		return own
	}
	return cmp.Or(e.Own, e.Tool)
}
