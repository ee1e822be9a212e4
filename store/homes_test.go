package store

import (
	"reflect"
	"testing"
)

// TestSetHome: what was known of a place goes with the path that led there, unless it
// stays a place of its own.
func TestSetHome(t *testing.T) {
	ctx, s := t.Context(), open(t)
	for _, name := range []string{"dataviz", "other"} {
		id, err := s.BeginInstall(ctx, Install{Skill: name, Path: "/gen1/" + name, From: "v0", To: "v1"})
		must(t, err)
		must(t, s.FinishInstall(ctx, id))
	}
	_, err := s.BeginInstall(ctx, Install{Skill: "dataviz", Path: "/gen1/dataviz", From: "v1", To: "v0"})
	must(t, err)
	must(t, s.SetHome(ctx, "dataviz", "/skills/dataviz", "/gen1/dataviz", ""))
	must(t, s.SetHome(ctx, "dataviz", "/skills/dataviz", "/gen2/dataviz", "/gen1/dataviz"))
	state := func(name string) (paths []string) {
		places, err := s.Places(ctx, name)
		must(t, err)
		for _, p := range places {
			paths = append(paths, p.Path+" "+p.SHA)
		}
		installs, err := s.Installs(ctx, name)
		must(t, err)
		for _, in := range installs {
			paths = append(paths, in.Path+" → "+in.To)
		}
		return paths
	}
	if got, want := state("dataviz"), []string{"/gen2/dataviz v1", "/gen1/dataviz → v0", "/gen2/dataviz → v1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("moved: %q, want %q", got, want)
	}
	if got, want := state("other"), []string{"/gen1/other v1", "/gen1/other → v1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("another skill: %q, want %q", got, want)
	}
	must(t, s.SetInstalled(ctx, "dataviz", "/team/dataviz", "v2"))
	must(t, s.SetHome(ctx, "dataviz", "/skills/dataviz", "/team/dataviz", "/gen2/dataviz"))
	if got, want := state("dataviz")[0], "/team/dataviz v2"; got != want {
		t.Errorf("to a place that had a text: %q, want %q", got, want)
	}
	must(t, s.SetHome(ctx, "dataviz", "/project/dataviz", "/elsewhere/dataviz", ""))
	homes, err := s.Homes(ctx, "dataviz")
	if want := map[string]string{"/skills/dataviz": "/team/dataviz", "/project/dataviz": "/elsewhere/dataviz"}; err != nil || !reflect.DeepEqual(homes, want) {
		t.Errorf("homes %v, %v, want %v", homes, err, want)
	}
}
