package replay

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// bounds are what an attempt may read. All paths are absolute and clean.
type bounds struct {
	workspace string
	home      string   // of the child
	skill     string   // the name of the candidate
	allowed   []string // stage, workspace, program, system
	shared    []string // folders for temporary files that others use too
	forbidden []forbidden
}

// A forbidden folder, and its description in a verdict.
type forbidden struct{ path, what string }

// A finding is a verdict on one access.
type finding struct {
	verdict eval.Audit
	reason  string
	named   bool // tainted by a forbidden name, not by its place outside
}

var clean = finding{verdict: eval.Clean}

func tainted(format string, args ...any) finding {
	return finding{verdict: eval.Tainted, reason: fmt.Sprintf(format, args...)}
}

func unclear(format string, args ...any) finding {
	return finding{verdict: eval.Inconclusive, reason: fmt.Sprintf(format, args...)}
}

// or is the worse of two findings, f if they are equal.
func (f finding) or(g finding) finding {
	rank := map[eval.Audit]int{eval.Clean: 0, "": 0, eval.Inconclusive: 1, eval.Tainted: 2}
	if rank[g.verdict] > rank[f.verdict] {
		return g
	}
	return f
}

// boundsOf are the bounds of an attempt at t on this stage.
func (s *Stage) boundsOf(t eval.Task) bounds {
	b := bounds{workspace: s.Workspace, home: s.Home, skill: t.Variant.Name,
		shared: []string{"/tmp", "/var/tmp", "/private/tmp"}}
	if tmp, err := filepath.EvalSymlinks(os.TempDir()); err == nil {
		b.shared = append(b.shared, tmp)
	}
	b.allowed = append(b.allowed, systemDirs...)
	b.allowed = append(b.allowed, "/dev", "/proc", "/sys", "/opt", "/var/lib", "/var/cache")
	b.allowed = append(b.allowed, s.layout.Program.Readable...)
	b.allowed = append(b.allowed, s.Root, s.Workspace)
	if t.Prepared != nil {
		b.allowed = append(b.allowed, t.Prepared.Root)
	}
	if t.Workspace != "" {
		b.allowed = append(b.allowed, filepath.Clean(t.Workspace)) // as the agent may have been told
	}
	forbid := func(what string, paths ...string) {
		for _, p := range paths {
			if !filepath.IsAbs(p) || filepath.Clean(p) == "/" {
				continue
			}
			b.forbidden = append(b.forbidden, forbidden{filepath.Clean(p), what})
			if real, err := filepath.EvalSymlinks(p); err == nil && real != filepath.Clean(p) {
				b.forbidden = append(b.forbidden, forbidden{real, what})
			}
		}
	}
	forbid("another copy of the skill", t.Variant.Dir)
	for _, o := range t.Others {
		forbid("the original of an offered skill", o.Dir)
	}
	if t.Case != nil && t.Case.Workspace != nil {
		forbid("the recorded repository", t.Case.Workspace.Repo)
	}
	forbid("what evolve must hide", s.layout.Forbidden...)
	forbid("evolve's own data", os.Getenv("EVOLVE_HOME"))
	if data := os.Getenv("XDG_DATA_HOME"); data != "" {
		forbid("evolve's own data", filepath.Join(data, "evolve"))
	}
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "COPILOT_HOME"} {
		forbid("the owner's agent", os.Getenv(name))
	}
	if above := os.Getenv("GEMINI_CLI_HOME"); above != "" {
		forbid("the owner's agent", filepath.Join(above, ".gemini"))
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		for _, name := range []string{".claude", ".codex", ".pi", ".copilot", ".gemini", ".cursor", ".agents"} {
			forbid("the owner's agent", filepath.Join(home, name))
		}
		forbid("evolve's own data", filepath.Join(home, ".local", "share", "evolve"))
	}
	return b
}

// read judges the reading of one file or folder, an absolute path. deep means that
// everything below it is read.
func (b *bounds) read(p string, deep bool) finding {
	p = path.Clean(p)
	in, no := "", forbidden{}
	for _, a := range b.allowed {
		if within(p, a) && len(a) > len(in) {
			in = a
		}
	}
	for _, f := range b.forbidden {
		if within(p, f.path) && len(f.path) > len(no.path) {
			no = f
		}
	}
	switch {
	case len(no.path) > len(in):
		f := tainted("read %s: %s", p, no.what)
		f.named = true
		return f
	case in != "":
		return b.special(p, deep)
	}
	for _, dir := range b.shared {
		if !within(p, dir) {
			continue
		}
		if other := attemptIn(p[len(dir):]); other != "" {
			f := tainted("read %s: the place of another attempt", p)
			f.named = true
			return f
		}
		if p == dir {
			return unclear("looked at %s, where other attempts are", p)
		}
		return clean
	}
	if p == "/" && !deep {
		return clean // the names of the system's folders
	}
	return tainted("read %s: outside of the workspace", p)
}

// special judges paths in allowed folders that lead elsewhere.
func (b *bounds) special(p string, deep bool) finding {
	if rest, ok := strings.CutPrefix(p, "/proc"); ok {
		elem := strings.Split(strings.Trim(rest, "/"), "/")
		if deep || strings.Trim(elem[0], "0123456789") == "" && elem[0] != "" || len(elem) > 1 && (elem[1] == "root" || elem[1] == "cwd" || elem[1] == "fd") {
			return unclear("read %s: processes show what they read", p)
		}
	}
	return clean
}

// attemptIn is the element of a path that belongs to an attempt, "" for none.
func attemptIn(p string) string {
	for elem := range strings.SplitSeq(p, "/") {
		if strings.HasPrefix(elem, "evolve-replay-") || strings.HasPrefix(elem, "evolve-case-") {
			return elem
		}
	}
	return ""
}

// named finds forbidden paths anywhere in a text.
func (b *bounds) named(text string) finding {
	out := clean
	for _, f := range b.forbidden {
		for at := 0; ; {
			i := strings.Index(text[at:], f.path)
			if i < 0 {
				break
			}
			i += at
			end := i + len(f.path)
			for end < len(text) && strings.IndexByte(" \t\n\r\"'`;|&<>(){}*?[],\\", text[end]) < 0 {
				end++
			}
			if (i == 0 || !pathByte(text[i-1])) && within(path.Clean(text[i:end]), f.path) {
				out = out.or(b.read(text[i:end], false))
			}
			at = end
		}
	}
	return out
}

// pathByte reports whether c continues the element of a path.
func pathByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c == '/' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}
