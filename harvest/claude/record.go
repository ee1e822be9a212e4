package claude

import (
	"bytes"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/jsonl"
)

// Records are parsed by hand: a decoder, and gjson too, touches every byte of a text
// several times, and most texts are never used. Lines have been checked to be valid
// JSON. Texts are copied, because the next line overwrites the buffer.

// A record is one line of a transcript: the fields that matter.
type record struct {
	kind, subtype string
	sidechain     bool
	meta          bool
	hidden        bool // not by a person: a summary of earlier messages, or by a peer, a task, a tool
	apiError      bool
	session       string
	agent         string
	cwd, branch   string
	entrypoint    string
	uuid          string
	promptID      string
	promptSource  string
	sourceTool    string
	attribution   string    // the skill that was loaded
	duration      int64     // milliseconds
	at            time.Time // zero if there is none
	message       message
	attachment    []byte
}

// A message is one of the user's or the model's.
type message struct {
	id, model      string
	content, usage []byte
}

// anthropic reports whether nothing in a message of the assistant says that another server
// than Anthropic's own wrote it: one of a cloud marks the id (msg_bdrk_, msg_vrtx_), and
// what translates for other models makes ids of its own, or names the model.
func (m *message) anthropic() bool {
	if m.model == synthetic {
		return true // by the program
	}
	id, own := strings.CutPrefix(m.id, "msg_")
	return (m.id == "" || own && !strings.ContainsAny(id, "_-.:")) &&
		(m.model == "" || strings.HasPrefix(m.model, "claude-") && !strings.ContainsAny(m.model, "@/:"))
}

// synthetic is the model of messages that the program wrote itself.
const synthetic = "<synthetic>"

// A block is one part of a message's content.
type block struct {
	kind      string
	text      []byte
	id, name  string
	input     []byte
	toolUseID string
	isError   bool
	content   []byte
}

// parseRecord parses a line. If the session's name is known, it stops at a tool's
// result, because nothing after it is needed.
func parseRecord(raw []byte, named bool) *record {
	r := new(record)
	fields(raw, func(key string, v []byte) bool {
		switch key {
		case "type":
			r.kind = str(v)
		case "subtype":
			r.subtype = str(v)
		case "isSidechain":
			r.sidechain = yes(v)
		case "isMeta":
			r.meta = yes(v)
		case "isCompactSummary", "isVisibleInTranscriptOnly":
			r.hidden = r.hidden || yes(v)
		case "origin":
			r.hidden = r.hidden || foreign(v)
		case "isApiErrorMessage":
			r.apiError = yes(v)
		case "entrypoint":
			r.entrypoint = str(v)
		case "uuid":
			r.uuid = str(v)
		case "promptId":
			r.promptID = str(v)
		case "promptSource":
			r.promptSource = str(v)
		case "sourceToolUseID":
			r.sourceTool = str(v)
		case "attributionSkill":
			r.attribution = str(v)
		case "durationMs":
			r.duration = gjson.ParseBytes(v).Int()
		case "timestamp":
			if at := harvest.When(str(v)); !at.IsZero() {
				r.at = at
			}
		case "message":
			r.message = parseMessage(v)
		case "attachment":
			r.attachment = v
		case "toolUseResult", "sourceToolAssistantUUID":
			r.hidden = true
			return !named || r.kind == "" || r.at.IsZero()
		}
		if named {
			return true
		}
		switch key {
		case "sessionId":
			r.session = str(v)
		case "agentId":
			r.agent = str(v)
		case "cwd":
			r.cwd = str(v)
		case "gitBranch":
			r.branch = str(v)
		}
		return true
	})
	return r
}

// foreign reports whether the origin of a message is not a person.
func foreign(origin []byte) bool {
	o := gjson.ParseBytes(origin)
	kind := o.Str
	if o.IsObject() {
		kind = o.Get("kind").Str
	}
	return kind != "" && kind != "human"
}

func parseMessage(raw []byte) (m message) {
	fields(raw, func(key string, v []byte) bool {
		switch key {
		case "id":
			m.id = str(v)
		case "model":
			m.model = str(v)
		case "content":
			m.content = v
		case "usage":
			m.usage = v
		}
		return true
	})
	return m
}

func parseUsage(raw []byte) (u eval.Usage) {
	fields(raw, func(key string, v []byte) bool {
		count := &u.Input
		switch key {
		case "input_tokens":
		case "cache_read_input_tokens":
			count = &u.CacheRead
		case "cache_creation_input_tokens":
			count = &u.CacheWrite
		case "output_tokens":
			count = &u.Output
		case "output_tokens_details":
			count, v = &u.Reasoning, []byte(gjson.GetBytes(v, "thinking_tokens").Raw)
		default:
			return true
		}
		*count = gjson.ParseBytes(v).Int()
		return true
	})
	return u
}

// blocks calls f with every block of a message's content. Content that is a string has
// none.
func blocks(content []byte, f func(b *block)) {
	jsonl.Elements(content, func(raw []byte) {
		var b block
		fields(raw, func(key string, v []byte) bool {
			switch key {
			case "type":
				b.kind = str(v)
			case "text":
				b.text = v
			case "id":
				b.id = str(v)
			case "name":
				b.name = str(v)
			case "input":
				b.input = v
			case "tool_use_id":
				b.toolUseID = str(v)
			case "is_error":
				b.isError = yes(v)
			case "content":
				b.content = v
			}
			return true
		})
		f(&b)
	})
}

// fields calls f with every field of an object until f returns false. Anything
// else has none.
func fields(raw []byte, f func(key string, value []byte) bool) {
	for m := jsonl.Object(raw); m.Next(); {
		if v := m.Value(); v == nil || !f(string(m.Key()), v) {
			return
		}
	}
}

// str is a JSON string's text, "" for any other value.
func str(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	return gjson.ParseBytes(raw).Str
}

func yes(raw []byte) bool { return string(raw) == "true" }
