package hookcases

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/harvest/redact"
)

// MaxInput is the longest input that is kept, in bytes.
const MaxInput = 64 << 10

// Why nothing can be decided on a case: a guard might decide otherwise on what is left.
const (
	redacted = "redacted"
	cut      = "cut"
)

// places are fields that name files of the agent's own, by which no guard decides.
var places = []string{"transcript_path", "agent_transcript_path"}

// fit is an input as it is kept: as it is, or redacted and then cut, always one valid JSON
// object. fault is why it decides nothing, "" if it is as it was or only places differ.
func fit(input json.RawMessage, red redact.Redactor) (out json.RawMessage, fault string) {
	fields, ok := decode(input)
	if !ok {
		return json.RawMessage(`{}`), cut
	}
	changed := false
	for name, v := range fields {
		clean, n := walk(v, func(s string) (string, bool) {
			clean, n := red.Redact(s)
			return clean, n > 0
		})
		fields[name] = clean
		if changed = changed || n; n && !slices.Contains(places, name) {
			fault = redacted
		}
	}
	out = input
	if changed || !utf8.Valid(input) {
		out = encode(fields)
	}
	if clean, n := red.Redact(string(out)); n > 0 { // a field's name can tell what its text is
		if fault, out = redacted, json.RawMessage(clean); !json.Valid(out) {
			return json.RawMessage(`{}`), redacted
		}
		fields, _ = decode(out)
	}
	for most := MaxInput / 4; len(out) > MaxInput; most /= 4 {
		fault = cut
		if most == 0 { // so many values that it is not their length
			return json.RawMessage(`{}`), fault
		}
		short, _ := walk(fields, func(s string) (string, bool) { return head(s, most), len(s) > most })
		fields = short.(map[string]any)
		out = encode(fields)
	}
	return out, fault
}

func decode(input json.RawMessage) (fields map[string]any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(input))
	d.UseNumber() // as it is written
	return fields, d.Decode(&fields) == nil && fields != nil && !d.More()
}

func encode(fields map[string]any) json.RawMessage {
	out, err := json.Marshal(fields)
	if err != nil {
		panic(err) // it came from JSON
	}
	return out
}

// walk applies change to each text of a decoded value, names of fields too, and reports whether
// one changed.
func walk(v any, change func(string) (string, bool)) (out any, changed bool) {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		for i := range v {
			clean, is := walk(v[i], change)
			v[i], changed = clean, changed || is
		}
	case map[string]any:
		for _, name := range slices.Collect(maps.Keys(v)) {
			value := v[name]
			delete(v, name)
			clean, is := change(name)
			kept, was := walk(value, change)
			v[clean], changed = kept, changed || is || was
		}
	}
	return v, changed
}

// head are the first bytes of a text, without half a character.
func head(s string, n int) string {
	for n < len(s) && n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:min(n, len(s))]
}
