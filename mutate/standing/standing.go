// Package standing knows files of standing instructions: which agent loads which, when, and
// what they import.
package standing

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// When is when an agent loads a file.
type When uint8

const (
	Never When = iota
	Touch      // once it works on a file in the same folder, or on one that the file names
	Start      // in every session
)

// A Row is one fact about an agent.
type Row struct {
	Agent string // as sessions name it
	// File is what it loads: "~/…" below the person's home, else below a folder. "**" is any
	// path below the folder before it.
	File string
	// Above is how far above a session's folder it looks: "repository" or "everywhere"; ""
	// is not even there.
	Above string
	// Below: it looks in folders below the session's too, once it works there.
	Below bool
	// Paths is the key of the frontmatter that limits the file to some paths; "" for none.
	Paths string
	// After are files beside it, or if Alone anywhere, that are loaded in its place.
	After []string
	Alone bool
	// Seen is the version of the program with which testdata/heard.json was recorded; "": it
	// is from its documentation, and no test has confirmed it.
	Seen string
}

const (
	repository = "repository"
	everywhere = "everywhere"

	claudeSeen, codexSeen, piSeen, copilotSeen = "2.1.329", "0.169.0", "0.87.1", "1.0.102"
)

// Table has a row for each fact.
var Table = []Row{
	{Agent: "claude-code", File: "~/.claude/CLAUDE.md", Seen: claudeSeen},
	{Agent: "claude-code", File: "~/.claude/rules/**.md", Paths: "paths", Seen: claudeSeen},
	{Agent: "claude-code", File: "CLAUDE.md", Above: everywhere, Below: true, Seen: claudeSeen},
	{Agent: "claude-code", File: "CLAUDE.local.md", Above: everywhere, Below: true, Seen: claudeSeen},
	{Agent: "claude-code", File: ".claude/CLAUDE.md", Above: everywhere, Below: true, Seen: claudeSeen},
	{Agent: "claude-code", File: ".claude/rules/**.md", Above: everywhere, Below: true, Paths: "paths", Seen: claudeSeen},
	{Agent: "claude-code", File: "AGENTS.md", Above: everywhere, Alone: true, After: []string{"CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"}, Seen: claudeSeen},

	{Agent: "codex", File: "~/.codex/AGENTS.override.md", Seen: codexSeen},
	{Agent: "codex", File: "~/.codex/AGENTS.md", After: []string{"~/.codex/AGENTS.override.md"}, Seen: codexSeen},
	{Agent: "codex", File: "AGENTS.override.md", Above: repository, Seen: codexSeen},
	{Agent: "codex", File: "AGENTS.md", Above: repository, After: []string{"AGENTS.override.md"}, Seen: codexSeen},

	{Agent: "pi", File: "~/.pi/agent/AGENTS.md", Seen: piSeen},
	{Agent: "pi", File: "~/.pi/agent/CLAUDE.md", After: []string{"~/.pi/agent/AGENTS.md"}, Seen: piSeen},
	{Agent: "pi", File: "AGENTS.override.md", Above: everywhere, Seen: piSeen},
	{Agent: "pi", File: "AGENTS.md", Above: everywhere, After: []string{"AGENTS.override.md"}, Seen: piSeen},
	{Agent: "pi", File: "CLAUDE.md", Above: everywhere, After: []string{"AGENTS.override.md", "AGENTS.md"}, Seen: piSeen},

	{Agent: "copilot-cli", File: "~/.copilot/copilot-instructions.md", Seen: copilotSeen},
	{Agent: "copilot-cli", File: "~/.copilot/instructions/**.instructions.md", Paths: "applyTo", Seen: copilotSeen},
	{Agent: "copilot-cli", File: "AGENTS.md", Above: repository, Below: true, Seen: copilotSeen},
	{Agent: "copilot-cli", File: "CLAUDE.md", Above: repository, Below: true, Seen: copilotSeen},
	{Agent: "copilot-cli", File: ".claude/CLAUDE.md", Below: true, Seen: copilotSeen},
	{Agent: "copilot-cli", File: "GEMINI.md", Above: repository, Below: true, Seen: copilotSeen},
	{Agent: "copilot-cli", File: ".claude/rules/**.md", Above: repository, Below: true, Paths: "paths", Seen: copilotSeen},
	{Agent: "copilot-cli", File: ".github/copilot-instructions.md", Above: repository, Below: true, Seen: copilotSeen},
	{Agent: "copilot-cli", File: ".github/instructions/**.instructions.md", Above: repository, Below: true, Paths: "applyTo", Seen: copilotSeen},

	{Agent: "gemini", File: "~/.gemini/GEMINI.md"},
	{Agent: "gemini", File: "GEMINI.md", Above: repository, Below: true},
	{Agent: "cursor", File: "AGENTS.md", Above: repository, Below: true},
}

// How agents follow imports.
type following struct {
	hops     int  // from a file that is loaded by itself
	comments bool // those in comments too
	trims    bool // punctuation behind a path
}

// imports is of agents that follow imports.
var imports = map[string]following{
	"claude-code": {hops: 4},
	"copilot-cli": {hops: 32, comments: true, trims: true}, // 7 and a cycle were tried
}

// Agents lists those that load any file of instructions.
func Agents() (names []string) {
	for _, r := range Table {
		if !slices.Contains(names, r.Agent) {
			names = append(names, r.Agent)
		}
	}
	return names
}

// A Loader tells which files of instructions agents load, by the table and the files that
// are there when it is first asked about one. It is safe for concurrent use.
type Loader struct {
	Layout *skill.Layout

	mu    sync.Mutex
	known map[question]When
}

type question struct {
	agent, folder string
	file          subject.Ref
}

// Loads reports whether sessions of an agent in a folder load a file: at once, or once they
// work on what it is about. Versions that the table does not know are taken to be as the
// one that it knows.
func (l *Loader) Loads(agent, version string, file subject.Ref, folder string) bool {
	return l.When(agent, version, file, folder) != Never
}

// When is when sessions of an agent in a folder load a file.
func (l *Loader) When(agent, _ string, file subject.Ref, folder string) When {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := question{agent, folder, file}
	when, ok := l.known[q]
	if !ok {
		when = l.when(agent, file, folder)
		if l.known == nil {
			l.known = map[question]When{}
		}
		l.known[q] = when
	}
	return when
}

func (l *Loader) when(agent string, file subject.Ref, folder string) When {
	path, err := l.Layout.FilePath(file.Key())
	if err != nil {
		return Never
	}
	s := l.session(agent, folder)
	when := max(s.directly(path), s.linked(path))
	if f := imports[agent]; f.hops > 0 && when != Start {
		s.atStart(func(from string) bool {
			if l.reaches(from, path, f) {
				when = Start
			}
			return when != Start
		})
	}
	return when
}

// LoadedBy lists the agents that load a file: one in the person's home in a session in some
// folder below it, any other in a session in its own folder or one between that and its
// repository's.
func (l *Loader) LoadedBy(file subject.Ref) (agents []string) {
	root, below := file.Place()
	folders := []string{root}
	if root == "~" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil
		}
		folders[0] = filepath.Join(home, "some", "folder")
	} else {
		dir := filepath.Join(root, filepath.FromSlash(below))
		for range strings.Count(below, "/") {
			dir = filepath.Dir(dir)
			folders = append(folders, dir)
		}
	}
	for _, a := range Agents() {
		if slices.ContainsFunc(folders, func(dir string) bool { return l.Loads(a, "", file, dir) }) {
			agents = append(agents, a)
		}
	}
	return agents
}

// A session is one of an agent in a folder.
type session struct {
	*Loader
	agent  string
	folder string
	root   string // of its repository; the folder itself if there is none
}

func (l *Loader) session(agent, folder string) *session {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	s := &session{l, agent, folder, folder}
	if root := skill.Repository(folder); root != "" {
		s.root = skill.MainTree(root) // its files are named by the main working tree
		s.folder = filepath.Join(s.root, strings.TrimPrefix(folder, root))
	}
	return s
}

// parents yields dir and the folders above it.
func parents(dir string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for yield(dir) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
		}
	}
}

// directly is when the session loads a file that nothing imports.
func (s *session) directly(path string) (when When) {
	real := path
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		real = filepath.Join(dir, filepath.Base(path))
	}
	for _, r := range Table {
		if r.Agent != s.agent {
			continue
		}
		dir, ok := s.folderOf(&r, path, real)
		if !ok || s.replaced(&r, dir) {
			continue
		}
		now := Start
		switch {
		case dir == "~":
		case above(dir, s.folder):
			if r.Above == "" || r.Above == repository && !above(s.root, dir) {
				now = Never
			}
		case r.Below && above(s.folder, dir):
			now = Touch
		default:
			now = Never
		}
		if now == Start && r.Paths != "" && limited(path, r.Paths) {
			now = Touch
		}
		when = max(when, now)
	}
	return when
}

// linked is when the session loads a file by a link of another name, beside it or above.
func (s *session) linked(path string) (when When) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Never
	}
	for _, r := range Table {
		if r.Agent != s.agent || strings.HasPrefix(r.File, "~/") || strings.Contains(r.File, "**") {
			continue
		}
		for dir := range parents(filepath.Dir(real)) {
			link := s.path(r.File, dir)
			if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
				continue
			}
			if to, err := filepath.EvalSymlinks(link); err == nil && to == real {
				when = max(when, s.directly(link))
			}
		}
	}
	return when
}

// above reports whether dir is folder or above it.
func above(dir, folder string) bool {
	return dir == folder || strings.HasPrefix(folder, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// folderOf is the folder in which path is what a row loads, "~" for the person's home.
func (s *session) folderOf(r *Row, path, real string) (dir string, ok bool) {
	if strings.HasPrefix(r.File, "~/") {
		at := s.path(r.File, "")
		before, after, any := strings.Cut(at, "**")
		return "~", path == at || any && strings.HasPrefix(path, before) && strings.HasSuffix(path, after)
	}
	slashed := filepath.ToSlash(real)
	if before, after, any := strings.Cut(r.File, "**"); any {
		i := strings.LastIndex(slashed, "/"+before)
		return filepath.FromSlash(slashed[:max(i, 0)]), i >= 0 && strings.HasSuffix(slashed, after)
	}
	above, ok := strings.CutSuffix(slashed, "/"+r.File)
	return filepath.FromSlash(above), ok
}

// path is a file of the table in a folder.
func (s *session) path(file, dir string) string {
	below, ok := strings.CutPrefix(file, "~/")
	if !ok {
		return filepath.Join(dir, filepath.FromSlash(file))
	}
	path, err := s.Layout.FilePath(subject.OfFile("~", below).Key())
	if err != nil {
		return ""
	}
	return path
}

// replaced reports whether another file is loaded in the place of a row's.
func (s *session) replaced(r *Row, dir string) bool {
	for _, other := range r.After {
		if !r.Alone {
			if exists(s.path(other, dir)) {
				return true
			}
			continue
		}
		for up := range parents(s.folder) {
			if exists(s.path(other, up)) {
				return true
			}
		}
	}
	return false
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// limited reports whether a file's frontmatter limits it to some paths. Those that match
// everything are no limit.
func limited(path, key string) bool {
	doc, err := read(path)
	if err != nil {
		return false
	}
	n := doc.Value(key)
	return n != nil && n.Value != "**" && n.Value != "**/*" && n.Tag != "!!null"
}

func read(path string) (*skill.Document, error) {
	text, err := skill.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return skill.Parse(text, skill.Options{Instructions: true})
}

// maxRules bounds the files that are looked for below one folder of rules.
const maxRules = 1000

// atStart yields the files that a session loads at once and that nothing imports.
func (s *session) atStart(yield func(path string) bool) {
	s.each(func(path string, when When) bool { return when != Start || yield(path) })
}

// each yields the files in the session's folder, above it and in the person's home that it
// loads and that nothing imports.
func (s *session) each(yield func(path string, when When) bool) {
	for _, r := range Table {
		if r.Agent != s.agent {
			continue
		}
		dirs := func(yield func(string) bool) { parents(s.folder)(yield) }
		if strings.HasPrefix(r.File, "~/") {
			dirs = func(yield func(string) bool) { yield("") }
		}
		for dir := range dirs {
			for _, path := range found(s.path(r.File, dir)) {
				if when := s.directly(path); when != Never && !yield(path, when) {
					return
				}
			}
		}
	}
}

// found lists the files that a path with "**" stands for.
func found(path string) (files []string) {
	before, after, any := strings.Cut(path, "**")
	if !any {
		if exists(path) {
			files = append(files, path)
		}
		return files
	}
	_ = filepath.WalkDir(filepath.Clean(before), func(p string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.HasSuffix(p, after) {
			files = append(files, p)
		}
		if len(files) == maxRules {
			return filepath.SkipAll
		}
		return nil
	})
	return files
}
