package codex

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/eval/shell"
)

// An event is one line of `codex exec --json`. Exit codes and stderr tell
// nothing more: what came of a turn is read from here alone.
type event struct {
	Type     string `json:"type"`
	ThreadID string `json:"thread_id"`
	Message  string `json:"message"` // of "error"
	Item     *item  `json:"item"`
	Usage    *usage `json:"usage"` // of "turn.completed"; of the whole thread
	Error    *struct {
		Message string `json:"message"`
	} `json:"error"` // of "turn.failed"
}

// An item is a part of a turn.
type item struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Command  string          `json:"command"`
	Output   string          `json:"aggregated_output"`
	ExitCode *int            `json:"exit_code"`
	Status   string          `json:"status"`
	Changes  []change        `json:"changes"`
	Server   string          `json:"server"`
	Tool     string          `json:"tool"`
	Args     json.RawMessage `json:"arguments"`
	Query    string          `json:"query"`
	Items    json.RawMessage `json:"items"` // of a todo list
	Prompt   string          `json:"prompt"`
	Error    *struct {
		Message string `json:"message"`
	} `json:"error"`
}

type change struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
}

// usage counts as OpenAI does: input holds what was cached, output what was
// thought.
type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
	Reasoning  int64 `json:"reasoning_output_tokens"`
}

// normal is u as an Attempt has it; nil if nothing was counted, as a server
// does that reports no usage.
func (u *usage) normal() *eval.Usage {
	if u == nil || u.Input <= 0 && u.Output <= 0 {
		return nil
	}
	out := &eval.Usage{Output: max(0, u.Output)}
	input := max(0, u.Input)
	out.CacheRead = min(max(0, u.CacheRead), input)
	out.CacheWrite = min(max(0, u.CacheWrite), input-out.CacheRead)
	out.Input = input - out.CacheRead - out.CacheWrite
	out.Reasoning = min(max(0, u.Reasoning), out.Output)
	return out
}

// A step is a tool call of the trace with what it reached for.
type step struct {
	call     eval.ToolCall
	accesses []replay.Access
	files    []string // that it changed, as the stream names them
	begun    bool     // and not completed yet
}

// A stream is what the events of one turn have told so far.
type stream struct {
	now func() time.Time

	thread   string
	begun    bool // thread.started came: the program took its arguments
	ended    bool // turn.completed or turn.failed came
	failure  string
	answer   string // the last message
	usage    *usage
	steps    []*step
	ids      map[string]*step
	retries  int    // the program's own, of calls that failed
	retrying string // why, until something else comes
	broken   int    // lines that could not be read

	turn time.Time     // when it started
	last time.Time     // when the last event came
	lost time.Duration // from an event to the retry that followed it
	took time.Duration // the turn without lost
}

func newStream(now func() time.Time) *stream {
	return &stream{now: now, ids: make(map[string]*step)}
}

// errHopeless ends a program that goes on asking for what it will not get.
var errHopeless = errors.New("no further try could fare better")

// line takes in one line. Its error is errHopeless, or nil.
func (s *stream) line(line []byte) error {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	var e event
	if line[0] != '{' || json.Unmarshal(line, &e) != nil {
		s.broken++
		return nil
	}
	now := s.now()
	defer func() { s.last = now }()
	switch e.Type {
	case "thread.started":
		s.begun, s.thread = true, e.ThreadID
	case "turn.started":
		s.begun, s.turn = true, now
	case "error":
		return s.trouble(e.Message, now)
	case "turn.completed":
		s.end(now)
		s.usage = e.Usage
	case "turn.failed":
		s.end(now)
		if e.Error != nil {
			s.failure = e.Error.Message
		}
		if s.failure == "" {
			s.failure = "the turn failed, and the program does not say why"
		}
	case "item.started", "item.updated", "item.completed":
		if e.Item != nil {
			s.retrying = ""
			s.item(e.Item, e.Type == "item.completed")
		}
	}
	return nil
}

// end closes the turn.
func (s *stream) end(now time.Time) {
	s.ended, s.retrying = true, ""
	if !s.turn.IsZero() {
		s.took = max(0, now.Sub(s.turn)-s.lost)
	}
}

// trouble reads an "error": "Reconnecting... 2/5 (why)" before a retry, else
// the text that turn.failed repeats.
func (s *stream) trouble(text string, now time.Time) error {
	rest, again := strings.CutPrefix(text, "Reconnecting...")
	if !again {
		return nil
	}
	s.retries++
	// What the failed call took is no time of the agent's. The pause that
	// follows is not told from the call after it.
	if !s.last.IsZero() {
		s.lost += now.Sub(s.last)
	}
	s.retrying = rest
	if _, why, ok := strings.Cut(rest, "("); ok {
		s.retrying = strings.TrimSuffix(why, ")")
	}
	switch classify(s.retrying, now).infra {
	case eval.Auth, eval.UsageLimit, eval.BadRequest, "":
		s.failure = s.retrying
		s.end(now)
		return errHopeless
	}
	return nil
}

func (s *stream) item(i *item, completed bool) {
	if i.Type == "agent_message" {
		if completed {
			s.answer = i.Text
		}
		return
	}
	t := toolStep(i)
	if t == nil {
		return // a thought, a warning, or what no version known here writes
	}
	t.begun = !completed
	if old := s.ids[i.ID]; old != nil {
		*old = *t
		return
	}
	s.ids[i.ID] = t
	s.steps = append(s.steps, t)
}

// toolStep is the tool call that an item tells of, nil for all others. The
// names are those that the model calls the tools by, as sessions record them.
func toolStep(i *item) *step {
	failed := i.Status == "failed" || i.Status == "declined" || i.Error != nil
	t := &step{}
	switch i.Type {
	case "command_execution":
		failed = failed || i.ExitCode != nil && *i.ExitCode != 0
		command := unwrapShell(i.Command)
		t.call = eval.ToolCall{Name: "exec_command", Input: short(command)}
		t.accesses = []replay.Access{{Tool: "exec_command", Command: command, Failed: failed}}
	case "file_change":
		var names []string
		for _, c := range i.Changes {
			names = append(names, strings.TrimSpace(c.Kind+" "+c.Path))
			t.accesses = append(t.accesses, replay.Access{Tool: "apply_patch", Path: c.Path, Failed: failed})
			if !failed {
				t.files = append(t.files, c.Path)
			}
		}
		t.call = eval.ToolCall{Name: "apply_patch", Input: short(strings.Join(names, "\n"))}
	case "mcp_tool_call":
		t.call = eval.ToolCall{Name: "mcp__" + i.Server + "__" + i.Tool, Input: short(replay.Compact(i.Args))}
		t.accesses = replay.Accesses(t.call.Name, i.Args, failed)
	case "collab_tool_call":
		t.call = eval.ToolCall{Name: i.Tool, Input: short(i.Prompt)}
		t.accesses = []replay.Access{{Tool: i.Tool, Text: i.Prompt, Failed: failed}}
	case "web_search":
		t.call = eval.ToolCall{Name: "web_search", Input: short(i.Query)}
		t.accesses = []replay.Access{{Tool: "web_search", URL: i.Query, Failed: failed}}
	case "todo_list":
		t.call = eval.ToolCall{Name: "update_plan", Input: short(replay.Compact(i.Items))}
	default:
		return nil
	}
	t.call.Failed = failed
	return t
}

// unwrapShell takes the shell off a command line: /bin/bash -lc 'ls data'.
func unwrapShell(command string) string {
	list, _ := shell.Commands(command)
	if len(list) == 0 {
		return command
	}
	c := list[0].Words
	if !strings.Contains(command, " -lc ") || len(c) != 3 || c[1].Text != "-lc" || !c[2].Whole {
		return command
	}
	return c[2].Text
}

// short cuts a text to what a trace keeps of it.
func short(s string) string { return replay.Clip(s, replay.MaxInput) }
