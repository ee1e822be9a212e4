package claude

import (
	"bytes"

	"github.com/skill-evolve/evolve/harvest/jsonl"
	"github.com/tidwall/gjson"
)

// verdict is how a line is treated, judged by its first bytes.
type verdict int

const (
	skip   verdict = iota // bookkeeping, attachments, blobs
	result                // the result of a tool call
	keep                  // may hold a human turn, an answer, a skill: decode it
)

// kept are the record types that can matter.
var kept = map[string]bool{"user": true, "assistant": true, "system": true, "attachment": true}

var (
	resultMark = []byte(`"tool_result"`)
	typeMark   = []byte(`"type":`)
	queuedMark = []byte(`{"type":"queued_command"`)
	// listingMark begins the attachment that names the skills of a session.
	listingMark = []byte(`{"type":"skill_listing"`)
	cwdMark     = []byte(`"cwd":`)
	errorMark   = []byte(`"is_error":`)
	falseMark   = []byte(`false`)
)

// wants reports whether a line has to be decoded.
func (t *transcript) wants(line []byte) bool {
	t.folder(line)
	switch sift(line) {
	case skip:
		return false
	case result:
		if failed(line) {
			return true
		}
		t.succeeded(line)
		return t.awaited(line)
	}
	return true
}

// How much of a line's end is searched for its working folder, in bytes; near is enough
// for most, at its beginning too.
const (
	near = 256
	edge = 4 << 10
)

// folder notes the working folder of a line, most of which are never decoded. It is
// before the first array or object of a line, or near its end behind all others. A text
// holds no such mark: its quotes are escaped.
func (t *transcript) folder(line []byte) {
	if len(t.atEnd) > 0 && bytes.Contains(line[max(0, len(line)-near):], t.atEnd) && !bytes.Contains(line[:min(near, len(line))], cwdMark) {
		return
	}
	for m := jsonl.Object(line); m.Next(); {
		if string(m.Key()) == "cwd" {
			t.at(m.Value())
			t.atEnd = t.atEnd[:0] // what is there is something else
			return
		}
		if next := m.Rest()[0]; next == '{' || next == '[' {
			break
		}
	}
	end := line[max(0, len(line)-edge):]
	if i := bytes.LastIndex(end, cwdMark); i >= 0 {
		t.at(bytes.TrimLeft(end[i+len(cwdMark):], " "))
		t.atEnd = append(append(t.atEnd[:0], cwdMark...), t.cwd...)
	}
}

// at notes a working folder, a JSON string that more may follow. It rarely changes.
func (t *transcript) at(cwd []byte) {
	if len(t.cwd) > 0 && bytes.HasPrefix(cwd, t.cwd) {
		return
	}
	if v := gjson.ParseBytes(cwd); v.Type == gjson.String {
		t.cwd = append(t.cwd[:0], v.Raw...)
		t.dir = v.Str
		t.s.In(v.Str)
	}
}

// sift decides on line, which begins and ends like an object, without decoding it: most
// bytes of a transcript are tool results and request blobs. A quote inside a JSON
// string is escaped, so a raw `"tool_result"` can only be a value or a key. An empty or
// malformed line is kept: the decoder reports it.
func sift(line []byte) verdict {
	for m := jsonl.Object(line); m.Next(); {
		switch string(m.Key()) {
		case "type":
			kind := m.Value()
			if len(kind) < 2 || kind[0] != '"' {
				return keep
			}
			return siftType(string(kind[1:len(kind)-1]), m.Rest()[len(kind):])
		case "attachment":
			if at := m.Rest(); bytes.HasPrefix(at, []byte(`{"type":"`)) && !bytes.HasPrefix(at, queuedMark) && !bytes.HasPrefix(at, listingMark) {
				return skip
			}
			return keep
		case "message":
			return keep
		}
	}
	return keep
}

func siftType(kind string, rest []byte) verdict {
	if !kept[kind] {
		return skip
	}
	if kind != "user" {
		return keep
	}
	at := bytes.Index(rest[:min(len(rest), 4096)], resultMark)
	if at >= 0 && bytes.HasSuffix(bytes.TrimRight(rest[:at], " "), typeMark) {
		return result
	}
	return keep
}

// failed reports whether a line with a tool result may contain a failure. It searches
// for the underscore of "is_error", which is rarer than a quote: most bytes of all
// transcripts are searched here.
func failed(line []byte) bool {
	const before = len(`"is`)
	for at := 0; ; {
		i := bytes.IndexByte(line[at:], '_')
		if i < 0 {
			return false
		}
		i += at
		at = i + 1
		if i < before || !bytes.HasPrefix(line[i-before:], errorMark) {
			continue
		}
		rest := line[i-before+len(errorMark):]
		if !bytes.HasPrefix(bytes.TrimLeft(rest[:min(len(rest), 8)], " "), falseMark) {
			return true
		}
	}
}
