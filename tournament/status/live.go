package status

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/release"
)

// liveNow is the live text as recorded in the store. Installer.Record brings
// the store up to date, which a command that only reads must not do.
func (rd *Reader) liveNow(ctx context.Context, live *skill.Live) (l *Live, err error) {
	sha := live.Doc.Hash()
	l = &Live{SHA: sha, Author: "you"}
	versions, err := rd.Store.Versions(ctx, live.Name)
	if err != nil {
		return nil, err
	}
	v := candidate.VersionIn(versions, sha)
	if v != nil {
		l = &Live{Version: v.N, SHA: sha, Author: v.Author, Proven: v.Proven, Note: v.Note, Recorded: true, since: v.Created}
		l.Trial, err = trialInstall(ctx, rd.Store, live, rd.Now())
		return l, err
	}
	if len(versions) == 0 { // evolve has not seen it yet
		return l, nil
	}
	before, err := rd.lastInPlace(ctx, live)
	if err != nil {
		return nil, err
	}
	if v = candidate.VersionIn(versions, before); v == nil {
		before = release.NearestVersion(versions, live.Doc.Render())
		v = candidate.VersionIn(versions, before)
	}
	by := "run, night or harvest"
	if subject.Parse(live.Name).Kind == subject.Hook {
		by = "run or promote"
	}
	l.Version, l.Note = v.N, fmt.Sprintf("edited by hand since v%d: the next %s records it", v.N, by)
	return l, nil
}

// lastInPlace is the last text that evolve knows of in the skill's home, ""
// for none. An installation that was interrupted after its rename counts; for
// one that was interrupted before, the reader reports the command that
// finishes it.
func (rd *Reader) lastInPlace(ctx context.Context, live *skill.Live) (sha string, err error) {
	home, err := live.Home()
	if err != nil {
		return "", err
	}
	if sha, err = rd.Store.Installed(ctx, live.Name, home); err != nil {
		return "", err
	}
	if sha == "" { // its folder was moved: see release.Installer.RecordEdit
		homes, err := rd.Store.Homes(ctx, live.Name)
		if err != nil {
			return "", err
		}
		link, err := filepath.Abs(live.Path)
		if err != nil {
			return "", fmt.Errorf("find skill %s: %w", live.Name, err)
		}
		if sha, err = rd.Store.Installed(ctx, live.Name, homes[link]); err != nil {
			return "", err
		}
	}
	done, err := rd.Release.Settle(ctx, live.Name)
	for _, in := range done {
		if in.Path == home {
			sha = in.To
		}
	}
	return sha, err
}
