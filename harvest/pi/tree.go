package pi

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/jsonl"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/tidwall/gjson"
)

const (
	maxEntries = 1 << 20
	maxText    = 64 << 20 // what is held of one session, in bytes
	root       = -1
)

// tree collects the entries of one session, of all its branches: the current branch is
// known only at the end.
type tree struct {
	begun   bool // the header was read
	linear  bool // version 1: entries have no ids, each follows the one before
	id, cwd string
	stamp   string   // when it began
	folders []string // that the headers name
	refused string   // why the session cannot be read

	entries []entry
	ids     map[string]int32
	orphans []orphan        // entries whose parent is still to come
	reads   map[string]bool // calls that read a SKILL.md: their results are needed
	text    int             // bytes held of all these

	level work.Level // what is kept of the work
	args  int        // bytes held of the arguments of calls
}

// entry is what is kept of one entry until its branch is known: the index of its
// parent, and its content, nil if none.
type entry struct {
	parent int32
	stamp  string
	fact   any // *prompt, *reply, *result, *spent, or nil
}

// orphan is an entry whose parent was not read before it.
type orphan struct {
	entry  int32
	parent string
}

// head is the beginning of a line, which is enough for most.
type head struct {
	kind, id, parent, stamp string
	linked                  bool // it has a parent, if only null
	role                    string
	message                 jsonl.Members // after the role
}

// peek reads the head of a line. ok is false if its members are not in the order in
// which pi writes them.
func peek(line []byte) (h head, ok bool) {
	for m := jsonl.Object(line); m.Next(); {
		switch string(m.Key()) {
		case "message":
			h.message = jsonl.Object(m.Rest())
			if !h.message.Next() || string(h.message.Key()) != "role" {
				return h, false
			}
			role, ok := h.message.Text()
			h.role = string(role)
			return h, ok
		case "type", "id", "parentId", "timestamp":
			v, ok := m.Text()
			if !ok && string(m.Value()) != "null" {
				return h, false
			}
			switch s := string(v); string(m.Key()) {
			case "type":
				h.kind = s
			case "id":
				h.id = s
			case "parentId":
				h.parent, h.linked = s, true
			case "timestamp":
				h.stamp = s
			}
		}
		if h.linked && h.kind != "" && h.kind != "message" && h.id != "" && h.stamp != "" {
			return h, true
		}
	}
	return h, h.kind != "" && h.kind != "message"
}

// want judges a line by its first bytes. Most of a session are the results of tools:
// the outcome of one is at the end of its line, so want records that itself and refuses
// the line.
func (t *tree) want(line []byte) bool {
	if t.refused != "" {
		return false
	}
	h, ok := peek(line)
	if !ok || !t.begun || h.kind == "session" || h.kind == "usage" || h.kind == "model_change" || !t.linear && (h.id == "" || !h.linked) {
		return true
	}
	if h.kind != "message" {
		t.add(h.id, h.parent, h.stamp, nil)
		return false
	}
	switch h.role {
	case "user", "assistant":
		return true
	case "toolResult":
	default: // by the program, an extension, or a shell that the user ran
		t.add(h.id, h.parent, h.stamp, nil)
		return false
	}
	if !h.message.Next() || string(h.message.Key()) != "toolCallId" {
		return true
	}
	call, ok := h.message.Text()
	failed, sure := ended(line)
	if !ok || !sure || t.reads[string(call)] {
		return true
	}
	t.add(h.id, h.parent, h.stamp, &result{call: string(call), failed: failed, exit: exit(line, failed)})
	return false
}

var errorMark = []byte(`"isError":`)

// ended reads whether a tool failed from the end of its line. sure is false if the line
// ends in another way.
func ended(line []byte) (failed, sure bool) {
	const tail = 64
	end := line[max(0, len(line)-tail):]
	i := bytes.LastIndex(end, errorMark)
	if i < 0 {
		return false, false
	}
	rest, failed := bytes.CutPrefix(end[i+len(errorMark):], []byte("true"))
	if !failed {
		var ok bool
		if rest, ok = bytes.CutPrefix(rest, []byte("false")); !ok {
			return false, false
		}
	}
	if digits, ok := bytes.CutPrefix(rest, []byte(`,"timestamp":`)); ok {
		rest = bytes.TrimLeft(digits, "0123456789")
	}
	return failed, string(rest) == "}}"
}

// take processes line n. It reports whether the line has a type.
func (t *tree) take(n int, line []byte) bool {
	if t.refused != "" {
		return true
	}
	rec := gjson.ParseBytes(line)
	kind := rec.Get("type").Str
	switch {
	case !t.begun:
		t.begin(rec)
		return kind != ""
	case kind == "" || kind == "session":
		t.in(rec)
		return kind != ""
	}
	var fact any
	switch kind {
	case "message":
		fact = t.message(n, rec)
	case "usage":
		if u := rec.Get("usage"); u.IsObject() {
			fact = &spent{usage(u)}
		}
	case "model_change":
		fact = &model{strings.Clone(rec.Get("modelId").Str)}
	}
	t.add(rec.Get("id").Str, rec.Get("parentId").Str, rec.Get("timestamp").Str, fact)
	return true
}

// begin reads the header.
func (t *tree) begin(rec gjson.Result) {
	if rec.Get("type").Str != "session" {
		t.refused = "does not begin with the header of a session"
		return
	}
	v := rec.Get("version")
	switch {
	case !v.Exists(), v.Raw == "1":
		t.linear = true
	case v.Raw != "2" && v.Raw != "3":
		t.refused = fmt.Sprintf("unknown version %.20s of a session", v.Raw)
		return
	}
	t.begun = true
	t.in(rec)
	t.id, t.cwd = strings.Clone(rec.Get("id").Str), strings.Clone(rec.Get("cwd").Str)
	t.stamp = strings.Clone(rec.Get("timestamp").Str)
	t.ids, t.reads = make(map[string]int32), make(map[string]bool)
}

// in notes the working folder of a header: the session's own, or that of one whose lines
// it repeats.
func (t *tree) in(rec gjson.Result) {
	if cwd := rec.Get("cwd").Str; !slices.Contains(t.folders, cwd) && len(t.folders) <= harvest.MaxFolders {
		t.folders = append(t.folders, strings.Clone(cwd))
	}
}

// add puts an entry into the tree.
func (t *tree) add(id, parent, stamp string, fact any) {
	n := int32(len(t.entries))
	t.text += len(id) + len(parent) + len(stamp)
	e := entry{parent: root, stamp: strings.Clone(stamp), fact: fact}
	switch {
	case n == maxEntries:
		t.refused = fmt.Sprintf("more than %d entries", maxEntries)
		return
	case t.text > maxText:
		t.refused = fmt.Sprintf("more than %d MiB of messages", maxText>>20)
		return
	case t.linear:
		e.parent = n - 1
	case id == "":
		return // not a part of the tree
	default:
		if _, twice := t.ids[id]; twice {
			t.refused = fmt.Sprintf("two entries with the id %.40q", id)
			return
		}
		t.ids[strings.Clone(id)] = n
		if at, ok := t.ids[parent]; ok && at != n {
			e.parent = at
		} else if parent != "" {
			t.orphans = append(t.orphans, orphan{n, strings.Clone(parent)})
		}
	}
	t.entries = append(t.entries, e)
}

// branch returns the entries from the root to the last one, or why there is no such
// branch. If lines could not be read, a missing parent is taken for one of them, and
// the entry before it in the file is used instead.
func (t *tree) branch(damaged bool) (branch []int32, why string) {
	if t.refused != "" {
		return nil, t.refused
	}
	for _, o := range t.orphans {
		at, ok := t.ids[o.parent]
		switch {
		case ok:
		case damaged:
			at = o.entry - 1
		default:
			return nil, fmt.Sprintf("the parent %.40q of an entry is missing", o.parent)
		}
		t.entries[o.entry].parent = at
	}
	if t.cyclic() {
		return nil, "an entry is its own ancestor"
	}
	for i := int32(len(t.entries) - 1); i != root; i = t.entries[i].parent {
		branch = append(branch, i)
	}
	slices.Reverse(branch)
	return branch, ""
}

// cyclic reports whether an entry is its own ancestor. If every parent precedes its
// children, there are no cycles.
func (t *tree) cyclic() bool {
	if len(t.orphans) == 0 {
		return false
	}
	seen := make([]int32, len(t.entries)) // the first walk that passed, from 1
	for walk := range t.entries {
		for i := int32(walk); i != root && seen[i] != int32(walk+1); i = t.entries[i].parent {
			if seen[i] != 0 {
				break
			}
			seen[i] = int32(walk + 1)
			if p := t.entries[i].parent; p != root && seen[p] == int32(walk+1) {
				return true
			}
		}
	}
	return false
}
