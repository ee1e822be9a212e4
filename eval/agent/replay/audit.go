package replay

import (
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/shell"
)

// Audit says whether an attempt can have read what it must not, by what its
// trace shows. held says that a sandbox held the attempt. The reason is one
// sentence, empty unless the verdict is eval.Tainted: Attempt.Audit and Tainted.
//
// A path is forbidden if it is in another copy of the skill, evolve's own data, the
// recorded repository or another attempt. Tainted is a tool's access outside of
// workspace, stage and the system's folders, and a command that names a forbidden path.
// Every other command is Inconclusive, because a command line does not show what its
// programs read. So is anything that was fetched, and an unknown tool. A file that a
// failed call named was not read; a failed command line may have read before it failed.
//
// In a sandbox an attempt is clean, unless a tool call named a forbidden path and
// succeeded: then the sandbox has a hole.
func (s *Stage) Audit(held bool, accesses ...Access) (verdict eval.Audit, reason string) {
	if verdict, reason = s.bounds.audit(held, accesses); verdict != eval.Tainted {
		reason = ""
	}
	return verdict, reason
}

func (b *bounds) audit(held bool, accesses []Access) (eval.Audit, string) {
	out := clean
	for i := range accesses {
		a := &accesses[i]
		f := b.access(a)
		if held && (!f.named || a.Path == "" || a.Failed) {
			continue
		}
		out = out.or(f)
	}
	return out.verdict, out.reason
}

// idle are tools that access nothing but the agent itself, in lower case.
var idle = []string{"todowrite", "todoread", "update_plan", "skill", "report_intent", "exitplanmode", "enterplanmode", "think",
	"ask_user", "askuserquestion", "structuredoutput", "update_todo", "killshell", "kill_shell", "bashoutput", "taskoutput", "stop_bash",
	"read_bash", "list_bash", "toolsearch", "taskcreate", "taskupdate", "tasklist", "taskget", "slashcommand", "reasoning"}

// access judges one tool call.
func (b *bounds) access(a *Access) finding {
	cwd := b.workspace
	if a.Dir != "" {
		if cwd = a.Dir; !path.IsAbs(cwd) {
			cwd = path.Join(b.workspace, cwd)
		}
	}
	out := clean
	known := false
	if a.Dir != "" {
		out = out.or(b.read(cwd, false))
	}
	if a.Path != "" {
		known = true
		if !a.Failed {
			out = out.or(b.path(a, cwd))
		}
	}
	if a.Command != "" {
		known = true
		out = out.or(b.command(a.Command, cwd))
	}
	if a.URL != "" {
		known = true
		if !a.Failed {
			out = out.or(b.fetched(a.URL)).or(unclear("went to the network (%s)", a.Tool))
		}
	}
	if !known && !slices.Contains(idle, strings.ToLower(a.Tool)) {
		out = out.or(b.named(a.Text)).or(unclear("called %s, and the trace does not show what that reaches", a.Tool))
	}
	return out
}

// path judges the file or pattern that a tool named.
func (b *bounds) path(a *Access, cwd string) finding {
	p, isFile := strings.CutPrefix(strings.TrimPrefix(a.Path, "@"), "file://")
	switch {
	case p == "" || p == "-" || strings.Contains(p, "\n") || !isFile && strings.Contains(p, "://"):
		return clean
	case strings.HasPrefix(p, "~") && p != "~" && !strings.HasPrefix(p, "~/"):
		return tainted("read %s: another user's home", p)
	}
	glob := -1
	if a.Glob {
		glob = strings.IndexAny(p, "*?[{")
	}
	switch {
	case glob < 0:
		return b.read(b.absolute(p, cwd), a.Deep)
	case strings.Contains(p[glob:], ".."):
		return unclear("used a path that was computed: %s", p)
	}
	return b.read(b.absolute(p[:strings.LastIndexByte(p[:glob], '/')+1], cwd), true)
}

// absolute is a path as a shell in cwd reads it.
func (b *bounds) absolute(p, cwd string) string {
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		return b.home + p[1:]
	case path.IsAbs(p):
		return p
	}
	return cwd + "/" + p
}

// command judges a command line that runs in cwd: Tainted if it names a forbidden
// path or an address of the skill, else Inconclusive.
func (b *bounds) command(line, cwd string) finding {
	out := b.named(line)
	commands, _ := shell.Commands(line) // what cannot be parsed is inconclusive like every command
	for i := range commands {
		c := &commands[i]
		words := slices.Concat(c.Assigns, c.Words)
		for _, r := range c.Redirects {
			words = append(words, r.Word)
		}
		for _, w := range words {
			out = out.or(b.fetched(w.Text))
			if !w.Whole { // /forbidden$X may be another folder
				w.Text = w.Text[:strings.LastIndexByte(w.Text, '/')+1]
			}
			_, value, _ := strings.Cut(w.Text, "=")
			for _, p := range []string{w.Text, value} {
				if p == "" || !path.IsAbs(p) && !strings.HasPrefix(p, "~") && !c.Dir.Whole {
					continue
				}
				if f := b.read(b.absolute(p, b.absolute(c.Dir.Text, cwd)), false); f.named {
					out = out.or(f)
				}
			}
		}
	}
	return out.or(unclear("ran a command without a sandbox"))
}

// fetched judges an address: one that names the skill may be a copy of it.
func (b *bounds) fetched(url string) finding {
	if i := strings.Index(url, "://"); i < 0 || b.skill == "" {
		return clean
	}
	if strings.Contains(url, "SKILL.md") || slices.Contains(strings.FieldsFunc(url, func(r rune) bool { return r == '/' || r == '?' || r == '=' || r == '&' }), b.skill) {
		return tainted("fetched %.120s: may be another copy of the skill", url)
	}
	return clean
}
