package release

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
)

// Words says in a few what became of a target; version names what was there, nil by the
// beginning of its SHA-256.
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

// filesDiffer warns of a copy whose other files are not the skill's own.
func filesDiffer(o *Placed) string {
	if !o.Differs {
		return ""
	}
	return "; its other files differ from the skill's own"
}

// Elsewhere reports, a line each, what became of the targets besides the one where the
// skill lives.
func (r *Result) Elsewhere(say func(format string, args ...any)) {
	for i := range r.Placed {
		if o := &r.Placed[i]; !o.Home && o.Outcome != Same {
			say("%s, %s: %s", r.Live.Name, o.Target, o.Words(nil))
		}
	}
}
