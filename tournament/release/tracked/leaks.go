package tracked

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff/lcs"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/redact/personal"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
)

// quoted is how many words in a row are a quotation. A rule that a user has said in fewer
// words is the rule itself.
const quoted = 8

// homes are the folders of people on this machine and on others.
var homes = regexp.MustCompile("(?i)(?:^|[\\s\"'`(<=:,])(/home/|/users/|[a-z]:\\\\users\\\\)[\\w.-]+")

// leaks refuses a change whose new lines, or whose message, tell more of the sessions than
// the rules: secrets, addresses and numbers of people, folders, ids of sessions and, unless
// the owner wants them, quotations.
func (p *promotion) leaks(ctx context.Context, message string) error {
	cases, err := p.taught(ctx, (*candidate.Texts).Shown)
	if err != nil {
		return err
	}
	added := addedLines(p.live.Doc.Render(), p.v.Text)
	text := strings.Join(added, "\n")
	var found []string
	if _, n := p.Redactor.Redact(text); n > 0 {
		found = append(found, "a secret")
	}
	personal.Each(text, personal.Kinds, func(_, _ int, kind string) { found = append(found, "personal data ("+kind+")") })
	everything := text + "\n" + message
	if at := homes.FindString(everything); at != "" {
		found = append(found, "the folder "+strings.TrimLeft(at, " \t\n\"'`(<=:,"))
	}
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 && strings.Contains(everything, home) {
		found = append(found, "the folder "+home)
	}
	folders, err := p.folders(ctx, cases)
	if err != nil {
		return err
	}
	for _, f := range folders {
		if strings.Contains(everything, f) {
			found = append(found, "the folder "+f)
		}
	}
	for i := range cases {
		if id := session(&cases[i]); len(id) >= 8 && strings.Contains(everything, id) {
			found = append(found, "the id of a session")
		}
	}
	hint := fmt.Sprintf("`evolve diff %s@%.12s` shows it; `evolve promote %[1]s` puts it into your working tree, where you can edit it", p.live.Name, p.v.SHA)
	if len(found) == 0 && !p.Quotes {
		if found, err = p.quotations(ctx, cases, added); err != nil {
			return err
		}
		hint += "; --with-quotes lets it out"
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	return problem.Refusef(hint, "%.12s would take with it %s", p.v.SHA, strings.Join(slices.Compact(found), ", "))
}

// addedLines are the lines of new that old lacks.
func addedLines(old, new []byte) (out []string) {
	was, is := slices.Collect(strings.Lines(string(old))), slices.Collect(strings.Lines(string(new)))
	for _, d := range lcs.DiffLines(was, is) {
		out = append(out, is[d.ReplStart:d.ReplEnd]...)
	}
	return out
}

// folders are those that the sessions behind the cases worked in.
func (p *promotion) folders(ctx context.Context, cases []eval.Case) (out []string, err error) {
	seen := map[string]bool{}
	for i := range cases {
		id := session(&cases[i])
		if id == "" || seen[id] {
			continue
		}
		seen[id] = true
		all, err := p.in.Store.Sessions(ctx, store.SessionFilter{ID: id, Bare: true})
		if err != nil {
			return nil, err
		}
		for i := range all {
			out = append(out, all[i].WorkedIn()...)
		}
	}
	// One like /app is in many texts, and tells nothing.
	return slices.DeleteFunc(out, func(f string) bool { return strings.Count(filepath.ToSlash(f), "/") < 2 }), nil
}

// quotations are the first words of what the added lines repeat of a session.
func (p *promotion) quotations(ctx context.Context, cases []eval.Case, added []string) (found []string, err error) {
	words := &candidate.Words{Store: p.in.Store, Sessions: map[string]map[string]string{}}
	said := map[string]bool{}
	for i := range cases {
		c := &cases[i]
		reaction, err := words.Of(ctx, c)
		if err != nil {
			return nil, err
		}
		texts := []string{c.Prompt, reaction, c.Reference}
		for _, m := range c.Context {
			texts = append(texts, m.Text)
		}
		for _, t := range texts {
			for _, run := range runsOf(t) {
				said[run] = true
			}
		}
	}
	for _, line := range added {
		for _, run := range runsOf(line) {
			if said[run] {
				found = append(found, "a quotation: “"+plain.Excerpt(run, 60)+"”")
				break
			}
		}
	}
	return found, nil
}

// runsOf are all runs of so many words of a text that are a quotation.
func runsOf(text string) (out []string) {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i := 0; i+quoted <= len(words); i++ {
		out = append(out, strings.Join(words[i:i+quoted], " "))
	}
	return out
}
