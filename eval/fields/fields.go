// Package fields decodes JSON strictly, and finds the keys that a struct has no field for: the
// error of encoding/json gives neither their place nor the nearest known name.
package fields

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// Unknown are all keys in text that t has no field for, as errors.
func Unknown(text []byte, t reflect.Type) []error { return unknown(text, t, "") }

func unknown(text []byte, t reflect.Type, at string) (found []error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return nil
	case t.Kind() == reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(text, &items) != nil {
			return nil
		}
		for i, item := range items {
			found = append(found, unknown(item, t.Elem(), fmt.Sprintf("%s[%d]", at, i))...)
		}
		return found
	case t.Kind() != reflect.Struct:
		return nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) != nil {
		return nil
	}
	known := make(map[string]reflect.Type)
	var names []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		known[name] = f.Type
		names = append(names, name)
	}
	for _, k := range slices.Sorted(maps.Keys(object)) {
		path := strings.TrimPrefix(at+"."+k, ".")
		if ft, ok := known[strings.ToLower(k)]; ok { // encoding/json ignores case too
			found = append(found, unknown(object[k], ft, path)...)
		} else {
			found = append(found, fmt.Errorf("unknown field %q%s", path, DidYouMean(k, names)))
		}
	}
	return found
}

// DidYouMean is the end of an error message: ` (did you mean "x"?)`, or the whole list if
// nothing is near.
func DidYouMean(got string, words []string) string {
	if w := skill.Nearest(got, words); w != "" {
		return ` (did you mean "` + w + `"?)`
	}
	return " (known: " + strings.Join(words, ", ") + ")"
}
