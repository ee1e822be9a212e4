package events

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/jsonl"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// claudeCode is the name of Claude Code in sessions.
const claudeCode = "claude-code"

// Claude rebuilds the events of one transcript of Claude Code, or of one of its subagents,
// which have transcripts of their own. A line that cannot be read is a Problem; the error is
// ctx's.
func Claude(ctx context.Context, r io.Reader, file string) ([]Event, []harvest.Problem, error) {
	c := &claude{file: file, calls: map[string]call{}, asked: map[string][]Said{}, seen: map[string]bool{}, gone: map[int]bool{}}
	problems, err := jsonl.Scan(ctx, r, file, wanted, c.line)
	if err != nil {
		return nil, problems, err
	}
	c.held = nil // a command without an answer
	c.stop(false)
	var out []Event
	for i, e := range c.events {
		if !c.gone[i] {
			out = append(out, e)
		}
	}
	return out, problems, nil
}

// wantedMarks are in each line that tells something; most bytes of a transcript are in others.
var wantedMarks = [][]byte{[]byte(`"type":"user"`), []byte(`"type":"assistant"`), []byte(`"type":"system"`),
	[]byte(`"type":"queued_command"`), []byte(`"type":"model"`), []byte(`"type":"permission-mode"`), []byte(`"type":"hook_success"`)}

func wanted(line []byte) bool {
	return slices.ContainsFunc(wantedMarks, func(mark []byte) bool { return bytes.Contains(line, mark) })
}

// A claudeLine is one of a transcript.
type claudeLine struct {
	Type, Subtype, UUID               string
	IsMeta, IsSidechain               bool
	IsCompactSummary                  bool
	IsVisibleInTranscriptOnly         bool
	IsAPIErrorMessage                 bool `json:"isApiErrorMessage"`
	SessionID                         string
	AgentID, AttributionAgent         string
	CWD, PromptID, PermissionMode     string
	Effort                            string
	Timestamp                         string
	Message                           claudeMessage
	ToolUseResult, PermissionDecision json.RawMessage
	ToolDenialKind, UserFeedback      string
	Attachment                        struct {
		Type, CommandMode string
		Prompt            json.RawMessage
		SourceUUID        string `json:"source_uuid"`
		Identity          struct{ ModelID string }
		HookEvent         string
		ToolUseID         string
		Command, Stdout   string
	}
}

type claudeMessage struct {
	Model      string
	StopReason string `json:"stop_reason"`
	Content    json.RawMessage
}

type claudeBlock struct {
	Type, Text, ID, Name string
	Input, Content       json.RawMessage
	ToolUseID            string `json:"tool_use_id"`
	IsError              bool   `json:"is_error"`
}

// A call is a tool call without a result yet.
type call struct {
	event int // its PreToolUse
	tool  string
	input json.RawMessage
}

// claude follows one transcript line by line.
type claude struct {
	file   string
	n      int // the line
	events []Event
	gone   map[int]bool // events of calls that never reached the hooks

	session, cwd, mode, prompt, effort string
	subagent, kind                     string
	begun                              bool
	calls                              map[string]call
	asked                              map[string][]Said // by hooks, of a call without a result yet
	seen                               map[string]bool
	held                               *claudeLine // a typed command, until it is known that the program does not answer it itself
	heldText                           string
	answer                             string // the last text since the last prompt or call, "" for none
	said                               *claudeLine
}

// line takes line n. It reports whether the line is one of Claude Code's.
func (c *claude) line(n int, raw []byte) bool {
	l := new(claudeLine)
	_ = json.Unmarshal(raw, l) // it is valid JSON; a field of another type is as none
	c.n = n
	if l.Type == "permission-mode" {
		return true // written long after the change: what it says is not of this place
	}
	c.session, c.cwd = or(l.SessionID, c.session), or(l.CWD, c.cwd)
	c.subagent = or(l.AgentID, c.subagent)
	c.kind = or(l.AttributionAgent, c.kind)
	if c.subagent != "" {
		c.prompt = or(l.PromptID, c.prompt) // its parent's
	}
	switch l.Type {
	case "attachment":
		c.attached(l)
	case "user":
		c.user(l)
	case "assistant":
		c.assistant(l)
	case "system":
		if l.Subtype == "turn_duration" || l.Subtype == "stop_hook_summary" {
			c.stop(true)
		}
	}
	return l.Type != ""
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// add adds an event with the fields that all have, and these.
func (c *claude) add(l *claudeLine, name, tool string, fields map[string]any) int {
	fields["session_id"], fields["hook_event_name"], fields["cwd"] = c.session, name, c.cwd
	fields["transcript_path"] = c.file
	if c.subagent != "" {
		fields["transcript_path"] = c.parent()
		fields["agent_id"] = c.subagent
		put(fields, "agent_type", c.kind)
	}
	if name != SessionStart {
		put(fields, "prompt_id", or(l.PromptID, c.prompt))
		put(fields, "permission_mode", c.mode)
	}
	if name != SessionStart && name != UserPromptSubmit && c.effort != "" {
		fields["effort"] = map[string]string{"level": c.effort}
	}
	input, err := json.Marshal(fields)
	if err != nil {
		panic(err) // all of it came from JSON
	}
	c.events = append(c.events, Event{Name: name, Tool: tool, Input: input, Time: harvest.When(l.Timestamp), Line: c.n})
	return len(c.events) - 1
}

func put(fields map[string]any, name, value string) {
	if value != "" {
		fields[name] = value
	}
}

// parent is the transcript of the session whose subagent wrote this one.
func (c *claude) parent() string {
	for dir := filepath.Dir(c.file); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) == "subagents" {
			return filepath.Dir(dir) + ".jsonl"
		}
	}
	return filepath.Join(filepath.Dir(c.file), c.session+".jsonl")
}

// start adds the session's beginning before the first event of a main transcript.
func (c *claude) start(l *claudeLine) {
	if c.begun || c.subagent != "" || l.IsSidechain {
		return
	}
	c.begun = true
	fields := map[string]any{"source": "startup"}
	c.add(l, SessionStart, "", fields)
}

func (c *claude) attached(l *claudeLine) {
	switch a := l.Attachment; a.Type {
	case "model": // behind the first prompt
		c.model(a.Identity.ModelID)
	case "hook_success":
		c.asks(l)
	case "queued_command":
		text, _ := texts(a.Prompt)
		if slices.Contains([]string{"", "prompt", "task-notification"}, a.CommandMode) && c.fresh(or(a.SourceUUID, l.UUID)) {
			c.submit(l, text)
		}
	}
}

// model adds the model to the session's beginning.
func (c *claude) model(id string) {
	if len(c.events) == 0 || c.events[0].Name != SessionStart || id == "" {
		return
	}
	var fields map[string]any
	if json.Unmarshal(c.events[0].Input, &fields) == nil && fields["model"] == nil {
		fields["model"] = id
		c.events[0].Input, _ = json.Marshal(fields)
	}
}

// fresh reports whether a message is new: a transcript that was resumed may repeat some.
func (c *claude) fresh(id string) bool {
	if id != "" && c.seen[id] {
		return false
	}
	c.seen[id] = true
	return true
}

var (
	commandName = lazyregexp.New(`(?s)^\s*(?:<command-message>.*?</command-message>\s*)?<command-name>\s*(.*?)\s*</command-name>`)
	commandArgs = lazyregexp.New(`(?s)<command-args>(.*?)</command-args>`)
)

func (c *claude) user(l *claudeLine) {
	text, results := texts(l.Message.Content)
	if results != nil {
		for i := range results {
			c.result(l, &results[i])
		}
		if harvest.Interrupts(text) {
			c.said = nil
		}
		return
	}
	if strings.HasPrefix(strings.TrimSpace(text), "<local-command-std") {
		c.held = nil
	}
	c.release()
	report := strings.HasPrefix(text, "<task-notification>")
	switch {
	case harvest.Interrupts(text):
		c.said = nil
	case l.IsMeta, l.IsSidechain, l.IsCompactSummary, l.IsVisibleInTranscriptOnly, harvest.Injected(text) && !report, !c.fresh(l.UUID):
	default:
		c.stop(true)
		c.mode = or(l.PermissionMode, c.mode)
		if m := commandName.FindStringSubmatch(text); m != nil {
			c.heldText = m[1]
			if a := commandArgs.FindStringSubmatch(text); a != nil && a[1] != "" {
				c.heldText += " " + a[1]
			}
			c.held = l
			return
		}
		c.submit(l, text)
	}
}

// release adds the prompt of a typed command that the program did not answer itself.
func (c *claude) release() {
	if c.held != nil {
		c.submit(c.held, c.heldText)
		c.held = nil
	}
}

func (c *claude) submit(l *claudeLine, prompt string) {
	c.start(l)
	c.prompt = or(l.PromptID, c.prompt)
	c.add(l, UserPromptSubmit, "", map[string]any{"prompt": prompt})
}

func (c *claude) assistant(l *claudeLine) {
	c.release()
	c.effort = or(l.Effort, c.effort)
	if l.IsAPIErrorMessage || l.Message.Model == "<synthetic>" {
		c.said = nil // such a turn ends without a Stop
		return
	}
	c.start(l)
	c.model(l.Message.Model)
	for _, b := range blocks(l.Message.Content) {
		switch b.Type {
		case "text":
			if strings.TrimSpace(b.Text) != "" && (!l.IsSidechain || c.subagent != "") {
				c.answer, c.said = b.Text, l
			}
		case "tool_use":
			c.said = nil
			input := withDefaults(b.Name, b.Input)
			at := c.add(l, PreToolUse, b.Name, map[string]any{"tool_name": b.Name, "tool_input": input, "tool_use_id": b.ID})
			c.calls[b.ID] = call{at, b.Name, input}
		}
	}
}

// withDefaults is a call's input with what the program adds to it before hooks see it.
func withDefaults(tool string, input json.RawMessage) json.RawMessage {
	var fields map[string]any
	if tool != "Edit" || json.Unmarshal(input, &fields) != nil || fields["replace_all"] != nil {
		return input
	}
	fields["replace_all"] = false
	input, _ = json.Marshal(fields)
	return input
}

// The beginnings of results of calls that did not run.
const (
	refusedMark  = "The user doesn't want to proceed with this tool use"
	stopMark     = "The user doesn't want to take this action"
	invalidMark  = "<tool_use_error>" // before any hook
	deniedMark   = "Permission to use "
	hookMark     = "PreToolUse:"
	saidMark     = "the user said:\n"
	noteMark     = "\n\nNote: The user's next message may contain"
	asksMark     = "The user wants to clarify these questions"
	approvedMark = "User has approved your plan"
)

// result ends a call.
func (c *claude) result(l *claudeLine, b *claudeBlock) {
	k, ok := c.calls[b.ToolUseID]
	if !ok {
		return
	}
	delete(c.calls, b.ToolUseID)
	text, _ := texts(b.Content)
	if b.IsError && strings.HasPrefix(text, invalidMark) {
		c.gone[k.event] = true
		return
	}
	var decided struct{ Decision, Source, GrantScope string }
	_ = json.Unmarshal(l.PermissionDecision, &decided) // another type decides nothing
	e := &c.events[k.event]
	e.Outcome = outcome(l, b, k.tool, text, decided.Decision, decided.Source)
	e.Said = c.asked[b.ToolUseID]
	if said, ok := hookSaid(text); ok && e.Outcome == Stopped {
		said.Time = harvest.When(l.Timestamp)
		e.Said = append(e.Said, said)
	}
	if e.Outcome == Refused {
		e.Words = l.UserFeedback
		if _, said, _ := strings.Cut(text, saidMark); e.Words == "" && !strings.HasPrefix(said, asksMark) {
			e.Words, _, _ = strings.Cut(said, noteMark)
		}
	}
	if e.Outcome != Ran && e.Outcome != Permitted {
		return
	}
	if decided.GrantScope == "session" && edits(k.tool) && c.mode == "default" {
		c.mode = "acceptEdits"
	}
	fields := map[string]any{"tool_name": k.tool, "tool_input": k.input, "tool_use_id": b.ToolUseID}
	switch {
	case b.IsError:
		fields["error"], fields["is_interrupt"] = strings.TrimPrefix(text, "Error: "), false
		c.add(l, PostToolUseFailure, k.tool, fields)
	case l.ToolUseResult != nil:
		fields["tool_response"] = l.ToolUseResult
		if k.tool == "AskUserQuestion" {
			fields["tool_input"] = l.ToolUseResult // the questions, with the answers
		}
		c.add(l, PostToolUse, k.tool, fields)
	}
}

func edits(tool string) bool {
	return slices.Contains([]string{"Edit", "MultiEdit", "Write", "NotebookEdit"}, tool)
}

// outcome is what became of a call with a result. Since 2.1.329, or a little earlier, the
// line says who decided; before, only a refusal and a few permissions can be told.
func outcome(l *claudeLine, b *claudeBlock, tool, text, decision, source string) Outcome {
	users := strings.HasPrefix(source, "user")
	switch {
	case l.ToolDenialKind == "user-rejected", decision == "reject" && users:
		return Refused
	case l.ToolDenialKind != "", decision == "reject":
		return Stopped
	case decision == "accept" && users:
		return Permitted
	case b.IsError && decision == "" && strings.HasPrefix(text, refusedMark): // else a tool that ran says so
		return Refused
	case b.IsError && strings.HasPrefix(text, stopMark):
		return Unknown
	case b.IsError && decision == "" && (strings.HasPrefix(text, deniedMark) || strings.HasPrefix(text, hookMark)):
		return Stopped
	case decision == "" && !b.IsError && tool == "ExitPlanMode" && strings.HasPrefix(text, approvedMark):
		return Permitted // a plan is always shown
	}
	return Ran
}

// stop adds the end of the agent's work, if it has answered and was not stopped. Whether it
// was at the end of a transcript has to be known from the answer itself.
func (c *claude) stop(known bool) {
	l := c.said
	c.said = nil
	if l == nil || !known && l.Message.StopReason == "" {
		return
	}
	fields := map[string]any{"stop_hook_active": false, "last_assistant_message": c.answer, "background_tasks": []any{}, "session_crons": []any{}}
	if c.subagent == "" {
		c.add(l, Stop, "", fields)
		return
	}
	fields["agent_transcript_path"] = c.file
	c.add(l, SubagentStop, "", fields)
}

// texts is the text of a message's content, and the results of tools in it.
func texts(content json.RawMessage) (text string, results []claudeBlock) {
	if json.Unmarshal(content, &text) == nil {
		return text, nil
	}
	var parts []string
	for _, b := range blocks(content) {
		switch b.Type {
		case "text":
			parts = append(parts, b.Text)
		case "tool_result":
			results = append(results, b)
		}
	}
	return strings.Join(parts, "\n"), results
}

func blocks(content json.RawMessage) (out []claudeBlock) {
	_ = json.Unmarshal(content, &out) // other content has none
	return out
}
