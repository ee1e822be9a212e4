package corrections

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/corrections"
	"github.com/skill-evolve/evolve/tournament/campaign"
)

const (
	quotesShown = 2
	quoteShown  = 90 // characters
)

func skillOf(concerns string) (string, bool) { return strings.CutPrefix(concerns, "skill:") }

func readWords(done campaign.ReadingDone) string {
	s, g, spent := done.Stats, done.Grouping, done.Spent
	cost := ""
	if spent.CostUSD > 0 {
		cost = ", " + eval.FormatUSD(spent.CostUSD)
	}
	out := fmt.Sprintf("%d of %s, now or before; %s now, %s tokens%s", s.Read, plain.Counted(s.Moments, "moment"), plain.Counted(s.Calls+g.Calls, "call"), plain.Thousands(spent.TokensIn+spent.TokensOut), cost)
	if s.Void > 0 {
		out += fmt.Sprintf("; %d replies could not be used", s.Void)
	}
	if s.Unread > 0 {
		out += fmt.Sprintf("; %d are unread", s.Unread)
	}
	if g.Grouped > 0 {
		out += fmt.Sprintf("; %s in %s", plain.Counted(g.Grouped, "rule"), plain.Counted(g.Groups, "group"))
	}
	if g.Void > 0 {
		out += fmt.Sprintf("; %s could not be put into groups", plain.Counted(g.Void, "rule"))
	}
	return out
}

// words is the report for a person.
func words(r *corrections.Report, f *flags) string {
	var b strings.Builder
	n := r.Funnel
	if n.Turns == 0 {
		return "no session with text is stored: `evolve harvest` reads them\n"
	}
	fmt.Fprintf(&b, "%s in %s → %d with a reply → %d read by a model\n%d corrected → %d preventable by a rule → %d replayable; %d accepted, %s\n",
		plain.Counted(n.Turns, "turn"), plain.Counted(n.Sessions, "session"), n.Replied, n.Read, n.Corrected, n.Preventable, n.Replayable, n.Accepted, plain.Counted(n.Cases, "case"))
	for _, why := range slices.Sorted(maps.Keys(r.NoCase)) {
		fmt.Fprintf(&b, "no case of %s: %s\n", plain.Counted(r.NoCase[why], "use"), why)
	}
	for i, rule := range r.Rules {
		if i == f.most {
			fmt.Fprintf(&b, "\n%d more: -n %d shows all\n", len(r.Rules)-i, len(r.Rules))
			break
		}
		fmt.Fprintf(&b, "\n%s\n", Title(rule))
		fmt.Fprintf(&b, "  %s\n", Standing(rule))
		if u := rule.Unaided; u != nil {
			fmt.Fprintf(&b, "  perhaps no longer needed: without the skill %s passed %s of %s, %s\n", plain.Line(u.Model), plain.Counted(u.Rollouts, "rollout"), plain.Counted(u.Cases, "case"), u.Last.Format("2006-01-02"))
		}
		for k, q := range rule.Quotes {
			if k == quotesShown {
				fmt.Fprintf(&b, "  and %d more\n", len(rule.Quotes)-k)
				break
			}
			fmt.Fprintf(&b, "  %s  «%s»%s\n", day(q), plain.Excerpt(q.Words, quoteShown), copiedWords(q))
		}
	}
	if n.Replied > n.Read && !f.read {
		fmt.Fprintf(&b, "\nno model has read %d of the replies: only sure words count\nnext: `evolve corrections --read --dry-run` says what it costs to have them read\n", n.Replied-n.Read)
	}
	return b.String()
}

// With how many texts, and of each with how many corrections, a harvest ends.
const (
	learned  = 3
	mostSaid = 3
	saidRune = 40
)

// Learned are the lines with which a harvest ends: what was corrected most often of each
// skill, in the user's own words.
func Learned(r *corrections.Report) string {
	var b strings.Builder
	said, order := map[string][]string{}, []string{}
	for _, rule := range r.Rules {
		if rule.Sessions == 0 { // not in the user's own words
			continue
		}
		whose := whose(rule)
		if said[whose] == nil {
			order = append(order, whose)
		}
		if len(said[whose]) < mostSaid {
			said[whose] = append(said[whose], mostOften(rule))
		}
	}
	for i, whose := range order {
		if i == learned {
			break
		}
		fmt.Fprintf(&b, "  %s: you said %s\n", whose, strings.Join(said[whose], ", "))
	}
	if b.Len() == 0 {
		return ""
	}
	of := ""
	if r.Funnel.Sessions >= Latest {
		of = fmt.Sprintf(" of your last %d sessions", r.Funnel.Sessions)
	}
	return fmt.Sprintf("\nyou corrected %s%s (`evolve corrections` shows them all):\n%s", plain.Counted(r.Funnel.Corrected, "turn"), of, b.String())
}

// mostOften is what was said of a rule, with the number of sessions if there are several.
func mostOften(rule corrections.Rule) string {
	own := rule.Quotes[slices.IndexFunc(rule.Quotes, func(q corrections.Quote) bool { return !q.Copied })]
	out := "«" + plain.Excerpt(cmp.Or(rule.Said, own.Words), saidRune) + "»"
	if rule.Sessions > 1 {
		out += fmt.Sprintf(" %d×", rule.Sessions)
	}
	return out
}

// whose is the text that a rule belongs to, in words.
func whose(r corrections.Rule) string {
	if name, ok := skillOf(r.Concerns); ok {
		return name
	}
	if r.Concerns != "" {
		return "standing instructions"
	}
	return "anything"
}

// Title is a rule in one line: whose it is, what it says, how often it was corrected.
func Title(r corrections.Rule) string {
	what := plain.Line(r.Rule)
	if what == "" && r.Said != "" {
		what = "you said «" + plain.Line(r.Said) + "»"
	} else if what == "" {
		what = "you said «" + plain.Excerpt(r.Quotes[0].Words, quoteShown) + "»"
	}
	in := plain.Counted(r.Sessions, "session")
	if r.Sessions == 0 {
		in = "not in your own words"
	}
	return fmt.Sprintf("%s: %s (%s)", whose(r), what, in)
}

// Standing says where a rule is written.
func Standing(r corrections.Rule) string {
	where := plain.Line(r.Written.File)
	project, own := plain.Line(r.Written.Project), r.Written.Own
	switch {
	case r.Written.Path == "" && r.Rule == "" && r.Said == "":
		return "not compared with what is written"
	case r.Written.Path == "" && project != "" && own != "":
		return fmt.Sprintf("written nowhere: %s is the project's file, %s is yours", project, own)
	case r.Written.Path == "" && own != "":
		return fmt.Sprintf("written nowhere: %s is your file for all projects", own)
	case r.Written.Path == "":
		return "written nowhere"
	case r.Written.Since > 0:
		return fmt.Sprintf("written in %s, and still corrected in %s since", where, plain.Counted(r.Written.Since, "session"))
	}
	return fmt.Sprintf("written in %s, and not corrected since", where)
}

func day(q corrections.Quote) string {
	if q.Time.IsZero() {
		return "          "
	}
	return q.Time.Format("2006-01-02")
}

func copiedWords(q corrections.Quote) string {
	if q.Copied {
		return " (not your own words: the agent wrote them first)"
	}
	return ""
}
