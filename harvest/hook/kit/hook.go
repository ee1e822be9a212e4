package kit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/store/datadir"
)

// Noted is the phase of the bus's records that Hook.Note writes.
const Noted = "noted"

const (
	maxName   = 64
	maxValue  = 64 << 10 // bytes of a value
	maxNote   = 4 << 10  // bytes of a record: the bus is searched for it before it is written again
	maxEvents = 64       // that are remembered of a key: deliveries of the same event are close to each other
	maxState  = 64 << 20 // bytes of a file: more than maxEvents values need
	maxBus    = 256 << 20

	// Without its lock a state is not changed, so a hook waits longer for it than for the
	// bus: many calls of one turn may come at once.
	stateWait = 5 * time.Second
)

// A Hook is one that a person wrote, at one event. What it keeps is in Home. The second
// delivery of an event changes nothing there and finds what the first one found.
type Hook struct {
	Home  string // evolve's data folder
	Name  string
	Event *Event // nil: none is known, and nothing is recognised
	Now   func() time.Time
}

// Open finds the hook's name in HOOK_NAME, and evolve's data folder.
func Open(getenv func(string) string, e *Event, now func() time.Time) (*Hook, error) {
	h := &Hook{Name: getenv("HOOK_NAME"), Event: e, Now: now}
	if h.Name == "" {
		return nil, errors.New("HOOK_NAME is not set: it names what the hook keeps")
	}
	if err := ValidName(h.Name); err != nil {
		return nil, fmt.Errorf("HOOK_NAME: %w", err)
	}
	home, err := datadir.Find(getenv)
	h.Home = string(home)
	return h, err
}

func (h *Hook) id() string {
	if h.Event == nil {
		return ""
	}
	return h.Event.ID(h.Name)
}

// ValidName reports why a name is not that of a hook, of a value or of a cooldown: it is
// part of a file's name.
func ValidName(name string) error {
	ok := name != "" && len(name) <= maxName && name[0] != '.' && name[0] != '-'
	for _, r := range name {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	}
	if !ok {
		return fmt.Errorf("%q is no name: at most %d letters, digits, ., _ and -, with neither . nor - first", name, maxName)
	}
	return nil
}

// A kept is the file of a value or a cooldown.
type kept struct {
	Schema int       `json:"schema"`
	Value  *string   `json:"value,omitempty"`
	At     time.Time `json:"at,omitzero"` // the cooldown's last start
	// Events are the latest that asked to change it, the newest last.
	Events []change `json:"events,omitempty"`
}

// A change is of one event: the value before it, or whether the cooldown was over.
type change struct {
	ID     string  `json:"id"`
	Before *string `json:"before,omitempty"`
	Passed bool    `json:"passed,omitempty"`
}

func (k *kept) by(id string) *change {
	if i := slices.IndexFunc(k.Events, func(c change) bool { return c.ID == id }); i >= 0 && id != "" {
		return &k.Events[i]
	}
	return nil
}

func (k *kept) add(c change) {
	if c.ID != "" {
		k.Events = append(k.Events, c)
		k.Events = k.Events[max(0, len(k.Events)-maxEvents):]
	}
}

func (h *Hook) folder() string { return filepath.Join(datadir.Dir(h.Home).HookState(), h.Name) }

// file is that of a value or a cooldown.
func (h *Hook) file(kind, name string) (string, error) {
	if err := ValidName(name); err != nil {
		return "", err
	}
	return filepath.Join(h.folder(), kind+"-"+name+".json"), nil
}

// read returns an empty one for a file that is missing or damaged: nothing in it is worth
// more than that the hook goes on.
func read(path string) (*kept, error) {
	b, err := bounded.ReadFile(path, maxState)
	k := &kept{}
	if errors.Is(err, fs.ErrNotExist) {
		return &kept{Schema: 1}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	if json.Unmarshal(b, k) != nil || k.Schema != 1 {
		return &kept{Schema: 1}, nil
	}
	return k, nil
}

// edit replaces a file with what change makes of it, one process of the hook at a time;
// change reports whether there is something to write.
func (h *Hook) edit(path string, change func(*kept) bool) error {
	unlock, err := h.lock()
	if err != nil {
		return err
	}
	defer unlock()
	k, err := read(path)
	if err != nil {
		return err
	}
	if !change(k) {
		return nil
	}
	b, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return WriteFile(path, append(b, '\n'))
}

// lock is of all that the hook keeps.
func (h *Hook) lock() (unlock func(), err error) {
	if err := os.MkdirAll(h.folder(), 0o700); err != nil {
		return nil, fmt.Errorf("write state: %w", err)
	}
	if unlock, err = lock(filepath.Join(h.folder(), ".lock"), stateWait); err != nil {
		return nil, fmt.Errorf("wait for the hook's other processes: %w", err)
	}
	return unlock, nil
}

// Get returns a value as the event found it: what the event itself has set is seen by the
// next one. It is "" if there is none.
func (h *Hook) Get(key string) (string, error) {
	path, err := h.file("value", key)
	if err != nil {
		return "", err
	}
	k, err := read(path)
	if err != nil {
		return "", err
	}
	v := k.Value
	if c := k.by(h.id()); c != nil {
		v = c.Before
	}
	if v == nil {
		return "", nil
	}
	return *v, nil
}

// Set replaces a value. An event sets a key once.
func (h *Hook) Set(key, value string) error {
	path, err := h.file("value", key)
	if err != nil {
		return err
	}
	if len(value) > maxValue {
		return fmt.Errorf("write state: the value is longer than %d bytes", maxValue)
	}
	return h.edit(path, func(k *kept) bool {
		if k.by(h.id()) != nil || h.Event == nil && k.Value != nil && *k.Value == value {
			return false
		}
		k.add(change{ID: h.id(), Before: k.Value})
		k.Value = &value
		return true
	})
}

// Change replaces a value by what a function makes of it, one process of the hook at a time. For
// another delivery of an event it gets what the first one got, and nothing is written.
func (h *Hook) Change(key string, makes func(before string) string) error {
	path, err := h.file("value", key)
	if err != nil {
		return err
	}
	long := false
	err = h.edit(path, func(k *kept) bool {
		v, was := k.Value, k.by(h.id())
		if was != nil {
			v = was.Before
		}
		before := ""
		if v != nil {
			before = *v
		}
		after := makes(before)
		if long = len(after) > maxValue; long || was != nil || after == before {
			return false
		}
		k.add(change{ID: h.id(), Before: v})
		k.Value = &after
		return true
	})
	if err == nil && long {
		err = fmt.Errorf("write state: the value is longer than %d bytes", maxValue)
	}
	return err
}

// Forget removes the values whose keys begin with prefix and that nobody has set for age.
func (h *Hook) Forget(prefix string, age time.Duration) {
	files, _ := filepath.Glob(filepath.Join(h.folder(), "value-"+prefix+"*.json"))
	for _, path := range files {
		if info, err := os.Stat(path); err == nil && h.Now().Sub(info.ModTime()) > age {
			_ = os.Remove(path)
		}
	}
}

// Cooldown reports whether d has passed since it last did so; if so, it begins again.
func (h *Hook) Cooldown(name string, d time.Duration) (over bool, err error) {
	path, err := h.file("cooldown", name)
	if err != nil {
		return false, err
	}
	err = h.edit(path, func(k *kept) bool {
		if c := k.by(h.id()); c != nil {
			over = c.Passed
			return false
		}
		now := h.Now()
		// A clock that was set back must not hold it for longer.
		over = k.At.IsZero() || now.Sub(k.At).Abs() >= d
		k.add(change{ID: h.id(), Passed: over})
		if over {
			k.At = now.UTC()
		}
		return over || h.Event != nil
	})
	return over && err == nil, err
}

// Log writes a line to the hook's log, once for each event.
func (h *Hook) Log(text string) error {
	unlock, err := h.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if h.Event != nil {
		mark := " (event " + h.id()[:12] + ")"
		// The mark must be left, or the line would not be recognised.
		text = strings.TrimSpace(message(text, maxMessage-len(cut)-len(mark)) + mark)
		if f, err := bounded.Open(filepath.Join(h.Home, "logs", h.Name+".log")); err == nil {
			end, err := tail(f)
			f.Close()
			for line := range strings.Lines(string(end)) {
				if _, was, _ := strings.Cut(line, " "); err == nil && was == text+"\n" {
					return nil
				}
			}
		}
	}
	return Log(h.Home, h.Name, h.Now(), text)
}

// A note is a record of the bus: see hook.Record.
type note struct {
	Version int    `json:"v"`
	Key     string `json:"key"`
	Phase   string `json:"phase"`
	Session string `json:"session"`
	Event   struct {
		Timestamp string `json:"timestamp"`
	} `json:"event"`
	Hook string            `json:"hook"`
	On   string            `json:"on,omitempty"`
	Note map[string]string `json:"note"`
}

// Note writes a record to the bus, one for each event; added is false if it has it.
// Without an event each is another one.
func (h *Hook) Note(fields map[string]string) (added bool, err error) {
	for name := range fields {
		if err := ValidName(name); err != nil || name == "key" { // a key is what records are recognised by
			return false, fmt.Errorf("write bus: a field cannot be called %q", name)
		}
	}
	n := note{Version: 1, Key: h.id(), Phase: Noted, Hook: h.Name, Note: fields}
	n.Event.Timestamp = h.Now().UTC().Format(time.RFC3339Nano)
	if h.Event != nil {
		n.Session, n.On = h.Event.Session, h.Event.Name
	} else {
		n.Key = fmt.Sprintf("%s|%d|%s", h.Name, os.Getpid(), n.Event.Timestamp)
	}
	b, err := canonical(n)
	if err != nil {
		return false, fmt.Errorf("encode record: %w", err)
	}
	if len(b) > maxNote {
		return false, fmt.Errorf("write bus: the record is longer than %d bytes", maxNote)
	}
	k, err := Append(h.Home, Line{n.Key, b})
	return k > 0, err
}

// Notes are the hook's records on the bus, each key once, as they were written; what is no
// record is passed over.
func (h *Hook) Notes() ([][]byte, error) {
	b, err := bounded.ReadFile(filepath.Join(h.Home, BusFile), maxBus)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read bus: %w", err)
	}
	seen := map[string]bool{}
	var out [][]byte
	for line := range strings.Lines(string(b)) {
		var n note
		if json.Unmarshal([]byte(line), &n) != nil || n.Phase != Noted || n.Hook != h.Name || seen[n.Key] {
			continue
		}
		seen[n.Key] = true
		out = append(out, []byte(strings.TrimSuffix(line, "\n")))
	}
	return out, nil
}
