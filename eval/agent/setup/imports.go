package setup

import (
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

var (
	importWord = lazyregexp.New(`(?:^|\s)@([^\s@]+)`)
	codeSpan   = lazyregexp.New("`+[^`]*`+")
)

// Imports are the paths that a text of Claude Code's brings in by "@path", in order, each
// once. What stands in code is no import.
func Imports(text string) (paths []string) {
	fence := "" // what opened the block of code around the line
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		mark := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		if mark == "" {
			mark = line[:len(line)-len(strings.TrimLeft(line, "~"))]
		}
		switch {
		case fence != "":
			if strings.HasPrefix(mark, fence) && mark == line {
				fence = ""
			}
			continue
		case len(mark) >= 3 && !strings.Contains(line[len(mark):], "`"):
			fence = mark
			continue
		}
		for _, m := range importWord.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, "` `"), -1) {
			if p := strings.TrimRight(m[1], ".,;:!?)"); p != "" && !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
	return paths
}
