package codex

import (
	"bytes"
	"cmp"
	"path"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest/jsonl"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// shellTools are the tools that run a command line.
var shellTools = map[string]bool{"exec_command": true, "shell": true, "shell_command": true, "local_shell": true, "container.exec": true}

// act records the command or the change that a call is. line and dir are those of shell.
func (t *transcript) act(id, name, line, dir string, p gjson.Result) {
	if t.s.Acts == nil {
		return
	}
	t.calls[id] = true
	turn := len(t.s.Turns) - 1
	switch {
	case name == "apply_patch":
		t.patch(turn, id, patchOf(p), t.folder(""))
	case name == "write_stdin":
		if of, ok := t.running[gjson.Get(p.Get("arguments").Str, "session_id").String()]; ok {
			t.polls[id] = of
		}
	case shellTools[name]:
		t.ran(turn, id, line, dir)
	}
}

// patchOf is the patch of a call of apply_patch, which has it as text or in JSON.
func patchOf(p gjson.Result) string {
	args := gjson.Parse(p.Get("arguments").Str)
	return cmp.Or(p.Get("input").Str, args.Get("input").Str, args.Get("patch").Str)
}

// ran records a command line. A patch in it is a change: the program applies that itself.
func (t *transcript) ran(turn int, id, line, dir string) {
	dir = t.folder(dir)
	patch, to, rest := inline(line)
	if patch == "" {
		t.s.Acts.Ran(turn, id, line, dir)
		return
	}
	if !path.IsAbs(to) {
		to = path.Join(dir, to)
	}
	if rest == "" {
		t.patch(turn, id, patch, to)
		return
	}
	t.patch(turn, "", patch, to) // the outcome of the call is that of the other commands
	t.s.Acts.Ran(turn, id, rest, dir)
}

// folder is the folder in which a call runs; "" is the session's own.
func (t *transcript) folder(dir string) string {
	if dir = strings.TrimPrefix(dir, "file://"); !path.IsAbs(dir) {
		dir = path.Join(t.here, dir)
	}
	if dir == t.s.CWD {
		return ""
	}
	return dir
}

// patch records a patch that was applied in a folder.
func (t *transcript) patch(turn int, id, patch, dir string) {
	if dir != "" && t.s.Acts.Keeps(work.Changed) {
		patch = patchFiles.ReplaceAllString(patch, "${1}"+strings.ReplaceAll(dir, "$", "$$")+"/$2")
	}
	t.s.Acts.Patch(turn, id, patch)
}

var (
	// patchFiles matches the lines of a patch that name a file by a relative path.
	patchFiles = lazyregexp.New(`(?m)^(\*\*\* (?:(?:Add|Update|Delete) File|Move to): )([^/\s])`)
	// patchHead matches what precedes a patch in a command line: other commands, and the
	// delimiter of a here-document, if it is in one, with what is behind it.
	patchHead = lazyregexp.New(`(?s)^(?:(.*)(?:&&|;|\n))?\s*apply_?patch\s*(?:<<-?\s*['"\\]?(\w+)['"]?([^\n]*)\n\s*|\$?['"]?\s*)$`)
	// changeFolder matches the command that goes to a folder.
	changeFolder = lazyregexp.New(`^\s*cd\s+['"]?([^\s'"&;]+)['"]?\s*$`)
)

// inline finds the patch in a command line such as `cd DIR && apply_patch <<'EOF' …`, the
// folder that it names, and the other commands of the line.
func inline(line string) (patch, dir, rest string) {
	const begin, end = "*** Begin Patch", "\n*** End Patch"
	head, _, ok := strings.Cut(line, begin)
	if !ok {
		return "", "", ""
	}
	m := patchHead.FindStringSubmatch(head)
	if m == nil {
		return "", "", ""
	}
	patch = line[len(head):]
	tail := ""
	if i := strings.Index(patch, end); i >= 0 {
		patch, tail = patch[:i+len(end)], patch[i+len(end):]
	}
	if delimiter := m[2]; delimiter != "" {
		tail = strings.TrimPrefix(strings.TrimLeft(tail, " \t\r\n"), delimiter)
	} else {
		tail = strings.TrimLeft(tail, " \t\r\n'\"")
	}
	before := m[1]
	if cd := changeFolder.FindStringSubmatch(before); cd != nil {
		before, dir = "", cd[1]
	}
	var more []string
	for _, part := range []string{before, m[3], tail} {
		if part = strings.Trim(part, "&; \t\r\n"); part != "" {
			more = append(more, part)
		}
	}
	return patch, dir, strings.Join(more, "\n")
}

// unseen reports whether an item is the record of a call that is not in the transcript.
func (t *transcript) unseen(kind string, id []byte) bool {
	return t.s.Acts != nil && (kind == "CommandExecution" || kind == "FileChange") && !t.calls[string(id)]
}

// exited records the exit status of a command that may still go on according to its
// output, as its record has it.
func (t *transcript) exited(id, code []byte) {
	var end ending
	if end.status(string(code)); end.exit != nil && *end.exit >= 0 {
		t.s.Acts.Ended(string(id), end.exit, end.failed)
	}
}

// lastExit is what follows the name of the exit status at the end of a record, behind the
// output. A quote in the output is escaped, so it cannot have the name.
func lastExit(record []byte) []byte {
	const tail = 512
	mark := []byte(`"exit_code":`)
	end := record[max(0, len(record)-tail):]
	if i := bytes.LastIndex(end, mark); i >= 0 {
		end = end[i+len(mark):]
		return end[:min(len(end), 16)]
	}
	return nil
}

// wantRecord judges the event of a call that ended, which is needed if the call is not in
// the transcript.
func (t *transcript) wantRecord(m jsonl.Members) bool {
	if t.s.Acts == nil {
		return false
	}
	for m.Next() {
		if string(m.Key()) == "call_id" {
			id, _ := m.Text()
			if !t.calls[string(id)] {
				return true
			}
			for t.s.Acts.Awaits(string(id)) && m.Next() {
				if string(m.Key()) == "exit_code" {
					t.exited(id, m.Value())
					break
				}
			}
			return false
		}
	}
	return false
}

// nested records what was done by a call of which there is only the record: a program that
// the agent wrote made it. What the user ran is none of the agent's work.
func (t *transcript) nested(item gjson.Result) {
	id := strings.Clone(cmp.Or(item.Get("id").Str, item.Get("call_id").Str))
	if t.s.Acts == nil || t.calls[id] {
		return
	}
	t.s.Last()
	turn, status := len(t.s.Turns)-1, item.Get("status").Str
	end := ending{failed: status == "failed" || status == "declined"}
	switch item.Get("type").Str {
	case "CommandExecution", "exec_command_end":
		if source := item.Get("source").Str; source != "" && source != "agent" && source != "unified_exec_startup" {
			return
		}
		line, dir := shell(item)
		t.ran(turn, id, strings.Clone(line), dir) // and lets go of the output
		if n := int(item.Get("exit_code").Int()); item.Get("exit_code").Exists() && n >= 0 {
			end.exit = &n
		}
		end.refused = status == "declined" && rejectedByUser(item.Get("aggregated_output").Str)
	case "FileChange", "patch_apply_end":
		item.Get("changes").ForEach(func(file, change gjson.Result) bool {
			t.changed(turn, id, file.Str, change)
			return true
		})
		end.failed = end.failed || item.Get("success").Type == gjson.False
		end.refused = status == "declined" && rejectedByUser(item.Get("stderr").Str)
	default:
		return
	}
	t.calls[id] = true
	end.skipped = status == "declined" && !end.refused
	t.over(id, end)
}

// changed records the change of one file, as a record has it.
func (t *transcript) changed(turn int, id, file string, change gjson.Result) {
	switch change.Get("type").Str {
	case "add":
		t.s.Acts.Changed(turn, id, file, change.Get("content").Str, "")
	case "delete":
		t.s.Acts.Changed(turn, id, file, "", change.Get("content").Str)
	case "update":
		var added, removed strings.Builder
		for line := range strings.Lines(change.Get("unified_diff").Str) {
			switch {
			case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
			case line[0] == '+':
				added.WriteString(line[1:])
			case line[0] == '-':
				removed.WriteString(line[1:])
			}
		}
		t.s.Acts.Changed(turn, id, cmp.Or(change.Get("move_path").Str, file), added.String(), removed.String())
	}
}
