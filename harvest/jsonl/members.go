package jsonl

import "bytes"

// Members iterates over the members of a JSON object in their order, without decoding
// them: a reader looks at the head of a line and decides whether it needs the rest,
// such as a tool's output. A quote inside a JSON string is escaped, so the content of a
// string is never taken for a member. It does not validate: if the syntax makes no
// sense, Next is false.
type Members struct {
	line []byte
	at   int    // the value of the member under the cursor; before the first, its brace
	next int    // the end of that value, 0 if not computed yet
	key  []byte // raw
}

// Object returns the members of the object that line begins with.
func Object(line []byte) Members {
	if len(line) == 0 || line[0] != '{' {
		return Members{line: line, at: -1}
	}
	return Members{line: line}
}

// Next goes to the next member. It is false at the end of the object, or if the syntax
// makes no sense.
func (m *Members) Next() bool {
	if m.at < 0 {
		return false
	}
	i := blank(m.line, 1)
	if m.at > 0 {
		end := m.end()
		if end < 0 {
			return m.stop()
		}
		if i = blank(m.line, end); i >= len(m.line) || m.line[i] != ',' {
			return m.stop()
		}
		i = blank(m.line, i+1)
	}
	end := quoted(m.line, i)
	if end < 0 {
		return m.stop()
	}
	m.key = m.line[i+1 : end-1]
	if i = blank(m.line, end); i >= len(m.line) || m.line[i] != ':' {
		return m.stop()
	}
	if i = blank(m.line, i+1); i >= len(m.line) {
		return m.stop()
	}
	m.at, m.next = i, 0
	return true
}

func (m *Members) stop() bool {
	m.at = -1
	return false
}

// Key is the member's name unchanged, escapes included.
func (m *Members) Key() []byte { return m.key }

// Rest is the line from the first byte of the member's value on. It costs nothing,
// however long the value is.
func (m *Members) Rest() []byte {
	if m.at <= 0 {
		return nil
	}
	return m.line[m.at:]
}

// Value is the member's value as raw JSON, nil if it has no end.
func (m *Members) Value() []byte {
	if m.at <= 0 {
		return nil
	}
	end := m.end()
	if end < 0 {
		return nil
	}
	return m.line[m.at:end]
}

// Text is the member's value if it is a string without escapes, as names, ids and times
// are.
func (m *Members) Text() (text []byte, ok bool) {
	v := m.Value()
	if len(v) < 2 || v[0] != '"' || bytes.IndexByte(v, '\\') >= 0 {
		return nil, false
	}
	return v[1 : len(v)-1], true
}

// Elements calls f with every element of an array. Anything else has none.
func Elements(raw []byte, f func(raw []byte)) {
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	for i := 1; ; i++ {
		i = blank(raw, i)
		if i >= len(raw) || raw[i] == ']' {
			return
		}
		end := value(raw, i)
		if end < 0 {
			return
		}
		f(raw[i:end])
		if i = blank(raw, end); i >= len(raw) || raw[i] != ',' {
			return
		}
	}
}

func (m *Members) end() int {
	if m.next == 0 {
		m.next = value(m.line, m.at)
	}
	return m.next
}

func blank(line []byte, i int) int {
	for i < len(line) && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r' || line[i] == '\n') {
		i++
	}
	return i
}

// quoted returns the end of the string that begins at line[i], or -1.
func quoted(line []byte, i int) int {
	if i >= len(line) || line[i] != '"' {
		return -1
	}
	for j := i + 1; ; {
		k := bytes.IndexByte(line[j:], '"')
		if k < 0 {
			return -1
		}
		k += j
		slashes := 0
		for line[k-1-slashes] == '\\' { // ends at the opening quote
			slashes++
		}
		if slashes%2 == 0 {
			return k + 1
		}
		j = k + 1
	}
}

// value returns the end of the JSON value that begins at line[i], or -1.
func value(line []byte, i int) int {
	switch line[i] {
	case '"':
		return quoted(line, i)
	case '{', '[':
		for depth := 0; i < len(line); i++ {
			switch line[i] {
			case '"':
				end := quoted(line, i)
				if end < 0 {
					return -1
				}
				i = end - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return -1
	}
	for i < len(line) && line[i] != ',' && line[i] != '}' && line[i] != ' ' {
		i++
	}
	return i
}
