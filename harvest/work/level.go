package work

import (
	"fmt"
	"slices"
	"strings"
)

// Levels are the names of the levels, from the lowest.
var Levels = []string{"off", "commands", "all"}

func (l Level) String() string { return Levels[l] }

// MarshalText writes the name of a level.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the name of a level.
func (l *Level) UnmarshalText(name []byte) error {
	i := slices.Index(Levels, string(name))
	if i < 0 {
		return fmt.Errorf("moments: %q is none of %s", name, strings.Join(Levels, ", "))
	}
	*l = Level(i)
	return nil
}
