package harvest

import "github.com/skill-evolve/evolve/harvest/redact"

// Scrub takes secrets out of what a session holds besides texts: a folder, a
// branch or a command may be named with one. Readers redact texts as they read
// them; the transcript's own Path stays: it is the place of the file. A folder that
// had to be changed cannot be replayed in.
func Scrub(s *Session, red redact.Redactor) {
	do := func(texts ...*string) {
		for _, t := range texts {
			var n int
			*t, n = red.Redact(*t)
			s.Redactions += n
		}
	}
	do(&s.CWD, &s.Branch, &s.Commit, &s.Model)
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
