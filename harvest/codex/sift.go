package codex

import (
	"bytes"
	"strings"

	"github.com/skill-evolve/evolve/harvest/jsonl"
	"github.com/tidwall/gjson"
)

var skillFile = []byte("SKILL.md")

// want judges a line by its first bytes: most of a rollout are the outputs of tools,
// once as given to the model and once as the event of the command. The outcome of a
// tool precedes its output, so want records that itself and refuses the line. What it
// cannot judge, it leaves to take.
func (t *transcript) want(line []byte) bool {
	var kind string
	for m := jsonl.Object(line); m.Next(); {
		switch string(m.Key()) {
		case "timestamp":
			if stamp, ok := m.Text(); ok {
				t.stamp = append(t.stamp[:0], stamp...)
			}
		case "type":
			text, ok := m.Text()
			if !ok {
				return true
			}
			kind = string(text)
		case "payload":
			switch kind {
			case "session_meta":
				t.where(jsonl.Object(m.Rest()), 2)
				return !t.meta
			case "turn_context": // each repeats the instructions
				t.here = t.where(jsonl.Object(m.Rest()), 1)
				return t.s.Model == ""
			case "token_usage_record", "":
				return true
			case "response_item":
				return t.wantItem(jsonl.Object(m.Rest()))
			case "event_msg":
				return t.wantEvent(jsonl.Object(m.Rest()))
			}
			return false // world_state, compacted, and types of newer versions
		}
	}
	return true
}

// where notes the first most of the working folder of a turn, or of a session or the one
// that it was forked from, and the provider that answers there, which older versions do
// not name. It returns the folder.
func (t *transcript) where(m jsonl.Members, most int) (folder string) {
	for most > 0 && m.Next() {
		switch string(m.Key()) {
		case "cwd":
			folder = gjson.ParseBytes(m.Value()).Str
			t.s.In(folder)
			most--
		case "model_provider":
			t.s.Answered(gjson.ParseBytes(m.Value()).Str)
			most--
		}
	}
	return folder
}

func (t *transcript) wantItem(m jsonl.Members) bool {
	kind, ok := typed(&m)
	switch {
	case !ok || strings.HasSuffix(kind, "_call"):
		return true
	case kind == "message":
		for m.Next() {
			if string(m.Key()) == "role" {
				role, ok := m.Text()
				return !ok || string(role) == "user" || string(role) == "assistant"
			}
		}
		return true
	case !strings.HasSuffix(kind, "_output"):
		return false // reasoning
	}
	var id, output []byte
	for m.Next() {
		switch string(m.Key()) {
		case "call_id":
			id, _ = m.Text()
		case "output":
			output = m.Rest()
		}
		if id != nil && output != nil {
			if _, ok := t.reads[string(id)]; ok {
				return true
			}
			t.over(string(id), outcome(output))
			return false
		}
	}
	return true
}

func (t *transcript) wantEvent(m jsonl.Members) bool {
	kind, ok := typed(&m)
	if !ok {
		return true
	}
	switch kind {
	case "task_started", "task_complete", "turn_started", "turn_complete", "turn_aborted", "user_message", "error":
		return true
	case "token_count":
		return !t.records
	case "exec_command_end", "patch_apply_end":
		return t.wantRecord(m)
	case "item_completed":
	default:
		return false
	}
	for m.Next() {
		if string(m.Key()) == "item" {
			return t.wantDone(jsonl.Object(m.Rest()))
		}
	}
	return true
}

// wantDone judges the record of a completed item.
func (t *transcript) wantDone(m jsonl.Members) bool {
	kind, ok := typed(&m)
	switch {
	case !ok:
		return true
	case kind == "UserMessage":
		return !t.kinds
	case kind == "AgentMessage" || kind == "Reasoning":
		return false
	}
	var id, status []byte
	for m.Next() {
		switch string(m.Key()) {
		case "id":
			if id, _ = m.Text(); t.unseen(kind, id) {
				return true
			}
		case "parsed_cmd":
			if bytes.Contains(m.Value(), skillFile) {
				return true
			}
		case "status":
			status, _ = m.Text()
		case "aggregated_output":
			if status == nil { // an unknown order of members
				continue
			}
			t.done(string(id), string(status))
			t.exited(id, lastExit(m.Rest()))
			return false
		}
	}
	t.done(string(id), string(status))
	return false
}

// typed is the value of an object's first member, which is its type.
func typed(m *jsonl.Members) (string, bool) {
	if !m.Next() || string(m.Key()) != "type" {
		return "", false
	}
	kind, ok := m.Text()
	return string(kind), ok
}
