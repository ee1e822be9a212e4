package shell

import (
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skill-evolve/evolve/mutate/script/acts"
)

// special variables change how the shell, or programs that it starts, work.
var special = sync.OnceValue(func() map[string]bool {
	return acts.Set("PATH IFS ENV BASH_ENV HOME SHELL SHELLOPTS BASHOPTS PS4 PS1 PROMPT_COMMAND CDPATH GLOBIGNORE POSIXLY_CORRECT TMPDIR OPTIND OPTERR",
		"TZ LANG LANGUAGE PWD OLDPWD USER LOGNAME UID EUID EDITOR VISUAL PAGER FPATH IGNOREEOF TIMEFORMAT HISTFILE EXECIGNORE RANDOM SECONDS REPLY LINENO FUNCNAME BASH_ARGV0 TMOUT PERL5OPT PERL5LIB RUBYOPT GREP_OPTIONS GREP_COLORS JQ_COLORS http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY")
})

var prefixes = []string{"LD_", "DYLD_", "GIT_", "BASH", "PYTHON", "NODE_", "NPM_", "npm_", "CLAUDE", "ANTHROPIC", "LC_", "SSH_", "XDG_", "JAVA_", "OPENAI", "AWS_", "COPROC", "READLINE"}

func (w *walk) isSpecial(name string) bool {
	if special()[name] || w.exported[name] {
		return true
	}
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

func (w *walk) variableName(name string, n syntax.Node, value string) {
	if w.isSpecial(name) {
		w.note("environment", name+"="+value, n, "It sets "+name+", which changes how the shell or its programs work.")
	}
}

func (w *walk) assign(a *syntax.Assign, c syntax.Node, p place) {
	if a.Value != nil {
		w.word(a.Value, p)
	}
	if a.Index != nil {
		w.arithm(a.Index, a, p)
	}
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				w.arithm(e.Index, a, p)
			}
			if e.Value != nil {
				w.word(e.Value, p)
				w.glob(e.Value)
			}
		}
	}
	if a.Name == nil {
		w.note("construct", printed(c), c, "It uses a construct that is not known.")
		return
	}
	name, form := a.Name.Value, w.form(a.Value, p.fn)
	if call, ok := c.(*syntax.CallExpr); !ok || len(call.Args) == 0 {
		w.overwrites(name, a.Value, a, p)
	}
	w.variableName(name, a, form)
	if call, ok := c.(*syntax.CallExpr); ok && len(call.Args) > 0 {
		w.note("environment", name+"="+form+" for "+w.form(call.Args[0], p.fn), a, "It sets "+name+" for a program.")
	}
	if p.fn == "" {
		full := a.Array != nil && len(a.Array.Elems) > 0 || a.Value != nil && len(a.Value.Parts) > 0 && form != "''"
		w.out.Filled[name] = w.out.Filled[name] || full
	}
}

// decl is local, readonly, declare, export and the like.
func (w *walk) decl(d *syntax.DeclClause, p place) {
	switch variant := d.Variant.Value; variant {
	case "local", "readonly", "declare", "typeset":
	default:
		w.note("environment", printed(d)+w.inside(d, p.fn), d, "It declares variables in a way in which its parent does not: "+variant+".")
	}
	for _, a := range d.Args {
		if a.Name != nil {
			w.assign(a, d, p)
			continue
		}
		if a.Value == nil {
			continue
		}
		if flag, ok := literal(a.Value); !ok || flag != "-r" && flag != "-a" && flag != "-A" {
			w.note("environment", printed(d)+w.inside(d, p.fn), d, "It declares variables in a way in which its parent does not.")
		}
	}
}
