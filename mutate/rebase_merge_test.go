package mutate

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// An author writes texts and edits of them, each line with words of its own.
type author struct {
	*rand.Rand
	n        int
	distinct bool // headings too
}

func (a *author) word(of string) string { a.n++; return fmt.Sprintf("%s%d", of, a.n) }

// A part of a text is a heading with the blocks under it.
type part struct {
	heading string
	blocks  []string
}

func (a *author) heading() string {
	name := []string{"Axes", "Colours", "Output", "Steps"}[a.IntN(4)]
	if a.distinct {
		name = a.word(name)
	}
	return []string{"## " + name, "## " + name, "### " + name, "## " + name + " ##", name + "\n-------"}[a.IntN(5)]
}

func (a *author) blocks() (out []string) {
	for range a.IntN(4) {
		switch a.IntN(6) {
		case 0:
			out = append(out, fmt.Sprintf("```sh\n# %s\n\n## Axes\n%s\n```\n", a.word("code"), a.word("code")))
		case 1:
			out = append(out, a.word("words")+" more\n")
		case 2:
			out = append(out, "> "+a.word("quote")+"\n")
		default:
			out = append(out, "- "+a.word("item")+"\n")
		}
	}
	return out
}

func (a *author) write() []part {
	out := []part{{"# title", a.blocks()}}
	for range 1 + a.IntN(5) {
		out = append(out, part{a.heading(), a.blocks()})
	}
	return out
}

// edit makes one or two changes: to a section, or within one.
func (a *author) edit(parts []part, who string) []part {
	out := make([]part, len(parts))
	for i, p := range parts {
		out[i] = part{p.heading, slices.Clone(p.blocks)}
	}
	for range 1 + a.IntN(2) {
		i := a.IntN(len(out))
		p := &out[i]
		at := 0
		if len(p.blocks) > 0 {
			at = a.IntN(len(p.blocks))
		}
		switch kind := a.IntN(9); {
		case kind == 0:
			out = slices.Insert(out, i+1, part{a.heading(), append([]string{"- " + a.word(who) + "\n"}, a.blocks()...)})
		case kind == 1 && i > 0:
			out = slices.Delete(out, i, i+1)
		case kind == 2 && i > 0:
			moved := *p
			out = slices.Delete(out, i, i+1)
			out = slices.Insert(out, 1+a.IntN(len(out)), moved)
		case kind == 3:
			p.heading = "## " + a.word(who)
		case kind == 4 && len(p.blocks) > 0:
			p.blocks = slices.Delete(p.blocks, at, at+1)
		case kind == 5 && len(p.blocks) > 0:
			p.blocks[at] = "- " + a.word(who) + "\n"
		case kind == 6 && len(p.blocks) > 0: // into another section
			b := p.blocks[at]
			p.blocks = slices.Delete(p.blocks, at, at+1)
			to := &out[a.IntN(len(out))]
			to.blocks = append(to.blocks, b)
		default:
			p.blocks = slices.Insert(p.blocks, at, "- "+a.word(who)+"\n")
		}
	}
	return out
}

func (a *author) text(parts []part) string {
	var b strings.Builder
	b.WriteString("---\nname: s\ndescription: d\n---\n")
	for _, p := range parts {
		b.WriteString(p.heading + "\n\n")
		for _, block := range p.blocks {
			b.WriteString(block + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// triple draws a text, its owner's edit and a challenger.
func (a *author) triple() (base, ours, theirs string) {
	parts := a.write()
	return a.text(parts), a.text(a.edit(parts, "mine")), a.text(a.edit(parts, "theirs"))
}

// wordsIn counts the lines of a text that have words.
func wordsIn(text string) map[string]int {
	n := map[string]int{}
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); strings.ContainsAny(l, "abcdefghijklmnopqrstuvwxyz") && !strings.HasPrefix(l, "```") && !strings.HasPrefix(l, "~~~") {
			n[l]++
		}
	}
	return n
}

// unfaithful describes changes of lines that neither side made, "" for none.
func unfaithful(base, ours, theirs, got string) string {
	b, o, h, g := wordsIn(base), wordsIn(ours), wordsIn(theirs), wordsIn(got)
	for _, n := range []map[string]int{b, o, h, g} {
		for l := range n {
			switch {
			case o[l] > b[l] && g[l] < o[l]:
				return "the owner's line is lost: " + l
			case o[l] < b[l] && g[l] > o[l]:
				return "the owner's deletion is undone: " + l
			case h[l] > b[l] && g[l] < h[l]:
				return "the challenger's line is lost: " + l
			case h[l] < b[l] && g[l] > h[l]:
				return "the challenger's deletion is undone: " + l
			case o[l] == b[l] && h[l] == b[l] && g[l] != b[l]:
				return fmt.Sprintf("a line that nobody touched stands there %d times: %s", g[l], l)
			case g[l] > max(o[l], h[l]):
				return "a line stands there twice: " + l
			}
		}
	}
	return ""
}

func rebaseTexts(t interface{ Fatalf(string, ...any) }, base, ours, theirs string) (string, error) {
	got, err := Rebase(parsed(t, base, skill.Options{}), parsed(t, ours, skill.Options{}), parsed(t, theirs, skill.Options{}))
	if err != nil {
		return "", err
	}
	return string(got.Render()), nil
}

// For any changes of sections on the two sides: no deletion is undone, no
// line is lost or doubled, or it is a conflict; and if both worked in
// different sections it mostly is none.
func TestRebaseIsFaithful(t *testing.T) {
	merged, conflicts := 0, 0
	for seed := range uint64(3000) {
		a := &author{Rand: rand.New(rand.NewPCG(seed, 7))}
		base, ours, theirs := a.triple()
		got, err := rebaseTexts(t, base, ours, theirs)
		var clash *ConflictError
		if err != nil {
			if !errors.As(err, &clash) {
				t.Fatalf("seed %d: %v", seed, err)
			}
			conflicts++
			continue
		}
		merged++
		if wrong := unfaithful(base, ours, theirs, got); wrong != "" {
			t.Errorf("seed %d: %s\nbase:\n%s\nowner's:\n%s\nchallenger's:\n%s\nmerged:\n%s", seed, wrong, base, ours, theirs, got)
		}
	}
	t.Logf("%d merges, %d conflicts", merged, conflicts)
	if merged < conflicts {
		t.Errorf("%d merges and %d conflicts: more edits are dropped than need be", merged, conflicts)
	}
}

var askGit = flag.Bool("git", false, "record again what `git merge-file` makes of the texts in testdata/rebase")

const gitVectors = 150

// gitMerge is git's merge, conflict if it cannot.
func gitMerge(t *testing.T, base, ours, theirs string) (merged string, conflict bool) {
	t.Helper()
	args := []string{"merge-file", "-p"}
	for _, text := range []string{ours, base, theirs} {
		f := filepath.Join(t.TempDir(), "SKILL.md")
		if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, f)
	}
	out, err := exec.Command("git", args...).Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() >= 128) {
		t.Fatal(err)
	}
	return string(out), err != nil
}

// What git merges by lines and Rebase by sections has the same lines; what
// git cannot merge, Rebase merges only if the two changed different sections.
// The answers of git (merge-file of 2.39) are recorded: testing needs no git.
func TestRebaseAgainstGit(t *testing.T) {
	const path = "testdata/rebase/git.txtar"
	triples := map[string][3]string{}
	var names []string
	for seed := range uint64(gitVectors) {
		a := &author{Rand: rand.New(rand.NewPCG(seed, 11)), distinct: true}
		name := fmt.Sprintf("%03d", seed)
		base, ours, theirs := a.triple()
		triples[name], names = [3]string{base, ours, theirs}, append(names, name)
	}
	if *askGit {
		ar := &txtar.Archive{Comment: []byte("What git merge-file says to each triple of TestRebaseAgainstGit: nothing for a conflict.\n")}
		for _, name := range names {
			k := triples[name]
			text, conflict := gitMerge(t, k[0], k[1], k[2])
			if conflict {
				text = ""
			}
			ar.Files = append(ar.Files, txtar.File{Name: name, Data: []byte(text)})
		}
		if err := os.WriteFile(path, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ar, err := txtar.ParseFile(path)
	if err != nil || len(ar.Files) != gitVectors {
		t.Fatalf("%v, %v", ar, err)
	}
	both, sections, none := 0, 0, 0
	for _, f := range ar.Files {
		k := triples[f.Name]
		got, err := rebaseTexts(t, k[0], k[1], k[2])
		switch {
		case err != nil:
			none++
		case len(f.Data) > 0:
			both++
			if a, b := body(got), body(string(f.Data)); !slices.Equal(a, b) {
				t.Errorf("%s: got\n%s\ngit has\n%s", f.Name, strings.Join(a, "\n"), strings.Join(b, "\n"))
			}
		default:
			sections++
			mine, new := changedParts(k[0], k[1]), changedParts(k[0], k[2])
			for h := range mine {
				if new[h] {
					t.Errorf("%s: git has a conflict, and both changed %q:\n%s", f.Name, h, got)
				}
			}
		}
	}
	t.Logf("%d merges like git's, %d by sections alone, %d conflicts", both, sections, none)
	if both == 0 || sections == 0 || none == 0 {
		t.Error("the texts test nothing")
	}
}

// body is the lines of a text that are not blank.
func body(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
}

// changedParts lists the headings of a text with distinct ones whose sections an edit
// has not as they were.
func changedParts(text, edited string) map[string]bool {
	sections := func(text string) map[string]string {
		out := map[string]string{}
		for _, s := range sectionsOf(parsed(panics{}, text, skill.Options{}), nil) {
			heading, _, _ := strings.Cut(s.text, "\n")
			out[heading] = s.key()
		}
		return out
	}
	was, now, out := sections(text), sections(edited), map[string]bool{}
	for h, k := range was {
		if now[h] != k {
			out[h] = true
		}
	}
	return out
}

type panics struct{}

func (panics) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
