package ingest

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/harvest/codex"
	"github.com/skill-evolve/evolve/harvest/copilot"
	cursoragent "github.com/skill-evolve/evolve/harvest/cursor"
	"github.com/skill-evolve/evolve/harvest/gemini"
	"github.com/skill-evolve/evolve/harvest/pi"
	"github.com/skill-evolve/evolve/harvest/redact/planted"
)

// A scribble writes a session as an agent does: its messages in order, behind the use
// of a skill. It returns the file's name below the agent's home.
type scribble struct {
	agent string
	kind  harvest.Kind
	write func(id string, messages []planted.Message) (name string, lines []any)
}

func at(n int) string {
	return time.Date(2026, 10, 1, 8, 0, n, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
}

type obj = map[string]any

var scribbles = []scribble{
	{"claude", claude.Kind, func(id string, messages []planted.Message) (string, []any) {
		var out []any
		add := func(kind string, fields obj) {
			rec := obj{"type": kind, "uuid": fmt.Sprintf("%s-%d", id, len(out)), "timestamp": at(len(out)), "sessionId": id, "cwd": "/home/dev/project", "userType": "external", "version": "2.1.329", "entrypoint": "cli"}
			maps.Copy(rec, fields)
			out = append(out, rec)
		}
		user := func(text string) {
			add("user", obj{"promptId": fmt.Sprint("p", len(out)), "promptSource": "typed", "message": obj{"role": "user", "content": text}})
		}
		answer := func(blocks ...any) {
			add("assistant", obj{"message": obj{"id": fmt.Sprint("msg_", len(out)), "role": "assistant", "model": "m", "content": blocks}})
		}
		user("/dataviz make a chart of data/revenue.csv")
		answer(obj{"type": "tool_use", "id": id + "-s", "name": "Skill", "input": obj{"skill": "dataviz"}})
		add("user", obj{"message": obj{"role": "user", "content": []any{obj{"type": "tool_result", "tool_use_id": id + "-s", "content": "Launching skill: dataviz"}}}})
		answer(obj{"type": "text", "text": "The chart is saved."})
		for i, m := range messages {
			switch m.Class {
			case "typed":
				user(m.Text)
			case "answer":
				if i == 0 {
					user("what is it?")
				}
				answer(obj{"type": "text", "text": m.Text})
			case "tool":
				if i == 0 {
					user("run it")
				}
				call := fmt.Sprintf("%s-t%d", id, i)
				answer(obj{"type": "tool_use", "id": call, "name": "Bash", "input": obj{"command": "printf '%s' " + strconv.Quote(m.Text)}})
				add("user", obj{"message": obj{"role": "user", "content": []any{obj{"type": "tool_result", "tool_use_id": call, "content": m.Text}}}, "toolUseResult": obj{"stdout": m.Text}})
			}
		}
		if messages[len(messages)-1].Class != "answer" {
			answer(obj{"type": "text", "text": "Done."})
		}
		return "projects/-home-dev-project/" + id + ".jsonl", out
	}},
	{"codex", codex.Kind, func(id string, messages []planted.Message) (string, []any) {
		var out []any
		add := func(kind string, payload obj) {
			out = append(out, obj{"timestamp": at(len(out)), "type": kind, "payload": payload})
		}
		user := func(text string) {
			add("response_item", obj{"type": "message", "role": "user", "id": fmt.Sprintf("%s-%d", id, len(out)), "content": []any{obj{"type": "input_text", "text": text}},
				"internal_chat_message_metadata_passthrough": obj{"turn_id": fmt.Sprint("t", len(out)), "content_item_kinds": []string{"user.text"}}})
			add("event_msg", obj{"type": "item_completed", "item": obj{"type": "UserMessage", "content": []any{obj{"type": "text", "text": text}}}})
		}
		answer := func(text string) {
			add("response_item", obj{"type": "message", "role": "assistant", "content": []any{obj{"type": "output_text", "text": text}}})
		}
		add("session_meta", obj{"id": id, "cwd": "/home/dev/project", "originator": "codex_cli", "source": "cli"})
		user("make a chart of data/revenue.csv")
		answer("The chart is saved.")
		for i, m := range messages {
			switch m.Class {
			case "typed":
				user(m.Text)
			case "answer":
				if i == 0 {
					user("what is it?")
				}
				answer(m.Text)
			case "tool":
				if i == 0 {
					user("run it")
				}
				call := fmt.Sprintf("%s-t%d", id, i)
				args, _ := json.Marshal(obj{"cmd": "printf '%s' " + strconv.Quote(m.Text)})
				add("response_item", obj{"type": "function_call", "name": "exec_command", "call_id": call, "arguments": string(args)})
				add("response_item", obj{"type": "function_call_output", "call_id": call, "output": "Process exited with code 0\nOutput:\n" + m.Text})
			}
		}
		if messages[len(messages)-1].Class != "answer" {
			answer("Done.")
		}
		return "sessions/2026/10/01/rollout-2026-10-01T08-00-00-" + id + ".jsonl", out
	}},
	{"pi", pi.Kind, func(id string, messages []planted.Message) (string, []any) {
		out := []any{obj{"type": "session", "version": 3, "id": id, "timestamp": at(0), "cwd": "/home/dev/project"}}
		parent := any(nil)
		add := func(m obj) {
			n := fmt.Sprintf("%s-%d", id, len(out))
			out = append(out, obj{"type": "message", "id": n, "parentId": parent, "timestamp": at(len(out)), "message": m})
			parent = n
		}
		text := func(role, text string) {
			add(obj{"role": role, "content": []any{obj{"type": "text", "text": text}}, "stopReason": "stop"})
		}
		text("user", "make a chart of data/revenue.csv")
		text("assistant", "The chart is saved.")
		for i, m := range messages {
			switch m.Class {
			case "typed":
				text("user", m.Text)
			case "answer":
				if i == 0 {
					text("user", "what is it?")
				}
				text("assistant", m.Text)
			case "tool":
				if i == 0 {
					text("user", "run it")
				}
				call := fmt.Sprintf("%s-t%d", id, i)
				add(obj{"role": "assistant", "content": []any{obj{"type": "toolCall", "id": call, "name": "bash", "arguments": obj{"command": "printf '%s' " + strconv.Quote(m.Text)}}}, "stopReason": "toolUse"})
				add(obj{"role": "toolResult", "toolCallId": call, "toolName": "bash", "content": []any{obj{"type": "text", "text": m.Text}}, "isError": false})
			}
		}
		if messages[len(messages)-1].Class != "answer" {
			text("assistant", "Done.")
		}
		return "sessions/--home-dev-project--/2026-10-01T08-00-00-000Z_" + id + ".jsonl", out
	}},
	{"copilot", copilot.Kind, func(id string, messages []planted.Message) (string, []any) {
		var out []any
		add := func(kind string, data obj) {
			out = append(out, obj{"type": kind, "data": data, "id": fmt.Sprintf("%s-%d", id, len(out)), "timestamp": at(len(out))})
		}
		user := func(text string) {
			add("user.message", obj{"content": text, "transformedContent": "<current_datetime/>\n\n" + text, "messageId": fmt.Sprintf("%s-m%d", id, len(out))})
		}
		answer := func(text string, calls ...any) {
			add("assistant.message", obj{"content": text, "model": "m", "toolRequests": append([]any{}, calls...)})
		}
		add("session.start", obj{"sessionId": id, "context": obj{"cwd": "/home/dev/project"}})
		user("make a chart of data/revenue.csv")
		answer("The chart is saved.")
		for i, m := range messages {
			switch m.Class {
			case "typed":
				user(m.Text)
			case "answer":
				if i == 0 {
					user("what is it?")
				}
				answer(m.Text)
			case "tool":
				if i == 0 {
					user("run it")
				}
				call := fmt.Sprintf("%s-t%d", id, i)
				answer("", obj{"toolCallId": call, "name": "bash", "arguments": obj{"command": "printf '%s' " + strconv.Quote(m.Text)}})
				add("tool.execution_complete", obj{"toolCallId": call, "success": true, "result": obj{"content": m.Text}})
			}
		}
		if messages[len(messages)-1].Class != "answer" {
			answer("Done.")
		}
		return "session-state/" + id + "/events.jsonl", out
	}},
	{"gemini", gemini.Kind, func(id string, messages []planted.Message) (string, []any) {
		out := []any{obj{"sessionId": id, "projectHash": harvest.Hash("/home/dev/project"), "startTime": at(0), "directories": []string{}}}
		add := func(kind string, fields obj) {
			rec := obj{"id": fmt.Sprintf("%s-%d", id, len(out)), "timestamp": at(len(out)), "type": kind}
			maps.Copy(rec, fields)
			out = append(out, rec)
		}
		user := func(text string) { add("user", obj{"content": []any{obj{"text": text}}}) }
		answer := func(text string) { add("gemini", obj{"content": text, "model": "gemini-3-pro"}) }
		user("make a chart of data/revenue.csv")
		answer("The chart is saved.")
		for i, m := range messages {
			switch m.Class {
			case "typed":
				user(m.Text)
			case "answer":
				if i == 0 {
					user("what is it?")
				}
				answer(m.Text)
			case "tool":
				if i == 0 {
					user("run it")
				}
				add("gemini", obj{"content": "", "toolCalls": []any{obj{"id": fmt.Sprintf("%s-t%d", id, i), "name": "run_shell_command", "status": "success", "args": obj{"command": "printf '%s' " + strconv.Quote(m.Text)},
					"result": []any{obj{"functionResponse": obj{"response": obj{"output": m.Text}}}}}}})
			}
		}
		if messages[len(messages)-1].Class != "answer" {
			answer("Done.")
		}
		return "tmp/project/chats/session-2026-10-01T08-00-" + id + ".jsonl", out
	}},
	{"cursor", cursoragent.Kind, func(id string, messages []planted.Message) (string, []any) {
		var out []any
		add := func(role string, block obj) {
			out = append(out, obj{"role": role, "message": obj{"content": []any{block}}})
		}
		user := func(text string) {
			add("user", obj{"type": "text", "text": "<user_query>\n" + text + "\n</user_query>"})
		}
		answer := func(text string) { add("assistant", obj{"type": "text", "text": text}) }
		user("make a chart of data/revenue.csv")
		answer("The chart is saved.")
		for i, m := range messages {
			switch m.Class {
			case "typed":
				user(m.Text)
			case "answer":
				if i == 0 {
					user("what is it?")
				}
				answer(m.Text)
			case "tool":
				if i == 0 {
					user("run it")
				}
				add("assistant", obj{"type": "tool_use", "name": "Shell", "input": obj{"command": "printf '%s' " + strconv.Quote(m.Text)}})
			}
		}
		if messages[len(messages)-1].Class != "answer" {
			answer("Done.")
		}
		return "projects/home-dev-project/agent-transcripts/" + id + "/" + id + ".jsonl", out
	}},
}
