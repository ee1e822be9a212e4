package replay

import (
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// Audit says whether an attempt can have read what it must not, by what its
// trace shows. held says that a sandbox held the attempt: what could not be
// reached then need not be told. The reason is one sentence, empty for Clean; it
// is what belongs into Attempt.Tainted where the verdict is eval.Tainted. Call
// it after Env, so that the child's variables are known.
//
// Tainted is an access outside of workspace, stage and the system's folders,
// and any that names another copy of the skill, evolve's own data, the recorded
// repository or another attempt. Inconclusive is one that the trace does not
// show: a script that ran, a path that was computed, something that was fetched.
// What a failed call named was not read; a failed command line may have read
// before it failed.
//
// In a sandbox an attempt is clean, unless a call of a tool named another copy,
// evolve's data, the repository or another attempt, and succeeded: then the
// sandbox has a hole.
func (s *Stage) Audit(held bool, accesses ...Access) (verdict eval.Audit, reason string) {
	b := s.bounds
	b.env = map[string]string{}
	for _, kv := range s.env {
		name, v, _ := strings.Cut(kv, "=")
		b.env[name] = v
	}
	return b.audit(held, accesses)
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

// idle are tools that reach nothing but the agent itself, in lower case.
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
			sh := &shell{b: b, cwd: cwd, found: clean}
			v := value{sh.tilde(strings.TrimPrefix(a.Path, "@")), -1}
			if a.Glob {
				v.glob = strings.IndexAny(v.text, "*?[{")
			}
			out = out.or(sh.path(v, true, a.Deep))
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
