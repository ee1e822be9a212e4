package claude

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/skill-evolve/evolve/harvest/jsonl"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// act records what a call of a tool does, if it is one whose work is kept.
func (t *transcript) act(b *block) {
	acts, turn := t.s.Acts, len(t.s.Turns)-1
	switch b.name {
	case "Bash", "PowerShell":
		if acts.Keeps(work.Ran) {
			acts.Ran(turn, b.id, texts(b.input, "command")[0], t.dir)
		}
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		if !acts.Keeps(work.Changed) {
			return
		}
		in := texts(b.input, "file_path", "notebook_path", "content", "new_source", "new_string", "old_string", "edits")
		file, added := in[0]+in[1], in[2]+in[3]+in[4]
		if in[6] == "" {
			acts.Changed(turn, b.id, file, added, in[5])
		}
		jsonl.Elements([]byte(in[6]), func(raw []byte) {
			edit := texts(raw, "new_string", "old_string")
			acts.Changed(turn, b.id, file, edit[0], edit[1])
		})
	}
}

// memories are the folders with the memory of a transcript's project: beside the transcript,
// and, because sessions anywhere in a repository share one, that of the repository's top.
func memories(file string) func(top string) []string {
	dir := filepath.Dir(file)
	if filepath.Base(dir) == "subagents" {
		dir = filepath.Dir(filepath.Dir(dir))
	}
	return func(top string) (folders []string) {
		if projects := filepath.Dir(dir); filepath.Base(projects) == "projects" {
			folders = append(folders, filepath.Join(dir, "memory"))
			if top != "" {
				folders = append(folders, filepath.Join(projects, special.ReplaceAllString(top, "-"), "memory"))
			}
		}
		return folders
	}
}

// special matches the characters that are dashes in the name of a project's folder.
var special = lazyregexp.New(`[^a-zA-Z0-9]`)

// texts are the strings in an object under these names; a list is its JSON.
func texts(raw []byte, names ...string) []string {
	out := make([]string, len(names))
	fields(raw, func(key string, v []byte) bool {
		for i, name := range names {
			if key == name && len(v) > 0 && v[0] == '[' {
				out[i] = string(v)
			} else if key == name {
				out[i] = str(v)
			}
		}
		return true
	})
	return out
}

// The beginnings of results of calls that did not happen: those that the user refused, and
// those that the program did.
var (
	refusals = []string{"The user doesn't want to proceed with this tool use", "The user doesn't want to take this action"}
	skips    = []string{"<tool_use_error>", "Permission to use "}
	saidMark = "the user said:\n"
	asksMark = "The user wants to clarify these questions" // by the program
	noteMark = "\n\nNote: The user's next message may contain"
	exitLine = lazyregexp.New(`^(?:Error: )?Exit code (\d{1,9})(?:\n|$)`)
)

// done records how a call of a tool in a turn ended, of which the result is b.
func (t *transcript) done(b *block, turn int, tool string) {
	acts := t.s.Acts
	if !acts.Keeps(work.Ran) || !b.isError && !acts.Awaits(b.toolUseID) {
		return
	}
	if !b.isError {
		zero := 0
		acts.Ended(b.toolUseID, &zero, false)
		return
	}
	text := beginning(b.content)
	for _, mark := range refusals {
		if strings.HasPrefix(text, mark) {
			text, _ = content(b.content)
			_, said, _ := strings.Cut(text, saidMark)
			if said, _, _ = strings.Cut(said, noteMark); strings.HasPrefix(said, asksMark) {
				said = ""
			}
			acts.Refused(turn, b.toolUseID, tool, said)
			return
		}
	}
	for _, mark := range skips {
		if strings.HasPrefix(text, mark) {
			acts.Skipped(b.toolUseID)
			return
		}
	}
	var exit *int
	if m := exitLine.FindStringSubmatch(text); m != nil {
		status, _ := strconv.Atoi(m[1])
		exit = &status
	}
	acts.Ended(b.toolUseID, exit, true)
}

// beginning is the beginning of a result's text, which may be long.
func beginning(raw []byte) string {
	const enough = 256
	if len(raw) == 0 || raw[0] != '"' || len(raw) <= enough {
		text, _ := content(raw)
		return text
	}
	raw = raw[:enough]
	if i := bytes.LastIndexByte(raw, '\\'); i > enough-12 { // it may be cut within an escape
		raw = raw[:i]
	}
	return str(append(slices.Clip(raw), '"'))
}

// How a command ended whose line has no failure, if not with status 0: it goes on, or the
// program knows that its status is no failure, such as that of grep without a match.
var (
	backgroundMark = []byte(`"backgroundTaskId":"`)
	harmlessMark   = []byte(`"returnCodeInterpretation":"`)
)

// succeeded records the end of the calls whose results are in a line without a failure,
// which is not decoded.
func (t *transcript) succeeded(line []byte) {
	for id := range t.s.Acts.Open {
		if !bytes.Contains(line, []byte(id)) {
			continue
		}
		exit, end := 0, line[max(0, len(line)-edge):]
		switch {
		case bytes.Contains(end, backgroundMark):
			t.s.Acts.Ended(id, nil, false)
		case bytes.Contains(end, harmlessMark):
			exit = 1
			fallthrough
		default:
			t.s.Acts.Ended(id, &exit, false)
		}
	}
}
