package pi

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/ownwords"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// prompt is a message of the user. skill is set if the program replaced the command by
// a skill's text; text is then what followed the command.
type prompt struct {
	line  int
	id    string
	text  string
	skill string
	dir   string
	hash  string // of the skill's text
}

// reply is a message of the model.
type reply struct {
	line     int
	id       string
	text     string
	calls    []call
	stop     string
	model    string
	provider string
	usage    eval.Usage
}

type call struct {
	id, name string
	file     string // the SKILL.md that it reads
	block    int    // its place in the message
	part     bool   // it reads a part of the file
	args     string // raw, of a tool that runs commands or changes files
}

// result is the result of a tool call.
type result struct {
	call   string
	failed bool
	exit   *int   // of a command, nil if the result does not tell
	hash   string // of the text of a SKILL.md
}

// spent is usage outside a reply.
type spent struct{ usage eval.Usage }

// model is the choice of a model.
type model struct{ name string }

// message returns what may be kept of a message; nil if that is nothing.
func (t *tree) message(n int, rec gjson.Result) any {
	id, m := strings.Clone(rec.Get("id").Str), rec.Get("message")
	switch m.Get("role").Str {
	case "user":
		p := newPrompt(content(m.Get("content")))
		p.line, p.id = n, id
		t.text += len(p.text)
		return p
	case "assistant":
		r := newReply(m, t.keep)
		r.line, r.id = n, id
		t.text += len(r.text)
		for _, c := range r.calls {
			t.text += len(c.id) + len(c.name) + len(c.file) + 64
			if c.file != "" {
				t.reads[c.id] = true
			}
		}
		return r
	case "toolResult":
		r := &result{call: strings.Clone(m.Get("toolCallId").Str), failed: m.Get("isError").Bool()}
		r.exit = exit(rec.Raw, r.failed)
		if t.reads[r.call] && !m.Get("details.truncation").Exists() {
			r.hash = harvest.Hash(content(m.Get("content")))
		}
		return r
	}
	return nil
}

// content is the text of a message's content.
func content(c gjson.Result) string {
	if c.Type == gjson.String {
		return c.Str
	}
	var parts []string
	c.ForEach(func(_, block gjson.Result) bool {
		if block.Get("type").Str == "text" {
			parts = append(parts, block.Get("text").Str)
		}
		return true
	})
	return strings.Join(parts, "\n")
}

var skillHead = lazyregexp.New(`^<skill name="([^"]+)" location="([^"]+)">\n`)

// referenceMark begins the line that pi puts before a skill's text.
const referenceMark = "References are relative to "

// newPrompt parses a message in the user's name.
func newPrompt(text string) *prompt {
	whole := &prompt{text: strings.Clone(strings.TrimSpace(ownwords.CutInjected(text)))}
	m := skillHead.FindStringSubmatch(text)
	if m == nil {
		return whole
	}
	// The skill's text may contain its own end mark: the last possible one is used.
	rest, args := text[len(m[0]):], ""
	const end = "\n</skill>"
	body, closed := strings.CutSuffix(rest, end)
	if i := strings.LastIndex(rest, end+"\n\n"); !closed && i >= 0 {
		body, args, closed = rest[:i], rest[i+len(end):], true
	}
	if !closed {
		return whole
	}
	if after, ok := strings.CutPrefix(body, referenceMark); ok {
		if _, text, ok := strings.Cut(after, "\n\n"); ok {
			body = text
		}
	}
	p := &prompt{text: strings.Clone(strings.TrimSpace(args)), skill: strings.Clone(m[1]), hash: harvest.Hash(body)}
	if _, dir, ok := harvest.SkillFile(m[2]); ok {
		p.dir = strings.Clone(dir)
	}
	return p
}

// newReply parses a message of the model. The text of a failed one is no answer, and
// its calls did not run. keep returns of a call's arguments what the work needs.
func newReply(m gjson.Result, keep func(tool string, args gjson.Result) string) *reply {
	r := &reply{stop: strings.Clone(m.Get("stopReason").Str), model: strings.Clone(m.Get("model").Str), provider: strings.Clone(m.Get("provider").Str), usage: usage(m.Get("usage"))}
	if r.stop == "error" {
		return r
	}
	blocks := m.Get("content")
	r.text = strings.Clone(strings.TrimSpace(content(blocks)))
	if r.stop == "aborted" {
		return r
	}
	i := 0
	blocks.ForEach(func(_, block gjson.Result) bool {
		if block.Get("type").Str == "toolCall" {
			c := call{id: strings.Clone(block.Get("id").Str), name: strings.Clone(block.Get("name").Str), block: i}
			args := block.Get("arguments")
			c.args = keep(c.name, args)
			if file := args.Get("path").Str; c.name == "read" {
				if _, _, ok := harvest.SkillFile(file); ok {
					c.file = strings.Clone(file)
					c.part = args.Get("offset").Exists() || args.Get("limit").Exists()
				}
			}
			r.calls = append(r.calls, c)
		}
		i++
		return true
	})
	return r
}

// usage is the usage of one response. pi does not count cached tokens as input.
func usage(u gjson.Result) eval.Usage {
	return eval.Usage{
		Input:      u.Get("input").Int(),
		CacheRead:  u.Get("cacheRead").Int(),
		CacheWrite: u.Get("cacheWrite").Int(),
		Output:     u.Get("output").Int(),
		Reasoning:  u.Get("reasoning").Int(),
	}
}
