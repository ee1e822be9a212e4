// Package corrected finds the calls that a user corrected by a rule after they had run, so that
// a guard can be tried on them.
package corrected

import (
	"context"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/eval/shell"
	"github.com/skill-evolve/evolve/harvest"
)

// A Call is one of a tool that ran.
type Call struct {
	ID      string
	Time    time.Time
	Command string // of a shell; "" for an edit
	File    string // that it edited: absolute, or below the session's folder
}

// A Broken rule is what a call was corrected by.
type Broken struct {
	Rule  string // in a model's words
	Words string // its user's own
	Case  string // the id of the case whose check the call fails
}

// Of finds the calls of a session that broke a rule which their user named afterwards, by their
// ids. cases are those of any session; the session has its turns with their readings. A call is found only
// if a case was made of its turn that has a check of the work which the call fails: not_ran or
// not_changed, which the harvest accepts only if it fails on the corrected work and passes on
// what was accepted. The turn's rule and what the user typed in the corrections both have to
// name what the check forbids: a check can be of something else that the user did not like.
func Of(s *harvest.Session, cases []eval.Case, calls []Call) map[string]Broken {
	out := map[string]Broken{}
	for i := range cases {
		c := &cases[i]
		if c.Source == nil || c.Origin() != "mined" || c.Source.Agent != s.Agent || c.Source.Session != s.ID || c.Source.Outcome != string(harvest.Corrected) || c.Source.Copied {
			continue
		}
		turn, corrections, _, ok := harvest.TurnsOf(s, c)
		if !ok {
			continue
		}
		broken, said, ok := read(s, turn, corrections)
		if !ok {
			continue
		}
		broken.Case = c.ID
		for k := range c.Checks {
			for _, call := range calls {
				if within(s, turn, call.Time) && forbids(&c.Checks[k], broken.Rule, said) && fails(&c.Checks[k], s.CWD, &call) {
					out[call.ID] = broken
				}
			}
		}
	}
	return out
}

// read is the rule that a turn broke and all that its user typed to correct it.
func read(s *harvest.Session, turn int, corrections []int) (b Broken, said string, ok bool) {
	r := s.Turns[turn].Reading
	if r == nil || r.Label != harvest.Corrected || r.Rule == "" || r.Reply <= turn || r.Reply >= len(s.Turns) ||
		!harvest.Quotes(s.Own(r.Reply), r.Words) || s.Copied(r.Reply, r.Words) {
		return b, "", false
	}
	for _, t := range corrections {
		said += s.Own(t) + "\n"
	}
	return Broken{Rule: r.Rule, Words: r.Words}, said, true
}

// within reports whether something took place in a turn.
func within(s *harvest.Session, turn int, at time.Time) bool {
	from := s.Turns[turn].Time
	if from.IsZero() || at.Before(from) {
		return false
	}
	for _, next := range s.Turns[turn+1:] {
		if !next.Time.IsZero() {
			return at.Before(next.Time)
		}
	}
	return false // what was corrected is not the last turn
}

// forbids reports whether a check forbids a call, and each of some texts names what that is.
func forbids(k *eval.Check, texts ...string) bool {
	var names []string
	switch {
	case k.Type == check.NotRan && k.After == "":
		names = command(k.Value)
	case k.Type == check.NotChanged:
		names = segments(k.Path)
	}
	for _, text := range texts {
		if !namesOne(text, names) {
			return false
		}
	}
	return len(names) > 0
}

// command are the words by which a person names a command: those behind its program, or the
// program if it stands alone, which else is for many things.
func command(value string) (out []string) {
	all, err := shell.Commands(value)
	if err != nil || len(all) != 1 || len(all[0].Words) == 0 {
		return nil
	}
	words := all[0].Words
	if len(words) > 1 {
		words = words[1:]
	}
	for _, w := range words {
		out = append(out, literals(w.Text)...)
	}
	return out
}

// segments are what a pattern of files has besides its wildcards.
func segments(glob string) (out []string) {
	for segment := range strings.SplitSeq(glob, "/") {
		out = append(out, literals(segment)...)
	}
	return out
}

// literals are the parts of a word between wildcards that are long enough to be told.
func literals(word string) (out []string) {
	for _, part := range strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("*?[]{}…", r) }) {
		if len(part) > 2 || strings.HasPrefix(part, "-") && len(part) > 1 {
			out = append(out, part)
		}
	}
	return out
}

// namesOne reports whether a text has one of some names as a word of its own.
func namesOne(text string, names []string) bool {
	text = strings.ToLower(text)
	for _, name := range names {
		name = strings.ToLower(name)
		for at := 0; ; {
			i := strings.Index(text[at:], name)
			if i < 0 {
				break
			}
			at += i
			before, _ := utf8.DecodeLastRuneInString(text[:at])
			first, _ := utf8.DecodeRuneInString(name)
			last, _ := utf8.DecodeLastRuneInString(name)
			after, _ := utf8.DecodeRuneInString(text[at+len(name):])
			if !(inWord(before) && inWord(first)) && !(inWord(last) && inWord(after)) {
				return true
			}
			at += len(name)
		}
	}
	return false
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-')
}

// fails reports whether a call alone fails a check.
func fails(k *eval.Check, folder string, c *Call) bool {
	w := new(check.Work)
	switch {
	case k.Type == check.NotRan && c.Command != "":
		w.Steps = []check.Step{{Line: c.Command}}
	case k.Type == check.NotChanged && c.File != "":
		name, ok := below(folder, c.File)
		if !ok {
			return false
		}
		w.Steps, w.Files = []check.Step{{File: name}}, []check.Change{{Path: name}}
	default:
		return false
	}
	r, err := k.Grade(context.Background(), &check.Subject{Work: w})
	return err == nil && !r.Missing && !r.Passed()
}

// below is a file's path from a folder that it is in.
func below(folder, file string) (string, bool) {
	if !path.IsAbs(file) {
		return path.Clean(file), !strings.HasPrefix(path.Clean(file), "../")
	}
	return strings.CutPrefix(path.Clean(file), strings.TrimSuffix(path.Clean(folder), "/")+"/")
}
