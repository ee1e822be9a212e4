package work

import (
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/check"
)

// Done is what is recorded of an agent's work in some turns, for checks.
type Done struct {
	Work  check.Work // Cut: not every command line is known
	Edits bool       // every edit is known, too
}

// Of makes a Done of the acts of some turns, in order. The session's folder is the workspace
// of its cases: what was changed elsewhere in the repository is in no workspace, and what
// the agent remembers is no file of the project. A command that may have changed files
// leaves Edits false, because no act tells which. Added lines of a file that was written
// whole may have been in it before.
func Of(level Level, acts []Act) Done {
	d := Done{Edits: level == All}
	files := map[string]*sum{}
	for _, a := range acts {
		switch {
		case a.Kind == Ran:
			d.Work.Steps = append(d.Work.Steps, check.Step{Line: a.Line, Failed: a.Exit != nil && *a.Exit != 0})
			d.Work.Cut = d.Work.Cut || a.Cut
			d.Edits = d.Edits && !a.Cut && !check.MayEdit(a.Line)
		case a.Kind != Changed || strings.HasPrefix(a.File, Memory):
		case strings.HasPrefix(a.File, "../"):
			d.Edits = false
		default:
			name := path.Clean(a.File)
			d.Work.Steps = append(d.Work.Steps, check.Step{File: name})
			d.Edits = d.Edits && !a.Cut
			c := files[name]
			if c == nil {
				c = new(sum)
				files[name] = c
			}
			c.add(a)
		}
	}
	for name, c := range files {
		if c.lines && len(c.added)+len(c.removed) == 0 {
			d.Edits = false // it is as it was, or has its lines in another order
			continue
		}
		d.Work.Files = append(d.Work.Files, check.Change{Path: name, Added: strings.Join(c.added, "\n"), Removed: strings.Join(c.removed, "\n")})
	}
	slices.SortFunc(d.Work.Files, func(a, b check.Change) int { return strings.Compare(a.Path, b.Path) })
	return d
}

// A sum is what several edits of a file come to.
type sum struct {
	added, removed []string
	lines          bool // there were some
}

// add adds an edit: a line that one edit adds and a later one removes is no change, and
// neither is one that is put back.
func (s *sum) add(a Act) {
	for _, line := range split(a.Removed) {
		move(line, &s.added, &s.removed)
	}
	for _, line := range split(a.Added) {
		move(line, &s.removed, &s.added)
	}
	s.lines = s.lines || a.Added+a.Removed != ""
}

// move takes the last line of that text out of from; if there is none, it is put into to.
func move(line string, from, to *[]string) {
	for i, l := range slices.Backward(*from) {
		if l == line {
			*from = slices.Delete(*from, i, i+1)
			return
		}
	}
	*to = append(*to, line)
}

// For is the work as a check may use it: Cut if what the check looks for may have happened
// without a record.
func (d *Done) For(k *check.Check) *check.Work {
	w := d.Work
	commands := (k.Type == check.Ran || k.Type == check.NotRan) && k.After == ""
	w.Cut = w.Cut || !d.Edits && !commands
	return &w
}

// LevelOf is the level at which a session's acts were kept, as far as they show: an agent
// that changed no file all session long may have had its changes left out.
func LevelOf(turns iter.Seq[[]Act]) Level {
	l := Off
	for acts := range turns {
		for _, a := range acts {
			if a.Kind == Changed || a.Kind == Refused && a.Line == "" {
				return All
			}
			l = Commands
		}
	}
	return l
}

// Brief is the work in at most most characters, about half of them for the steps: the last
// ones, and the beginnings of the changes. It is Cut if something was left out.
func (d *Done) Brief(most int) *check.Work {
	const longest = 300 // characters of a line
	w := &check.Work{Cut: d.Work.Cut || !d.Edits}
	left := most / 2
	for _, s := range slices.Backward(d.Work.Steps) {
		if n := len(w.Steps); n > 0 && s.File != "" && w.Steps[n-1].File == s.File {
			continue // another edit of the same file
		}
		var cut bool
		s.Line, cut = clip(s.Line, longest)
		if left -= len(s.Line) + len(s.File); left < 0 {
			w.Cut = true
			break
		}
		w.Cut = w.Cut || cut
		w.Steps = append(w.Steps, s)
	}
	slices.Reverse(w.Steps)
	left = most / 2
	for i, c := range d.Work.Files {
		room := max(0, left-len(c.Path)) / (len(d.Work.Files) - i)
		var cut, also bool
		c.Added, cut = clip(c.Added, room)
		c.Removed, also = clip(c.Removed, room-len(c.Added))
		w.Cut = w.Cut || cut || also
		if left -= len(c.Path) + len(c.Added) + len(c.Removed); left < 0 {
			w.Cut = true
			break
		}
		w.Files = append(w.Files, c)
	}
	return w
}
