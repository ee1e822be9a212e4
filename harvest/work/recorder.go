package work

import (
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// A Level says how much of an agent's work is kept.
type Level int

const (
	Off      Level = iota // nothing
	Commands              // Ran, and refused commands
	All
)

const (
	maxRaw  = 32 << 10     // bytes of one text until it is redacted
	maxOpen = 16 * MaxTurn // and of all changed lines of a turn
	maxActs = 1000         // of one turn
)

// Unknown is the Exit of a command that failed if the transcript does not tell with which
// status.
const Unknown = -1

// A Recorder keeps what an agent does in one session. Readers report each call of a tool
// with its id, "" if it has none, and later how it ended. A Recorder that is nil keeps
// nothing. It is not safe for concurrent use.
type Recorder struct {
	level  Level
	redact func(string) (string, int) // what an agent wrote
	typed  func(string) (string, int) // what its user typed
	memory func(top string) []string  // see Remembers
	acts   []*draft
	open   map[string][]*draft // calls without a result
	turn   int                 // of the last act
	count  int                 // of its acts
	size   int                 // bytes of its lines
}

// A draft is an act before it is redacted.
type draft struct {
	Act
	turn    int
	id      string
	dir     string   // Ran: where
	reading reading  // of Line
	others  []string // Changed: files whose content it has besides File
	dropped bool
}

// New returns a Recorder. redact makes what an agent wrote fit to be kept and counts the
// secrets in it; typed does so with what its user typed.
func New(level Level, redact, typed func(text string) (clean string, n int)) *Recorder {
	if level == Off {
		return nil
	}
	return &Recorder{level: level, redact: redact, typed: typed, open: map[string][]*draft{}, turn: -1}
}

// Remembers says in which folders, absolute ones, the agent keeps what it remembers of the
// project at hand, as Markdown; top is that of the session's repository, its folder if there
// is none. Changes there are kept although the folders are outside of it; those of other
// projects must not be among them.
func (r *Recorder) Remembers(folders func(top string) []string) {
	if r != nil {
		r.memory = folders
	}
}

// Keeps reports whether acts of a kind are kept, so that nothing need be read for those
// that are not.
func (r *Recorder) Keeps(kind Kind) bool { return r != nil && (r.level == All || kind != Changed) }

// Ran records a command line. dir is the folder in which it ran, "" for the session's.
func (r *Recorder) Ran(turn int, id, line, dir string) {
	if r == nil || strings.TrimSpace(line) == "" {
		return
	}
	d := &draft{Act: Act{Kind: Ran}, turn: turn, id: id, dir: strings.Clone(dir)}
	d.Line, d.Cut = clip(line, maxRaw)
	r.add(d)
}

// Changed records a change of a file: absolute, or relative to the session's folder. If
// removed is "", added may be all of a new content: what it replaced is not known, and Cut
// does not tell so. Lines in both are no change. Several changes of one file by one call
// become one act.
func (r *Recorder) Changed(turn int, id, file, added, removed string) {
	if r.Keeps(Changed) {
		r.changed(turn, id, file, added, removed)
	}
}

func (r *Recorder) changed(turn int, id, file, added, removed string, others ...string) {
	d := &draft{Act: Act{Kind: Changed, File: strings.Clone(file)}, turn: turn, id: id, others: others}
	if turn != r.turn {
		r.turn, r.count, r.size = turn, 0, 0
	}
	if added, removed = core(added, removed); r.size < maxOpen {
		var cut bool
		d.Added, d.Cut = clip(added, maxRaw)
		d.Removed, cut = clip(removed, maxRaw)
		d.Cut = d.Cut || cut
		r.size += len(d.Added) + len(d.Removed)
	} else {
		d.Cut = added+removed != ""
	}
	r.add(d)
}

// Patch records the changes of a patch in the format of apply_patch. Of one that is not
// in this format, it records those before the first unknown line.
func (r *Recorder) Patch(turn int, id, patch string) {
	if !r.Keeps(Changed) {
		return
	}
	for _, c := range parsePatch(patch) {
		if c.from == "" {
			r.changed(turn, id, c.file, c.added, c.removed)
			continue
		}
		r.changed(turn, id, c.from, "", "", c.file)
		r.changed(turn, id, c.file, c.added, c.removed, c.from)
	}
}

func (r *Recorder) add(d *draft) {
	if d.turn != r.turn {
		r.turn, r.count, r.size = d.turn, 0, 0
	}
	if r.count++; r.count > maxActs {
		if last := r.acts[len(r.acts)-1]; last.turn == d.turn {
			last.Cut = true
		}
		return
	}
	r.acts = append(r.acts, d)
	if d.id != "" {
		r.open[d.id] = append(r.open[d.id], d)
	}
}

// Awaits reports whether a call's result is still to come that matters.
func (r *Recorder) Awaits(id string) bool { return r != nil && len(r.open[id]) > 0 }

// Open lists the calls whose results are still to come.
func (r *Recorder) Open(yield func(id string) bool) {
	if r == nil {
		return
	}
	for id := range r.open {
		if !yield(id) {
			return
		}
	}
}

// Ended records how a call ended: exit is the status of a command, nil if the transcript
// does not tell. A change that failed did not happen.
func (r *Recorder) Ended(id string, exit *int, failed bool) {
	if r == nil {
		return
	}
	if exit == nil && failed {
		status := Unknown
		exit = &status
	}
	for _, d := range r.open[id] {
		if d.Kind == Ran {
			d.Exit = exit
		}
		d.dropped = d.Kind == Changed && failed
	}
	delete(r.open, id)
}

// Skipped records that a call did not happen, and that this was no decision of the user.
func (r *Recorder) Skipped(id string) {
	if r == nil {
		return
	}
	for _, d := range r.open[id] {
		d.dropped = true
	}
	delete(r.open, id)
}

// Refused records that the user did not allow a call, and what they said to it. turn is
// that of the call; a call that was recorded has its own.
func (r *Recorder) Refused(turn int, id, tool, said string) {
	if r == nil {
		return
	}
	said, _ = clip(strings.TrimSpace(said), maxRaw)
	refused := false
	for _, d := range r.open[id] {
		if d.dropped = refused; !refused {
			d.Kind, d.Tool, d.Said, d.Added, d.Removed = Refused, strings.Clone(tool), said, "", ""
			refused = true
		}
	}
	delete(r.open, id)
	if !refused && r.level == All {
		r.add(&draft{Act: Act{Kind: Refused, Tool: strings.Clone(tool), Said: said}, turn: turn})
	}
}

// Finish returns the acts of each turn that may be kept, redacted and cut to the limits.
// root is the session's folder, "" if it is not known.
func (r *Recorder) Finish(root string) map[int][]Act {
	if r == nil || len(r.acts) == 0 {
		return nil
	}
	p := r.places(root)
	out := map[int][]Act{}
	left := map[int]int{} // bytes of lines
	last := map[int]string{}
	for _, d := range r.acts {
		if d.dropped {
			continue
		}
		if _, ok := left[d.turn]; !ok {
			left[d.turn] = MaxTurn
		}
		acts := out[d.turn]
		if !r.clean(d, p, left) {
			continue
		}
		if n := len(acts) - 1; d.Kind == Changed && d.id != "" && n >= 0 && last[d.turn] == d.id && acts[n].Kind == Changed && acts[n].File == d.File {
			acts[n].Added, acts[n].Removed = join(acts[n].Added, d.Added), join(acts[n].Removed, d.Removed)
			acts[n].Cut = acts[n].Cut || d.Cut
			continue
		}
		out[d.turn], last[d.turn] = append(acts, d.Act), d.id
	}
	return out
}

// places reads the command lines, and finds out which files may be kept.
func (r *Recorder) places(root string) *places {
	var files []string
	unasked := &places{root: slashed(root)}
	for _, d := range r.acts {
		if d.dropped {
			continue
		}
		if d.File != "" {
			files = append(append(files, d.File), d.others...)
		}
		if d.Line != "" {
			d.reading = read(d.Line, unasked.within(d.dir))
			files = append(files, d.reading.writes...)
		}
	}
	p := see(root, files)
	if r.memory != nil {
		p.memory = r.memory(p.top)
	}
	return p
}

// clean makes an act fit to be kept. It reports whether it may be.
func (r *Recorder) clean(d *draft, p *places, left map[int]int) bool {
	if d.File != "" {
		file, ok := p.remembered(d.File)
		if !ok {
			file, ok = p.file(d.File)
		}
		for _, other := range d.others {
			_, also := p.file(other)
			ok = ok && also
		}
		if ok {
			_, n := r.redact(file)
			ok = n == 0
		}
		switch {
		case ok:
			d.File = file
		case d.Kind == Changed:
			return false
		default:
			d.File = ""
		}
	}
	short := func(text *string, redact func(string) (string, int)) {
		var cut bool
		if *text == "" {
			return
		}
		*text, _ = redact(*text)
		*text, cut = clip(*text, MaxLine)
		d.Cut = d.Cut || cut
	}
	if d.Line != "" {
		if d.Kind == Ran {
			d.Tests = d.reading.tests
		}
		if d.reading.dumps || slices.ContainsFunc(d.reading.quotes, p.secret) || slices.ContainsFunc(d.reading.writes, func(file string) bool { _, ok := p.file(file); return !ok && !device(file) }) {
			d.Line, d.Cut = strings.Join(d.reading.names, "; "), true
		} else if dir := slashed(d.dir); dir != "" && p.within(dir) != p.root {
			d.Line = "cd " + quote(dir) + " && " + d.Line
		}
		short(&d.Line, r.redact)
	}
	short(&d.Tool, r.redact)
	short(&d.Said, r.typed)
	if d.Kind == Changed {
		r.lines(d, left)
	}
	return true
}

// lines redacts the changed lines before they are compared: which lines are a secret may
// be seen only in those around them.
func (r *Recorder) lines(d *draft, left map[int]int) {
	room := left[d.turn]
	if room <= 0 || d.Added+d.Removed == "" {
		d.Cut = d.Cut || d.Added+d.Removed != ""
		d.Added, d.Removed = "", ""
		return
	}
	added, _ := r.redact(d.Added)
	removed, _ := r.redact(d.Removed)
	added, removed = differ(added, removed)
	var cut, also bool
	d.Added, cut = clip(added, room)
	d.Removed, also = clip(removed, room-len(d.Added))
	d.Cut = d.Cut || cut || also
	left[d.turn] = room - len(d.Added) - len(d.Removed)
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// Recall replaces secrets in acts that became known later. again is called with each text,
// and whether a part of it was cut off. An act of a file whose path had to be changed is
// left out.
func Recall(acts []Act, again func(text string, cut bool) (string, int)) (kept []Act, n int) {
	for _, a := range acts {
		file := a.File
		for _, t := range []*string{&a.Line, &a.File, &a.Added, &a.Removed, &a.Tool, &a.Said} {
			var found int
			*t, found = again(*t, a.Cut)
			n += found
		}
		if a.File == file {
			kept = append(kept, a)
		}
	}
	return kept, n
}

// quote is a word as a shell reads it.
func quote(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var plain = lazyregexp.New(`^[\w./@%+=:,-]+$`)

// base is the name of a program or file without its folder.
func base(name string) string { return path.Base(strings.ReplaceAll(name, `\`, "/")) }
