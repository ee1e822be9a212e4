package harvest

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/harvest/jsonl"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/harvest/work"
)

// Typed makes what a person typed fit to be kept: besides the secrets that Clean finds
// those that a sentence gives away, and words that nothing explains (see Finish). What
// another agent wrote is none of a person's.
func (d *Draft) Typed(text string) string {
	if d.Subagent != "" {
		return d.Said(text)
	}
	redactTyped := d.secrets.Typed
	if n := len(d.Turns); n > 0 && redact.Asks(d.Turns[n-1].Answer) {
		redactTyped = d.secrets.Answered
	}
	clean := d.clean(redactTyped, text)
	d.doubts = append(d.doubts, redact.Doubts(clean)...)
	d.typed, d.kept = strings.Clone(text), clean
	return clean
}

// Said makes what an agent said fit to be kept.
func (d *Draft) Said(text string) string {
	clean := d.clean(d.secrets.Said, text)
	d.suspects = append(d.suspects, redact.Suspects(clean)...)
	return clean
}

func (d *Draft) clean(red func(string) (string, int), text string) string {
	text, n := d.cleanWith(red, text)
	d.Redactions += n
	return strings.Clone(text)
}

// cleanWith is CleanWith, of which nothing is left when the time is over.
func (d *Draft) cleanWith(red func(string) (string, int), text string) (string, int) {
	if d.late() {
		return "", 0
	}
	return CleanWith(red, text)
}

// late reports whether the session took too long: nothing of it will be kept.
func (d *Draft) late() bool { return d.opts.late != nil && d.opts.late() }

// resolve decides what the words are that only their shape makes suspicious. Those that
// a person typed are secrets unless the transcript explains them: a tool printed them,
// or the agent spoke of them first. Those that the agent said are none unless a tool
// printed them as a secret. The transcript is read once more, if there are any.
func (d *Draft) resolve() {
	slices.Sort(d.doubts)
	d.doubts = slices.Compact(d.doubts)
	slices.Sort(d.suspects)
	d.suspects = slices.Compact(d.suspects)
	open := map[string]*finding{}
	for _, v := range slices.Concat(d.suspects, d.doubts) {
		open[v] = &finding{explained: strings.Contains(d.CWD, v) || strings.Contains(d.Branch, v)}
	}
	if len(open) > 0 && d.opts.Again != nil {
		if r, err := d.opts.Again(); err == nil {
			d.look(r, open)
			r.Close()
		}
	}
	for _, v := range d.suspects {
		if open[v].secret {
			d.secrets.Learn(v, "secret")
		}
	}
	for _, v := range d.doubts {
		if !open[v].explained || open[v].secret {
			d.secrets.Learn(v, "secret")
		}
	}
	d.doubts, d.suspects, d.typed, d.kept = nil, nil, "", ""
}

// A finding is what the transcript tells of a word.
type finding struct {
	explained, secret, typed bool
}

// maxLooks is how many places of one word are looked at.
const maxLooks = 64

// The parts of lines that say whose words they hold; a quote within a text is escaped.
var (
	resultMarks = [][]byte{[]byte(`"tool_result"`), []byte(`_output"`), []byte(`"toolResult"`), []byte(`"tool.execution_complete"`), []byte(`"type":"attachment"`)}
	startMarks  = [][]byte{[]byte(`"session_meta"`), []byte(`"session.start"`)}
	agentMarks  = [][]byte{[]byte(`"role":"assistant"`), []byte(`"assistant.message"`), []byte(`"AgentMessage"`), []byte(`"role":"system"`), []byte(`"role":"developer"`)}
)

func marked(line []byte, marks [][]byte) bool {
	return slices.ContainsFunc(marks, func(m []byte) bool { return bytes.Contains(line, m) })
}

// Shows reports whether a line of a transcript holds what a tool or a file showed to the agent.
// Gemini CLI's lines have that behind the agent's own words.
func Shows(line []byte) bool { return marked(line, resultMarks) }

// look looks for words in a transcript.
func (d *Draft) look(r io.Reader, open map[string]*finding) {
	lines := jsonl.NewLines(r)
	looks := map[string]int{}
	words := make([][]byte, 0, len(open))
	for v := range open {
		words = append(words, []byte(v))
	}
	for {
		line, err := lines.Next()
		if err == jsonl.ErrLongLine {
			continue
		}
		if err != nil {
			return
		}
		for _, w := range words {
			if d.late() {
				return
			}
			at := bytes.Index(line, w)
			if at < 0 {
				continue
			}
			v := string(w)
			f := open[v]
			switch {
			case marked(line, resultMarks), marked(line, startMarks):
				if looks[v]++; looks[v] > maxLooks {
					continue
				}
				const around = 400
				near := line[max(0, at-around):min(len(line), at+len(w)+around)]
				if redact.Hides(strings.ToValidUTF8(string(near), ""), v) {
					f.secret = true
				} else if !f.typed || redact.Digest(v) {
					f.explained = true
				}
			case marked(line, agentMarks):
				f.explained = f.explained || !f.typed
			default:
				f.typed = true
			}
		}
	}
}

// Recall replaces what was found to be a secret in one text of a session, or of one that
// was read with it, in all that is kept.
func Recall(s *Session, secrets *redact.Session) {
	do := func(texts ...*string) {
		for _, t := range texts {
			var n int
			*t, n = secrets.Again(*t, cutMark)
			s.Redactions += n
		}
	}
	do(&s.CWD, &s.Branch, &s.Commit, &s.Model)
	for i := range s.Turns {
		t := &s.Turns[i]
		do(&t.Prompt, &t.Answer, &t.Committed)
		for k := range t.Tools {
			do(&t.Tools[k].Name)
		}
		var n int
		t.Work, n = work.Recall(t.Work, func(text string, cut bool) (string, int) {
			if !cut {
				return secrets.Again(text, "")
			}
			text, n := secrets.Again(text+cutMark, cutMark)
			return strings.TrimSuffix(text, cutMark), n
		})
		s.Redactions += n
	}
	for i := range s.Invocations {
		v := &s.Invocations[i]
		do(&v.ID, &v.Skill, &v.Tool, &v.Dir, &v.Command, &v.Parent)
	}
	for i := range s.Problems {
		do(&s.Problems[i].Reason)
	}
}
