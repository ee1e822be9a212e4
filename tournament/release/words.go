package release

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
)

// Words describes the result at a target in a few words; version names the
// text that was there, nil uses the beginning of its SHA-256.
func (o *Placed) Words(version func(sha string) string) string {
	from := plain.Short(o.From)
	if version != nil {
		from = version(o.From)
	}
	switch o.Outcome {
	case Installed:
		return "took the place of " + from + filesDiffer(o)
	case Copied:
		return fmt.Sprintf("copied, there was none (%s)", plain.Counted(o.Files, "file"))
	case Removed:
		if n := len(o.Kept); n > 0 {
			return fmt.Sprintf("removed again; %s stay: %s", plain.Counted(n, "changed or added file"), plain.Excerpt(strings.Join(o.Kept, ", "), 100))
		}
		return "removed again, there was none before"
	case Stays:
		return "stays, it was a trial install"
	case Unchanged:
		if o.To == "" {
			return "there is none"
		}
		return "in place already" + filesDiffer(o)
	case Same:
		return "the same file as " + o.Same
	}
	return "refused: " + o.Reason
}

// filesDiffer warns of a copy whose other files differ from the skill's own.
func filesDiffer(o *Placed) string {
	if !o.Differs {
		return ""
	}
	return "; its other files differ from the skill's own"
}

// Elsewhere reports the results at the targets other than the skill's home, a
// line each.
func (r *Result) Elsewhere(say func(format string, args ...any)) {
	for i := range r.Placed {
		if o := &r.Placed[i]; !o.Home && o.Outcome != Same {
			say("%s, %s: %s", r.Live.Name, o.Target, o.Words(nil))
		}
	}
}

// Text describes what is in place now, in lines; "" if the only target was
// refused, because the error reports that.
func (r *Result) Text() string {
	done, name, v := r.Placed, r.Live.Name, r.Version
	if len(done) == 1 && done[0].Err != nil {
		return ""
	}
	next := fmt.Sprintf("`evolve rollback %s%s` takes it back", name, onlyTo(done))
	if r.Op == store.OpTry {
		next = fmt.Sprintf("`evolve status` says how its trial goes; `evolve rollback %s` takes it back, `evolve promote %[1]s` keeps it", name)
	}
	if r.Op == store.OpRollback {
		next = fmt.Sprintf("`evolve log %s` lists the versions", name)
		if r.Again != nil {
			next = fmt.Sprintf("`evolve promote %s@%s%s` installs what was there", name, promotedAs(name, r.Again), onlyTo(done))
			if r.again && onlyTo(done) == "" {
				next = fmt.Sprintf("`evolve try %s@v%d` makes it a trial install again", name, r.Again.N)
			}
		}
	}
	var b strings.Builder
	if len(done) == 0 {
		fmt.Fprintf(&b, "%s: nothing of it was in place\n", name)
	} else if len(done) == 1 && done[0].Outcome == Installed && r.Op == store.OpTry {
		fmt.Fprintf(&b, "%s: v%d (%.12s) is a trial install in %s\n", name, v.N, v.SHA, r.PathOf(&done[0]))
	} else if len(done) == 1 && done[0].Outcome == Stays {
		fmt.Fprintf(&b, "%s: v%d (%.12s, %s) stays in %s\nnext: %s\n", name, v.N, v.SHA, candidate.Backing(*v), r.PathOf(&done[0]), next)
	} else if len(done) == 1 && done[0].Outcome == Installed && !done[0].Differs {
		fmt.Fprintf(&b, "%s: v%d (%.12s, %s) is installed in %s\n", name, v.N, v.SHA, candidate.Backing(*v), r.PathOf(&done[0]))
	} else {
		fmt.Fprintf(&b, "%s: v%d (%.12s, %s)\n", name, v.N, v.SHA, candidate.Backing(*v))
		wide := 0 // of agents' names: a folder has the length that it has
		for i := range done {
			if !skill.IsFolder(done[i].Target) {
				wide = max(wide, len(done[i].Target))
			}
		}
		for i := range done {
			fmt.Fprintf(&b, "  %-*s  %s\n", wide, done[i].Target, done[i].Words(candidate.VersionNames(r.Versions)))
		}
	}
	if r.Changed() {
		fmt.Fprintf(&b, "next: %s\n", next)
	}
	return b.String()
}

// onlyTo is the --to that reverses the command, "" if a rollback does so by
// default because the live text is among its results.
func onlyTo(done []Placed) string {
	var names []string
	for i := range done {
		switch o := &done[i]; {
		case o.Home && (o.Changed() || o.Outcome == Stays):
			return ""
		case o.Changed():
			names = append(names, o.Target)
		}
	}
	return " --to " + strings.Join(names, ",")
}

// PathOf is the path of a target, as its owner would type it.
func (r *Result) PathOf(o *Placed) string {
	if o.Home {
		return r.Live.Path
	}
	return o.Path
}
