package hook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/hook/kit"
)

// BusFile is the bus's name in evolve's data folder.
const BusFile = kit.BusFile

// RecordVersion is the version of the records that Append writes.
const RecordVersion = 1

// Phase is the moment at which a use of a skill was recorded.
type Phase string

const (
	Started  Phase = "start"  // the agent is about to load the skill
	Ended    Phase = "end"    // it has, or could not
	Prompted Phase = "prompt" // the user asked for it

	// The rest are of no use of a skill, but of what the session worked on.
	Began   Phase = "began"   // the session, at the commit Head
	Stopped Phase = "stopped" // a turn, likewise
	Left    Phase = "left"    // the session's folder, see Record.Dirty
	Noted   Phase = kit.Noted // by a hook that a person wrote
)

// A Record is one line of the bus: a skill event, and what only a hook can know about
// it.
type Record struct {
	Version int           `json:"v"`
	Key     string        `json:"key"` // equal for records of the same use
	Phase   Phase         `json:"phase"`
	Session string        `json:"session"`
	Agent   string        `json:"subagent,omitempty"` // id, if the main agent did not do it
	Event   harvest.Event `json:"event"`
	// Success is nil until it is known, DurationMS if it is not reported.
	Success    *bool  `json:"success,omitempty"`
	DurationMS *int64 `json:"duration_ms,omitempty"`
	// TextHash is the SHA-256 of the SKILL.md that would be loaded, in hexadecimal; ""
	// if no such file was found. Dir is its folder.
	TextHash string `json:"text_sha256,omitempty"`
	Dir      string `json:"dir,omitempty"`
	CWD      string `json:"cwd,omitempty"`     // the session's working folder then
	Guarded  string `json:"guarded,omitempty"` // why it was blocked
	Prompt   string `json:"prompt,omitempty"`  // only if the configuration asks for it
	Head     string `json:"head,omitempty"`    // the commit that is checked out in CWD
	// Dirty: the tree in CWD differs from Head in files that git knows. nil: not known.
	Dirty *bool `json:"dirty,omitempty"`
	// Hook is the name of the hook that noted Note, and On the event.
	Hook string            `json:"hook,omitempty"`
	On   string            `json:"on,omitempty"`
	Note map[string]string `json:"note,omitempty"`
}

// OfUse reports whether the record is of a use of a skill.
func (r *Record) OfUse() bool {
	return r.Phase != Began && r.Phase != Stopped && r.Phase != Left && r.Phase != Noted
}

// maxLine is how much of a record is read, in bytes.
const maxLine = 1 << 20

// Append writes records that are not in the bus yet to the bus in home; added is their
// number.
func Append(home string, records ...Record) (added int, err error) {
	lines := make([]kit.Line, len(records))
	for i, r := range records {
		r.Version = RecordVersion
		lines[i].Key = r.Key
		if lines[i].JSON, err = json.Marshal(r); err != nil {
			return 0, fmt.Errorf("encode record: %w", err)
		}
	}
	return kit.Append(home, lines...)
}

// Rewrite puts what edit makes of each line in its place, while no hook writes; nothing
// of it drops the line. It returns how many lines it changed.
func Rewrite(home string, edit func(line []byte) []byte) (changed int, err error) {
	path := filepath.Join(home, BusFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return 0, fmt.Errorf("lock the bus: %w", err)
	}
	defer lock.Close()
	old, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("read bus: %w", err)
	}
	var kept bytes.Buffer
	for line := range bytes.Lines(old) {
		next := edit(line)
		if !bytes.Equal(next, line) {
			changed++
		}
		kept.Write(next)
	}
	if changed == 0 {
		return 0, nil
	}
	return changed, renameio.WriteFile(path, kept.Bytes(), 0o600)
}

// Forget removes the words from the records of sessions that are due: what the user typed,
// what a hook noted, and the folders of skills.
func Forget(home string, due func(session string, at time.Time) bool) error {
	_, err := Rewrite(home, func(line []byte) []byte {
		var r Record
		if json.Unmarshal(line, &r) != nil || r.Prompt == "" && r.Dir == "" && r.Note == nil || !due(r.Session, harvest.When(r.Event.Timestamp)) {
			return line
		}
		r.Prompt, r.Dir, r.Note = "", "", nil
		bare, err := json.Marshal(r)
		if err != nil {
			return line
		}
		return append(bare, '\n')
	})
	return err
}

// Read returns the records of the bus in home, in order, each key once. broken counts
// the invalid lines: the last one may be incomplete, if a hook was killed or is still
// writing. Without a bus there are no records.
func Read(home string) (records []Record, broken int, err error) {
	f, err := os.Open(filepath.Join(home, BusFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read bus: %w", err)
	}
	defer f.Close()
	seen := map[string]bool{}
	lines := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := readLine(lines)
		if len(bytes.TrimSpace(line)) > 0 {
			var r Record
			switch {
			case len(line) > maxLine, json.Unmarshal(line, &r) != nil, r.Key == "", r.Version != RecordVersion:
				broken++
			case !seen[r.Key]:
				seen[r.Key] = true
				records = append(records, r)
			}
		}
		if errors.Is(err, io.EOF) {
			return records, broken, nil
		}
		if err != nil {
			return records, broken, fmt.Errorf("read bus: %w", err)
		}
	}
}

// readLine reads one line and keeps little more of it than a record may have.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
