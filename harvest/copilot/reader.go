package copilot

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// sessionID is the session's name, taken from its transcript's folder.
func sessionID(file string) string {
	if base := filepath.Base(file); base != "events.jsonl" {
		return strings.TrimSuffix(base, ".jsonl")
	}
	return filepath.Base(filepath.Dir(file))
}

// kept are the event types that can matter. The others (system prompts, deltas,
// compactions, bookkeeping) are most of a short session.
var kept = []string{"user.message", "assistant.message", "assistant.turn_end", "tool.execution_start", "tool.execution_complete",
	"skill.invoked", "session.usage_record", "session.start", "session.resume", "session.context_changed", "session.error", "session.shutdown", "abort",
	"permission.requested", "permission.completed"}

var (
	typeMark    = []byte(`{"type":"`)
	successMark = []byte(`"success":`)
	exitMark    = []byte(`"exitCode":`)
	callMark    = []byte(`"toolCallId":"`)
)

// kind is the type of an event. It is the first key of every line on disk; in other
// orders gjson finds it.
func kind(line []byte) string {
	if rest, ok := bytes.CutPrefix(line, typeMark); ok {
		if end := bytes.IndexByte(rest[:min(len(rest), 64)], '"'); end >= 0 {
			for _, k := range kept { // no allocation
				if string(rest[:end]) == k {
					return k
				}
			}
			return string(rest[:end])
		}
	}
	return gjson.GetBytes(line, "type").Str
}

// want decides on a line without decoding it: most bytes of a long session are the
// results of tools that succeeded, and those are needed only if a call waits for them.
// A quote inside a JSON string is escaped, so a raw `"success":` can only be a key.
func (t *transcript) want(line []byte) bool {
	switch k := kind(line); k {
	case "": // malformed, or without a type: the decoder reports which
		return true
	case "tool.execution_complete":
		id, ok := callID(line)
		_, awaited := t.loading[id]
		if !ok || awaited || !succeeded(line) {
			return true
		}
		if t.s.Acts.Awaits(id) {
			t.s.Acts.Ended(id, exit(line), false)
		}
		return false
	case "tool.execution_start":
		// The call is known from its assistant.message, unless that line is lost.
		id, ok := callID(line)
		_, known := t.tools[id]
		return !ok || !known
	default:
		return slices.Contains(kept, k)
	}
}

// every reports whether all values of the key mark are want; n counts them.
func every(line, mark []byte, want string) (n int, ok bool) {
	for ; ; n++ {
		i := bytes.Index(line, mark)
		if i < 0 {
			return n, true
		}
		line = line[i+len(mark):]
		rest, same := bytes.CutPrefix(bytes.TrimLeft(line[:min(len(line), 16)], " "), []byte(want))
		if !same || len(rest) == 0 || rest[0] != ',' && rest[0] != '}' && rest[0] != ' ' {
			return n, false
		}
	}
}

// edge is how far from its ends a long line is searched, in bytes. The outcome of a
// call precedes its result; what follows is telemetry.
const edge = 4 << 10

// succeeded reports whether line certainly is the end of a call that succeeded. A shell
// that exits with an error is a success to the program, but not here.
func succeeded(line []byte) bool {
	head, tail := line, []byte(nil)
	if len(line) > 2*edge {
		head, tail = line[:edge], line[len(line)-edge:]
	}
	n, ok := every(head, successMark, "true")
	_, zero := every(head, exitMark, "0")
	_, still := every(tail, successMark, "true")
	_, quiet := every(tail, exitMark, "0")
	return n > 0 && ok && zero && still && quiet
}

// callID is the id of the call that a tool.execution_… event is of: the first
// member of its data.
func callID(line []byte) (id string, ok bool) {
	_, rest, ok := bytes.Cut(line[:min(len(line), edge)], callMark)
	if !ok {
		return "", false
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return "", false
	}
	return string(rest[:end]), true
}
