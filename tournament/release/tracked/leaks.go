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
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/redact/personal"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
)

// quoted is how many words in a row are a quotation. A rule that a user has said in fewer
// words is the rule itself.
const quoted = 8

// opens is what stands before a path.
const opens = " \t\r\n\"'`(<=:,;[{|*“‘"

// homes are the folders of people on this machine and on others. What is in a hidden folder
// below ~ is a program's, and the same for everybody.
var homes = lazyregexp.New("(?i)(?:^|[" + regexp.QuoteMeta(opens) + "])((?:/mnt)?(?:/[a-z])?/users/|/home/|/root/|~/|[a-z]:[\\\\/]users[\\\\/])[\\pL\\pN_][\\pL\\pN_.-]*")

// uuid is what most ids of sessions are or have; people write its first part.
var uuid = lazyregexp.New("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-")

// leaks refuses a change whose new lines, or whose message, tell more of the sessions than
// the rules: secrets, addresses and numbers of people, folders, ids of sessions and, unless
// the owner wants them, quotations.
func (p *promotion) leaks(ctx context.Context, message string) error {
	cases, err := p.taught(ctx, (*candidate.Texts).Shown)
	if err != nil {
		return err
	}
	added := addedLines(p.live.Doc.Render(), p.v.Text)
	text := strings.Join(added, "")
	var found []string
	for _, t := range []string{text, visible(text)} {
		if _, n := p.Redactor.Redact(t); n > 0 {
			found = append(found, "a secret")
		}
		personal.Each(t, personal.Kinds, func(_, _ int, kind string) { found = append(found, "personal data ("+kind+")") })
	}
	everything := visible(text + "\n" + message)
	if at := homes.FindString(everything); at != "" {
		found = append(found, "the folder "+strings.TrimLeft(at, opens))
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
		id := session(&cases[i])
		if at := uuid.FindString(id); at != "" {
			id = at[:8]
		}
		if len(id) >= 8 && strings.Contains(strings.ToLower(everything), strings.ToLower(id)) {
			found = append(found, "the id of a session")
		}
	}
	hint := fmt.Sprintf("`evolve diff %s@%.12s` shows it; `evolve promote %[1]s` puts it into your working tree, where you can edit it", p.live.Name, p.v.SHA)
	if len(found) == 0 && !p.Quotes {
		if found, err = p.quotations(ctx, cases, text); err != nil {
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

// quotations are the first words of what the added text, whatever its lines, repeats of a
// session.
func (p *promotion) quotations(ctx context.Context, cases []eval.Case, added string) (found []string, err error) {
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
	for _, run := range runsOf(added) {
		if said[run] {
			return []string{"a quotation: “" + plain.Excerpt(run, 60) + "”"}, nil
		}
	}
	return nil, nil
}

// visible is text without the characters that nobody sees, such as soft hyphens and joiners.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
}

// spaceless are the scripts that are written without spaces between words. Two of their
// characters count as a word.
var spaceless = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// runsOf are all runs of so many words of a text that are a quotation.
func runsOf(text string) (out []string) {
	var words []string
	var half []bool
	for _, w := range strings.FieldsFunc(strings.ToLower(visible(text)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		from := 0
		for at, r := range w {
			if unicode.In(r, spaceless...) {
				if from < at {
					words, half = append(words, w[from:at]), append(half, false)
				}
				from = at + utf8.RuneLen(r)
				words, half = append(words, w[at:from]), append(half, true)
			}
		}
		if from < len(w) {
			words, half = append(words, w[from:]), append(half, false)
		}
	}
	for i := range words {
		n := 0
		var run strings.Builder
		for j := i; j < len(words) && n < 2*quoted; j++ {
			if n > 0 && !(half[j] && half[j-1]) {
				run.WriteByte(' ')
			}
			run.WriteString(words[j])
			if n += 2; half[j] {
				n--
			}
		}
		if n >= 2*quoted {
			out = append(out, run.String())
		}
	}
	return out
}
