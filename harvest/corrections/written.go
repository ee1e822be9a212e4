package corrections

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// A Text is one that agents load: a skill, or standing instructions.
type Text struct {
	Concerns string // see harvest.Reading
	Path     string
	Sessions map[string]bool // that loaded it, by their ids; nil: all
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

// Written says how a rule stands: in which text it is, if in any, and whether it was
// corrected since that text changed last.
type Written struct {
	Path  string `json:"path,omitempty"` // "" is nowhere
	File  string `json:"file,omitempty"` // its name for people
	Line  string `json:"line,omitempty"`
	Since int    `json:"since,omitempty"` // sessions that corrected it although it was written
	// Project and Own name the files of which one could have a rule that is nowhere: that of
	// the only project that it was corrected in, and the person's own.
	Project string `json:"project,omitempty"`
	Own     string `json:"own,omitempty"`
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
			if t.Concerns != "standing" && t.Concerns != rule.Concerns || !t.loaded(rule) {
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

// loaded reports whether a session that corrected the rule loaded the text.
func (t *Text) loaded(rule *Rule) bool {
	return t.Sessions == nil || slices.ContainsFunc(rule.Quotes, func(q Quote) bool { return t.Sessions[q.Session] })
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
