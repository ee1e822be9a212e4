package start

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"go.yaml.in/yaml/v3"
)

const maxConfig = 1 << 20

// A setting is a key of config.yaml with its value, as YAML has it, and what is written above
// it if the file does not have the key.
type setting struct{ key, value, comment string }

// newFile begins a file that evolve init makes.
const newFile = `# evolve's settings: the defaults of flags. A flag that is typed overrides them.
# "evolve help config" lists all keys. This file is yours: evolve init changes the keys that
# you answer, and keeps everything else.
`

// A file is config.yaml before and after.
type file struct {
	path     string // of the file itself, if config.yaml is a link
	old, new []byte
}

// edit puts settings into a configuration, and writes nothing.
func edit(path string, settings []setting) (*file, error) {
	f := &file{path: path}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		f.path = to
	}
	var err error
	if f.old, err = bounded.ReadFile(f.path, maxConfig); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	text := string(f.old)
	if err != nil {
		text = newFile
	}
	for _, s := range settings {
		if text, err = spliced(text, s); err != nil {
			return nil, problem.Inputf(fmt.Sprintf("write `%s: %s` into it yourself, and repeat the command", s.key, s.value), "%s: %v", path, err)
		}
	}
	f.new = []byte(text)
	return f, nil
}

// spliced sets one key at the top of a configuration, and changes no other byte: not by
// writing YAML again, which would lose comments. What does not read as it should is refused.
func spliced(text string, s setting) (string, error) {
	before, err := keysOf(text)
	if err != nil {
		return "", err
	}
	var want any
	if err := yaml.Unmarshal([]byte(s.value), &want); err != nil {
		return "", err
	}
	if was, ok := before[s.key]; ok && reflect.DeepEqual(was, want) {
		return text, nil
	}
	out := ""
	if _, ok := before[s.key]; ok {
		at := regexp.MustCompile(`(?m)^(["']?` + regexp.QuoteMeta(s.key) + `["']?[ \t]*:[ \t]+)("[^"\n]*"|'[^'\n]*'|[^\s#"'\n][^#\r\n]*?)([ \t]*(?:[ \t]#[^\r\n]*)?\r?)$`)
		m := at.FindAllStringSubmatchIndex(text, -1)
		if len(m) != 1 {
			return "", fmt.Errorf("%s is written in a way that cannot be changed safely", s.key)
		}
		out = text[:m[0][4]] + s.value + text[m[0][5]:]
	} else {
		feed := "\n"
		if strings.Contains(text, "\r\n") {
			feed = "\r\n"
		}
		if out = text; out != "" && !strings.HasSuffix(out, "\n") {
			out += feed
		}
		out += feed
		for line := range strings.Lines(s.comment) {
			out += "# " + strings.TrimSuffix(line, "\n") + feed
		}
		out += s.key + ": " + s.value + feed
	}
	after, err := keysOf(out)
	if err == nil {
		if before == nil {
			before = map[string]any{}
		}
		if before[s.key] = want; !reflect.DeepEqual(before, after) {
			err = errors.New("another key would change")
		}
	}
	if err != nil {
		return "", fmt.Errorf("%s cannot be set safely in it: %w", s.key, err)
	}
	return out, nil
}

// keysOf are the keys at the top of a configuration, nil for one without any.
func keysOf(text string) (keys map[string]any, err error) {
	d := yaml.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&keys); err != nil && strings.TrimSpace(text) != "" {
		if comments(text) {
			return nil, nil
		}
		return nil, err
	}
	if d.Decode(new(yaml.Node)) == nil {
		return nil, errors.New("there is more than one document")
	}
	return keys, nil
}

// comments reports whether a text has nothing but comments and empty lines.
func comments(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

// changed reports whether there is anything to write.
func (f *file) changed() bool { return !bytes.Equal(f.old, f.new) }

// write replaces the file at once, unless it was changed since it was read.
func (f *file) write() error {
	mode := os.FileMode(0o600)
	now, err := bounded.ReadFile(f.path, maxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the configuration: %w", err)
	}
	if !bytes.Equal(now, f.old) {
		return problem.Refusef("`evolve init` begins again", "%s was changed meanwhile: nothing was written", f.path)
	}
	if info, err := os.Stat(f.path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	if err := renameio.WriteFile(f.path, f.new, mode); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}

// quoted is a text as YAML.
func quoted(s string) string {
	var back any
	if yaml.Unmarshal([]byte(s), &back) == nil && back == s && plain.Arg(s) == s {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}
