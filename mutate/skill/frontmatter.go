package skill

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"go.yaml.in/yaml/v3"
)

const byteOrderMark = "\ufeff"

// A frontmatter is the YAML between the first two `---` lines, parsed, and as
// a range of bytes.
type frontmatter struct {
	present bool
	yaml    int // offset of the first byte after the opening line
	close   int // offset of the closing line
	end     int // offset of the first byte of the body

	root        *yaml.Node // the mapping; nil if there are no keys
	description [2]int     // byte range of the value if it may be evolved, else {0,0}
}

// cutFrontmatter finds and reads the frontmatter. It opens on line 1 (after a
// byte order mark) and closes on the next line that equals `---`; a carriage
// return before the line feed belongs to the line break. Without an opening
// line the file is all body.
func cutFrontmatter(raw []byte) (frontmatter, *SyntaxError) {
	f := frontmatter{end: byteOrder(raw)}
	line, next := cutLine(raw, f.end)
	if string(line) != "---" {
		return f, nil
	}
	f.yaml = next
	for at := next; at < len(raw); {
		line, next := cutLine(raw, at)
		if string(line) == "---" {
			f.present, f.close, f.end = true, at, next
			return f, f.read(raw)
		}
		at = next
	}
	return f, &SyntaxError{Line: 1, Msg: "the frontmatter is opened and never closed by a line ---"}
}

// byteOrder is the length of the byte order mark that raw begins with.
func byteOrder(raw []byte) int {
	if bytes.HasPrefix(raw, []byte(byteOrderMark)) {
		return len(byteOrderMark)
	}
	return 0
}

// cutLine returns the line at offset at without its line break, and the offset
// of the next one.
func cutLine(b []byte, at int) (line []byte, next int) {
	end := bytes.IndexByte(b[at:], '\n')
	if end < 0 {
		return bytes.TrimSuffix(b[at:], []byte("\r")), len(b)
	}
	return bytes.TrimSuffix(b[at:at+end], []byte("\r")), at + end + 1
}

var yamlErrorLine = lazyregexp.New(`^yaml: (?:line (\d+): )?(.*)`)

// read parses the YAML. Line numbers of the file are larger by one than those
// of the YAML.
func (f *frontmatter) read(raw []byte) *SyntaxError {
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(raw[f.yaml:f.close]))
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil // no keys at all; Validate reports what is missing
	}
	if err != nil {
		line, msg := 2, err.Error()
		if m := yamlErrorLine.FindStringSubmatch(msg); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				line = n + 1
			}
			msg = m[2]
		}
		return &SyntaxError{Line: line, Msg: "the frontmatter is not YAML: " + msg + " (a value with a colon, brackets or a leading mark needs quotes)"}
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return &SyntaxError{Line: 2, Msg: "the frontmatter holds more than one YAML document"}
	}
	root := &doc
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		root = doc.Content[0]
	}
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil
	}
	if root.Kind != yaml.MappingNode {
		return &SyntaxError{Line: root.Line + 1, Msg: "the frontmatter is not a mapping of keys to values"}
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		k := root.Content[i]
		if seen[k.Value] {
			return &SyntaxError{Line: k.Line + 1, Msg: fmt.Sprintf("the key %q stands twice in the frontmatter", k.Value)}
		}
		seen[k.Value] = true
	}
	f.root = root
	return nil
}

// value is the node under a top-level key, aliases followed, nil if absent.
func (f *frontmatter) value(key string) *yaml.Node {
	if f.root == nil {
		return nil
	}
	return MapValue(f.root, key)
}

// MapValue is the value of a key in a mapping, aliases followed, nil if absent.
func MapValue(m *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return Follow(m.Content[i+1])
		}
	}
	return nil
}

// Follow is the node that an alias leads to, or n itself.
func Follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return n
}

// text is a top-level scalar's text, "" if absent, null or not a scalar.
func (f *frontmatter) text(key string) string {
	n := f.value(key)
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}
