package entire

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/jsonl"
)

// A part is one record's share of a transcript: its files, in order.
type part struct {
	record *record
	names  []string
}

// parts lists the parts of a transcript that differ, the oldest first. lists returns
// the files of a record that belong to it, those of each copy in order; records come
// newest first.
func parts(records []*record, lists func(*record) [][]string) []part {
	var all []part
	known := map[string]bool{}
	for _, r := range slices.Backward(records) {
		for _, names := range lists(r) {
			if key := r.key(names); key != "" && !known[key] {
				known[key] = true
				all = append(all, part{r, names})
			}
		}
	}
	return all
}

// maxKeys limits the keys that are kept of one session's entries: some 50 MB.
const maxKeys = 1 << 20

// A joined is the transcript of one session, joined from its parts. In most checkpoints
// each part is complete from the beginning; in older ones it may have only what came
// after the part before. So every entry is taken from the first part that has it. An
// entry is identified by the id that the agent gave it, or by its bytes.
type joined struct {
	objects *objects
	readers []harvest.Kind
	parts   []part
	place   string

	next int // index of the next part
	now  *chunks
	in   io.ReadCloser // the unpacked content of now

	// If there are several parts:
	lines *jsonl.Lines
	rest  []byte // of the current line
	seed  maphash.Seed
	seen  map[uint64]int // the part that had a key first
	runs  []run
	out   int // lines that were returned
	named []naming

	problems []harvest.Problem
}

// A run is a sequence of lines of one part that were returned.
type run struct{ out, part, line int }

func (h *harvesting) joined(place string, all []part) *joined {
	return &joined{objects: &h.objects, readers: h.opts.Readers, parts: all, place: place, seed: maphash.MakeSeed(), seen: map[uint64]int{}, named: make([]naming, len(all))}
}

// Read implements io.Reader. If git cannot read a part, that is a problem and no error;
// if a part cannot be unpacked, that is an error if it is the only one, else a problem
// too.
func (j *joined) Read(p []byte) (n int, err error) {
	if len(j.parts) == 1 {
		if j.now == nil && !j.open() {
			return 0, io.EOF
		}
		return j.in.Read(p)
	}
	for n < len(p) {
		if len(j.rest) == 0 {
			if j.rest = j.line(); j.rest == nil {
				break
			}
		}
		k := copy(p[n:], j.rest)
		n, j.rest = n+k, j.rest[k:]
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// open opens the next part.
func (j *joined) open() bool {
	if j.next == len(j.parts) {
		return false
	}
	p := j.parts[j.next]
	j.next++
	j.now = &chunks{objects: j.objects, record: p.record, names: p.names}
	j.in = io.NopCloser(j.now)
	if packed(p.names[0]) {
		j.now.packed = true
		j.in = jsonl.Unpack(j.now)
	} else if p.record.files["content_hash.txt"] != "" && len(p.names) == 1 && transcriptName.MatchString(p.names[0]) {
		j.now.hash = sha256.New()
	}
	if j.lines == nil && len(j.parts) > 1 {
		j.lines = jsonl.NewLines(nil)
	}
	if j.lines != nil {
		j.lines.Reset(j.in)
	}
	return true
}

// close closes the current part.
func (j *joined) close() {
	if j.now == nil {
		return
	}
	for _, why := range j.now.broken {
		j.problem(j.now.record, 0, why, false)
	}
	if len(j.now.broken) == 0 && j.now.altered() {
		// Entire may redact a transcript again after it has taken its hash.
		j.problem(j.now.record, 0, j.now.names[0]+" is not what content_hash.txt says", true)
	}
	j.in.Close()
	j.now = nil
}

func (j *joined) problem(r *record, line int, why string, remark bool) {
	j.problems = append(j.problems, harvest.Problem{Path: j.place, Line: line, Reason: r.String() + ": " + why, Remark: remark})
}

// line returns the next line that no earlier part had, nil at the end.
func (j *joined) line() []byte {
	for {
		if j.now == nil && !j.open() {
			return nil
		}
		text, err := j.lines.Next()
		switch {
		case err == io.EOF:
			j.close()
			continue
		case errors.Is(err, jsonl.ErrLongLine):
			j.long()
			continue
		case err != nil:
			j.problem(j.now.record, j.lines.Line()+2, "read: "+err.Error(), false)
			j.close()
			continue
		}
		j.named[j.next-1].look(text, j.now.record.session, j.readers)
		last := j.next == len(j.parts)
		if !j.lines.Whole() && !last && !json.Valid(text) {
			continue // it was being written: a newer part has all of it
		}
		if !j.fresh(text, last) {
			continue
		}
		if len(j.seen) >= maxKeys {
			j.problem(j.now.record, j.lines.Line()+1, "the session has too many entries to join its checkpoints: the rest is left out", false)
			j.next = len(j.parts)
			j.close()
			return nil
		}
		if n := len(j.runs); n == 0 || j.runs[n-1].part != j.next || j.out-j.runs[n-1].out != j.lines.Line()-j.runs[n-1].line {
			j.runs = append(j.runs, run{j.out, j.next, j.lines.Line()})
		}
		j.out++
		if j.lines.Whole() || !last {
			text = append(text, '\n')
		}
		return text
	}
}

// long records a line that cannot be read, once for all parts that have it in the same
// place.
func (j *joined) long() {
	line := j.lines.Line() + 1
	if !slices.ContainsFunc(j.problems, func(p harvest.Problem) bool { return p.Line == line }) {
		j.problem(j.now.record, line, jsonl.ErrLongLine.Error(), false)
	}
}

// A naming is the session that a part's lines name.
type naming struct {
	own   bool   // they name the session of its metadata
	other string // else the first one that they name
	lines int
}

// maxNaming is how many lines are searched: a resumed session may begin with lines of
// the session before.
const maxNaming = 200

func (n *naming) look(line []byte, session string, readers []harvest.Kind) {
	if n.lines++; n.own || n.lines > maxNaming {
		return
	}
	id := sessionOf(line, readers)
	if m := dated.FindStringSubmatch(session); m != nil {
		session = m[1]
	}
	n.own = id != "" && id == session
	n.other = cmp.Or(n.other, id)
}

// sessionOf is the session that a line names, "" if it names none: Claude Code's
// lines do, and the first line of other agents'.
func sessionOf(line []byte, readers []harvest.Kind) string {
	start := ""
	for m := jsonl.Object(line); m.Next(); {
		switch string(m.Key()) {
		case "sessionId":
			id, _ := m.Text()
			return string(id)
		case "type":
			text, _ := m.Text()
			start = string(text)
		}
	}
	for _, k := range readers {
		if start != "" && k.Start == start {
			return gjson.GetBytes(line, k.StartID).Str
		}
	}
	return ""
}

// others are the parts of other sessions: those that do not name the session of their
// metadata although another part does, or, if none does, those that name another
// session than the oldest part. Entire, and a person who can push, can file a
// transcript under any session.
func (j *joined) others() (out []part) {
	own, first := false, ""
	for _, n := range j.named {
		own, first = own || n.own, cmp.Or(first, n.other)
	}
	for i, n := range j.named {
		if n.other != "" && !n.own && (own || n.other != first) {
			out = append(out, j.parts[i])
		}
	}
	return out
}

// fresh reports whether no earlier part had a line, and records the line. A line
// without an id is compared without its spacing.
func (j *joined) fresh(line []byte, last bool) bool {
	whole := maphash.Bytes(j.seed, line)
	if at, ok := j.seen[whole]; ok {
		return at == j.next
	}
	at := j.next
	id := entryID(line)
	if id == "" {
		var compact bytes.Buffer
		if json.Compact(&compact, line) == nil {
			id = compact.String()
		}
	}
	if id != "" {
		key := maphash.String(j.seed, id)
		first, ok := j.seen[key]
		switch {
		case ok:
			at = first
		case !last:
			j.seen[key] = at
		}
	}
	if !last {
		j.seen[whole] = at
	}
	return at == j.next
}

// entryID is the id that an agent gave a line, "" if it gave none: Claude Code's
// uuid, the id of pi and Copilot, Codex's ordinal with its time.
func entryID(line []byte) string {
	var ordinal, stamp string
	for m := jsonl.Object(line); m.Next(); {
		switch string(m.Key()) {
		case "uuid", "id":
			if id, ok := m.Text(); ok {
				return string(id)
			}
		case "ordinal":
			ordinal = string(m.Value())
		case "timestamp":
			text, _ := m.Text()
			stamp = string(text)
		}
		if ordinal != "" && stamp != "" {
			return ordinal + " " + stamp
		}
	}
	return ""
}

// finish returns the problems of the transcript: its parts' own, and those that its
// reader found, each with the place of its line.
func (j *joined) finish(found []harvest.Problem) []harvest.Problem {
	_, _ = io.Copy(io.Discard, j) // if the reader stopped early
	j.close()
	for _, p := range found {
		from, line := j.parts[len(j.parts)-1].record, p.Line
		if i, ok := slices.BinarySearchFunc(j.runs, line-1, func(r run, out int) int { return cmp.Compare(r.out, out) }); line > 0 && len(j.runs) > 0 {
			if !ok {
				i--
			}
			from, line = j.parts[j.runs[i].part-1].record, line+j.runs[i].line-j.runs[i].out
		}
		j.problem(from, line, p.Reason, p.Remark)
	}
	return j.problems
}

// chunks is the transcript of one record, joined from its files.
type chunks struct {
	objects *objects
	record  *record
	names   []string
	packed  bool // the files are cut anywhere, not between lines
	next    int
	now     io.Reader
	last    byte
	hash    hash.Hash // nil if there is no hash to compare with
	broken  []string  // what could not be read
}

func (c *chunks) Read(p []byte) (int, error) {
	for {
		if c.now == nil {
			if c.next == len(c.names) {
				return 0, io.EOF
			}
			name := c.names[c.next]
			c.next++
			r, err := c.objects.open(c.record.files[name])
			if err != nil {
				c.broken = append(c.broken, name+": "+err.Error())
				continue
			}
			c.now = r
			if c.last != 0 && c.last != '\n' && !c.packed { // chunks are cut between lines
				c.last = '\n'
				p[0] = '\n'
				return 1, nil
			}
		}
		n, err := c.now.Read(p)
		if n > 0 {
			if c.hash != nil {
				c.hash.Write(p[:n])
			}
			c.last = p[n-1]
			return n, nil
		}
		if err != nil {
			c.now = nil
			if err != io.EOF {
				c.broken = append(c.broken, c.names[c.next-1]+": "+err.Error())
			}
		}
	}
}

// altered reports whether the transcript, which was read to its end, differs from the
// hash in content_hash.txt.
func (c *chunks) altered() bool {
	if c.hash == nil {
		return false
	}
	data, err := c.objects.all(c.record.files["content_hash.txt"], 1<<10)
	want := strings.TrimPrefix(strings.TrimSpace(string(data)), "sha256:")
	return err == nil && want != hex.EncodeToString(c.hash.Sum(nil))
}
