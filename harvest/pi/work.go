package pi

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest/work"
)

// maxArgs is how much is held of the arguments of all calls of a session, in bytes. What
// the agent did after that is not kept.
const maxArgs = 32 << 20

// keep returns the arguments of a call that runs a command or changes a file.
func (t *tree) keep(tool string, args gjson.Result) string {
	switch {
	case t.level == work.Off, t.args+len(args.Raw) > maxArgs:
		return ""
	case tool == "bash", t.level == work.All && (tool == "edit" || tool == "write"):
		t.args += len(args.Raw)
		return strings.Clone(args.Raw)
	}
	return ""
}

// act records the command or the change that a call is.
func (f *fold) act(c call) {
	if c.args == "" {
		return
	}
	turn, args := len(f.s.Turns)-1, gjson.Parse(c.args)
	switch c.name {
	case "bash":
		f.s.Acts.Ran(turn, c.id, args.Get("command").Str, "")
	case "write":
		f.s.Acts.Changed(turn, c.id, args.Get("path").Str, args.Get("content").Str, "")
	case "edit":
		file := args.Get("path").Str
		if one := args.Get("newText"); one.Exists() {
			f.s.Acts.Changed(turn, c.id, file, one.Str, args.Get("oldText").Str)
		}
		args.Get("edits").ForEach(func(_, e gjson.Result) bool {
			f.s.Acts.Changed(turn, c.id, file, e.Get("newText").Str, e.Get("oldText").Str)
			return true
		})
	}
}

var exitMark = []byte("Command exited with code ")

// exit reads a command's exit status from the line of its result: a command that failed
// is reported as an error, whose text ends with the status. It is nil if the command was
// aborted or timed out.
func exit[line string | []byte](text line, failed bool) *int {
	if !failed {
		return new(int)
	}
	const tail = 2 << 10 // details follow the text
	end := []byte(text[max(0, len(text)-tail):])
	i := bytes.LastIndex(end, exitMark)
	if i < 0 {
		return nil
	}
	code, _, ok := bytes.Cut(end[i+len(exitMark):], []byte(`"`))
	if n, err := strconv.Atoi(string(code)); ok && err == nil {
		return &n
	}
	return nil
}
