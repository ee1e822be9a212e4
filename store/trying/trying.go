// Package trying tells whether the text of a skill is a trial install: one that is in
// place before its trial has decided.
package trying

import (
	"context"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
)

// Is reports whether an install put a text in place on trial.
func Is(in *store.Install) bool { return in.Op == store.OpTry || in.Op == store.OpNightTry }

// At is the install that put the text of that SHA-256 in a skill's home on trial, nil if
// it is not there on trial. The installs come newest first. One that a crash interrupted
// counts by the file.
func At(installs []store.Install, home, sha string) *store.Install {
	if last := Last(installs, home, sha); last != nil && Is(last) && last.To == sha {
		return last
	}
	return nil
}

// Last is the newest install in a skill's home that took place, nil for none. live is the
// SHA-256 of what is there.
func Last(installs []store.Install, home, live string) *store.Install {
	for i := range installs {
		if in := &installs[i]; in.Path == home && (in.Outcome == "installed" || in.Outcome == "" && in.To == live) {
			return in
		}
	}
	return nil
}

// In is the install by which the live text is on trial, nil if it is not.
func In(ctx context.Context, db *store.Store, live *skill.Live) (*store.Install, error) {
	installs, err := db.Installs(ctx, live.Name)
	if err != nil || len(installs) == 0 {
		return nil, err
	}
	home, err := live.Home()
	if err != nil {
		return nil, err
	}
	return At(installs, home, live.Doc.Hash()), nil
}

// Ground is the live skill with the text that a trial install has replaced: the text that
// everything is compared with, made from and tried against. It is live itself while
// nothing is on trial in its place.
func Ground(ctx context.Context, db *store.Store, live *skill.Live) (*skill.Live, error) {
	in, err := In(ctx, db, live)
	if in == nil || err != nil {
		return live, err
	}
	v, err := db.VersionBySHA(ctx, live.Name, in.From)
	if errors.Is(err, store.ErrNotFound) || err == nil && len(v.Text) == 0 {
		return live, nil // it is gone with a session that it had learned from
	} else if err != nil {
		return nil, err
	}
	ground := *live
	if ground.Doc, err = skill.Parse(v.Text, live.Doc.Options()); err != nil {
		return nil, fmt.Errorf("read v%d of %s: %w", v.N, live.Name, err)
	}
	return &ground, nil
}
