package claude

import "bytes"

// verdict says what a line is worth, judged by its first bytes.
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
	errorMark   = []byte(`"is_error":`)
	falseMark   = []byte(`false`)
)

// sift decides on line, which begins and ends like an object, without decoding
// it: most bytes of a transcript are tool results and request blobs. A quote
// inside a JSON string is escaped, so a raw `"tool_result"` can only be a value
// or a key.
func sift(line []byte) verdict {
	i := 1
	for {
		i = blank(line, i)
		if i >= len(line) || line[i] != '"' {
			return keep // empty, or malformed: the decoder says which
		}
		end := quoted(line, i)
		if end < 0 {
			return keep
		}
		key := line[i+1 : end-1]
		i = blank(line, end)
		if i >= len(line) || line[i] != ':' {
			return keep
		}
		i = blank(line, i+1)
		if i >= len(line) {
			return keep
		}
		switch string(key) {
		case "type":
			end = quoted(line, i)
			if end < 0 {
				return keep
			}
			return siftType(string(line[i+1:end-1]), line[end:])
		case "attachment":
			if bytes.HasPrefix(line[i:], []byte(`{"type":"`)) && !bytes.HasPrefix(line[i:], queuedMark) && !bytes.HasPrefix(line[i:], listingMark) {
				return skip
			}
			return keep
		case "message":
			return keep
		}
		if i = value(line, i); i < 0 {
			return keep
		}
		i = blank(line, i)
		if i >= len(line) || line[i] != ',' {
			return keep
		}
		i++
	}
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

// failed reports whether a line with a tool result may tell of a failure. It
// looks for the underline of "is_error", which is rarer than a quote: most bytes
// of all transcripts pass through here.
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

func blank(line []byte, i int) int {
	for i < len(line) && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
		i++
	}
	return i
}

// quoted returns the end of the string that begins at line[i], or -1.
func quoted(line []byte, i int) int {
	if i >= len(line) || line[i] != '"' {
		return -1
	}
	for j := i + 1; ; {
		k := bytes.IndexByte(line[j:], '"')
		if k < 0 {
			return -1
		}
		k += j
		slashes := 0
		for k-1-slashes > i && line[k-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return k + 1
		}
		j = k + 1
	}
}

// value returns the end of the JSON value that begins at line[i], or -1.
func value(line []byte, i int) int {
	switch line[i] {
	case '"':
		return quoted(line, i)
	case '{', '[':
		depth := 0
		for i < len(line) {
			switch line[i] {
			case '"':
				end := quoted(line, i)
				if end < 0 {
					return -1
				}
				i = end
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return -1
	}
	for i < len(line) && line[i] != ',' && line[i] != '}' && line[i] != ' ' {
		i++
	}
	return i
}
