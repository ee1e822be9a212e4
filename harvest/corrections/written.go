package corrections

import (
	"cmp"
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
		wordings := [][]string{content(cmp.Or(rule.Rule, rule.Said))}
		for _, q := range rule.Quotes { // one of a group may be written, as the general rule is not
			if q.rule != "" && q.rule != rule.Rule {
				wordings = append(wordings, content(q.rule))
			}
		}
		best := .6 // of a rule's words in one line
		for k, t := range texts {
			if t.Concerns != "standing" && t.Concerns != rule.Concerns {
				continue
			}
			for at, line := range t.Lines {
				share := 0.0
				for _, words := range wordings {
					n := 0
					for _, w := range words {
						if lines[k][at][w] {
							n++
						}
					}
					share = max(share, float64(n)/float64(max(1, len(words))))
				}
				if share > best {
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
