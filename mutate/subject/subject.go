// Package subject names what evolve works on: a skill, a file of standing instructions, or
// a hook.
package subject

import (
	"errors"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
)

// A Kind is a kind of subject.
type Kind string

const (
	Skill Kind = "skill"
	File  Kind = "file" // standing instructions, such as AGENTS.md
	Hook  Kind = "hook"
)

// A Ref names a subject. ID is a skill's name. Of a file, and of the script of a hook, it is
// its repository and its path below it with ":" between, or "~" and its path below the
// person's home: "/src/shop:docs/AGENTS.md", "~:.claude/hooks/no-reset.py".
type Ref struct {
	Kind Kind
	ID   string
}

// Parse reads a key. Any text without a known prefix is the name of a skill, because rows
// from before there were other subjects hold nothing else; names of plugins' skills have
// colons too.
func Parse(key string) Ref {
	for _, k := range []Kind{File, Hook} {
		if id, ok := strings.CutPrefix(key, string(k)+":"); ok {
			return Ref{k, id}
		}
	}
	return Ref{Skill, key}
}

// Key is r as the store and the files of cases name it: a skill by its name alone.
func (r Ref) Key() string {
	if r.Kind == Skill {
		return r.ID
	}
	return string(r.Kind) + ":" + r.ID
}

// MarshalText is r as "skill:NAME", "file:ROOT:PATH" or "hook:ROOT:PATH", for programs.
func (r Ref) MarshalText() ([]byte, error) { return []byte(string(r.Kind) + ":" + r.ID), nil }

// UnmarshalText reads what MarshalText writes.
func (r *Ref) UnmarshalText(text []byte) error {
	kind, id, ok := strings.Cut(string(text), ":")
	if !ok {
		return errors.New("a subject without a kind")
	}
	*r = Ref{Kind(kind), id}
	return nil
}

// OfFile is the file at path, slash-separated, below root: a repository, or "~" for the
// person's home.
func OfFile(root, path string) Ref { return Ref{File, root + ":" + path} }

// OfHook is the hook whose script is at path below root, as OfFile.
func OfHook(root, path string) Ref { return Ref{Hook, root + ":" + path} }

// IsFile reports whether r is one file at a place of its own, and no skill in a folder of
// skills.
func (r Ref) IsFile() bool { return r.Kind != Skill }

// Place is where a file or a hook's script is; "" and "" for a skill.
func (r Ref) Place() (root, path string) {
	if !r.IsFile() {
		return "", ""
	}
	i := strings.LastIndexByte(r.ID, ':') // a repository's folder may have a colon
	if i < 0 {
		return "", r.ID
	}
	return r.ID[:i], r.ID[i+1:]
}

// Text is r for people: of a file with the name of its repository before it.
func (r Ref) Text() string {
	root, path := r.Place()
	switch {
	case !r.IsFile():
		return r.ID
	case root == "~":
		return "~/" + path
	}
	return root[strings.LastIndexAny(root, `/\\`)+1:] + "/" + path
}

// Path is r for people, of a file its whole path.
func (r Ref) Path() string {
	if root, path := r.Place(); root != "" {
		return root + "/" + path
	}
	return r.ID
}

// Typed is r as it is typed in a command.
func (r Ref) Typed() string {
	if root, path := r.Place(); root == "~" {
		return "~/" + plain.Arg(path)
	}
	return plain.Arg(r.Path())
}

// Cut divides what somebody typed into a subject and what is behind its @, the name of a
// version or candidate. A path may have an @ of its own.
func Cut(typed string) (key, at string) {
	i := strings.IndexByte(typed, '@')
	if strings.ContainsAny(typed, "/\\") || Parse(typed).Kind != Skill || strings.HasSuffix(typed, ".md") {
		if i = strings.LastIndexByte(typed, '@'); i >= 0 && strings.ContainsAny(typed[i:], "/\\.:") {
			i = -1
		}
	}
	if i < 0 {
		return typed, ""
	}
	return typed[:i], typed[i+1:]
}

// Readable is text for people in which keys of files became their paths, which may be typed
// in the place of keys. In a command, between backticks, what a shell would obey is quoted, and
// --skill before a hook is --hook.
func Readable(text string) string {
	var b strings.Builder
	for at := 0; ; {
		i, mark := -1, ""
		for _, k := range []Kind{File, Hook} {
			if n := strings.Index(text[at:], string(k)+":"); n >= 0 && (i < 0 || n < i) {
				i, mark = n, string(k)+":"
			}
		}
		if i < 0 {
			return b.String() + text[at:]
		}
		i += at
		root := text[i+len(mark):]
		stops, command := ":`'\" \t\n", strings.Count(text[strings.LastIndexByte(text[:i], '\n')+1:i], "`")%2 == 1
		if command {
			stops = ":`\n"
		}
		n := strings.IndexAny(root, stops)
		b.WriteString(text[at:i])
		if n <= 0 || n+1 >= len(root) || root[n] != ':' || root[0] != '/' && root[:n] != "~" || strings.ContainsRune(" \t\n", rune(root[n+1])) ||
			i > 0 && (text[i-1] == '/' || text[i-1]|0x20 >= 'a' && text[i-1]|0x20 <= 'z') {
			b.WriteString(mark)
			at = i + len(mark)
			continue
		}
		if flag := "--skill "; mark != string(File)+":" && strings.HasSuffix(b.String(), flag) {
			said := strings.TrimSuffix(b.String(), flag) + "--hook "
			b.Reset()
			b.WriteString(said)
		}
		place, rest := root[:n]+"/", root[n+1:]
		at = i + len(mark) + n + 1
		if end := strings.IndexAny(rest, "` \n"); command && end > 0 {
			at += end
			if place += rest[:end]; root[:n] == "~" {
				place = "~/" + plain.Arg(rest[:end])
			} else {
				place = plain.Arg(place)
			}
		}
		b.WriteString(place)
	}
}
