// Package rulefile reads rule files. A rule says which tool calls it stops, and what the agent is
// told then. A rule about an order, of what has to run before what, needs a State of the session;
// any other decides each call by itself.
package rulefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval/shell/sought"
)

// MaxBytes bounds a rule file, and maxPath a pattern in it: one of thousands of stars takes long.
const (
	MaxBytes = 64 << 10
	maxPath  = 1000
)

// A File is a list of rules, of which the first that is about a call stops it.
type File struct {
	Version int    `json:"version"` // 1
	Rules   []Rule `json:"rules"`
}

// A Rule is about the calls of some tools: about all of them, or only about commands, or files.
type Rule struct {
	// Event is Stop for a rule about the end of a turn, which has UnlessRan, and "" for one about
	// calls.
	Event string `json:"event,omitempty"`
	Tool  string `json:"tool,omitempty"` // a name, or several with | between them
	// Program is the name of a program, without a folder. The rule is about a command of it
	// that has all Words behind it, in any order, and none of NotWords.
	Program  string   `json:"program,omitempty"`
	Words    []string `json:"words,omitempty"`
	NotWords []string `json:"not_words,omitempty"`
	Path     string   `json:"path,omitempty"` // of the file that is edited, a pattern as Under takes it
	// UnlessRan are commands. The rule holds only while the session has edited a file and none of
	// them ran since. SinceEdit is which files these are, a pattern as Path; "" is any.
	UnlessRan []string `json:"unless_ran,omitempty"`
	SinceEdit string   `json:"since_edit,omitempty"`
	Say       string   `json:"say"` // to the agent
}

// Stop is the only Rule.Event.
const Stop = "Stop"

// keys are the only ones that a file has. encoding/json takes others that differ in case alone.
var keys = []string{"version", "rules", "tool", "program", "words", "not_words", "path", "say", "event", "unless_ran", "since_edit"}

// Parse reads a rule file. The error is the first fault, in words: what a file says to its
// reader must be what it does, so unknown and repeated keys are faults.
func Parse(text []byte) (*File, error) {
	switch {
	case len(text) > MaxBytes:
		return nil, fmt.Errorf("it has more than %d kB", MaxBytes>>10)
	case !utf8.Valid(text):
		return nil, errors.New("it is not UTF-8")
	}
	f := &File{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(f); err != nil {
		return nil, fault(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something is behind its end")
	}
	if err := known(json.NewDecoder(bytes.NewReader(text))); err != nil {
		return nil, err
	}
	switch {
	case f.Version != 1:
		return nil, fmt.Errorf("its version is %d, and not 1", f.Version)
	case f.Rules == nil:
		return nil, errors.New("it has no rules")
	}
	for i := range f.Rules {
		if err := f.Rules[i].valid(); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return f, nil
}

// fault is an error of encoding/json in words for a person.
func fault(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return fmt.Errorf("%q cannot be a %s", kind.Field, kind.Value)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends too early")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// known reads a value that was read already, and reports a key that is none of the keys, or
// that an object has twice.
func known(d *json.Decoder) error {
	t, err := d.Token()
	if open, is := t.(json.Delim); err != nil || !is || open != '{' && open != '[' {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		if t == json.Delim('{') {
			key, err := d.Token()
			if err != nil {
				return err
			}
			name, _ := key.(string)
			if seen[name] {
				return fmt.Errorf("%q is there twice", name)
			}
			if !slices.Contains(keys, name) {
				return fmt.Errorf("unknown field %q", name)
			}
			seen[name] = true
		}
		if err := known(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// valid reports what of a rule cannot be meant.
func (r *Rule) valid() error {
	if err := r.ordered(); err != nil || r.Event != "" {
		return err
	}
	for name := range strings.SplitSeq(r.Tool, "|") {
		if name == "" || strings.ContainsFunc(name, notOfName) {
			return fmt.Errorf("tool %q is no name, and no names with | between them", r.Tool)
		}
	}
	switch {
	case strings.TrimSpace(r.Say) == "":
		return errors.New("it says nothing to the agent")
	case r.Program == "" && len(r.Words)+len(r.NotWords) > 0:
		return errors.New("it has words, and no program")
	case r.Program != "" && r.Path != "":
		return errors.New("it has a program and a path: make two rules of it")
	case strings.ContainsAny(r.Program, "/ \t\n"):
		return fmt.Errorf("program %q is not a name alone", r.Program)
	case slices.Contains(r.Words, ""), slices.Contains(r.NotWords, ""):
		return errors.New("a word is empty")
	}
	if err := pattern("path", r.Path); err != nil {
		return err
	}
	for _, w := range r.Words {
		if slices.Contains(r.NotWords, w) {
			return fmt.Errorf("%q is in words and in not_words", w)
		}
	}
	return nil
}

// ordered reports what of an order cannot be meant, and of a rule about the end of a turn.
func (r *Rule) ordered() error {
	for _, command := range r.UnlessRan {
		if _, err := sought.Parse(command); err != nil {
			return fmt.Errorf("unless_ran: %w", err)
		}
	}
	switch {
	case r.SinceEdit != "" && len(r.UnlessRan) == 0:
		return errors.New("it has since_edit, and no unless_ran")
	case r.Event == "":
	case r.Event != Stop:
		return fmt.Errorf("event %q is not %s", r.Event, Stop)
	case r.Tool != "" || r.Program != "" || r.Path != "" || len(r.Words)+len(r.NotWords) > 0:
		return errors.New("it is about an event, and about calls: make two rules of it")
	case len(r.UnlessRan) == 0:
		return errors.New("it has an event, and no unless_ran")
	case strings.TrimSpace(r.Say) == "":
		return errors.New("it says nothing to the agent")
	}
	return pattern("since_edit", r.SinceEdit)
}

// pattern reports what of a pattern of files is not known here.
func pattern(key, text string) error {
	switch {
	case strings.HasPrefix(text, "!"), strings.HasPrefix(text, "~"):
		return fmt.Errorf("%s %q begins with %s, which is not known here", key, text, text[:1])
	case len(text) > maxPath:
		return fmt.Errorf("its %s has more than %d bytes", key, maxPath)
	}
	return nil
}

func notOfName(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("_-.:", c)
}

// Is reports whether a text is a rule file, valid or not: its top level has rules.
func Is(text []byte) bool {
	var top map[string]json.RawMessage
	return len(text) <= MaxBytes && json.Unmarshal(text, &top) == nil && top["rules"] != nil
}

// Text is a rule file as a person would write it, a rule on each line.
func (f *File) Text() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("{\"version\": 1, \"rules\": [\n")
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i := range f.Rules {
		if i > 0 {
			b.Truncate(b.Len() - 1)
			b.WriteString(",\n")
		}
		b.WriteString("  ")
		if err := enc.Encode(&f.Rules[i]); err != nil {
			return nil, fmt.Errorf("write a rule: %w", err)
		}
	}
	b.WriteString("]}\n")
	return b.Bytes(), nil
}
