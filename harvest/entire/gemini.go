package entire

import (
	"cmp"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
)

// maxDocument is the longest Gemini transcript that is read, in bytes. It is one
// JSON document, whatever its name says, and stands in memory whole.
const maxDocument = 64 << 20

// document makes a session of a transcript of Gemini CLI's: nil where r is none.
func (h *harvesting) document(r io.Reader, of *record) *harvest.Session {
	data := make([]byte, 1, 64<<10)
	if n, _ := io.ReadFull(r, data); n == 0 || data[0] != '{' {
		return nil
	}
	rest, err := io.ReadAll(io.LimitReader(r, maxDocument))
	if err != nil {
		return nil
	}
	data = append(data, rest...)
	messages := gjson.GetBytes(data, "messages")
	if !messages.IsArray() || !json.Valid(data) {
		return nil
	}
	s := &harvest.Session{Agent: cmp.Or(of.agent, "gemini"), Started: of.created, Ended: of.created}
	if at, err := time.Parse(time.RFC3339Nano, gjson.GetBytes(data, "startTime").Str); err == nil {
		s.Started = at.UTC()
	}
	messages.ForEach(func(_, m gjson.Result) bool {
		at, err := time.Parse(time.RFC3339Nano, m.Get("timestamp").Str)
		if err == nil {
			at = at.UTC()
		}
		text := h.clean(s, strings.TrimSpace(words(m.Get("content"))))
		switch m.Get("type").Str {
		case "user":
			if text != "" {
				s.Turns = append(s.Turns, harvest.Turn{ID: m.Get("id").Str, Time: at, Prompt: text})
			}
		case "gemini":
			if len(s.Turns) == 0 {
				return true
			}
			turn := &s.Turns[len(s.Turns)-1]
			if text != "" {
				turn.Answer = text
			}
			m.Get("toolCalls").ForEach(func(_, c gjson.Result) bool {
				turn.Tools = append(turn.Tools, harvest.Tool{Name: h.clean(s, c.Get("name").Str), Failed: c.Get("status").Str == "error"})
				return true
			})
			if u := m.Get("tokens"); u.IsObject() {
				cached := u.Get("cached").Int()
				sum := eval.Usage{Input: max(0, u.Get("input").Int()-cached), CacheRead: cached, Output: u.Get("output").Int() + u.Get("thoughts").Int(), Reasoning: u.Get("thoughts").Int()}
				if turn.Usage != nil {
					sum = sum.Add(*turn.Usage)
				}
				turn.Usage = &sum
			}
			if s.Model == "" {
				s.Model = m.Get("model").Str
			}
		}
		return true
	})
	if len(s.Turns) == 0 {
		return nil
	}
	return s
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
