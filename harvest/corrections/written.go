package corrections

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// A Text is one that agents load: a skill, or standing instructions.
type Text struct {
	Concerns string // see harvest.Reading
	Path     string
	Modified time.Time
	Lines    []string
}

// maxText is how many bytes of a text are read.
const maxText = 1 << 20

// ReadText reads a text; nil if there is none.
func ReadText(concerns, path string) *Text {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	data, err := bounded.ReadFile(path, maxText)
	if err != nil {
		return nil
	}
	return &Text{Concerns: concerns, Path: path, Modified: info.ModTime(), Lines: strings.Split(string(data), "\n")}
}

// Instructions are the names of files with standing instructions in a project.
var Instructions = []string{"AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", filepath.Join(".github", "copilot-instructions.md")}

// Written says how a rule stands: in which text it is, if in any, and whether it was
// corrected since that text changed last.
type Written struct {
	Path  string `json:"path,omitempty"` // "" is nowhere
	Line  string `json:"line,omitempty"`
	Since int    `json:"since,omitempty"` // sessions that corrected it although it was written
}

// Standing finds out how the rules stand in texts.
func (r *Report) Standing(texts []Text) {
	lines := make([][]map[string]bool, len(texts)) // their words
	for i, t := range texts {
		for _, line := range t.Lines {
			has := map[string]bool{}
			for _, w := range content(line) {
				has[w] = true
			}
			lines[i] = append(lines[i], has)
		}
	}
	for i := range r.Rules {
		rule := &r.Rules[i]
		words := content(rule.Rule)
		if rule.Rule == "" {
			words = content(rule.Said)
		}
		if len(words) == 0 {
			continue
		}
		best := .6 // of a rule's words in one line
		for k, t := range texts {
			if t.Concerns != "standing" && t.Concerns != rule.Concerns {
				continue
			}
			for at, line := range t.Lines {
				n := 0
				for _, w := range words {
					if lines[k][at][w] {
						n++
					}
				}
				if share := float64(n) / float64(len(words)); share > best {
					best = share
					rule.Written = Written{Path: t.Path, Line: strings.TrimSpace(line), Since: since(rule.Quotes, t.Modified)}
				}
			}
		}
	}
}

// since counts the sessions with a quote after a time.
func since(quotes []Quote, at time.Time) int {
	of := map[string]bool{}
	for _, q := range quotes {
		if q.Time.After(at) && !q.Copied {
			of[q.Session] = true
		}
	}
	return len(of)
}
