// Package script checks a rewritten hook before it is run anywhere: what it may not
// change, and what it does that its parent does not.
//
// A hook decides whether an agent may act, and it runs with its owner's rights. So the
// check is an allow-list over the syntax tree: whatever a candidate does that its parent
// does not do, and that is not in a short list of pure operations, is a finding. What
// the walk does not know is a finding, too.
package script

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/guard/rulefile"
	"github.com/skill-evolve/evolve/mutate/script/acts"
	"github.com/skill-evolve/evolve/mutate/script/shell"
)

// A Language is what a script is written in; "" is unknown.
type Language string

const (
	Shell      Language = "sh" // POSIX sh or bash
	Python     Language = "python"
	JavaScript Language = "javascript"
)

// MaxLines is how many lines a candidate may have, or as many as its parent has.
const MaxLines = 100

// maxBytes bounds what is parsed: the parsers recurse.
const maxBytes = 64 << 10

// Of returns the language of a script: by its shebang, or else by its file's extension. A rule
// file has to be given whole.
func Of(text []byte, name string) Language {
	if line, _, _ := bytes.Cut(text, []byte("\n")); bytes.HasPrefix(line, []byte("#!")) {
		return ofShebang(string(line[2:]))
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".sh", ".bash":
		return Shell
	case ".py":
		return Python
	case ".js", ".mjs", ".cjs":
		return JavaScript
	case ".json":
		if rulefile.Is(text) {
			return Rules
		}
	}
	return ""
}

// ofShebang reads "/usr/bin/env -S python3 -I" and the like.
func ofShebang(line string) Language {
	words := strings.Fields(line)
	if len(words) > 0 && path.Base(words[0]) == "env" {
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return ""
	}
	switch program := strings.TrimRight(path.Base(words[0]), "0123456789."); program {
	case "sh", "bash", "dash":
		return Shell
	case "python", "uv": // uv run --script
		return Python
	case "node", "nodejs":
		return JavaScript
	}
	return ""
}

// A Kind is what can be done about a finding, and a Finding is one thing in a candidate
// that its parent does not do or that is not allowed at all.
type (
	Kind    = acts.Kind
	Finding = acts.Finding
)

const (
	Refused = acts.Refused // the candidate cannot be used
	Held    = acts.Held    // it may be used if the owner approves of it
)

// Check compares a candidate with its parent; no finding means that it may be run. What
// of the candidate is equal to the parent is not judged. The findings are sorted by
// line. The error is ctx's, or why nothing could be decided: an unknown language, a
// parent that cannot be parsed, no python3.
func Check(ctx context.Context, parent, candidate []byte, lang Language) ([]Finding, error) {
	if lang == Rules {
		return checkRules(parent, candidate)
	}
	if lang != Shell && lang != Python && lang != JavaScript {
		return nil, fmt.Errorf("check script: the language %q is unknown", lang)
	}
	if bad := checkText(parent, parent); len(bad) > 0 {
		return nil, fmt.Errorf("check script: the parent's line %d: %s", bad[0].Line, bad[0].Text)
	}
	spans, err := Kernel(parent, lang)
	if err != nil {
		return nil, fmt.Errorf("check script: the parent: %w", err)
	}
	found := checkText(parent, candidate)
	if len(found) == 0 {
		found = checkKernel(parent, candidate, spans, lang)
	}
	if len(found) == 0 && !bytes.Equal(parent, candidate) {
		found, err = checkCode(ctx, parent, candidate, lang)
	}
	if err != nil {
		return nil, fmt.Errorf("check script: %w", err)
	}
	for i := range found {
		found[i].Phrase = acts.Clip(found[i].Phrase)
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
	return found, nil
}

// checkCode reads both texts and lists what the candidate has beyond its parent.
func checkCode(ctx context.Context, parent, candidate []byte, lang Language) ([]Finding, error) {
	read := map[Language]func(context.Context, [][]byte) ([]*acts.Reading, error){
		Shell: shell.Read, Python: readPython, JavaScript: readJavaScript,
	}[lang]
	texts := [][]byte{parent, candidate, probed(parent, lang), probed(candidate, lang)}
	rs, err := read(ctx, texts)
	if err != nil {
		return nil, err
	}
	if e := rs[0].Syntax; e != nil {
		return nil, fmt.Errorf("the parent cannot be parsed, line %d: %s", e.Line, e.Text)
	}
	if e := rs[1].Syntax; e != nil {
		return []Finding{*e}, nil
	}
	found := acts.Beyond(rs[0], rs[1])
	for _, name := range kernelNames(parent, lang) {
		changed := rs[1].Sets[" "+name] > rs[0].Sets[" "+name]
		for fn := range rs[0].Functions { // a name of its own hides the kernel's there
			changed = changed || rs[1].Sets[fn+" "+name] > rs[0].Sets[fn+" "+name]
		}
		if changed {
			found = append(found, Finding{Kind: Held, Rule: "kernel-name", Line: rs[1].Binds[name], Phrase: name, Text: "The kernel names " + name + ", and it is changed from outside."})
		}
	}
	if f := dependencies(parent, candidate); f != nil && lang == Python {
		found = append(found, *f)
	}
	if f := inert(rs[2], rs[3]); f != nil {
		found = append(found, *f)
	}
	return found, nil
}
