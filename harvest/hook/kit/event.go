package kit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// An Event is what an agent puts on the stdin of a hook.
type Event struct {
	Name    string // hook_event_name
	Session string // session_id
	value   any
	text    []byte // canonical
}

// Parse reads one JSON value. Only an object can be an event of an agent; of any other
// value the name is empty, and every field is missing.
func Parse(raw []byte) (*Event, error) {
	e := &Event{}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&e.value); err != nil {
		return nil, fmt.Errorf("read input: %w", err)
	}
	var err error
	if e.text, err = canonical(e.value); err != nil {
		return nil, fmt.Errorf("read input: %w", err)
	}
	e.Name, e.Session = e.Field("hook_event_name"), e.Field("session_id")
	return e, nil
}

// Canonical is the value with sorted keys, without blanks, and with numbers as they were
// written.
func (e *Event) Canonical() []byte { return e.text }

func canonical(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Field is the value at a path such as tool_input.command: a text as it is, without the
// NUL bytes that no shell can hold, anything else as canonical JSON; "" if there is none,
// and for null.
func (e *Event) Field(path string) string {
	v := e.value
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return strings.ReplaceAll(v, "\x00", "")
	}
	b, _ := canonical(v) // it was JSON
	return string(b)
}

// ID is equal for deliveries of the same event to the same hook: that of a tool call is
// known by the call's id, any other by all that it says.
func (e *Event) ID(hook string) string {
	of := string(e.text)
	if call := e.Field("tool_use_id"); call != "" {
		of = "call\x1f" + e.Session + "\x1f" + e.Name + "\x1f" + call
	}
	sum := sha256.Sum256([]byte(hook + "\x1f" + of))
	return hex.EncodeToString(sum[:16])
}
