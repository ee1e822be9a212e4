package record

import (
	"crypto/rand"
	"encoding/hex"
	"time"
)

// idStamp is the layout of the time that a run's id begins with.
const idStamp = "20060102-150405"

// NewID names a run by its start: sorting by name sorts by time.
func NewID(now time.Time) string {
	var b [3]byte
	rand.Read(b[:])
	return now.UTC().Format(idStamp) + "-" + hex.EncodeToString(b[:])
}

// BeganAt is the time in a run's id; false for an id that has none.
func BeganAt(id string) (time.Time, bool) {
	if len(id) < len(idStamp) {
		return time.Time{}, false
	}
	at, err := time.Parse(idStamp, id[:len(idStamp)])
	return at, err == nil
}
