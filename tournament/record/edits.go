package record

import (
	"context"
	"slices"
)

// Edits returns the texts that differ from the live one by their owner's edits alone, by
// SHA-256, the live one (sha) among them: a trial of a change to any of them may go on.
// home is where the skill is installed.
func Edits(ctx context.Context, db interface {
	Versions(ctx context.Context, skill string) ([]Version, error)
	Installed(ctx context.Context, skill, home string) (string, error)
}, name, sha string, home func() (string, error)) (map[string]bool, error) {
	versions, err := db.Versions(ctx, name)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{sha: true}
	if !slices.ContainsFunc(versions, func(v Version) bool { return v.SHA == sha }) { // an edit that is not recorded yet
		at, err := home()
		if err != nil {
			return nil, err
		}
		was, err := db.Installed(ctx, name, at)
		if err != nil {
			return nil, err
		}
		if was != "" {
			out[was] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for _, v := range versions {
			if v.Author != "evolve" && v.Parent != "" && out[v.SHA] != out[v.Parent] {
				out[v.SHA], out[v.Parent], grown = true, true, true
			}
		}
	}
	return out, nil
}
