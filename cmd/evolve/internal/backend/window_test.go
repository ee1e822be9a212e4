package backend

import (
	"testing"

	"github.com/skill-evolve/evolve/eval/agent"
)

// TestWindowOfNights: a plan's window is left to its owner at night alone, as far as the
// configuration says.
func TestWindowOfNights(t *testing.T) {
	for _, c := range []struct {
		name, config string
		night        bool
		want         float64 // -1: no cap
	}{
		{"a run", "night_max_window: 0.5", false, -1},
		{"a night", "", true, 0},
		{"a night with a share", "night_max_window: 0.5", true, 0.5},
	} {
		conf, err := parseConfig([]byte(c.config))
		if err != nil {
			t.Fatal(err)
		}
		o := &Opener{Getenv: func(string) string { return "" }, Config: func() (*Config, error) { return conf, nil }, Night: c.night}
		got := o.Opening(&agent.Spec{}, agent.Role{}).Window
		if (got == nil) != (c.want < 0) || got != nil && *got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	for _, bad := range []string{"-0.1", "1.1", "90", ".nan"} {
		if _, err := parseConfig([]byte("night_max_window: " + bad)); err == nil {
			t.Errorf("a share of %s was taken", bad)
		}
	}
}
