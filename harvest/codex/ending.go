package codex

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest/jsonl"
)

// An ending is how a call ended, as its output tells.
type ending struct {
	exit    *int   // of its command, nil if the output does not tell
	failed  bool   // the call, or its command
	refused bool   // the user did not allow it
	skipped bool   // it did not happen, for another reason
	running string // its command goes on, in this process
}

// over records how a call ended.
func (t *transcript) over(id string, end ending) {
	t.settle(id, end.failed)
	if t.s.Acts == nil {
		return
	}
	if of, ok := t.polls[id]; ok {
		delete(t.polls, id)
		id = of
	}
	switch {
	case end.running != "":
		t.running[end.running] = strings.Clone(id)
	case end.refused:
		tool := ""
		if r, ok := t.tools[id]; ok {
			tool = t.s.Turns[r.turn].Tools[r.tool].Name
		}
		t.s.Acts.Refused(max(0, len(t.s.Turns)-1), id, tool, "")
	case end.skipped:
		t.s.Acts.Skipped(id)
	default:
		t.s.Acts.Ended(id, end.exit, end.failed)
	}
}

const (
	exited = "Process exited with code "
	goesOn = "Process running with session ID "
)

// headers begin the outputs of commands; a line of theirs has the exit code.
var headers = []string{"Chunk ID: ", "Wall time: ", "Exit code: ", exited, goesOn}

// undone begin the outputs of calls that were not executed.
var undone = []string{"failed to parse function arguments", "unsupported call", "unsupported custom tool call", "exec_command failed",
	"apply_patch verification failed", "patch rejected", "exec command rejected", "rejected"}

// broken begin the outputs of calls that may have been executed in part.
var broken = []string{"execution error", "aborted", "err:", "Err("}

// rejected ends the output of a call that the user did not allow, in all versions. Who
// answers that the turn shall end instead aborts the call: its output does not tell
// whether it had begun.
const rejected = "rejected by user"

func rejectedByUser(output string) bool {
	return strings.HasSuffix(strings.TrimRight(output, "\n \\\"`)}"), rejected)
}

// outcome reads how a call ended from its output, raw JSON to the end of its line.
func outcome(raw []byte) (end ending) {
	const head, tail = 512, 256
	switch {
	case len(raw) == 0:
		return end
	case raw[0] == '{':
		for m := jsonl.Object(raw); m.Next(); {
			if string(m.Key()) == "success" {
				end.failed = string(m.Value()) == "false"
				break
			}
		}
		return end
	case raw[0] != '"':
		return end
	}
	begin := string(raw[1:min(len(raw), head)])
	if strings.HasPrefix(begin, `{\"output\":`) { // before 2026: a JSON text, the exit code behind the output
		last := raw[max(0, len(raw)-tail):]
		if i := bytes.LastIndex(last, []byte(`\"exit_code\":`)); i >= 0 {
			end.status(string(last[i+len(`\"exit_code\":`):]))
		}
		return end
	}
	begin, _, _ = strings.Cut(begin, `Output:\n`)
	switch {
	case starts(begin, headers):
		for _, code := range []string{exited, "Exit code: "} {
			if _, n, ok := strings.Cut(begin, code); ok {
				end.status(n)
				return end
			}
		}
		if _, n, ok := strings.Cut(begin, goesOn); ok {
			end.running = digits(n)
		}
		end.failed = strings.Contains(begin, `\naborted by user`)
	case starts(begin, undone):
		end.failed = true
		end.refused = rejectedByUser(gjson.ParseBytes(raw).Str)
		end.skipped = !end.refused
	case starts(begin, broken):
		end.failed = true
	}
	return end
}

func starts(s string, with []string) bool {
	for _, w := range with {
		if strings.HasPrefix(s, w) {
			return true
		}
	}
	return false
}

// status takes the exit status that s begins with.
func (e *ending) status(s string) {
	if n, err := strconv.Atoi(digits(strings.TrimLeft(s, " "))); err == nil {
		e.exit, e.failed = &n, n != 0
	}
}

// digits is the number that s begins with.
func digits(s string) string {
	n := 0
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '-') {
		n++
	}
	return s[:n]
}
