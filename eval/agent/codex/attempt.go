package codex

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// attempt is the attempt at t by stream and record. Files and audit come from the
// stage.
func (a *Agent) attempt(t eval.Task, r *run, ses *session, steps []*step) eval.Attempt {
	out := eval.Attempt{
		Answer: r.answer, Failure: r.verdict.text, Duration: r.took, InfraRetries: r.retries,
		Usage: r.usage.normal(),
	}
	if ses != nil {
		out.Turns, out.Model = ses.turns, ses.model
		if out.Usage == nil {
			out.Usage = ses.usage.normal() // the stream reports none for a turn that failed
		}
	}
	out.CostUSD = a.c.Prices.USD(out.Usage)
	if out.Failure == "" && strings.TrimSpace(out.Answer) == "" {
		out.Failure = replay.Empty
	}
	for _, s := range steps {
		if s.begun && !r.ended {
			s.call.Failed = true // it never came to an end
		}
		out.Trace = append(out.Trace, s.call)
	}
	out.Loaded(t.Variant, skillsOf(t, ses, steps))
	return out
}

// skillFile finds the skills whose text a command reads.
var skillFile = lazyregexp.New(`skills/([^/\s'"$*?]+)/SKILL\.md`)

// skillsOf names the skills that were loaded, in order of first use. The program has no
// tool for it: it inserts the text of a $NAME itself, and the model reads the files of
// others.
func skillsOf(t eval.Task, ses *session, steps []*step) []string {
	var names []string
	switch {
	case ses != nil:
		names = append(names, ses.skills...)
	case t.Calls():
		names = append(names, t.Variant.Name) // mentioned, and so injected
	}
	for _, s := range steps {
		for _, x := range s.accesses {
			for _, text := range []string{x.Command, x.Path} {
				for _, m := range skillFile.FindAllStringSubmatch(text, -1) {
					if offered(t, m[1]) {
						names = add(names, m[1])
					}
				}
			}
		}
	}
	return names
}

func offered(t eval.Task, name string) bool {
	return t.Variant.IsSkill() && name == t.Variant.Name ||
		slices.ContainsFunc(t.Others, func(o eval.Offer) bool { return o.Name == name })
}

// filesOf are the changed files by the stage and by the stream, sorted. The stream's
// may have been removed again.
func filesOf(changed []string, steps []*step, workspace string) []string {
	out := slices.Clone(changed)
	for _, s := range steps {
		for _, f := range s.files {
			if filepath.IsAbs(f) {
				rel, err := filepath.Rel(workspace, f)
				if err != nil {
					continue
				}
				f = rel
			}
			f = path.Clean(filepath.ToSlash(f))
			if f != ".." && !strings.HasPrefix(f, "../") {
				out = append(out, f)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// accessesOf are all accesses of a turn.
func accessesOf(steps []*step) []replay.Access {
	var out []replay.Access
	for _, s := range steps {
		for _, a := range s.accesses {
			a.Open = s.call.Failed
			out = append(out, a)
		}
	}
	return out
}
