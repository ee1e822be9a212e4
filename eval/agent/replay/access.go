package replay

import (
	"encoding/json"
	"slices"
	"strings"
)

// An Access is one access of a tool call in a trace. A call that names several files is
// several accesses.
type Access struct {
	Tool    string
	Path    string // a file or folder, as the call named it; relative to Dir
	Deep    bool   // all below Path was searched
	Glob    bool   // Path is a pattern
	Dir     string // where Command ran or Path begins; "" is the workspace
	Command string // a command line for a shell
	URL     string // what was fetched; a query if the web was searched
	Text    string // the input of a tool that names nothing of these
	Failed  bool   // the call failed: the file that it named was not read
	Open    bool   // the run ended in the call, or a command failed
}

// Names of input fields, over Claude Code, Codex, pi and Copilot.
var (
	pathFields = []string{"file_path", "filePath", "path", "notebook_path", "file", "filename", "target_file", "image_path", "directory", "paths", "files", "old_path", "new_path"}
	lineFields = []string{"command", "cmd", "script", "fullCommandText"}
	dirFields  = []string{"workdir", "cwd", "working_directory", "workingDirectory"}
	urlFields  = []string{"url", "urls", "uri"}
)

// Accesses extracts the accesses of a tool call from its input: JSON with the field
// names that Claude Code, Codex, pi and Copilot use (file_path, path, command, cmd,
// workdir, url, pattern, patch, changes and so on). It always returns at least one: a
// call without any known field is one Access with its Text. failed means that the call
// failed.
func Accesses(tool string, input []byte, failed bool) []Access {
	var fields map[string]json.RawMessage
	whole := Access{Tool: tool, Text: string(input), Failed: failed}
	if json.Unmarshal(input, &fields) != nil {
		_ = json.Unmarshal(input, &whole.Text) // apply_patch takes a text and no object
		return patched(whole, whole.Text)
	}
	dir := ""
	for _, f := range dirFields {
		if s := texts(fields[f]); len(s) > 0 {
			dir = s[0]
		}
	}
	var out []Access
	add := func(a Access) {
		a.Tool, a.Failed, a.Dir = tool, failed, dir
		out = append(out, a)
	}
	lower := strings.ToLower(tool)
	search := slices.Contains([]string{"grep", "glob", "find", "ls", "search", "rg", "list_dir"}, lower)
	for _, f := range pathFields {
		for _, p := range texts(fields[f]) {
			add(Access{Path: p, Deep: search && lower != "ls"})
		}
	}
	if lower == "glob" || lower == "find" { // their pattern is a path; that of grep is none
		for _, p := range texts(fields["pattern"]) {
			base := ""
			if paths := texts(fields["path"]); len(paths) > 0 && !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~") {
				base = strings.TrimSuffix(paths[0], "/") + "/"
			}
			add(Access{Path: base + p, Glob: true})
		}
	}
	for _, f := range lineFields {
		if raw := fields[f]; len(raw) > 0 {
			if line := commandLine(raw); line != "" {
				add(Access{Command: line})
			}
		}
	}
	for _, f := range urlFields {
		for _, u := range texts(fields[f]) {
			add(Access{URL: u})
		}
	}
	if strings.Contains(lower, "web") || strings.Contains(lower, "fetch") {
		for _, q := range texts(fields["query"]) {
			add(Access{URL: q})
		}
	}
	for _, p := range changes(fields["changes"]) {
		add(Access{Path: p})
	}
	if len(out) == 0 {
		for _, f := range []string{"patch", "input", "patchText"} {
			if s := texts(fields[f]); len(s) > 0 {
				return patched(whole, s[0])
			}
		}
		if search { // of the workspace
			add(Access{Path: "."})
			return out
		}
		return []Access{whole}
	}
	return out
}

// texts are the strings of a field: one, or a list.
func texts(raw json.RawMessage) []string {
	var s string
	if len(raw) == 0 {
		return nil
	}
	if json.Unmarshal(raw, &s) == nil {
		if s == "" {
			return nil
		}
		return []string{s}
	}
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// commandLine is a command as one line. A list of words is quoted, so that
// ["bash","-lc","cd x"] is read as it ran.
func commandLine(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	words := texts(raw)
	for i, w := range words {
		words[i] = shellWord(w)
	}
	return strings.Join(words, " ")
}

// shellWord quotes a word for a shell.
func shellWord(w string) string { return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'" }

// changes are the paths of Codex' file changes: [{path}], or an object by path.
func changes(raw json.RawMessage) (paths []string) {
	var list []struct{ Path string }
	if json.Unmarshal(raw, &list) == nil {
		for _, c := range list {
			if c.Path != "" {
				paths = append(paths, c.Path)
			}
		}
		return paths
	}
	var byPath map[string]json.RawMessage
	if json.Unmarshal(raw, &byPath) == nil {
		for p := range byPath {
			paths = append(paths, p)
		}
		slices.Sort(paths)
	}
	return paths
}

// patched are the files of a patch in the form of apply_patch, or a itself.
func patched(a Access, text string) []Access {
	var out []Access
	for line := range strings.SplitSeq(text, "\n") {
		for _, prefix := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "} {
			if p, ok := strings.CutPrefix(strings.TrimRight(line, "\r"), prefix); ok {
				out = append(out, Access{Tool: a.Tool, Path: p, Failed: a.Failed})
			}
		}
	}
	if len(out) == 0 {
		return []Access{a}
	}
	return out
}
