package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// A list is an object or an array in a JSON text: where it opens and closes, and
// where its members stand. All positions are byte offsets.
type list struct {
	open, close int // of the brackets
	items       []item
}

// An item is a member of an object (from its key on) or an element of an array.
type item struct {
	key        string // "" in an array
	start, end int
	value      int // where the value begins
}

// listAt reads the object or array at text[at], of a valid JSON text.
func listAt(text []byte, at int) (l list, ok bool) {
	at = skipSpace(text, at)
	if at >= len(text) || text[at] != '{' && text[at] != '[' {
		return l, false
	}
	object := text[at] == '{'
	l.open = at
	for at++; ; {
		at = skipSpace(text, at)
		if c := text[at]; c == '}' || c == ']' {
			l.close = at
			return l, true
		} else if c == ',' {
			at++
			continue
		}
		m := item{start: at}
		if object {
			end := skipValue(text, at)
			_ = json.Unmarshal(text[at:end], &m.key) // valid
			at = skipSpace(text, skipSpace(text, end)+1)
		}
		m.value = at
		at = skipValue(text, at)
		m.end = at
		l.items = append(l.items, m)
	}
}

// find returns the member of a key; -1 for none. A key that stands there twice
// has no one meaning.
func (l list) find(key string) (i int, err error) {
	i = -1
	for j, m := range l.items {
		if m.key != key {
			continue
		}
		if i >= 0 {
			return -1, errors.New(`the key "` + key + `" stands there twice`)
		}
		i = j
	}
	return i, nil
}

func skipSpace(text []byte, at int) int {
	for at < len(text) && strings.IndexByte(" \t\r\n", text[at]) >= 0 {
		at++
	}
	return at
}

// skipValue returns where the value at text[at] ends.
func skipValue(text []byte, at int) int {
	depth := 0
	for at < len(text) {
		switch c := text[at]; c {
		case '"':
			for at++; text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
			at++
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return at
			}
			at++
			continue
		default:
			for at < len(text) && strings.IndexByte(",:]}{[\" \t\r\n", text[at]) < 0 {
				at++
			}
		}
		if depth == 0 {
			return at
		}
	}
	return at
}

// A layout is how a JSON text is laid out, so that what is added looks like the
// rest of it.
type layout struct {
	indent  string // of one level
	newline string // "" where all is on one line
}

func layoutOf(text []byte) layout {
	y := layout{"  ", "\n"}
	if !bytes.Contains(bytes.TrimSpace(text), []byte("\n")) && len(bytes.TrimSpace(text)) > 2 {
		return layout{}
	}
	if bytes.Contains(text, []byte("\r\n")) {
		y.newline = "\r\n"
	}
	if l, ok := listAt(text, 0); ok && len(l.items) > 0 {
		before := text[l.open+1 : l.items[0].start]
		if i := bytes.LastIndexByte(before, '\n'); i >= 0 && i+1 < len(before) {
			y.indent = string(before[i+1:])
		}
	}
	return y
}

// at is a line break and the indentation of a level.
func (y layout) at(level int) string {
	if y.newline == "" {
		return ""
	}
	return y.newline + strings.Repeat(y.indent, level)
}

// render writes v as it stands at a level.
func (y layout) render(v any, level int) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if y.newline != "" {
		e.SetIndent(strings.Repeat(y.indent, level), y.indent)
	}
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", y.newline), nil
}

// member writes a key and its value.
func (y layout) member(key string, v any, level int) (string, error) {
	name, err := json.Marshal(key)
	if err != nil {
		return "", err
	}
	value, err := y.render(v, level)
	sep := ": "
	if y.newline == "" {
		sep = ":"
	}
	return string(name) + sep + value, err
}

// add puts a new item behind the last one of a list, whose items stand at level.
func (y layout) add(text []byte, l list, what string, level int) []byte {
	if n := len(l.items); n > 0 {
		return put(text, l.items[n-1].end, l.items[n-1].end, ","+y.at(level)+what)
	}
	what = y.at(level) + what
	if !bytes.Contains(text[l.open:l.close], []byte("\n")) {
		what += y.at(level - 1)
	}
	return put(text, l.open+1, l.open+1, what)
}

// drop takes the i-th item out of a list, with one comma.
func drop(text []byte, l list, i int) []byte {
	switch {
	case len(l.items) == 1:
		return put(text, l.open+1, l.close, "")
	case i == 0:
		return put(text, l.items[0].start, l.items[1].start, "")
	}
	return put(text, l.items[i-1].end, l.items[i].end, "")
}

// put replaces text[from:to].
func put(text []byte, from, to int, by string) []byte {
	return append(append(append(make([]byte, 0, len(text)+len(by)), text[:from]...), by...), text[to:]...)
}
