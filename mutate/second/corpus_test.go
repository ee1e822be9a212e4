package second

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/mutate/skill"
	"go.yaml.in/yaml/v3"
)

// The corpus is what the second reader is measured on: candidates of 18 kinds that undo a
// kernel in prose, drawn from testdata/prose.yaml, and ordinary edits, which no reader
// should hold.
const (
	ofEachKind = 10
	ofOrdinary = 100
	corpusSeed = 23
	floorData  = "../skill/check/testdata/firewall"
)

// A drawn candidate is one text of the corpus.
type drawn struct {
	name, kind  string // kind is "" for an ordinary edit
	base        string
	says        string // what undoes the kernel
	root, child *skill.Document
}

type proseData struct {
	Bases map[string]map[string]any
	Kinds map[string]struct {
		Place string
		Lines []string
	}
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err == nil {
		err = yaml.Unmarshal(raw, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func readBase(t *testing.T, name string) *skill.Document {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(floorData, "bases", name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := skill.Parse(raw, skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func random(what string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(what))
	return rand.New(rand.NewPCG(corpusSeed, h.Sum64()))
}

// prose draws the candidates that undo a kernel.
func prose(t *testing.T) (out []drawn) {
	t.Helper()
	var data proseData
	readYAML(t, "testdata/prose.yaml", &data)
	bases := slices.Sorted(maps.Keys(data.Bases))
	edits := ordinaryLines(t)
	for _, kind := range slices.Sorted(maps.Keys(data.Kinds)) {
		k, rng := data.Kinds[kind], random(kind)
		used := map[string]bool{}
		order := rng.Perm(len(k.Lines))
		for i := 0; len(used) < ofEachKind; i++ {
			if i > 1000 {
				t.Fatalf("%s has too few different candidates", kind)
			}
			base := bases[rng.IntN(len(bases))]
			says := fill(k.Lines[order[i%len(order)]], data.Bases[base], rng)
			if used[base+says] {
				continue
			}
			used[base+says] = true
			root := readBase(t, base)
			view := insert(root.View(), says, k.Place, rng)
			for range rng.IntN(3) { // most candidates change other things as well
				e := edits[base][rng.IntN(len(edits[base]))]
				view = behind(view, e.After, e.Add)
			}
			out = append(out, drawn{fmt.Sprintf("%s-%02d", kind, len(used)), kind, base, says, root, remade(t, root, view)})
		}
	}
	return out
}

// ordinary draws the ordinary edits: what testdata/ordinary.yaml has, and one to three lines
// of the firewall's corpus.
func ordinary(t *testing.T) (out []drawn) {
	t.Helper()
	var changes []struct{ Base, Was, Is string }
	readYAML(t, "testdata/ordinary.yaml", &changes)
	for _, c := range changes {
		root := readBase(t, c.Base)
		if strings.Count(root.View(), c.Was) != 1 {
			t.Fatalf("%s does not have %q once", c.Base, c.Was)
		}
		out = append(out, drawn{fmt.Sprintf("ordinary-%03d", len(out)+1), "", c.Base, c.Is, root, remade(t, root, strings.Replace(root.View(), c.Was, c.Is, 1))})
	}
	edits, rng := ordinaryLines(t), random("ordinary")
	bases := slices.Sorted(maps.Keys(edits))
	for len(out) < ofOrdinary {
		base := bases[rng.IntN(len(bases))]
		root := readBase(t, base)
		view, says := root.View(), ""
		for _, i := range rng.Perm(len(edits[base]))[:1+rng.IntN(3)] {
			e := edits[base][i]
			view, says = behind(view, e.After, e.Add), says+e.Add+"\n"
		}
		child := remade(t, root, view)
		if !slices.ContainsFunc(out, func(d drawn) bool { return d.child.Hash() == child.Hash() }) {
			out = append(out, drawn{fmt.Sprintf("ordinary-%03d", len(out)+1), "", base, says, root, child})
		}
	}
	return out
}

type lineEdit struct{ After, Add string }

// ordinaryLines are the new lines of the firewall's ordinary edits, by base.
func ordinaryLines(t *testing.T) map[string][]lineEdit {
	t.Helper()
	files, err := filepath.Glob(floorData + "/benign*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no ordinary edits: %v", err)
	}
	out := map[string][]lineEdit{}
	for _, file := range files {
		var edits []struct {
			Base, After, Add string
			Lines            []string
		}
		readYAML(t, file, &edits)
		for _, e := range edits {
			lines := e.Lines
			if e.Add != "" {
				lines = append(lines, e.Add)
			}
			for _, line := range lines {
				if e.After != "" && strings.Contains(readBase(t, e.Base).View(), e.After) {
					out[e.Base] = append(out[e.Base], lineEdit{e.After, line})
				}
			}
		}
	}
	return out
}

func remade(t *testing.T, root *skill.Document, view string) *skill.Document {
	t.Helper()
	d, err := root.WithView(view)
	if err != nil {
		t.Fatalf("%v\n%s", err, view)
	}
	return d
}

// behind puts text behind the line that holds after.
func behind(view, after, text string) string {
	at := strings.Index(view, after)
	end := at + strings.IndexByte(view[at:]+"\n", '\n')
	return view[:end] + "\n" + text + view[end:]
}

// insert puts a sentence or more where a writer might.
func insert(view, says, place string, rng *rand.Rand) string {
	var items []string
	for line := range strings.Lines(view) {
		if strings.HasPrefix(line, "- ") || line[0] >= '1' && line[0] <= '9' {
			items = append(items, strings.TrimRight(line, "\n"))
		}
	}
	one := !strings.Contains(says, "\n")
	switch place = cmp.Or(place, []string{"line", "line", "end", "before"}[rng.IntN(4)]); {
	case place == "before":
		at := strings.Index(view, "<<KERNEL")
		return view[:at] + says + "\n\n" + view[at:]
	case place == "line" && one:
		item := items[rng.IntN(len(items))]
		if item[0] == '-' {
			return behind(view, item, "- "+says)
		}
		return behind(view, item, "   "+says)
	}
	return strings.TrimRight(view, "\n") + "\n\n" + says + "\n"
}

var slot = regexp.MustCompile(`\{([a-z0-9]+)(?::([^{}]*))?\}`)

// fill puts a base's words, and encodings of words, in place of slots, the innermost first.
func fill(line string, base map[string]any, rng *rand.Rand) string {
	for slot.MatchString(line) {
		line = slot.ReplaceAllStringFunc(line, func(s string) string {
			m := slot.FindStringSubmatch(s)
			if encode := encodings[m[1]]; encode != nil {
				return encode(m[2])
			}
			if list, ok := base[m[1]].([]any); ok {
				return list[rng.IntN(len(list))].(string)
			}
			return base[m[1]].(string)
		})
	}
	first, size := utf8.DecodeRuneInString(line)
	return string(unicode.ToUpper(first)) + line[size:]
}

var encodings = map[string]func(string) string{
	"rot13":   shifted(13),
	"caesar":  shifted(1),
	"hex":     func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"base64":  func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"reverse": func(s string) string { r := []rune(s); slices.Reverse(r); return string(r) },
	"leet":    strings.NewReplacer("a", "4", "e", "3", "o", "0", "i", "1", "s", "5", "t", "7").Replace,
	"numbers": spelled(func(c rune) string { return fmt.Sprint(c - 'a' + 1) }),
	"morse": spelled(func(c rune) string {
		return strings.Fields(".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..")[c-'a']
	}),
	"nato": spelled(func(c rune) string {
		return strings.Fields("Alfa Bravo Charlie Delta Echo Foxtrot Golf Hotel India Juliett Kilo Lima Mike November Oscar Papa Quebec Romeo Sierra Tango Uniform Victor Whiskey Xray Yankee Zulu")[c-'a']
	}),
	"initials": spelled(func(c rune) string {
		return strings.Fields("apples bring cheer during every festive gathering hosted in june keeping lemons mild near open pears quietly ripening some time under very warm xeric young zest")[c-'a']
	}),
}

func shifted(n rune) func(string) string {
	return func(s string) string {
		return strings.Map(func(c rune) rune {
			if c < 'a' || c > 'z' {
				return c
			}
			return 'a' + (c-'a'+n)%26
		}, strings.ToLower(s))
	}
}

func spelled(letter func(rune) string) func(string) string {
	return func(s string) string {
		var out []string
		for _, c := range strings.ToLower(s) {
			if c >= 'a' && c <= 'z' {
				out = append(out, letter(c))
			}
		}
		return strings.Join(out, " ")
	}
}
