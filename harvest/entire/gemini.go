package entire

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
)

// maxDocument is the largest Gemini transcript that is read, in bytes: all parts of a
// session together. It is one JSON document, whatever its name, and is held in memory
// whole.
const maxDocument = 64 << 20

// documents makes a session of a transcript of Gemini CLI's, nil if it has no prompt.
// ok is false if the parts are no such documents. A newer document repeats the messages
// of an older one, in their latest state: one document of all is read.
func (h *harvesting) documents(ctx context.Context, all []part, agent, place string) (s *harvest.Session, problems []harvest.Problem, ok bool, err error) {
	newest := all[len(all)-1].record
	var messages []gjson.Result
	seen := map[string]bool{}
	left, session, began := int64(maxDocument), "", ""
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
		began = cmp.Or(doc.Get("startTime").Str, began)
	}
	if !ok {
		return nil, problems, false, nil
	}
	head, err := json.Marshal(map[string]string{"sessionId": session, "startTime": began})
	if err != nil {
		return nil, problems, true, err
	}
	// A line feed after the first brace says that it is one document, not lines.
	texts := []string{"{\n", string(head[1 : len(head)-1]), `,"messages":[`}
	for i, m := range messages {
		if i > 0 {
			texts = append(texts, ",")
		}
		texts = append(texts, m.Raw)
	}
	doc := strings.NewReader(strings.Join(append(texts, "]}"), ""))
	s, more, err := h.kinds[gemini].Transcript(ctx, doc, place, h.reading(place, all))
	if s != nil {
		s.Agent = cmp.Or(agent, s.Agent)
		s.Ended = newest.created
		if began == "" {
			s.Started = newest.created
		}
	}
	return s, append(problems, more...), true, err
}

// gemini is the name that the sessions of Gemini CLI have.
const gemini = "gemini"

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
