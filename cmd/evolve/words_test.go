package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// privateWords are words of the code and of statistics that nobody has to know: a person
// reads "new text", "your text", "better (at most 5 % luck)", "probably better", "no
// difference seen" and "requests it never saw".
var privateWords = regexp.MustCompile(`(?i)\b(challengers?|incumbents?|held[- ]out|proved|proven|promising|no sign|e-values?|e-process(es)?|the gate|arms?)\b|[κε]`)

// namesOfThings are not prose: names that are typed, fields of --json, and what the fixtures
// are called.
var namesOfThings = []*regexp.Regexp{
	regexp.MustCompile(`@challenger\b|\bchallenger \(the new text that waits\)`),
	regexp.MustCompile(`\b(diff|compare|show|reject) \S+( v\d+)* challenger\b`),
	regexp.MustCompile(`\b(s-)?proved\b`), // a skill of the fixtures; prose is caught by isProved
	regexp.MustCompile(`^\s*\{?"[^"]+": .*`),
}

// codeSpan is a field of --json or one of its values.
var codeSpan = regexp.MustCompile("`[^` ]*`")

var isProved = regexp.MustCompile(`(?i)\b(is|are|was|were|be|been|not|stays|what) proved\b|\bproved (as|on|already|before)\b`)

// TestWordsOfHelp: the help of every command and the pages that a person reads have none of
// the private words.
func TestWordsOfHelp(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(pages) < 15 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, page := range append(pages, filepath.Join("..", "..", "README.md"), filepath.Join("..", "..", "CHANGELOG.md")) {
		if name := filepath.Base(page); name == "architecture.md" || name == "benchmarks.md" { // for authors
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		noPrivateWords(t, page, string(text), append(namesOfThings[:2:2], codeSpan))
	}
}

// TestWordsOfOutput: nor has the recorded output of the commands.
func TestWordsOfOutput(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "transcript", "*.txt"))
	if err != nil || len(files) < 50 {
		t.Fatalf("%d transcripts: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		noPrivateWords(t, file, string(text), namesOfThings)
	}
}

func noPrivateWords(t *testing.T, name, text string, allowed []*regexp.Regexp) {
	t.Helper()
	for n, line := range strings.Split(text, "\n") {
		said := line
		if strings.HasPrefix(line, "$ ") { // what was typed
			continue
		}
		for _, a := range allowed {
			said = a.ReplaceAllString(said, "")
		}
		if found := privateWords.FindString(said) + isProved.FindString(line); found != "" {
			t.Errorf("%s:%d: %q in %q", name, n+1, found, line)
		}
	}
}
