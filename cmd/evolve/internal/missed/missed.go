// Package missed begins a night, and keeps why the last one could ask no agent.
package missed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/advice"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/store/datadir"
)

// A Night is one that could not ask an agent.
type Night struct {
	Time time.Time `json:"time"`
	Why  string    `json:"why"`
	Hint string    `json:"hint"` // what to type, "" if that is not known
}

// Write keeps that a night could not ask an agent; a nil error means that it could.
func Write(dir datadir.Dir, now time.Time, why error) error {
	if why == nil {
		if err := os.Remove(dir.Missed()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget the night that could not run: %w", err)
		}
		return nil
	}
	_, hint := advice.Of(why)
	text, err := json.Marshal(&Night{now.UTC(), plain.Line(why.Error()), plain.Line(hint)})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(dir.Missed()), 0o700)
	}
	if err == nil {
		err = renameio.WriteFile(dir.Missed(), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("note why the night could not run: %w", err)
	}
	return nil
}

// Read returns the last night if it could not ask an agent, else nil: what cannot be read
// is nothing.
func Read(dir datadir.Dir) *Night {
	text, err := bounded.ReadFile(dir.Missed(), 64<<10)
	n := new(Night)
	if err != nil || json.Unmarshal(text, n) != nil || n.Why == "" {
		return nil
	}
	n.Why, n.Hint = plain.Line(n.Why), plain.Line(n.Hint)
	return n
}

// Words say it in one line, without the hint.
func (n *Night) Words() string {
	return "the night of " + n.Time.Local().Format("2006-01-02 15:04") + " could ask no agent: " + n.Why
}

// Lines are the lines of a page, the first one with a title.
func (n *Night) Lines(title string) string {
	out := title + n.Words() + "\n"
	if n.Hint != "" {
		out += strings.Repeat(" ", len(title)) + "→ " + n.Hint + "\n"
	}
	return out + strings.Repeat(" ", len(title)) + "→ `evolve sleep run --ping` tries it\n"
}
