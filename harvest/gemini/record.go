package gemini

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

const (
	maxMessages = 1 << 20
	maxText     = 64 << 20 // what is held of one session, in bytes
	maxTried    = 10000
)

// A log collects the messages of one session: the program writes a message anew whenever
// it changes, and takes messages back.
type log struct {
	name, hash, kind string
	root             string   // the folder of the project
	folders          []string // added by the user
	began, ended     string
	messages         []message
	ids              map[string]int // index in messages
	text             int            // bytes held
	refused          bool           // some were too many
	tried            map[string]bool
}

// message is what may be kept of one message.
type message struct {
	id, kind, stamp string
	line            int
	text            string
	model           string
	calls           []call
	usage           *eval.Usage
}

func (m *message) size() int {
	n := len(m.text) + len(m.id) + 64
	for _, c := range m.calls {
		n += len(c.id) + len(c.name) + len(c.skill) + len(c.dir) + 64 + c.work.size()
	}
	return n
}

// call is a tool call; skill is the one that it loads.
type call struct {
	id, name   string
	skill, dir string
	failed     bool
	work       *done
}

// history begins a repetition of all messages, made after a compaction.
var history = []byte(`{"$set":{"messages":`)

func want(line []byte) bool { return !bytes.HasPrefix(line, history) }

// take reads one record: what is known of the session, with its messages or without, one
// message, or the id from which on messages are taken back.
func (l *log) take(n int, line []byte) bool {
	rec := gjson.ParseBytes(line)
	if to := rec.Get("$rewindTo"); to.Type == gjson.String {
		l.rewind(to.Str)
		return true
	}
	if id := rec.Get("id"); id.Type == gjson.String {
		if !rec.Get("content").Exists() {
			return false
		}
		l.add(n, rec)
		return true
	}
	meta := rec
	if set := rec.Get("$set"); set.IsObject() {
		meta = set
	}
	known := false
	for key, to := range map[string]*string{"sessionId": &l.name, "projectHash": &l.hash, "kind": &l.kind, "startTime": &l.began, "lastUpdated": &l.ended} {
		if v := meta.Get(key).Str; v != "" {
			*to, known = strings.Clone(v), true
		}
	}
	for _, d := range meta.Get("directories").Array() {
		if d.Str != "" && len(l.folders) <= harvest.MaxFolders && !slices.Contains(l.folders, d.Str) {
			l.folders = append(l.folders, strings.Clone(d.Str))
		}
	}
	messages := rec.Get("messages")
	messages.ForEach(func(_, m gjson.Result) bool {
		l.add(n, m)
		return true
	})
	return known || messages.IsArray()
}

func (l *log) rewind(id string) {
	at := l.ids[id] // all, if it is not known
	for _, m := range l.messages[at:] {
		l.text -= m.size()
		delete(l.ids, m.id)
	}
	l.messages = l.messages[:at]
}

func (l *log) add(n int, rec gjson.Result) {
	m := message{id: strings.Clone(rec.Get("id").Str), kind: strings.Clone(rec.Get("type").Str), stamp: strings.Clone(rec.Get("timestamp").Str), line: n}
	switch m.kind {
	case "user":
		content := rec.Get("displayContent")
		if text(content) == "" {
			content = rec.Get("content")
		}
		whole := text(content)
		l.look(whole)
		m.text = strings.Clone(typed(whole))
	case "gemini":
		m.text, m.model = strings.Clone(strings.TrimSpace(text(rec.Get("content")))), strings.Clone(rec.Get("model").Str)
		rec.Get("toolCalls").ForEach(func(_, c gjson.Result) bool {
			m.calls = append(m.calls, l.call(c))
			return true
		})
		if u := rec.Get("tokens"); u.IsObject() {
			cached, thoughts := u.Get("cached").Int(), u.Get("thoughts").Int()
			m.usage = &eval.Usage{Input: max(0, u.Get("input").Int()-cached), CacheRead: cached, Output: u.Get("output").Int() + thoughts, Reasoning: thoughts}
		}
	case "info":
		m.text = strings.Clone(text(rec.Get("content")))
		if !strings.HasPrefix(m.text, cancelled) {
			return
		}
	case "error":
	default:
		return
	}
	at, again := l.ids[m.id]
	if again {
		l.text -= l.messages[at].size()
	}
	if l.text += m.size(); l.text > maxText || !again && len(l.messages) >= maxMessages {
		l.refused = true
		l.text -= m.size()
		return
	}
	if again {
		l.messages[at] = m
		return
	}
	if m.id != "" {
		l.ids[m.id] = len(l.messages)
	}
	l.messages = append(l.messages, m)
}

// cancelled begins the note that the user stopped the agent.
const cancelled = "Request cancelled"

func (l *log) call(rec gjson.Result) call {
	status := rec.Get("status").Str
	c := call{id: strings.Clone(rec.Get("id").Str), name: strings.Clone(rec.Get("name").Str), failed: status == "error" || status == "cancelled", work: workOf(rec)}
	args := rec.Get("args")
	if c.name == activate {
		c.skill = strings.Clone(args.Get("name").Str)
	}
	for _, key := range []string{"file_path", "absolute_path", "path", "dir_path", "directory"} {
		file := args.Get(key).Str
		l.look(file)
		if name, dir, ok := harvest.SkillFile(file); ok && strings.HasPrefix(c.name, "read_") {
			c.skill, c.dir = strings.Clone(name), strings.Clone(dir)
		}
	}
	return c
}

// activate is the tool that loads a skill.
const activate = "activate_skill"

// workspace matches a folder in what the program tells the model of the session.
var workspace = lazyregexp.New(`(?m)^(?:\s*- |I'm currently working in the directory: )(/[^\n]*)$`)

// look searches a text, a path or the beginning of a session, for the folder whose hash
// the transcript names.
func (l *log) look(text string) {
	if l.hash == "" || l.root != "" {
		return
	}
	if strings.HasPrefix(text, contextTag) {
		for _, m := range workspace.FindAllStringSubmatch(text[:min(len(text), maxMarker)], 100) {
			l.try(strings.TrimSpace(m[1]))
		}
		return
	}
	l.try(text)
}

func (l *log) try(path string) {
	if !filepath.IsAbs(path) || len(path) > 4096 {
		return
	}
	for dir := filepath.Clean(path); len(l.tried) < maxTried && !l.tried[dir]; dir = filepath.Dir(dir) {
		l.tried[strings.Clone(dir)] = true
		if harvest.Hash(dir) == l.hash {
			l.root = strings.Clone(dir)
			return
		}
	}
}

// text is the text of a message's content, which is a string, a part or a list of parts.
func text(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Str
	}
	if content.IsObject() {
		return content.Get("text").Str
	}
	var parts []string
	content.ForEach(func(_, p gjson.Result) bool {
		if text := p.Get("text").Str; p.Type == gjson.String {
			parts = append(parts, p.Str)
		} else if text != "" && !p.Get("thought").Bool() {
			parts = append(parts, text)
		}
		return true
	})
	return strings.Join(parts, "\n")
}
