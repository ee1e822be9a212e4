package script

import (
	"bytes"
	"fmt"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/guard/rulefile"
	"github.com/skill-evolve/evolve/mutate/script/acts"
)

// A Span is a part of a text: bytes Start to End, End not included.
type Span struct{ Start, End int }

// Kernel returns the spans that never change: the shebang line, and all from a line
// `# kernel` to the next line `# /kernel` (`//` in JavaScript), both lines included,
// with their line ends. A line that looks like a marker is one wherever it is, also in a
// string or a here-document: what a reader takes for the kernel has to be the kernel.
// Markers that are nested or have no partner are an error that names the line.
// A rule file has no kernel; the error is why it is none.
func Kernel(text []byte, lang Language) ([]Span, error) {
	if lang == Rules {
		_, err := rulefile.Parse(text)
		return nil, err
	}
	var spans []Span
	at, open, openLine := 0, -1, 0
	for i, line := range bytes.SplitAfter(text, []byte("\n")) {
		end := at + len(line)
		switch which := marker(line, lang); {
		case i == 0 && bytes.HasPrefix(line, []byte("#!")):
			spans = append(spans, Span{at, end})
		case which == opens && open >= 0:
			return nil, fmt.Errorf("line %d: a kernel begins inside the kernel of line %d", i+1, openLine)
		case which == opens:
			open, openLine = at, i+1
		case which == closes && open < 0:
			return nil, fmt.Errorf("line %d: a kernel ends that did not begin", i+1)
		case which == closes:
			spans, open = append(spans, Span{open, end}), -1
		}
		at = end
	}
	if open >= 0 {
		return nil, fmt.Errorf("line %d: this kernel does not end", openLine)
	}
	return spans, nil
}

type mark uint8

const (
	none mark = iota
	opens
	closes
)

// marker reads a line: spaces around the words and their case do not matter, so that no
// line looks like a marker and is none.
func marker(line []byte, lang Language) mark {
	sign := "#"
	if lang == JavaScript {
		sign = "//"
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(string(line)), sign)
	if !ok {
		return none
	}
	switch strings.ToLower(strings.Join(strings.Fields(strings.TrimLeft(rest, sign)), "")) {
	case "kernel":
		return opens
	case "/kernel":
		return closes
	}
	return none
}

// checkKernel compares the kernels' bytes, and the shebang.
func checkKernel(parent, candidate []byte, want []Span, lang Language) []Finding {
	got, err := Kernel(candidate, lang)
	if err != nil {
		return []Finding{{Rule: "kernel", Text: "The kernel's markers are damaged: " + err.Error() + "."}}
	}
	shebang := func(text []byte) string {
		if line, _, _ := bytes.Cut(text, []byte("\n")); bytes.HasPrefix(line, []byte("#!")) {
			return string(line)
		}
		return ""
	}
	if was, is := shebang(parent), shebang(candidate); was != is {
		return []Finding{{Rule: "shebang", Line: 1, Phrase: is, Text: "The first line, which names the program that runs the script, has changed."}}
	}
	cut := func(text []byte, spans []Span) (out []string) {
		for _, s := range spans {
			out = append(out, string(text[s.Start:s.End]))
		}
		return out
	}
	was, is := cut(parent, want), cut(candidate, got)
	if slices.Equal(was, is) {
		return nil
	}
	for i, k := range is {
		if i >= len(was) || k != was[i] {
			line := 1 + bytes.Count(candidate[:got[i].Start], []byte("\n"))
			return []Finding{{Rule: "kernel", Line: line, Phrase: k, Text: "The kernel has changed."}}
		}
	}
	return []Finding{{Rule: "kernel", Text: "A part of the kernel is missing."}}
}

var naming = lazyregexp.New(`^\s*(?:(?:const|let|var|readonly|declare|typeset|export)\s+(?:-\w+\s+)*)?([A-Za-z_]\w*)\s*(?::[^=]+)?=([^=>].*|$)`)

// made is a value that is more than what is written there: input, as a rule.
var (
	made   = lazyregexp.New(`\w\(|\$[\w{(]`)
	singly = lazyregexp.New(`'[^']*'`)
	quoted = lazyregexp.New(`'[^']*'|"[^"]*"`)
	listed = lazyregexp.New(`^\s*(?:new (?:Set|Map)|Object\.freeze|frozenset|set|tuple|re\.compile|dict)\(`)
)

// kernelNames lists the names that a kernel's outermost lines give fixed values to: a list
// of what is forbidden, a limit. What a kernel reads may be worked on.
func kernelNames(script []byte, lang Language) (out []string) {
	spans, err := Kernel(script, lang)
	if err != nil {
		return nil
	}
	text := singly
	if lang != Shell {
		text = quoted
	}
	for _, s := range spans {
		block := strings.Split(string(script[s.Start:s.End]), "\n")
		indent := len(block[0]) - len(strings.TrimLeft(block[0], " \t"))
		for _, line := range block {
			if m := naming.FindStringSubmatch(line); m != nil && (listed.MatchString(m[2]) || !made.MatchString(text.ReplaceAllString(m[2], ""))) && len(line)-len(strings.TrimLeft(line, " \t")) <= indent {
				out = append(out, m[1])
			}
		}
	}
	return out
}

// probed puts a statement behind the opening line and before the closing line of each
// kernel. Where it is found in the tree shows where the kernel runs: in a string, or
// behind a condition, the same bytes do nothing.
func probed(text []byte, lang Language) []byte {
	var out []byte
	for _, line := range bytes.SplitAfter(text, []byte("\n")) {
		indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
		statement := slices.Concat(indent, []byte(acts.Probe), map[bool][]byte{true: []byte(";\n"), false: []byte("\n")}[lang == JavaScript])
		which := marker(line, lang)
		if which == closes {
			out = append(out, statement...)
		}
		out = append(out, line...)
		if which == opens {
			out = append(out, statement...)
		}
	}
	return out
}

// inert compares where the kernels of two probed texts run.
func inert(parent, candidate *acts.Reading) *Finding {
	if (parent.Syntax != nil) == (candidate.Syntax != nil) && slices.Equal(parent.Probes, candidate.Probes) {
		return nil
	}
	return &Finding{Rule: "kernel", Text: "The kernel's bytes are the same, but they do not run where they ran: in a string, a function or a condition."}
}
