package jsonl

import (
	"errors"
	"io/fs"
)

// A Problem is a part of a file that could not be read, and why. It never ends the
// harvest.
type Problem struct {
	Path   string `json:"path"`
	Line   int    `json:"line,omitempty"` // 1-based, 0 for the whole file
	Reason string `json:"reason"`
	// Remark is true if nothing is missing because of it.
	Remark bool `json:"remark,omitempty"`
}

// Reason is err for a Problem: without the path, which the Problem has already.
func Reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Op + ": " + e.Err.Error()
	}
	return err.Error()
}
