package gemini

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// done is what a call did, of a tool whose work is kept: a command, or a changed file.
type done struct {
	line, dir            string
	file, added, removed string
	exit                 *int
	skipped              bool // by the user, before or while it ran
}

func (d *done) size() int {
	if d == nil {
		return 0
	}
	return len(d.line) + len(d.dir) + len(d.file) + len(d.added) + len(d.removed)
}

// exitCode is in the result of a command.
var exitCode = lazyregexp.New(`(?m)^Exit Code: (\d{1,9})$`)

// workOf is what a call did, nil if none of it is kept. (The names of tools and arguments
// are those of version 0.38; nothing newer was seen.)
func workOf(c gjson.Result) *done {
	arg := func(name string) string { return strings.Clone(c.Get("args." + name).Str) }
	d := &done{skipped: c.Get("status").Str == "cancelled"}
	switch c.Get("name").Str {
	case "run_shell_command":
		d.line, d.dir = arg("command"), cmp.Or(arg("dir_path"), arg("directory"))
		output := c.Get("result.0.functionResponse.response.output").Str
		if m := exitCode.FindAllStringSubmatch(output, -1); m != nil {
			code, _ := strconv.Atoi(m[len(m)-1][1])
			d.exit = &code
		}
	case "write_file":
		d.file, d.added = arg("file_path"), arg("content")
	case "replace":
		d.file, d.added, d.removed = arg("file_path"), arg("new_string"), arg("old_string")
	default:
		return nil
	}
	return d
}

// act records what a call did.
func (c *call) act(s *harvest.Draft) {
	d, turn := c.work, len(s.Turns)-1
	if d == nil {
		return
	}
	if d.line != "" {
		s.Acts.Ran(turn, c.id, d.line, d.dir)
	} else {
		s.Acts.Changed(turn, c.id, d.file, d.added, d.removed)
	}
	if d.skipped {
		s.Acts.Skipped(c.id)
	} else {
		s.Acts.Ended(c.id, d.exit, c.failed)
	}
}
