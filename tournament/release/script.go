package release

import (
	"context"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
)

// runs reports whether a subject's text is a program, the script of a hook.
func runs(key string) bool { return subject.Parse(key).Kind == subject.Hook }

// Runs is the SHA-256 of the script that a plan puts in the place of another one, "" if it puts
// none anywhere. The owner reads a script before it runs: see Agree.
func (p *Plan) Runs() string {
	if !runs(p.Live.Name) {
		return ""
	}
	if v := p.Version; p.Live.Tracked && v != nil && v.SHA != p.Live.Doc.Hash() { // its place refuses all but what tracked.Promote does
		return v.SHA
	}
	for i := range p.Places {
		if at := &p.Places[i]; at.Refusal == nil && at.Same == "" && at.sha() != at.Held {
			return at.sha()
		}
	}
	return ""
}

// Agree is the owner's word for the bytes with this SHA-256. Apply puts no other bytes of a
// hook's script in place; a rollback needs only Installer.Word, because what it puts back has
// been in place before.
func (p *Plan) Agree(sha string) { p.agreed = sha }

// MayRun refuses a plan that puts a script in place which its owner has not agreed to. Nothing
// else does so: no policy, no trial and no night.
func (in *Installer) MayRun(p *Plan) error {
	sha := p.Runs()
	if sha == "" || in.Word && (p.Op == store.OpRollback || sha == p.agreed) {
		return nil
	}
	command := fmt.Sprintf("`evolve promote %s@%.12s`, typed by you, puts it in place", p.Live.Name, sha)
	if p.Op == store.OpRollback {
		command = fmt.Sprintf("`evolve rollback %s`, typed by you, puts it back", p.Live.Name)
	}
	return problem.Refusef(command, "%s is a program: nothing but your word for its exact bytes changes it", skill.Called(p.Live.Name))
}

// ownScript is the version that at names by its SHA-256 if it is the live script or one of its
// owner's; for any other text at itself. A script is promoted by its bytes, whoever wrote it.
func (in *Installer) ownScript(ctx context.Context, live *skill.Live, at string) (string, error) {
	if !runs(live.Name) || at == "" || candidate.IsVersion(at) {
		return at, nil
	}
	sha, err := (&candidate.Texts{Skill: live.Name, Live: live, Store: in.Store}).SHA(ctx, at)
	if err != nil {
		return "", err
	}
	switch v, err := in.Store.VersionBySHA(ctx, live.Name, sha); {
	case err == nil && (v.Author != "evolve" || sha == live.Doc.Hash()):
		return fmt.Sprintf("v%d", v.N), nil
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return "", err
	}
	return at, nil
}

// promotedAs names a version in a command that puts it in place.
func promotedAs(key string, v *record.Version) string {
	if runs(key) {
		return plain.Short(v.SHA)
	}
	return fmt.Sprintf("v%d", v.N)
}

// notTried refuses a trial install of a script.
func notTried(key string) error {
	return problem.Refusef(fmt.Sprintf("`evolve promote %s` shows what waits and asks", key), "a hook is put in place by promote, at your word: there is no trial install of %s", skill.Called(key))
}
