package datadir

import (
	"path/filepath"
	"testing"
)

func TestFind(t *testing.T) {
	t.Setenv("HOME", "/home/you")
	for _, c := range []struct{ evolve, xdg, want string }{
		{"/data", "/x", "/data"},
		{"", "/x", "/x/evolve"},
		{"", "relative", "/home/you/.local/share/evolve"},
		{"", "", "/home/you/.local/share/evolve"},
	} {
		env := map[string]string{"EVOLVE_HOME": c.evolve, "XDG_DATA_HOME": c.xdg}
		got, err := Find(func(k string) string { return env[k] })
		if err != nil || got != Dir(c.want) {
			t.Errorf("%+v: %s, %v", c, got, err)
		}
	}
	if d, err := Find(func(string) string { return "here" }); err != nil || !filepath.IsAbs(string(d)) {
		t.Errorf("a relative folder: %s, %v", d, err)
	}
}
