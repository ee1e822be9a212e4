package codex

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// A session is what the program's own record of a turn adds to the stream:
// calls that emit no item (a command that the sandbox denied has run all the
// same, and the model has read what it printed), calls of subagents, skills
// that were put into the prompt, and one usage for each reply of the model.
type session struct {
	skills []string // whose text the program itself put before the model
	calls  []call   // of the main thread, in order
	others []call   // of subagents
	turns  int
	model  string // that the program chose for the main thread; the server names none
	usage  *usage // of the turn so far, with subagents; told even if it failed
	broken int    // records that were not read to their end
}

// maxRecord is how much of one record is read, in bytes, as much as of the stream:
// an agent's commands can write where the program keeps its records.
const maxRecord = 64 << 20

// A call is a tool call of the record.
type call struct {
	id, name, input, output string

	items int // of the stream that stand for it
}

// readSessions reads every record in a stage: that of the main thread, and those
// of subagents, which are threads of their own. No record at all is no error:
// then the stream has to do.
func readSessions(s *replay.Stage, _ string, secrets replay.Secrets) (*session, error) {
	var out *session
	dir := filepath.Join(s.Config, "sessions")
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		f, err := bounded.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if out == nil {
			out = new(session)
		}
		record := &io.LimitedReader{R: f, N: maxRecord}
		err = out.read(record, secrets)
		if record.N <= 0 {
			out.broken++
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read codex's record: %w", err)
	}
	return out, nil
}

// read takes in one record.
func (s *session) read(r io.Reader, secrets replay.Secrets) error {
	main := true
	var calls []call
	at := make(map[string]int)
	var last usage
	b := bufio.NewReader(r)
	for first := true; ; first = false {
		line, err := b.ReadBytes('\n')
		line = secrets.Line(line)
		if len(bytes.TrimSpace(line)) > 0 && gjson.ValidBytes(line) {
			rec := gjson.ParseBytes(line)
			p := rec.Get("payload")
			if first && rec.Get("type").Str == "session_meta" {
				main = p.Get("source").Type == gjson.String // of a subagent it is an object
			}
			switch rec.Get("type").Str {
			case "turn_context":
				if main { // a subagent may have another one
					s.model = p.Get("model").Str
				}
			case "response_item":
				calls = s.response(p, calls, at)
			case "event_msg":
				if p.Get("type").Str == "item_completed" && counts(p.Get("item.type").Str) {
					id := p.Get("item.id").Str
					if i, ok := at[id]; ok {
						calls[i].items++
					} else if len(calls) > 0 { // a call within a script
						calls[len(calls)-1].items++
					}
				}
			case "token_usage_record":
				s.turns++
				u := p.Get("turn_token_usage")
				last = usage{u.Get("input_tokens").Int(), u.Get("cached_input_tokens").Int(),
					u.Get("cache_write_input_tokens").Int(), u.Get("output_tokens").Int(), u.Get("reasoning_output_tokens").Int()}
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if s.usage == nil {
		s.usage = new(usage)
	}
	s.usage.Input += last.Input
	s.usage.CacheRead += last.CacheRead
	s.usage.CacheWrite += last.CacheWrite
	s.usage.Output += last.Output
	s.usage.Reasoning += last.Reasoning
	if main {
		s.calls = append(s.calls, calls...)
	} else {
		s.others = append(s.others, calls...)
	}
	return nil
}

// counts reports whether the stream has an item for a record of this type that
// is a tool call.
func counts(kind string) bool {
	switch kind {
	case "CommandExecution", "FileChange", "McpToolCall", "WebSearch":
		return true
	}
	return false
}

func (s *session) response(p gjson.Result, calls []call, at map[string]int) []call {
	switch p.Get("type").Str {
	case "function_call", "custom_tool_call", "local_shell_call":
		c := call{id: p.Get("call_id").Str, name: p.Get("name").Str}
		for _, field := range []string{"arguments", "input", "action"} {
			if v := p.Get(field); v.Exists() {
				c.input = v.String()
				break
			}
		}
		if c.name == "" {
			c.name = "local_shell"
		}
		at[c.id] = len(calls)
		calls = append(calls, c)
	case "function_call_output", "custom_tool_call_output":
		if i, ok := at[p.Get("call_id").Str]; ok {
			calls[i].output = p.Get("output").String()
		}
	case "message":
		if p.Get("role").Str == "user" {
			for _, c := range p.Get("content").Array() {
				if name, ok := injected(c.Get("text").Str); ok {
					s.skills = add(s.skills, name)
				}
			}
		}
	}
	return calls
}

// injected is the name of the skill whose body a message holds, as the program
// answers to $NAME.
func injected(text string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(text, "<skill>\n<name>")
	if !ok {
		return "", false
	}
	name, _, ok = strings.Cut(rest, "</name>")
	return name, ok
}

// merge puts the calls that have no item in their places among the steps of the
// stream, which come in the same order, and those of subagents at the end.
func (s *session) merge(steps []*step) []*step {
	if s == nil {
		return steps
	}
	var out []*step
	for _, c := range s.calls {
		if c.items == 0 && hidden(c.name) {
			out = append(out, c.step())
			continue
		}
		n := min(c.items, len(steps))
		out, steps = append(out, steps[:n]...), steps[n:]
	}
	out = append(out, steps...)
	for _, c := range s.others {
		out = append(out, c.step())
	}
	return out
}

// barred says why nothing that the agent did could work: the program's own
// sandbox, which needs more of the machine than it gets. That is our
// configuration's failure. "" if anything worked, or failed otherwise.
func (s *session) barred(steps []*step, workspace string) string {
	if s == nil {
		return ""
	}
	for _, t := range steps {
		if !t.call.Failed {
			return ""
		}
	}
	for _, c := range s.calls {
		if why := bars(c.output, workspace); why != "" {
			return why
		}
	}
	return ""
}

// bars finds the line in which a sandbox tells that it could not be made, or a
// patch that it could not write into the workspace.
func bars(output, workspace string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "bwrap: ") || strings.HasPrefix(line, "sandbox-exec: ") || strings.Contains(line, "LandlockRestrict") ||
			strings.HasPrefix(line, "Failed to write file "+workspace) {
			return short(line)
		}
	}
	return ""
}

// hidden reports whether a call that no item stands for is to be told. Plans
// have items of their own, and polling a command is no call of its own.
func hidden(name string) bool {
	return name != "update_plan" && name != "write_stdin" && name != "wait"
}

// step is a call that is known from the record alone.
func (c call) step() *step {
	t := &step{call: eval.ToolCall{Name: c.name, Input: short(replay.Compact([]byte(c.input)))}}
	// What came of it is not told but in words. One that has no item has been
	// denied, refused or is unknown, unless it shows something.
	t.call.Failed = !strings.Contains(c.output, "exited with code 0") && c.name != "exec" && c.name != "view_image" ||
		strings.HasPrefix(c.output, "unable to ") || strings.HasPrefix(c.output, "unsupported call")
	refused := strings.HasPrefix(c.output, "unsupported call")
	if c.name == "exec_command" {
		command := gjson.Get(c.input, "cmd").Str
		t.call.Input = short(command)
		t.accesses = []replay.Access{{Tool: c.name, Command: command, Failed: refused}}
		return t
	}
	t.accesses = replay.Accesses(c.name, []byte(c.input), refused)
	return t
}

// add appends name if it is new.
func add(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
