package claude

import (
	"time"

	"github.com/tidwall/gjson"
)

// A record is one line of a transcript: the fields that matter.
type record struct {
	kind, subtype string
	sidechain     bool
	meta          bool
	hidden        bool // a summary of what went before
	apiError      bool
	session       string
	agent         string
	cwd, branch   string
	entrypoint    string
	uuid          string
	promptID      string
	promptSource  string
	sourceTool    string
	duration      int64     // milliseconds
	at            time.Time // zero where there is none
	message       gjson.Result
	attachment    gjson.Result
}

// parseRecord reads a line in one pass: to ask gjson for one field after the
// other costs a pass each. What follows a tool's result says nothing more about
// a session whose name is known.
func parseRecord(raw []byte, named bool) *record {
	r := new(record)
	gjson.ParseBytes(raw).ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "type":
			r.kind = v.Str
		case "subtype":
			r.subtype = v.Str
		case "isSidechain":
			r.sidechain = v.Bool()
		case "isMeta":
			r.meta = v.Bool()
		case "isCompactSummary", "isVisibleInTranscriptOnly":
			r.hidden = r.hidden || v.Bool()
		case "isApiErrorMessage":
			r.apiError = v.Bool()
		case "sessionId":
			r.session = v.Str
		case "agentId":
			r.agent = v.Str
		case "cwd":
			r.cwd = v.Str
		case "gitBranch":
			r.branch = v.Str
		case "entrypoint":
			r.entrypoint = v.Str
		case "uuid":
			r.uuid = v.Str
		case "promptId":
			r.promptID = v.Str
		case "promptSource":
			r.promptSource = v.Str
		case "sourceToolUseID":
			r.sourceTool = v.Str
		case "durationMs":
			r.duration = v.Int()
		case "timestamp":
			if at, err := time.Parse(time.RFC3339Nano, v.Str); err == nil {
				r.at = at.UTC()
			}
		case "message":
			r.message = v
		case "attachment":
			r.attachment = v
		case "toolUseResult":
			return !named || r.kind == "" || r.at.IsZero()
		}
		return true
	})
	return r
}
