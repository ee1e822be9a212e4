package check

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// The firewall compares what a candidate can reach and disclose with what its
// parent could: anything wider is put before a person. It knows patterns, not
// intentions. A new host, path, tool or command is found in any wording and
// language; a description in prose is found if it is a usual one, and an
// author who knows the patterns can avoid them
// (testdata/firewall/known-misses.yaml). The kernel, the sandbox and the gate
// do not rely on it.

// keepers decide whether a match counts.
var keepers = map[string]func(match string) bool{
	"address":      ipv6,
	"public host":  func(m string) bool { return publicHost(m, false) },
	"reached host": func(m string) bool { return publicHost(m, true) },
	"no call":      func(m string) bool { return !strings.HasSuffix(m, "(") }, // of a method
	"encoded":      encoded,
}

// encoded distinguishes base64 from a long path or a long identifier.
func encoded(s string) bool {
	if strings.HasSuffix(s, "=") && len(s)%4 == 0 {
		return true
	}
	var upper, lower, digit int
	for _, c := range s {
		switch {
		case unicode.IsUpper(c):
			upper++
		case unicode.IsLower(c):
			lower++
		case unicode.IsDigit(c):
			digit++
		}
	}
	return upper >= 5 && lower >= 5 && digit >= 2
}

// Rules that the code asks for by name.
const (
	removedCheck = "removed-check" // about lost guards
	newCommand   = "new-command"
	newPath      = "new-path"
	publishes    = "publish"
)

// checkFirewall quarantines what only the child's harness has.
func checkFirewall(parent, child *document) []Finding {
	harness := child.harness()
	lower := strings.ToLower(string(parent.raw))
	var fs []Finding
	seen := map[string]bool{}
	add := func(rule string, at int, key, phrase, message string) {
		if key = rule + "\x00" + key; !seen[key] {
			seen[key] = true
			fs = append(fs, Finding{rule, Quarantine, 1 + bytes.Count(child.raw[:at], []byte("\n")), message, shortened(phrase)})
		}
	}
	says := func(f finding) {
		phrase := shortened(asWritten(harness[f.at:], f.text, f.phrase))
		add(f.rule, f.at, f.text, phrase, fmt.Sprintf("%s: «%s»", f.what, phrase))
	}
	fresh := freshLines(string(parent.raw), harness)
	for _, c := range patterns().Capabilities {
		runs := fresh
		if c.Lines {
			runs = []match{{0, harness}}
		}
		var matches []match
		for _, r := range runs {
			for _, m := range c.find(r.text) {
				matches = append(matches, match{r.at + m.at, m.text})
			}
		}
		if len(matches) == 0 {
			continue
		}
		known := map[string]bool{}
		for _, m := range c.find(string(parent.raw)) {
			known[strings.ToLower(m.text)] = true
		}
		for _, m := range matches {
			key := strings.ToLower(m.text)
			// A host, a tool or a command is the same in any context; a URL
			// or a path is new even if the parent has its beginning.
			if known[key] || c.Rule == "new-host" && holdsWord(lower, key, hostByte) {
				continue
			}
			add(c.Rule, m.at, key, m.text, fmt.Sprintf("%s %s is new", c.Reports, clip(m.text)))
		}
	}
	for _, m := range newPrograms(string(parent.raw), string(child.raw), fresh) {
		add(newCommand, m.at, m.text, m.text, fmt.Sprintf("the command %s is new", clip(m.text)))
	}
	for _, m := range newTools(parent, fresh) {
		add("new-tool", m.at, m.text, m.text, fmt.Sprintf("the tool %s is new", clip(m.text)))
	}
	for _, f := range newHidden(string(parent.raw), harness) {
		phrase, message := shortened(wordAt(harness, f.at)), f.text
		if !strings.Contains(message, phrase) {
			message += ", in «" + phrase + "»"
		}
		add("hidden-unicode", f.at, f.text, phrase, message)
	}
	was, said := sentences(string(parent.raw)), sentences(harness)
	for _, f := range newOrders(was, said, child) {
		says(f)
	}
	for _, f := range newTopics(was, fresh) {
		says(f)
	}
	gone := parent.harness()
	for _, m := range lostGuards(gone, harness) {
		phrase := shortened(asWritten(gone[m.at:], m.text, m.text))
		fs = append(fs, Finding{removedCheck, Quarantine, 0, fmt.Sprintf("%s: «%s»", m.what, phrase), phrase})
	}
	return fs
}

// holdsWord reports whether text holds word between characters that cannot
// belong to it.
func holdsWord(text, word string, part func(byte) bool) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(word)
		if (i == 0 || !part(text[i-1])) && (end == len(text) || !part(text[end]) || text[end] == '.' && (end+1 == len(text) || !part(text[end+1]))) {
			return true
		}
		at = i + 1
	}
}

func hostByte(c byte) bool {
	return c == '-' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z'
}

// harness is the whole file with its kernel blanked out, byte for byte, so that
// offsets are those of the file.
func (d *document) harness() string {
	text := bytes.Clone(d.raw)
	for _, s := range d.spans {
		for i := s.Start; i < s.End; i++ {
			if text[i] != '\n' {
				text[i] = ' '
			}
		}
	}
	return string(text)
}

// freshLines are the runs of lines that the parent does not have byte for
// byte: most of a candidate is old, and nothing in an old line is new.
func freshLines(parent, text string) []match {
	old := map[string]bool{}
	for line := range strings.SplitSeq(parent, "\n") {
		old[line] = true
	}
	var out []match
	at, start := 0, -1
	for line := range strings.SplitSeq(text, "\n") {
		known := old[line] || strings.TrimSpace(line) == ""
		switch {
		case !known && start < 0:
			start = at
		case known && start >= 0:
			out = append(out, match{start, text[start : at-1]})
			start = -1
		}
		at += len(line) + 1
	}
	if start >= 0 {
		out = append(out, match{start, text[start:]})
	}
	return out
}

type match struct {
	at   int
	text string
}

func (c *pattern) find(s string) []match {
	if c.Prose {
		s = quotedCode.ReplaceAllStringFunc(s, func(code string) string { return strings.Repeat(" ", len(code)) })
	}
	var out []match
	for _, m := range c.FindAllStringSubmatchIndex(s, -1) {
		from, to := m[0], m[1]
		if len(m) > 2 && m[2] >= 0 {
			from, to = m[2], m[3]
		}
		text := strings.TrimRight(s[from:to], ".:,;!? \t")
		text = strings.TrimSpace(text)
		if text != "" && (c.Keep == "" || keepers[c.Keep](s[from:to])) {
			out = append(out, match{from, text})
		}
	}
	return out
}

var quotedCode = lazyregexp.New("`[^`\n]+`|(?m:^ {4,}[^ ].*$)|(?ms:^```.*?^```)")

// newPrograms finds programs in the code of fresh lines that the parent does not
// call that way. It reads child, where a line that begins with kernel is not indented.
func newPrograms(parent, child string, fresh []match) []match {
	was := strings.ToLower(strings.ReplaceAll(parent, "_", "-"))
	var out []match
	for _, run := range fresh {
		text := child[run.at : run.at+len(run.text)]
		for _, c := range quotedCode.FindAllStringIndex(text, -1) {
			code := strings.ToLower(strings.ReplaceAll(text[c[0]:c[1]], "_", "-"))
			for _, m := range patternOf("program").FindAllStringSubmatchIndex(code, -1) {
				from, to := m[0], m[1]
				if m[2] >= 0 {
					from, to = m[2], m[3]
				}
				if call := code[from:to]; !strings.Contains(was, call) {
					out = append(out, match{run.at + c[0] + from, call})
				}
			}
		}
	}
	return out
}

// newTools finds tools that the parent neither names nor is allowed.
func newTools(parent *document, fresh []match) []match {
	known := map[string]bool{}
	for _, t := range parent.AllowedTools() {
		name, scope, _ := strings.Cut(t, "(")
		known[name] = known[name] || scope == ""
	}
	for _, m := range patternOf("named-tool").FindAllStringSubmatch(string(parent.raw[parent.body:]), -1) {
		known[m[1]] = true
	}
	var out []match
	for _, run := range fresh {
		for _, m := range patternOf("named-tool").FindAllStringSubmatchIndex(run.text, -1) {
			from, to := max(m[2], m[4]), max(m[3], m[5])
			if name := run.text[from:to]; !known[name] {
				out = append(out, match{run.at + from, name})
			}
		}
	}
	return out
}
