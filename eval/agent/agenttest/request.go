package agenttest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// A Wire is the language of a request.
type Wire string

// The wires, each chosen by the end of the path.
const (
	Messages  Wire = "messages"  // Anthropic: /messages
	Responses Wire = "responses" // OpenAI: /responses
	Chat      Wire = "chat"      // OpenAI: /chat/completions
)

// A Request is a request to the scripted model.
type Request struct {
	Wire   Wire
	Path   string
	Header http.Header // without the key
	Body   []byte      // as it came, unpacked
	Stream bool
	Model  string
	Tools  []string // names of the tools that are declared; namespaces are flattened
	Text   string   // every text of the request: system, conversation, declarations
	User   string   // all text of the user, as the agent wraps it
	Prompt string   // the last of it
	// Results are what the tools returned, in order. Step counts the rounds of
	// them: 0 in the first request of a conversation, 1 after one or more calls
	// made together.
	Results []string
	Step    int
	Side    bool // declares no tools: a title, a summary

	custom map[string]bool // tools that take a text and no object
}

// Offers reports whether a tool of the name is declared.
func (r *Request) Offers(tool string) bool { return slices.Contains(r.Tools, tool) }

// Result is the last result of a tool; "" before the first.
func (r *Request) Result() string {
	if len(r.Results) == 0 {
		return ""
	}
	return r.Results[len(r.Results)-1]
}

// parse parses a request's body and ignores unknown parts.
func parse(w Wire, body []byte) Request {
	root := gjson.ParseBytes(body)
	r := Request{Wire: w, Body: body, Stream: root.Get("stream").Bool(), Model: root.Get("model").String(),
		custom: make(map[string]bool)}
	declare := func(t gjson.Result) {
		for _, at := range []string{"name", "function.name", "custom.name", "type"} {
			if name := t.Get(at).String(); name != "" {
				r.Tools = append(r.Tools, name)
				if kind := t.Get("type").String(); kind == "custom" {
					r.custom[name] = true
				}
				return
			}
		}
	}
	root.Get("tools").ForEach(func(_, t gjson.Result) bool {
		if inner := t.Get("tools"); inner.Exists() {
			inner.ForEach(func(_, t gjson.Result) bool { declare(t); return true })
			return true
		}
		declare(t)
		return true
	})
	r.Side = len(r.Tools) == 0
	var all strings.Builder
	collect(&all, root)
	r.Text = all.String()

	turns := root.Get("messages")
	if w == Responses {
		turns = root.Get("input")
	}
	if turns.Type == gjson.String {
		r.User, r.Prompt = turns.String(), turns.String()
		return r
	}
	said := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			r.Prompt = text
			r.User += text + "\n"
		}
	}
	inResults := false // the turn before was one
	turns.ForEach(func(_, m gjson.Result) bool {
		results := len(r.Results)
		role, kind := m.Get("role").String(), m.Get("type").String()
		switch {
		case role == "tool":
			r.Results = append(r.Results, texts(m.Get("content")))
		case strings.HasSuffix(kind, "_call_output"):
			r.Results = append(r.Results, texts(m.Get("output")))
		case role == "user":
			content := m.Get("content")
			if content.Type == gjson.String {
				said(content.String())
				break
			}
			content.ForEach(func(_, part gjson.Result) bool {
				if part.Get("type").String() == "tool_result" {
					r.Results = append(r.Results, texts(part.Get("content")))
				} else {
					said(part.Get("text").String())
				}
				return true
			})
		}
		got := len(r.Results) > results
		if got && !inResults {
			r.Step++
		}
		inResults = got
		return true
	})
	return r
}

// texts joins all strings below v.
func texts(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.String()
	}
	var b strings.Builder
	v.ForEach(func(_, part gjson.Result) bool {
		b.WriteString(part.Get("text").String())
		return true
	})
	return b.String()
}

// collect writes every string value below v, a line each. Arguments of earlier
// calls are JSON in a string; they are unpacked.
func collect(b *strings.Builder, v gjson.Result) {
	switch {
	case v.IsObject() || v.IsArray():
		v.ForEach(func(_, part gjson.Result) bool { collect(b, part); return true })
	case v.Type == gjson.String:
		s := v.String()
		if strings.HasPrefix(s, `{"`) && json.Valid([]byte(s)) {
			collect(b, gjson.Parse(s))
		}
		b.WriteString(s)
		b.WriteByte('\n')
	}
}
