package main

import (
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/release"
)

// printPlaced prints what is in place now, a line for each target.
func printPlaced(a *global, r *release.Result) error {
	if a.JSON {
		path, v := r.Live.Path, r.Version
		if len(r.Placed) == 1 {
			path = r.PathOf(&r.Placed[0])
		}
		err := a.PrintJSON(map[string]any{"schema": 1, "skill": r.Live.Name, "version": v.N, "sha256": v.SHA, "from": r.Live.Doc.Hash(),
			"path": path, "proven": v.Proven, "targets": r.Placed})
		if err != nil {
			return err
		}
		return r.Refusal()
	}
	if err := a.Show(plain.Text(r.Text())); err != nil {
		return err
	}
	return r.Refusal()
}
