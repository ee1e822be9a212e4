package release

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/store"
)

// PlanRest plans the rest of a command that a crash interrupted: the same
// command again finishes it, and a rollback takes back what an interrupted
// promotion has done. nil means that there is nothing of that kind, or a pin
// forbids it: any other command replaces the interrupted one.
func (in *Installer) PlanRest(ctx context.Context, live *skill.Live, op string, r Request) (*Plan, error) {
	pin, err := Pinned(ctx, in.Store, live.Name)
	if err != nil || pin != nil && (op != store.OpRollback || !r.Force) {
		return nil, err
	}
	done, open, err := in.settle(ctx, live.Name)
	if err != nil {
		return nil, err
	}
	all := append(done, open...)
	if len(all) == 0 || len(r.To) > 0 {
		return nil, nil
	}
	same := !slices.ContainsFunc(all, func(k store.Install) bool {
		return k.Op != op && !(op == store.OpRollback && k.Op == store.OpTakeBack)
	})
	switch {
	case same:
	case op == store.OpRollback && r.At == "":
		return in.planUndo(ctx, live, all[0], r.Force)
	default:
		return nil, nil
	}
	p := &Plan{Op: op, Live: live, Rest: true, note: "finished after an interruption", force: r.Force}
	p.Version, err = in.Store.VersionBySHA(ctx, live.Name, live.Doc.Hash()) // if every target loses the skill
	for _, k := range all {
		at, e := in.placementOf(ctx, live, k, k.To)
		if e != nil {
			return nil, e
		}
		if at.Refusal == nil && at.Held != k.From && at.Held != k.To {
			at.Refusal = &install.DriftError{Path: k.Path, Want: k.From, Live: at.Held}
		}
		if at.To != nil {
			p.Version, err = at.To, nil
		}
		at.stays = k.From == k.To
		p.Places = append(p.Places, *at)
	}
	if err != nil {
		return nil, err
	}
	if v := p.Version; r.At != "" && !strings.HasPrefix(v.SHA, r.At) && r.At != fmt.Sprintf("v%d", v.N) {
		return nil, nil
	}
	in.Say("finishing the %s that was interrupted", op)
	return p, nil
}

// placementOf is the placement of an install, with the text of this SHA-256,
// "" for none.
func (in *Installer) placementOf(ctx context.Context, live *skill.Live, of store.Install, sha string) (*Placement, error) {
	t, err := in.Layout.TargetAt(live.Name, of.Path)
	if err != nil {
		return nil, err
	}
	places, err := in.places(ctx, live, []skill.Target{t})
	if err != nil {
		return nil, err
	}
	p := &Placement{Place: places[0]}
	if p.Refusal == nil && p.Path != of.Path {
		p.Refusal = fmt.Errorf("%s leads to %s now", of.Path, p.Path)
	}
	if sha != "" {
		p.To, err = in.Store.VersionBySHA(ctx, live.Name, sha)
	}
	return p, err
}

// planUndo plans to take back what an interrupted promotion has installed,
// and to give up the rest. Installs of one command have the same beginning.
func (in *Installer) planUndo(ctx context.Context, live *skill.Live, of store.Install, force bool) (*Plan, error) {
	installs, err := in.Store.Installs(ctx, live.Name)
	if err != nil {
		return nil, err
	}
	p := &Plan{Op: store.OpRollback, Live: live, Rest: true, note: "rollback", force: force}
	for _, k := range installs {
		if !k.Begun.Equal(of.Begun) || k.Op != of.Op || k.Outcome != Installed {
			continue
		}
		at, err := in.placementOf(ctx, live, k, k.From)
		if err != nil {
			return nil, err
		}
		if at.Refusal == nil && at.Held != k.To {
			at.Refusal = &install.DriftError{Path: k.Path, Want: k.To, Live: at.Held}
		}
		if at.To != nil {
			p.Version = at.To
		}
		p.Places = append(p.Places, *at)
	}
	in.Say("taking back the %s that was interrupted", of.Op)
	return p, nil
}
