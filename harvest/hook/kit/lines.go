package kit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// BusFile is the bus's name in evolve's data folder: a JSON object with a key on each line.
const BusFile = "bus.jsonl"

const (
	LockWait = 250 * time.Millisecond // for other hooks; each holds the bus's lock for less than 1 ms
	lockPoll = time.Millisecond
	maxTail  = 64 << 10 // bytes at the end of the bus that are searched for a line before it is written again
)

// A Line is an object for the bus, without a line break, and its field "key".
type Line struct {
	Key  string
	JSON []byte
}

// Append writes lines whose key is not in the bus in home yet; added is their number. Each
// is one write at the end of the file, under a lock that all hooks take. If the lock
// cannot be taken in time, they are written all the same; readers drop duplicates.
func Append(home string, lines ...Line) (added int, err error) {
	if len(lines) == 0 {
		return 0, nil
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return 0, fmt.Errorf("write bus: %w", err)
	}
	// Without the lock a line may be written twice; without the line a use would be lost.
	unlock, _ := lock(filepath.Join(home, BusFile+".lock"), LockWait)
	defer unlock()
	f, err := os.OpenFile(filepath.Join(home, BusFile), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return 0, fmt.Errorf("write bus: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end, err := tail(f)
	if err != nil {
		return 0, fmt.Errorf("read bus: %w", err)
	}
	for _, l := range lines {
		key, err := json.Marshal(l.Key)
		if err != nil {
			return added, fmt.Errorf("encode record: %w", err)
		}
		if bytes.Contains(end, append([]byte(`"key":`), key...)) {
			continue
		}
		var line []byte
		if n := len(end); n > 0 && end[n-1] != '\n' {
			line = append(line, '\n') // the last writer was killed
		}
		line = append(append(line, l.JSON...), '\n')
		if _, err := f.Write(line); err != nil {
			return added, fmt.Errorf("write bus: %w", err)
		}
		end = append(end, line...)
		added++
	}
	return added, nil
}

// lock waits for the file's lock. unlock may be called whether or not it was taken.
func lock(path string, wait time.Duration) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	l := flock.New(path, flock.SetPermissions(0o600))
	_, err = l.TryLockContext(ctx, lockPoll)
	return func() { l.Close() }, err
}

// tail reads the end of a file.
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
