package copilot

import (
	"bytes"
	"cmp"
	"strconv"

	"github.com/tidwall/gjson"
)

// act records the command or the change that a call is, a subagent's too: it works for
// the turn that called it.
func (t *transcript) act(turn int, id, name string, args gjson.Result) {
	if t.s.Acts == nil {
		return
	}
	if name == "apply_patch" {
		t.s.Acts.Patch(turn, id, cmp.Or(args.Str, args.Get("input").Str, args.Get("patch").Str))
		return
	}
	if args.Type == gjson.String {
		args = gjson.Parse(args.Str)
	}
	if name == "str_replace_editor" {
		name = args.Get("command").Str
	}
	text := func(key string) string { return args.Get(key).Str }
	switch name {
	case "bash", "powershell":
		t.s.Acts.Ran(turn, id, text("command"), "")
	case "create":
		t.s.Acts.Changed(turn, id, text("path"), text("file_text"), "")
	case "edit", "str_replace":
		t.s.Acts.Changed(turn, id, text("path"), text("new_str"), text("old_str"))
	case "insert":
		t.s.Acts.Changed(turn, id, text("path"), cmp.Or(text("new_str"), text("insert_text")), "")
	}
}

// over records how a call ended that want did not settle.
func (t *transcript) over(id string, e event) {
	if !t.s.Acts.Awaits(id) {
		return
	}
	switch e.data.Get("error.code").Str {
	case "rejected":
		t.refused(id, "")
	case "denied":
		t.s.Acts.Skipped(id)
	default:
		t.s.Acts.Ended(id, exit([]byte(e.data.Raw)), !e.data.Get("success").Bool())
	}
}

// decided handles the answer to a question for permission.
func (t *transcript) decided(id string, result gjson.Result) {
	if result.Get("kind").Str == "denied-interactively-by-user" {
		t.refused(id, result.Get("feedback").Str)
	}
}

func (t *transcript) refused(id, said string) {
	turn, tool := max(0, len(t.s.Turns)-1), ""
	if c, ok := t.tools[id]; ok {
		if turn = c.turn; c.tool >= 0 {
			tool = t.s.Turns[turn].Tools[c.tool].Name
		}
	}
	t.s.Last()
	t.s.Acts.Refused(turn, id, tool, said)
}

var (
	printedExit = []byte("exit code ")
	closed      = []byte(`>"`)
)

// exit reads a command's exit status from the line of its end: newer versions have it as
// a number, and all of them at the end of what the command printed.
func exit(line []byte) *int {
	head, tail := line, []byte(nil)
	if len(line) > 2*edge {
		head, tail = line[:edge], line[len(line)-edge:]
	}
	for _, part := range [][]byte{head, tail} {
		if _, rest, ok := bytes.Cut(part, exitMark); ok {
			if n, _, ok := number(bytes.TrimLeft(rest, " ")); ok {
				return &n
			}
		}
	}
	for _, part := range [][]byte{tail, head} {
		for len(part) > 0 {
			i := bytes.LastIndex(part, printedExit)
			if i < 0 {
				break
			}
			if n, rest, ok := number(part[i+len(printedExit):]); ok && bytes.HasPrefix(rest, closed) {
				return &n
			}
			part = part[:i]
		}
	}
	return nil
}

// number is the one that text begins with, and what follows it.
func number(text []byte) (n int, rest []byte, ok bool) {
	i := 0
	for i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] == '-') {
		i++
	}
	n, err := strconv.Atoi(string(text[:i]))
	return n, text[i:], err == nil
}
