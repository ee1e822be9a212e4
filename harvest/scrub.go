package harvest

import "github.com/skill-evolve/evolve/harvest/redact"

// Scrub removes secrets from what a session holds besides texts, such as a folder, a
// branch or a command with one in its name. Readers redact texts as they read them. The
// transcript's own Path is kept: it locates the file. A folder that had to be changed
// cannot be used for a replay.
func Scrub(s *Session, red redact.Redactor) {
	do := func(texts ...*string) {
		for _, t := range texts {
			var n int
			*t, n = red.Redact(*t)
			s.Redactions += n
		}
	}
	first := s.CWD
	do(&s.CWD, &s.Branch, &s.Commit, &s.Model)
	for i := range s.Folders {
		if s.Folders[i] == first {
			s.Folders[i] = s.CWD // whose secrets count once
		} else {
			do(&s.Folders[i])
		}
	}
	for i := range s.Turns {
		do(&s.Turns[i].Committed)
	}
	for i := range s.Invocations {
		v := &s.Invocations[i]
		do(&v.Dir, &v.Command, &v.Parent)
	}
	for i := range s.Problems {
		do(&s.Problems[i].Reason)
	}
}
