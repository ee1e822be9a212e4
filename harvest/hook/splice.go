package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tidwall/gjson"
)

// A list is an object or an array in a JSON text: the positions of its brackets and of
// its members. All positions are byte offsets.
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

// listAt parses text[at:to] of a valid JSON text as an object or an array.
func listAt(text []byte, at, to int) (l list, ok bool) {
	v := gjson.ParseBytes(bytes.TrimRight(text[at:to], " \t\r\n"))
	if !v.IsObject() && !v.IsArray() {
		return l, false
	}
	l.open = at + v.Index
	l.close = l.open + len(v.Raw) - 1
	v.ForEach(func(key, value gjson.Result) bool {
		m := item{key: key.Str, start: at + value.Index, value: at + value.Index}
		if v.IsObject() {
			m.start = at + key.Index
		}
		m.end = m.value + len(value.Raw)
		l.items = append(l.items, m)
		return true
	})
	return l, true
}

// find returns the index of the member with a key; -1 for none. A key that occurs twice
// is an error.
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

// A layout is the formatting of a JSON text, so that additions look like the rest.
type layout struct {
	indent  string // of one level
	newline string // "" if all is on one line
}

func layoutOf(text []byte) layout {
	y := layout{"  ", "\n"}
	if !bytes.Contains(bytes.TrimSpace(text), []byte("\n")) && len(bytes.TrimSpace(text)) > 2 {
		return layout{}
	}
	if bytes.Contains(text, []byte("\r\n")) {
		y.newline = "\r\n"
	}
	if l, ok := listAt(text, 0, len(text)); ok && len(l.items) > 0 {
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

// render formats v for a level.
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

// add appends a new item to a list, whose items are at level.
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

// drop removes the i-th item of a list, with one comma.
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
