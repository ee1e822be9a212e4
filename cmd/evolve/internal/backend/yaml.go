package backend

import (
	"bytes"
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"go.yaml.in/yaml/v3"
)

// strictYAML decodes one document into v. It refuses keys that v does not know and values
// of another kind, in words of its own: those of the decoder name types of Go.
func strictYAML(text []byte, v any) error {
	var doc yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil // empty
	} else if err != nil {
		return notYAML(err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("there is more than one document")
	}
	if len(doc.Content) == 0 {
		return nil
	}
	if err := fits(doc.Content[0], reflect.TypeOf(v), "the file"); err != nil {
		return err
	}
	return doc.Decode(v)
}

var yamlLine = lazyregexp.New(`^yaml: (line \d+: )?(.*)`)

// notYAML is an error of syntax. The parser gives the line of what it read last, which is the
// wrong one or the one before it.
func notYAML(err error) error {
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	return fmt.Errorf("%sthis or the next line is no YAML: %s", cmp.Or(m[1], "line 1: "), m[2])
}

// fits follows a node along a type and returns the first key without a field, the first key
// that is there twice, or the first value of another kind; key names n.
func fits(n *yaml.Node, t reflect.Type, key string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	takes := func(what string) error { return fmt.Errorf("line %d: %s takes %s", n.Line, key, what) }
	switch {
	case n.Kind == yaml.AliasNode:
		return fits(n.Alias, t, key)
	case n.Tag == "!!null":
		return nil
	}
	named := reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) // has words of its own
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		if n.Kind != yaml.MappingNode {
			return takes("keys with values, one a line")
		}
		return fitKeys(n, t)
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			return takes("a list, for example [a, b]")
		}
		for _, c := range n.Content {
			if err := fits(c, t.Elem(), "each of "+key); err != nil {
				return err
			}
		}
		return nil
	}
	if n.Kind != yaml.ScalarNode {
		return takes("one value")
	}
	what, ok := map[reflect.Kind]string{reflect.Float64: "a number", reflect.Bool: "true or false", reflect.Int: "a whole number", reflect.Int64: "a whole number"}[t.Kind()]
	whole := strings.HasSuffix(what, "whole number") && n.ShortTag() != "!!int" // the decoder would cut a fraction off
	if ok && !named && (whole || n.Decode(reflect.New(t).Interface()) != nil) {
		return takes(fmt.Sprintf("%s, not %q", what, n.Value))
	}
	return nil
}

// fitKeys is fits for the keys of n.
func fitKeys(n *yaml.Node, t reflect.Type) error {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if line, twice := seen[key.Value]; twice {
			return fmt.Errorf("line %d: %s is there twice: it is in line %d, too", key.Line, key.Value, line)
		}
		seen[key.Value] = key.Line
		var inner reflect.Type
		if t.Kind() == reflect.Map {
			inner = t.Elem()
		} else {
			var names []string
			for j := range t.NumField() {
				name, _, _ := strings.Cut(t.Field(j).Tag.Get("yaml"), ",")
				names = append(names, name)
				if name == key.Value {
					inner = t.Field(j).Type
				}
			}
			if inner == nil {
				return &unknownKey{key.Line, key.Value, skill.Nearest(key.Value, names)}
			}
		}
		if err := fits(n.Content[i+1], inner, key.Value); err != nil {
			return err
		}
	}
	return nil
}
