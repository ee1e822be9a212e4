package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/candidate"
)

// words says in a few what became of a target; version names what was there.
func (o *placed) words(version func(sha string) string) string {
	from := plain.Short(o.From)
	if version != nil {
		from = version(o.From)
	}
	switch o.Outcome {
	case wasInstalled:
		return "took the place of " + from + o.differs()
	case wasCopied:
		return fmt.Sprintf("copied, there was none (%s)", plain.Counted(o.Files, "file"))
	case wasRemoved:
		if n := len(o.Kept); n > 0 {
			return fmt.Sprintf("removed again; %s stay: %s", plain.Counted(n, "changed or added file"), plain.Excerpt(strings.Join(o.Kept, ", "), 100))
		}
		return "removed again, there was none before"
	case wasUnchanged:
		if o.To == "" {
			return "there is none"
		}
		return "in place already" + o.differs()
	case wasSame:
		return "the same file as " + o.Same
	}
	return "refused: " + o.Reason
}

// differs warns of a copy whose other files are not the skill's own.
func (o *placed) differs() string {
	if !o.Differs {
		return ""
	}
	return "; its other files differ from the skill's own"
}

// refusalOf is the error of a command that left a target as it was, nil where
// none was. The only target's is told as it is.
func refusalOf(done []placed) error {
	var first error
	var left []string
	n := 0
	for i := range done {
		if done[i].err == nil {
			continue
		}
		left = append(left, fmt.Sprintf("%s (%s)", done[i].Target, done[i].Reason))
		if n++; first == nil {
			first = done[i].err
		}
	}
	if n == 0 || len(done) == 1 {
		return first
	}
	kind, hint := explain(first)
	return &partly{&problem.Error{Kind: kind, Err: fmt.Errorf("%d of %s refused", n, plain.Counted(len(done), "target")), Hint: hint}, n < len(done), left}
}

// partly is the refusal of some of several targets.
type partly struct {
	why  *problem.Error
	some bool     // some are in place
	left []string // the targets that are as they were, with the reason
}

func (p *partly) Error() string { return p.why.Error() }
func (p *partly) Unwrap() error { return p.why }

// placedResult prints what is in place now, a line for each target. again is what
// promote would put back after a rollback, nil for nothing.
func (a *app) placedResult(live *skill.Live, op string, v *tournament.Version, from string, done []placed, versions []tournament.Version, again *tournament.Version) error {
	if a.JSON {
		path := live.Path
		if len(done) == 1 {
			path = done[0].Path
			if done[0].live {
				path = live.Path
			}
		}
		err := a.PrintJSON(map[string]any{"schema": 1, "skill": live.Name, "version": v.N, "sha256": v.SHA, "from": from,
			"path": path, "proven": v.Proven, "targets": done})
		if err != nil {
			return err
		}
		return refusalOf(done)
	}
	if len(done) == 1 && done[0].err != nil {
		return done[0].err
	}
	next := fmt.Sprintf("`evolve rollback %s%s` takes it back", live.Name, onlyTo(done))
	if op == store.OpRollback {
		next = fmt.Sprintf("`evolve log %s` lists the versions", live.Name)
		if again != nil {
			next = fmt.Sprintf("`evolve promote %s@v%d%s` installs what was there", live.Name, again.N, onlyTo(done))
		}
	}
	var b strings.Builder
	if len(done) == 0 {
		fmt.Fprintf(&b, "%s: nothing of it was in place\n", live.Name)
	} else if len(done) == 1 && done[0].Outcome == wasInstalled && !done[0].Differs {
		fmt.Fprintf(&b, "%s: v%d (%.12s, %s) is installed in %s\n", live.Name, v.N, v.SHA, candidate.Backing(*v), done[0].shown(live))
	} else {
		fmt.Fprintf(&b, "%s: v%d (%.12s, %s)\n", live.Name, v.N, v.SHA, candidate.Backing(*v))
		name := func(sha string) string {
			if k := candidate.VersionIn(versions, sha); k != nil {
				return fmt.Sprintf("v%d", k.N)
			}
			return plain.Short(sha)
		}
		wide := 0 // of agents' names: a folder has the length that it has
		for i := range done {
			if !skill.IsFolder(done[i].Target) {
				wide = max(wide, len(done[i].Target))
			}
		}
		for i := range done {
			fmt.Fprintf(&b, "  %-*s  %s\n", wide, done[i].Target, done[i].words(name))
		}
	}
	if slices.ContainsFunc(done, func(o placed) bool { return o.changed() }) {
		fmt.Fprintf(&b, "next: %s\n", next)
	}
	if _, err := fmt.Fprint(a.Stdout, plain.Text(b.String())); err != nil {
		return err
	}
	return refusalOf(done)
}

// tookThePlaceOf is the SHA-256 of what was there wherever something was changed,
// "" where that was not the same text everywhere.
func tookThePlaceOf(done []placed) (sha string) {
	for i := range done {
		switch o := &done[i]; {
		case !o.changed() || o.From == sha:
		case sha != "":
			return ""
		default:
			sha = o.From
		}
	}
	return sha
}

// onlyTo is the --to that takes back what was done, "" where that is what a
// rollback does by itself: the live text is among it.
func onlyTo(done []placed) string {
	var names []string
	for i := range done {
		switch o := &done[i]; {
		case o.live && o.changed():
			return ""
		case o.changed():
			names = append(names, o.Target)
		}
	}
	return " --to " + strings.Join(names, ",")
}

// shown is the path as its owner knows it.
func (o *placed) shown(live *skill.Live) string {
	if o.live {
		return live.Path
	}
	return o.Path
}
