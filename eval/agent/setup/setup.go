// Package setup collects what an agent loads of its owner beside the subject: instructions,
// rules, and the notes that it keeps for itself. Replays get copies, so that a text is tried
// in the world that its owner has. Only text is collected: nothing that runs, no hooks, no
// servers, no plugins, and no settings.
package setup

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// A File is a text of the owner's.
type File struct {
	Path string // slash-separated, below the home
	Text []byte
}

// A Set is what one agent loads of its owner. It does not change once it is collected, so
// that all attempts of a run get the same.
type Set struct {
	Files []File // sorted by path
	// Notes are those that the agent keeps of each project, by the name that it gives to
	// the project's folder; their paths are below the notes' folder. nil: it keeps none.
	Notes map[string][]File
	// Without is what a replay lacks though it loads at its owner's, in words: "2 MCP
	// servers (github, linear)".
	Without []string
	// May reports whether the notes of a project may go along; nil: those of every project.
	May func(project string) bool
	// folders are where the sessions beside a project's notes worked, by the same name.
	folders map[string][]string
	hash    string // of the set that this one is a part of; "" for a whole one
}

// Where says where an agent's files are.
type Where struct {
	Home   string // the person's
	Config string // the agent's own folder; "" for the one that Getenv or else Home tells
	Getenv func(string) string
}

// Collect reads what the named agent loads today. It is nil for an agent of which nothing is
// known. A file that cannot be taken is named in Without, and is no error.
func Collect(agent string, w Where) (*Set, error) {
	p, ok := programs[agent]
	if !ok {
		return nil, nil
	}
	w.Config = cmp.Or(w.Config, w.Getenv(p.env), filepath.Join(w.Home, filepath.FromSlash(p.folder)))
	c := &collector{program: p, where: w, set: &Set{}, seen: map[string]bool{}}
	var err error
	if c.home, err = filepath.EvalSymlinks(w.Home); err != nil {
		return nil, fmt.Errorf("read the set-up of %s: %w", agent, err)
	}
	if c.config, err = filepath.EvalSymlinks(w.Config); err != nil {
		return c.set, nil // the owner does not have this agent
	}
	for _, names := range p.files {
		for _, name := range names {
			if c.file(name) {
				break
			}
		}
	}
	for _, t := range p.trees {
		c.tree(t.folder, t.suffix)
	}
	p.rest(c)
	c.finish()
	return c.set, nil
}

// A program is where one agent looks for texts of its owner, as its real program showed:
// see the test of each backend.
type program struct {
	folder  string     // its configuration, below the home
	env     string     // the variable that names another folder
	files   [][]string // in folder; of each list the first that is not empty loads
	trees   []tree     // in folder, at any depth
	imports bool       // "@path" in a text loads another one
	// rest collects notes, and what a replay lacks.
	rest func(*collector)
}

// A tree is a folder whose texts all load.
type tree struct{ folder, suffix string }

var programs = map[string]program{
	"claude": {folder: ".claude", env: "CLAUDE_CONFIG_DIR", files: [][]string{{"CLAUDE.md"}}, trees: []tree{{"rules", ".md"}},
		imports: true, rest: claude},
	"codex": {folder: ".codex", env: "CODEX_HOME", files: [][]string{{"AGENTS.override.md", "AGENTS.md"}}, rest: codex},
	"pi": {folder: ".pi/agent", env: "PI_CODING_AGENT_DIR", files: [][]string{{"AGENTS.override.md", "AGENTS.md", "AGENTS.MD",
		"CLAUDE.md", "CLAUDE.MD"}, {"SYSTEM.md"}, {"APPEND_SYSTEM.md"}}, rest: pi},
	"copilot": {folder: ".copilot", env: "COPILOT_HOME", files: [][]string{{"copilot-instructions.md"}},
		trees: []tree{{"instructions", ".instructions.md"}}, rest: copilot},
}

// Knows reports whether it is known what the named agent loads.
func Knows(agent string) bool {
	_, ok := programs[agent]
	return ok
}

// Hash identifies all that a replay gets.
func (s *Set) Hash() string {
	if s.hash != "" {
		return s.hash
	}
	text, err := json.Marshal([]any{s.Files, s.Notes})
	if err != nil {
		panic(err) // texts and names always can be
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Write writes the files below a home.
func (s *Set) Write(home string) error {
	return write(home, s.Files)
}

// Sent reports whether a replay gets anything of the set.
func (s *Set) Sent() bool { return s != nil && len(s.Files)+len(s.Notes) > 0 }

// NotesOf are the notes that the agent keeps of a project, by its folder. There are none if
// they may not go along, or may be those of another folder.
func (s *Set) NotesOf(project string) []File {
	if s.held(project) != "" {
		return nil
	}
	return s.Notes[flat(project)]
}

// held is why the notes of a project do not go along, "" if they do, or there are none.
func (s *Set) held(project string) string {
	if len(s.Notes[flat(project)]) == 0 {
		return ""
	}
	if s.May != nil && !s.May(project) {
		return "their text may not be sent, see `evolve privacy`"
	}
	for _, dir := range append(twins("/", "-", flat(project)), s.folders[flat(project)]...) {
		if Alike(dir, project) {
			return "they may be those of another folder"
		}
	}
	return ""
}

// Held names the notes that replays in these projects lack: "the agent's notes of shop (they
// may be those of another folder)".
func (s *Set) Held(projects []string) (lines []string) {
	if s == nil {
		return nil
	}
	of := map[string][]string{}
	for _, project := range slices.Compact(slices.Sorted(slices.Values(projects))) {
		if why := s.held(project); why != "" {
			of[why] = append(of[why], plain.Line(filepath.Base(project)))
		}
	}
	for _, why := range slices.Sorted(maps.Keys(of)) {
		names := of[why]
		shown := strings.Join(names[:min(len(names), maxNamed)], ", ")
		if more := len(names) - maxNamed; more > 0 {
			shown += fmt.Sprintf(" and %d more projects", more)
		}
		lines = append(lines, fmt.Sprintf("the agent's notes of %s (%s)", shown, why))
	}
	return lines
}

// WriteNotes writes the notes of a project into dir, which is made.
func (s *Set) WriteNotes(dir, project string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write the owner's set-up: %w", err)
	}
	return write(dir, s.NotesOf(project))
}

func write(dir string, files []File) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("write the owner's set-up: %w", err)
	}
	defer root.Close()
	for _, f := range files {
		if err := root.MkdirAll(path.Dir(f.Path), 0o700); err != nil {
			return fmt.Errorf("write the owner's set-up: %w", err)
		}
		if err := root.WriteFile(f.Path, f.Text, 0o600); err != nil {
			return fmt.Errorf("write the owner's set-up: %w", err)
		}
	}
	return nil
}

// Tokens estimates what the set adds to every request of an attempt. Notes count as the
// largest project's index, of which this much loads.
func (s *Set) Tokens() int {
	if s == nil {
		return 0
	}
	n, notes := 0, 0
	for _, f := range s.Files {
		n += skill.Tokens(string(f.Text))
	}
	for _, files := range s.Notes {
		for _, f := range files {
			if f.Path == notesIndex {
				notes = max(notes, skill.Tokens(string(f.Text[:min(len(f.Text), notesLoaded)])))
			}
		}
	}
	return n + notes
}

// lack notes names of one kind: "2 hooks (Stop, PreToolUse)".
func (c *collector) lack(one string, names []string) {
	if len(names) == 0 {
		return
	}
	for i := range names {
		names[i] = plain.Line(names[i])
	}
	slices.Sort(names)
	names = slices.Compact(names)
	shown := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if len(names) > maxNamed {
		shown += ", …"
	}
	c.set.Without = append(c.set.Without, plain.Counted(len(names), one)+" ("+shown+")")
}

// maxNamed is how many names of one kind are listed.
const maxNamed = 5
