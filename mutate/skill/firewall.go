package skill

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// The firewall compares what a candidate can reach and tell with what its
// parent could: anything wider goes to a person. It knows patterns, not
// intentions. A new host, path, tool or command is found in whatever words and
// language it comes; what is only told in prose is found where it is told in a
// usual way, and an author who knows the patterns writes around them
// (testdata/firewall/known-misses.yaml). The kernel, the sandbox and the gate do
// not rely on it.

// A capability is a pattern whose matches widen what a skill can do.
type capability struct {
	rule string
	what string // "the URL", for the message
	re   *lazyregexp.Regexp
	// keep says whether a match really is one; nil keeps all.
	keep func(match string) bool
	// lines says that a match may go over several lines.
	lines bool
}

// Last labels of host names. Those that are also file extensions or attribute
// names (sh, py, rs, md, app, info) count only with a path or port behind them.
const (
	plainTLD    = `com|net|org|io|dev|ai|co|gov|edu|mil|ru|cn|uk|de|fr|eu|jp|br|us|xyz|cloud|tk|biz|onion|gg|site|online|tech|top`
	doubtfulTLD = `sh|py|rs|md|me|app|info|link|page|to|cc|ly|pl|zip|live|store|run|pw|ws|st|ms`
	rootFolders = `etc|tmp|var|home|root|usr|opt|dev|proc|sys|mnt|Users|bin|sbin|private|Library|boot|srv|run|Volumes|Applications|Windows`
)

var capabilities = []capability{
	{rule: "new-shell", what: "the shell command", re: lazyregexp.New("!`[^`]+`|```!"), lines: true},
	{rule: "new-url", what: "the URL", re: lazyregexp.New(`(?i)\b(?:[a-z][a-z0-9+.-]{1,20}:/{2,3}|mailto:|javascript:|data:[a-z]+/)[^\s<>"'` + "`" + `)\]]+`)},
	{rule: "new-host", what: "the host", re: lazyregexp.New(`(?i)\b(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:(?:` + plainTLD + `)\b|(?:` + doubtfulTLD + `)(?:/|:\d))\(?`),
		keep: func(m string) bool { return !strings.HasSuffix(m, "(") }}, // a method call
	{rule: "new-host", what: "the host", re: lazyregexp.New(`\b\d{1,3}(?:\.\d{1,3}){3}\b|\[[0-9a-fA-F]*:[0-9a-fA-F:]*:[0-9a-fA-F:.]*\]|(?i:\blocalhost\b(?::\d+)?)`)},
	{rule: "new-host", what: "the disguised host", re: lazyregexp.New(`(?i)\bhxxps?\b|[\w-]+ ?(?:\[\.\]|\(\.\)|\[dot\]|\(dot\)| dot (?:com|net|org|io)\b) ?\w*`)},
	{rule: "new-tool", what: "the tool", re: lazyregexp.New(`\bmcp__\w+|\b(?:WebFetch|WebSearch|MultiEdit|NotebookEdit|BashOutput|KillShell|TodoWrite|SlashCommand|AskUserQuestion)\b|\b(?:Bash|Read|Write|Edit|Glob|Grep|LS|Task|Agent|Skill)(?:\([^)\n]*\)| tool\b)`)},
	{rule: "new-command", what: "the command", re: lazyregexp.New(`(?i)\b(?:curl|wget|netcat|ncat|telnet|scp|sftp|sudo|osascript|powershell|crontab|launchctl|systemctl|socat|nslookup|certutil|invoke-webrequest|invoke-expression)\b|\bnc -|\bssh [\w-]|\brsync [\w-]|\bdig \+|\beval [("$]|\brm -[a-z]*[rf]|\bbase64 -{1,2}d|\bxxd -r|\b(?:pip3?|npm|pnpm|yarn|brew|cargo|gem|apt|apt-get|go|uv|bun) (?:install|add|i)\b|\b(?:npx|pipx|uvx|bunx) \w|\bgit (?:push|clone|remote)\b|\bgh (?:api|gist|pr|issue|release|repo)\b|\bpython3? -c\b|\b(?:ba|z)?sh -c\b|(?m:\|[ \t]*(?:ba|z)?sh\b[ \t]*(?:-|$|[^\s|]))`)},
	{rule: "new-path", what: "the path outside the skill", re: lazyregexp.New(`(?m)(?:^|[\s"'` + "`" + `(=,\[>])(/(?:(?:` + rootFolders + `)\b|[\w.@+-]+/)[^\s"'` + "`" + `)\]<>,;]*)`)},
	{rule: "new-path", what: "the path outside the skill", re: lazyregexp.New(`(?m)(?:^|[\s"'` + "`" + `(=,\[<>:])(~(?:[a-z_][\w-]*)?/[^\s"'` + "`" + `)\]<>,;]*)|\.\.[/\\][^\s"'` + "`" + `)\]<>,;]*|\b[A-Za-z]:\\[^\s"'` + "`" + `)]*|\\\\[\w.-]+\\\S*|\$\{?(?:HOME|USERPROFILE|XDG_\w+|CLAUDE_CONFIG_DIR|CODEX_HOME)\b\}?|%(?:USERPROFILE|APPDATA|HOMEPATH)%`)},
	{rule: "new-secret", what: "the secret", re: lazyregexp.New(`(?i)\bid_(?:rsa|ed25519|ecdsa)\b|(?:^|[\s"'` + "`" + `(/])\.(?:env|netrc|npmrc|pypirc|pgpass|git-credentials|ssh|aws|gnupg|kube)\b(?:/\S*)?|\$\{?\w*(?:_KEY|_TOKEN|SECRET|PASSWORD|CREDENTIAL)\w*\}?|(?-i:\b[A-Z]{2,}_(?:API_)?(?:KEY|TOKEN|SECRET)\b)|\bos\.environ\b|\bprocess\.env\b|\bkeychain\b`)},
	{rule: "new-blob", what: "the encoded text", re: lazyregexp.New(`[A-Za-z0-9+/_-]{20,}={1,2}|[A-Za-z0-9+/_-]{40,}`), keep: encoded},
	{rule: "new-blob", what: "the encoded text", re: lazyregexp.New(`\b(?:0x)?[0-9a-fA-F]{32,}\b|(?:\\x[0-9a-fA-F]{2}){4,}|(?:\\u[0-9a-fA-F]{4}){4,}|(?:%[0-9a-fA-F]{2}){6,}|(?:&#x?[0-9a-fA-F]+;){4,}|\b(?:[01]{8} ){4,}`)},
	{rule: "new-comment", what: "the HTML comment", re: lazyregexp.New(`(?s)<!--.*?(?:-->|$)`), lines: true},
}

// encoded tells base64 from a long path or a long identifier.
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

// removedCheck is the rule about guards that a text has lost.
const removedCheck = "removed-check"

// checkFirewall quarantines what the child's harness has and the parent has not.
func checkFirewall(parent, child *Document) []Finding {
	harness := child.harness()
	lower := strings.ToLower(string(parent.raw))
	var fs []Finding
	seen := map[string]bool{}
	add := func(rule string, at int, key, message string) {
		if key = rule + "\x00" + key; !seen[key] {
			seen[key] = true
			fs = append(fs, Finding{rule, Quarantine, 1 + bytes.Count(child.raw[:at], []byte("\n")), message})
		}
	}
	fresh := freshLines(string(parent.raw), harness)
	for _, c := range capabilities {
		runs := fresh
		if c.lines {
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
			// A host, a tool or a command is the same whatever stands around
			// it; a URL or a path of which the parent has the beginning is not.
			if known[key] || c.rule == "new-host" && holdsWord(lower, key) {
				continue
			}
			add(c.rule, m.at, key, fmt.Sprintf("%s %s is new", c.what, clip(m.text)))
		}
	}
	for _, m := range newPrograms(string(parent.raw), fresh) {
		add("new-command", m.at, m.text, fmt.Sprintf("the command %s is new", clip(m.text)))
	}
	for _, m := range newTools(parent, fresh) {
		add("new-tool", m.at, m.text, fmt.Sprintf("the tool %s is new", clip(m.text)))
	}
	for _, f := range newHidden(string(parent.raw), harness) {
		add("hidden-unicode", f.at, f.text, f.text)
	}
	was, said := sentences(string(parent.raw)), sentences(harness)
	for _, f := range newOrders(was, said, child) {
		add(f.rule, f.at, f.text, fmt.Sprintf("%s: %s", f.what, clip(f.text)))
	}
	for _, f := range newTopics(was, fresh) {
		add(f.rule, f.at, f.text, fmt.Sprintf("%s: %s", f.what, clip(f.text)))
	}
	for _, m := range lostGuards(parent, said) {
		fs = append(fs, Finding{removedCheck, Quarantine, 0, m.what + ": " + clip(m.text)})
	}
	return fs
}

// holdsWord reports whether text holds word between characters that cannot
// belong to a host name.
func holdsWord(text, word string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(word)
		if (i == 0 || !hostByte(text[i-1])) && (end == len(text) || !hostByte(text[end]) || text[end] == '.' && (end+1 == len(text) || !hostByte(text[end+1]))) {
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
func (d *Document) harness() string {
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

// freshLines are the runs of lines that do not stand in the parent as they are,
// byte for byte: most of a candidate is old, and what is in an old line is not
// new.
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

func (c capability) find(s string) []match {
	var out []match
	for _, m := range c.re.FindAllStringSubmatchIndex(s, -1) {
		from, to := m[0], m[1]
		if len(m) > 2 && m[2] >= 0 {
			from, to = m[2], m[3]
		}
		text := strings.TrimRight(s[from:to], ".:,;!? \t")
		text = strings.TrimSpace(text)
		if text != "" && (c.keep == nil || c.keep(s[from:to])) {
			out = append(out, match{from, text})
		}
	}
	return out
}
