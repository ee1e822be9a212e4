package wordlike

import (
	"flag"
	"go/scanner"
	"go/token"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/language/display"
	"golang.org/x/text/unicode/norm"
)

var update = flag.Bool("update", false, "compute trigrams.bin anew")

// A lexicon counts how often a word is used: three letters of ASCII or more, without
// accents.
type lexicon map[string]int

var unaccented = strings.NewReplacer("ß", "ss", "ø", "o", "ł", "l", "đ", "d", "ı", "i", "æ", "ae", "œ", "oe", "þ", "th", "ð", "d")

func (l lexicon) add(text string) {
	text = unaccented.Replace(norm.NFD.String(strings.ToLower(text)))
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, text)
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(w) >= 3 && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" {
			l[w]++
		}
	}
}

// sources adds the names and the comments of the Go files below root, hump by hump. What
// string literals hold may be no words.
func (l lexicon) sources(t *testing.T, root string) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "vendor"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var s scanner.Scanner
		s.Init(token.NewFileSet().AddFile(path, -1, len(data)), data, nil, scanner.ScanComments)
		for {
			_, tok, text := s.Scan()
			switch tok {
			case token.EOF:
				return nil
			case token.IDENT, token.COMMENT:
				for i := 0; i < len(text); {
					end := Segment(text, i)
					l.add(text[i:end])
					i = end
				}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// names adds what languages, countries and scripts are called in each language of the
// Unicode CLDR.
func (l lexicon) names() {
	for _, in := range display.Supported.Tags() {
		for _, n := range []display.Namer{display.Languages(in), display.Regions(in), display.Scripts(in)} {
			if n == nil {
				continue
			}
			for _, v := range display.Values.BaseLanguages() {
				l.add(n.Name(v))
			}
			for _, v := range display.Values.Regions() {
				l.add(n.Name(v))
			}
			for _, v := range display.Values.Scripts() {
				l.add(n.Name(v))
			}
		}
	}
}

// everyday adds the words of testdata/words.txt.
func (l lexicon) everyday(t *testing.T) {
	data, err := os.ReadFile("testdata/words.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if _, words, ok := strings.Cut(line, ": "); ok {
			l.add(words)
		}
	}
}

// apart is true of one word in twenty, which show how well the others serve.
func apart(word string) bool {
	h := fnv.New32a()
	h.Write([]byte(word))
	return h.Sum32()%20 == 0
}

// mark sets the bits of the trigrams that are in so many words, each of which is used so
// often.
func (l lexicon) mark(bits []byte, words, uses int) {
	in := make([]int, 8*len(bits))
	for w, n := range l {
		for i := 0; n >= uses && i+2 < len(w) && !apart(w); i++ {
			in[trigram(w[i:])]++
		}
	}
	for n, c := range in {
		if c >= words {
			bits[n>>3] |= 1 << (n & 7)
		}
	}
}

// TestTrigrams checks the figures that the comment of Word gives, on words that
// trigrams.bin was not made of. With -update it makes that file, which depends on the
// version of Go.
func TestTrigrams(t *testing.T) {
	words := lexicon{}
	words.everyday(t)
	if *update {
		root, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			t.Fatal(err)
		}
		code, names, bits := lexicon{}, lexicon{}, make([]byte, (26*26*26+7)/8)
		code.sources(t, filepath.Join(strings.TrimSpace(string(root)), "src"))
		code.sources(t, "../../..")
		names.names()
		code.mark(bits, 3, 20)
		names.mark(bits, 3, 1)
		words.mark(bits, 1, 1)
		if err := os.WriteFile("trigrams.bin", bits, 0o644); err != nil {
			t.Fatal(err)
		}
		trigrams = string(bits)
		unlike, all := 0, 0
		for w, n := range code {
			if n >= 20 && apart(w) {
				if all++; !Word(w) {
					unlike++
				}
			}
		}
		t.Logf("%d of %d words of code are not taken for words", unlike, all)
	}
	unlike, all := 0, 0
	for w := range words {
		if apart(w) {
			if all++; !Word(w) {
				unlike++
			}
		}
	}
	t.Logf("%d of %d words are not taken for words", unlike, all)
	if 100*unlike > all {
		t.Errorf("more than 1 %%")
	}
	const texts, long = 20000, 12
	taken, r := 0, rand.New(rand.NewPCG(1, 2))
	for range texts {
		b := make([]byte, long)
		for i := range b {
			b[i] = 'a' + byte(r.IntN(26))
		}
		if Word(string(b)) {
			taken++
		}
	}
	t.Logf("%d of %d random letters are taken for words", taken, texts)
	if 10*taken > texts {
		t.Errorf("more than 10 %%")
	}
}
