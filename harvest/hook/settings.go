package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"github.com/tidwall/gjson"
)

// A SettingsError is the reason why a settings file cannot be edited. The file is
// unchanged.
type SettingsError struct {
	Reason string
	Hint   string
}

func (e *SettingsError) Error() string { return e.Reason }

// timeout is how long Claude Code waits for a hook, in seconds. A hook takes
// milliseconds; the limit is for a machine that hangs.
const timeout = 5

// A matched is one entry of an event: commands, and the tools that they run for.
type matched struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []command `json:"hooks"`
}

type command struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

// entry is the entry for an event. program is evolve as a shell calls it.
func entry(event, program string) matched {
	m := matched{Hooks: []command{{"command", program + " hook " + event, timeout}}}
	if event == PreToolUse || event == PostToolUse {
		m.Matcher = "Skill"
	}
	return m
}

// Fragment is what Add adds to empty settings: the object with the key "hooks",
// indented.
func Fragment(program string) []byte {
	out, err := Add(nil, program)
	if err != nil {
		panic(err) // this type can always be marshalled
	}
	return out
}

// ours matches the commands of evolve's hooks, whatever folder the program is in.
var ours = lazyregexp.New(`(?:^|[\s/\\'"])evolve[\w.-]*['"]? hook (\w+)$`)

// Add returns the settings with evolve's hooks for all Events. Every other byte is
// kept, and what is there already is not added again; hooks that call the program in
// another place are changed to this one. An empty text is treated as no file. The error
// is a *SettingsError.
func Add(text []byte, program string) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	if err := check(text); err != nil {
		return nil, err
	}
	y := layoutOf(text[bom(text):])
	for _, event := range Events {
		place, err := find(text, event)
		if err != nil {
			return nil, err
		}
		e := entry(event, program)
		if len(place.ours) > 0 {
			for _, o := range slices.Backward(place.ours) { // the last first, so that the offsets before it stay valid
				if o.command != e.Hooks[0].Command {
					quoted, err := y.render(e.Hooks[0].Command, 0)
					if err != nil {
						return nil, err
					}
					text = put(text, o.start, o.end, quoted)
				}
			}
			continue
		}
		switch {
		case place.event != nil:
			what, err := y.render(e, 3)
			if err != nil {
				return nil, err
			}
			text = y.add(text, *place.event, what, 3)
		case place.hooks != nil:
			what, err := y.member(event, []matched{e}, 2)
			if err != nil {
				return nil, err
			}
			text = y.add(text, *place.hooks, what, 2)
		default:
			what, err := y.member("hooks", map[string][]matched{event: {e}}, 1)
			if err != nil {
				return nil, err
			}
			text = y.add(text, place.root, what, 1)
		}
	}
	return text, nil
}

// Remove returns the settings without evolve's hooks. Lists that are then empty are
// removed too, unless they were in before, the text before Add; before is nil if that
// is not known.
func Remove(text, before []byte) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return text, nil
	}
	for _, event := range Events {
		for {
			place, err := find(text, event)
			if err != nil {
				return nil, err
			}
			if len(place.ours) == 0 {
				break
			}
			o := place.ours[0]
			switch {
			case len(o.group.items) > 1:
				text = drop(text, o.group, o.inGroup)
			case len(place.event.items) > 1 || had(before, event):
				text = drop(text, *place.event, o.inEvent)
			case len(place.hooks.items) > 1 || had(before, ""):
				text = drop(text, *place.hooks, place.inHooks)
			default:
				text = drop(text, place.root, place.inRoot)
			}
		}
	}
	return text, nil
}

// Ours reports whether a command is one of evolve's hooks.
func Ours(command string) bool { return ours.MatchString(strings.TrimSpace(command)) }

// had reports whether the settings had a list for an event, or, if event is "", the
// object of all events.
func had(before []byte, event string) bool {
	if len(bytes.TrimSpace(before)) == 0 {
		return false
	}
	place, err := find(before, event)
	return err == nil && (event == "" && place.hooks != nil || place.event != nil)
}

// Hooked lists the commands of evolve's hooks in the settings, by event. off is true if
// the settings turn all hooks off.
func Hooked(text []byte) (commands map[string][]string, off bool, err error) {
	commands = map[string][]string{}
	if len(bytes.TrimSpace(text)) == 0 {
		return commands, false, nil
	}
	for _, event := range Events {
		place, err := find(text, event)
		if err != nil {
			return nil, false, err
		}
		for _, o := range place.ours {
			commands[event] = append(commands[event], o.command)
		}
	}
	var s struct {
		Off bool `json:"disableAllHooks"`
	}
	_ = json.Unmarshal(text[bom(text):], &s) // another type is not true
	return commands, s.Off, nil
}

// check refuses anything but a JSON object; the other functions rely on it.
func check(text []byte) error {
	at := bom(text)
	if !json.Valid(text[at:]) {
		var v any
		err := json.Unmarshal(text[at:], &v)
		var syntax *json.SyntaxError
		line := 1
		if errors.As(err, &syntax) {
			line += bytes.Count(text[:min(len(text), at+int(syntax.Offset))], []byte("\n"))
		}
		return &SettingsError{fmt.Sprintf("line %d is not JSON: %v", line, err), "mend the file first (JSON has no comments and no comma before a bracket)"}
	}
	if !gjson.ParseBytes(text[at:]).IsObject() {
		return &SettingsError{"it is no JSON object", "settings are one object: {…}"}
	}
	return nil
}

// A place is where an event's hooks are in the settings, or would be.
type place struct {
	root            list
	hooks, event    *list // nil: not there
	inRoot, inHooks int
	ours            []found
}

// A found hook is one of evolve's.
type found struct {
	command          string
	start, end       int  // of the string
	group            list // the commands in the same entry
	inGroup, inEvent int
}

// find looks for an event's hooks.
func find(text []byte, event string) (p place, err error) {
	if err := check(text); err != nil {
		return p, err
	}
	at := bom(text)
	p.root, _ = listAt(text, at, len(text))
	twice := func(err error) error { return &SettingsError{err.Error(), "keep one of them"} }
	if p.inRoot, err = p.root.find("hooks"); err != nil {
		return p, twice(err)
	}
	if p.inRoot < 0 {
		return p, nil
	}
	v := p.root.items[p.inRoot]
	if text[v.value] != '{' {
		return p, &SettingsError{`"hooks" is no object`, `"hooks" holds a list for each event: {"Stop": […]}`}
	}
	hooks, _ := listAt(text, v.value, v.end)
	p.hooks = &hooks
	if p.inHooks, err = hooks.find(event); err != nil {
		return p, twice(err)
	}
	if p.inHooks < 0 {
		return p, nil
	}
	if v = hooks.items[p.inHooks]; text[v.value] != '[' {
		return p, &SettingsError{fmt.Sprintf("%q of the hooks is no list", event), `"hooks" holds a list for each event: {"Stop": […]}`}
	}
	groups, _ := listAt(text, v.value, v.end)
	p.event = &groups
	for i, g := range groups.items {
		p.ours = append(p.ours, oursIn(text, event, g, i)...)
	}
	return p, nil
}

// oursIn returns evolve's hooks in the i-th entry of an event.
func oursIn(text []byte, event string, g item, i int) (out []found) {
	entry, ok := listAt(text, g.value, g.end)
	if !ok {
		return nil
	}
	at, err := entry.find("hooks")
	if err != nil || at < 0 {
		return nil
	}
	group, ok := listAt(text, entry.items[at].value, entry.items[at].end)
	if !ok {
		return nil
	}
	for j, h := range group.items {
		one, ok := listAt(text, h.value, h.end)
		if !ok {
			continue
		}
		k, err := one.find("command")
		if err != nil || k < 0 {
			continue
		}
		f := found{start: one.items[k].value, end: one.items[k].end, group: group, inGroup: j, inEvent: i}
		if json.Unmarshal(text[f.start:f.end], &f.command) != nil {
			continue
		}
		if m := ours.FindStringSubmatch(strings.TrimSpace(f.command)); m != nil && m[1] == event {
			out = append(out, f)
		}
	}
	return out
}

// bom is the length of the byte order mark, which some editors write.
func bom(text []byte) int {
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		return 3
	}
	return 0
}
