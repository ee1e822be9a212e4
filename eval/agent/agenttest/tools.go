package agenttest

import (
	"regexp"
	"strings"
)

// A call is a tool call in the form of one agent's tools.
type call struct {
	name  string
	input map[string]any
	text  string // of a custom tool, instead of input
}

type object = map[string]any

// first is the first of the names that the request declares.
func (r *Request) first(names ...string) string {
	for _, n := range names {
		if r.Offers(n) {
			return n
		}
	}
	return ""
}

// call maps an op onto the tools that the request declares. If none is declared for it,
// the shell is used, and without a shell a tool named like the op, which the agent then
// refuses.
//
// "{workspace}/" in an op is the workspace as the request names it; if it names none,
// paths become relative.
func (r *Request) call(op Op) call {
	for _, s := range []*string{&op.Path, &op.Command, &op.Text} {
		*s = strings.ReplaceAll(*s, "{workspace}/", r.workspace())
	}
	c := r.tool(op)
	if r.custom[c.name] && c.text == "" {
		c.text, _ = c.input["input"].(string)
	}
	return c
}

func (r *Request) tool(op Op) call {
	switch op.Do {
	case "raw":
		return call{name: op.Name, input: op.Input}
	case "skill":
		if t := r.first("Skill", "skill"); t != "" {
			return call{name: t, input: object{"skill": op.Name}}
		}
		return r.tool(Read(r.skillPath(op.Name)))
	case "read":
		switch t := r.first("Read", "read", "view"); t {
		case "":
			return r.tool(Bash("cat " + quote(op.Path)))
		case "Read":
			return call{name: t, input: object{"file_path": op.Path}}
		default:
			return call{name: t, input: object{"path": op.Path}}
		}
	case "bash":
		return r.shell(op.Command)
	case "write":
		switch t := r.first("Write", "write", "create", "apply_patch"); t {
		case "":
			return r.tool(Bash("cat > " + quote(op.Path) + " <<'EOS'\n" + strings.TrimSuffix(op.Text, "\n") + "\nEOS"))
		case "Write":
			return call{name: t, input: object{"file_path": op.Path, "content": op.Text}}
		case "write":
			return call{name: t, input: object{"path": op.Path, "content": op.Text}}
		case "create":
			return call{name: t, input: object{"path": op.Path, "file_text": op.Text}}
		default:
			return call{name: t, input: object{"input": addFile(op.Path, op.Text)}}
		}
	case "edit":
		switch t := r.first("Edit", "edit", "apply_patch"); {
		case t == "":
			return r.tool(Bash("sed -i " + quote("s/"+op.Old+"/"+op.Text+"/") + " " + quote(op.Path)))
		case t == "Edit":
			return call{name: t, input: object{"file_path": op.Path, "old_string": op.Old, "new_string": op.Text}}
		case t == "apply_patch":
			return call{name: t, input: object{"input": "*** Begin Patch\n*** Update File: " + op.Path +
				"\n@@\n-" + op.Old + "\n+" + op.Text + "\n*** End Patch\n"}}
		case r.Offers("view"):
			return call{name: t, input: object{"path": op.Path, "old_str": op.Old, "new_str": op.Text}}
		default:
			return call{name: t, input: object{"path": op.Path,
				"edits": []object{{"oldText": op.Old, "newText": op.Text}}}}
		}
	}
	panic("agenttest: no such op: " + op.Do)
}

func (r *Request) shell(command string) call {
	switch t := r.first("Bash", "bash", "exec_command", "shell_command", "shell", "local_shell"); t {
	case "":
		return call{name: "bash", input: object{"command": command}}
	case "Bash", "bash":
		return call{name: t, input: object{"command": command, "description": "Run a command"}}
	case "exec_command":
		return call{name: t, input: object{"cmd": command}}
	case "shell_command":
		return call{name: t, input: object{"command": command}}
	default:
		return call{name: t, input: object{"command": []string{"bash", "-lc", command}}}
	}
}

// named replaces placeholders.
func (op Op) named(names map[string]string) Op {
	for name, value := range names {
		for _, s := range []*string{&op.Path, &op.Command, &op.Text} {
			*s = strings.ReplaceAll(*s, name, value)
		}
	}
	return op
}

// A case's folder, as the suite makes it, and the private one of a replay.
var (
	caseFolder    = regexp.MustCompile("/[^\\s\"'<>`\\\\]*/evolve-case-[0-9A-Za-z]+")
	privateFolder = regexp.MustCompile("/[^\\s\"'<>`\\\\]*/evolve-replay-[0-9A-Za-z]+")
)

// workspace is the working folder that the agent's prompt names, with a slash at the
// end; "" if there is none.
func (r *Request) workspace() string {
	if dir := caseFolder.FindString(r.Text); dir != "" {
		return dir + "/"
	}
	return ""
}

// skillPath finds the path of a skill's SKILL.md in the prompt.
func (r *Request) skillPath(name string) string {
	q := regexp.QuoteMeta(name)
	// Codex lists "(file: r0/…/NAME/SKILL.md)" and defines r0 elsewhere.
	if m := regexp.MustCompile(`\(file: (r\d+)/(\S*?` + q + `/SKILL\.md)\)`).FindStringSubmatch(r.Text); m != nil {
		if root := regexp.MustCompile("`" + m[1] + "` = `([^`]+)`").FindStringSubmatch(r.Text); root != nil {
			return root[1] + "/" + m[2]
		}
	}
	if m := regexp.MustCompile("(/[^\\s\"<>\\\\`)]*?" + q + `/SKILL\.md)`).FindStringSubmatch(r.Text); m != nil {
		return m[1]
	}
	return "skills/" + name + "/SKILL.md"
}

// addFile is a patch as Codex's apply_patch reads it.
func addFile(path, content string) string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n*** Add File: " + path + "\n")
	for line := range strings.Lines(content) {
		b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
	}
	b.WriteString("*** End Patch\n")
	return b.String()
}

// quote makes s one word of a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
