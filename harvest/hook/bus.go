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

	"github.com/skill-evolve/evolve/harvest"
)

// BusFile is the bus's name in evolve's data folder.
const BusFile = "bus.jsonl"

// RecordVersion is the version of the records that Append writes.
const RecordVersion = 1

// Phase says when a use of a skill was noted.
type Phase string

const (
	Started  Phase = "start"  // the agent is about to load the skill
	Ended    Phase = "end"    // it has, or could not
	Prompted Phase = "prompt" // the user asked for it
)

// A Record is one line of the bus: a skill event, and what only a hook can know
// of it.
type Record struct {
	Version int           `json:"v"`
	Key     string        `json:"key"` // equal for what is the same
	Phase   Phase         `json:"phase"`
	Session string        `json:"session"`
	Agent   string        `json:"subagent,omitempty"` // id, where no main agent did it
	Event   harvest.Event `json:"event"`
	// Success is nil until it is known, DurationMS if it is not told.
	Success    *bool  `json:"success,omitempty"`
	DurationMS *int64 `json:"duration_ms,omitempty"`
	// TextHash is the SHA-256 of the SKILL.md that was there to be loaded, in
	// hexadecimal; "" if no such file was found. Dir is its folder.
	TextHash string `json:"text_sha256,omitempty"`
	Dir      string `json:"dir,omitempty"`
	Guarded  string `json:"guarded,omitempty"` // why it was not let through
	Prompt   string `json:"prompt,omitempty"`  // where the configuration says so
}

const (
	lockWait = 250 * time.Millisecond // for other hooks; each holds it for less than one
	lockPoll = time.Millisecond
	maxTail  = 64 << 10 // bytes of the bus in which a record is looked for before it is written again
	maxLine  = 1 << 20  // bytes of a record that is read
)

// Append writes records to the bus in home, but for those that stand there: added
// says how many. One write each, behind what is there, under a lock that all hooks
// take. Where the lock is not to be had in time, they are written all the same, and
// a reader drops what is there twice.
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
	// Without the lock a record may come twice. Without the record a use is lost.
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
			line = append([]byte{'\n'}, line...) // whoever wrote last was killed
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

// Read returns the records of the bus in home, in order, each key once. broken
// counts the lines that are none: the last one may be cut, if a hook was
// killed or is at work. No bus is an empty one.
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

// readLine reads one line, of which it keeps little more than can be a record.
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
