package record

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
)

// A Beside is what a new text of one skill does to the requests of another one that is used
// with it: they were answered with the other skill, beside the live text and beside the new one.
type Beside struct {
	Skill    string `json:"skill"`
	Requests int    `json:"requests"` // with an answer under both
	// Worse fail beside the new text alone, Better beside the live text alone.
	Worse  int `json:"worse"`
	Better int `json:"better"`
	// WorseAgain and BetterAgain are of the second pass, over those that differed.
	WorseAgain  int     `json:"worse_again,omitempty"`
	BetterAgain int     `json:"better_again,omitempty"`
	P           float64 `json:"p"`              // of the sign test over both passes
	Held        bool    `json:"held,omitempty"` // the new text is held back
	// Stop is why it was not tried to its end, Untried why it was not tried at all.
	Stop    string `json:"stop,omitempty"`
	Untried string `json:"untried,omitempty"`
}

// String is a line for the owner.
func (b *Beside) String() string {
	of := plain.Counted(b.Requests, "request")
	switch {
	case b.Untried != "":
		return fmt.Sprintf("beside `%s`: not tried, %s", b.Skill, b.Untried)
	case b.Stop != "":
		return fmt.Sprintf("beside `%s`: not tried to its end: %s", b.Skill, b.Stop)
	case b.Held:
		return fmt.Sprintf("held back: beside `%s` %d of %d of its requests fail that did not before", b.Skill, b.Worse, b.Requests)
	case b.Worse+b.Better == 0:
		return fmt.Sprintf("beside `%s`: %d of its requests answered as before", b.Skill, b.Requests)
	}
	return fmt.Sprintf("beside `%s`: no difference seen on %s (%d fail only with the new text, %d only with yours)", b.Skill, of, b.Worse, b.Better)
}

// Objection is why only the owner may install the new text, "" for nothing.
func (b *Beside) Objection() string {
	if b.Held {
		return strings.TrimPrefix(b.String(), "held back: ")
	}
	if b.Stop != "" {
		return b.String()
	}
	return ""
}

// Against is the first objection of several neighbours, "" for none.
func Against(all []Beside) string {
	for i := range all {
		if why := all[i].Objection(); why != "" {
			return why
		}
	}
	return ""
}

// Against is the objection of the neighbours that the run has tried its new text beside,
// "" for none.
func (r *Run) Against() (string, error) {
	if len(r.Verdict) == 0 {
		return "", nil
	}
	var v struct {
		Beside []Beside `json:"beside"`
	}
	if err := json.Unmarshal(r.Verdict, &v); err != nil {
		return "", fmt.Errorf("read verdict of run %s: %w", r.ID, err)
	}
	return Against(v.Beside), nil
}
