package entire

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
)

// maxDocument is the largest Gemini transcript that is read, in bytes: all parts of a
// session together. It is one JSON document, whatever its name, and is held in memory
// whole.
const maxDocument = 64 << 20

// documents makes a session of a transcript of Gemini CLI's, nil if it has no prompt.
// ok is false if the parts are no such documents. A newer document repeats the messages
// of an older one, in their latest state.
func (h *harvesting) documents(all []part, agent, place string) (s *harvest.Session, problems []harvest.Problem, ok bool) {
	newest := all[len(all)-1].record
	s = &harvest.Session{Agent: cmp.Or(agent, "gemini"), Started: newest.created, Ended: newest.created}
	var messages []gjson.Result
	seen := map[string]bool{}
	left, session := int64(maxDocument), ""
	for _, p := range slices.Backward(all) {
		j := h.joined(place, []part{p})
		data := readDocument(j, left)
		problems = append(problems, j.finish(nil)...)
		doc := gjson.ParseBytes(data)
		ok = ok || doc.Get("messages").IsArray()
		if id := doc.Get("sessionId").Str; session == "" {
			session = id
		} else if id != "" && id != session {
			problems = append(problems, harvest.Problem{Path: place, Reason: p.record.String() + ": " + otherSession})
			continue
		}
		var older []gjson.Result
		doc.Get("messages").ForEach(func(_, m gjson.Result) bool {
			if !seen[entryKey(m)] {
				older = append(older, m)
			}
			return true
		})
		for _, m := range older {
			seen[entryKey(m)] = true
		}
		if len(older) == 0 {
			continue
		}
		left -= int64(len(data))
		messages = append(older, messages...)
		if at := harvest.When(doc.Get("startTime").Str); !at.IsZero() {
			s.Started = at
		}
	}
	for _, m := range messages {
		h.message(s, m)
	}
	if len(s.Turns) == 0 {
		s = nil
	}
	return s, problems, ok
}

// entryKey identifies a message across documents.
func entryKey(m gjson.Result) string { return cmp.Or(m.Get("id").Str, m.Raw) }

// readDocument reads one JSON object of at most that many bytes; it returns nil for
// anything else.
func readDocument(r io.Reader, limit int64) []byte {
	first := make([]byte, 1)
	if n, _ := io.ReadFull(r, first); n == 0 || first[0] != '{' {
		return nil
	}
	rest, err := io.ReadAll(io.LimitReader(r, limit))
	if data := append(first, rest...); err == nil && json.Valid(data) {
		return data
	}
	return nil
}

// message processes one message of a document.
func (h *harvesting) message(s *harvest.Session, m gjson.Result) {
	at := harvest.When(m.Get("timestamp").Str)
	text := strings.TrimSpace(words(m.Get("content")))
	switch m.Get("type").Str {
	case "user":
		if text = h.clean(s, h.typed, text); text != "" {
			s.Turns = append(s.Turns, harvest.Turn{ID: m.Get("id").Str, Time: at, Prompt: text})
		}
	case "gemini":
		if len(s.Turns) == 0 {
			return
		}
		turn := &s.Turns[len(s.Turns)-1]
		if text != "" {
			turn.Answer = h.clean(s, h.secrets.Said, text)
		}
		m.Get("toolCalls").ForEach(func(_, c gjson.Result) bool {
			turn.Tools = append(turn.Tools, harvest.Tool{Name: h.clean(s, h.secrets.Redact, c.Get("name").Str), Failed: c.Get("status").Str == "error"})
			return true
		})
		if u := m.Get("tokens"); u.IsObject() {
			cached := u.Get("cached").Int()
			turn.Spend(eval.Usage{Input: max(0, u.Get("input").Int()-cached), CacheRead: cached, Output: u.Get("output").Int() + u.Get("thoughts").Int(), Reasoning: u.Get("thoughts").Int()})
		}
		if s.Model == "" {
			s.Model = m.Get("model").Str
		}
	}
}

// words are the text of a message's content, which is a string or a list of
// parts.
func words(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Str
	}
	var parts []string
	content.ForEach(func(_, p gjson.Result) bool {
		if text := p.Get("text").Str; text != "" {
			parts = append(parts, text)
		}
		return true
	})
	return strings.Join(parts, "\n")
}
