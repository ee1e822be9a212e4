package hook

import (
	"bufio"
	"bytes"
	"context"
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
)

// BusFile is the bus's name in evolve's data folder.
const BusFile = "bus.jsonl"

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
}

// OfUse reports whether the record is of a use of a skill.
func (r *Record) OfUse() bool { return r.Phase != Began && r.Phase != Stopped && r.Phase != Left }

const (
	lockWait = 250 * time.Millisecond // for other hooks; each holds the lock for less than 1 ms
	lockPoll = time.Millisecond
	maxTail  = 64 << 10 // bytes at the end of the bus that are searched for a record before it is written again
	maxLine  = 1 << 20  // bytes of a record that is read
)

// Append writes records that are not in the bus yet to the bus in home; added is their
// number. Each is one write at the end of the file, under a lock that all hooks take.
// If the lock cannot be taken in time, they are written all the same; readers drop
// duplicates.
func Append(home string, records ...Record) (added int, err error) {
	if len(records) == 0 {
		return 0, nil
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return 0, fmt.Errorf("write bus: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock := flock.New(filepath.Join(home, BusFile+".lock"), flock.SetPermissions(0o600))
	// Without the lock a record may be written twice; without the record a use would be
	// lost.
	_, _ = lock.TryLockContext(ctx, lockPoll)
	defer lock.Close()
	f, err := os.OpenFile(filepath.Join(home, BusFile), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return 0, fmt.Errorf("write bus: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end, err := tail(f)
	if err != nil {
		return 0, fmt.Errorf("read bus: %w", err)
	}
	for _, r := range records {
		r.Version = RecordVersion
		line, err := json.Marshal(r)
		if err != nil {
			return added, fmt.Errorf("encode record: %w", err)
		}
		key, err := json.Marshal(r.Key)
		if err != nil {
			return added, fmt.Errorf("encode record: %w", err)
		}
		if bytes.Contains(end, append([]byte(`"key":`), key...)) {
			continue
		}
		if n := len(end); n > 0 && end[n-1] != '\n' {
			line = append([]byte{'\n'}, line...) // the last writer was killed
		}
		line = append(line, '\n')
		if _, err := f.Write(line); err != nil {
			return added, fmt.Errorf("write bus: %w", err)
		}
		end = append(end, line...)
		added++
	}
	return added, nil
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

// Forget removes the words from the records of sessions that are due: what the user typed
// and the folders of skills.
func Forget(home string, due func(session string, at time.Time) bool) error {
	_, err := Rewrite(home, func(line []byte) []byte {
		var r Record
		if json.Unmarshal(line, &r) != nil || r.Prompt == "" && r.Dir == "" || !due(r.Session, harvest.When(r.Event.Timestamp)) {
			return line
		}
		r.Prompt, r.Dir = "", ""
		bare, err := json.Marshal(r)
		if err != nil {
			return line
		}
		return append(bare, '\n')
	})
	return err
}

// tail reads the end of the bus.
func tail(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(info.Size(), maxTail))
	n, err := f.ReadAt(b, info.Size()-int64(len(b)))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], err
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
