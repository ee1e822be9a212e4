package release

import (
	"fmt"

	"github.com/skill-evolve/evolve/eval/plain"
)

// refusalOf is the error of a command that left a target as it was, nil if
// none was. That of an only target is returned unchanged.
func refusalOf(done []Placed) error {
	e := &PartialError{Of: len(done)}
	for i := range done {
		if o := &done[i]; o.Err != nil {
			e.Left = append(e.Left, *o)
		}
	}
	switch {
	case len(e.Left) == 0:
		return nil
	case len(done) == 1:
		return e.Left[0].Err
	}
	return e
}

// A PartialError means that some of several targets, or all of them, were
// left unchanged.
type PartialError struct {
	Left []Placed // those that were refused
	Of   int      // how many targets there were
}

func (e *PartialError) Error() string {
	return fmt.Sprintf("%d of %s refused", len(e.Left), plain.Counted(e.Of, "target"))
}

// First is the refusal of the first target.
func (e *PartialError) First() error { return e.Left[0].Err }

// Some reports whether the text is in place in some of the targets.
func (e *PartialError) Some() bool { return len(e.Left) < e.Of }

// tookThePlaceOf is the SHA-256 of the replaced text, "" if it was not the
// same at every changed place.
func tookThePlaceOf(done []Placed) (sha string) {
	for i := range done {
		switch o := &done[i]; {
		case !o.Changed() || o.From == sha:
		case sha != "":
			return ""
		default:
			sha = o.From
		}
	}
	return sha
}
