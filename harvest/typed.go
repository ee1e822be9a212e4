package harvest

import (
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// A Part is a piece of a message in a person's name.
type Part struct {
	Text string
	// Own is true for what the person wrote. The rest is what they pasted or
	// quoted, or what a program put there: context for a request, never feedback.
	Own bool
}

// Parts splits a message into what the person wrote and what they pasted or
// quoted: fenced and indented blocks, "> " lines, tagged blocks, placeholders of
// pastes, stack traces, logs, diffs, mails, and what a line like "the log says:"
// introduces. The texts of the parts are text, in order.
//
// What is pasted can hold anything, the end of its own quotation included. So a
// quotation lasts to the last mark that can end it: words between two fences
// count as pasted. To lose words of the person's is a smaller mistake than to
// make somebody else's words theirs.
func Parts(text string) []Part {
	var out []Part
	at, m := 0, marked(text)
	for _, q := range append(m.quoted, span{len(text), len(text)}) {
		if q.from > at {
			out = append(out, Part{text[at:q.from], true})
		}
		if q.to > q.from {
			out = append(out, Part{text[q.from:q.to], false})
		}
		at = q.to
	}
	return out
}

// Own is what the person wrote of a message: its own Parts.
func Own(text string) string {
	m := marked(text)
	return strings.TrimSpace(m.rest())
}

func marked(text string) marking {
	m := marking{text: text}
	m.fences()
	m.tags()
	m.placeholders()
	m.paragraphs()
	return m
}

const (
	// fastest is the speed, in characters a second, that nobody types a long text at:
	// that is 240 words a minute.
	fastest = 20
	// instant texts are shorter than this, in characters: a few words that were typed in
	// advance are no paste.
	instant = 200
	// together is how far apart prompts come that were waiting for the agent.
	together = 2 * time.Second
)

// own is what the person wrote of turn t: nothing if they cannot have typed it
// since the prompt before.
func (s *Session) own(t int) string {
	text := Own(s.Turns[t].Prompt)
	n := utf8.RuneCountInString(text)
	if n < instant {
		return text
	}
	for k := t - 1; k >= 0; k-- {
		since := s.Turns[t].Time.Sub(s.Turns[k].Time)
		switch {
		case s.Turns[t].Time.IsZero() || s.Turns[k].Time.IsZero() || since < 0:
			return text
		case since < together:
			n += utf8.RuneCountInString(Own(s.Turns[k].Prompt))
		case float64(n) > fastest*since.Seconds():
			return ""
		default:
			return text
		}
	}
	return text
}

// marking is a text and what of it is quoted: places in order, that do not touch.
type marking struct {
	text   string
	quoted []span
}

type span struct{ from, to int }

// quote adds a place. Places come mostly in order, and then the last takes it in.
func (m *marking) quote(from, to int) {
	if from >= to {
		return
	}
	i := len(m.quoted)
	for i > 0 && m.quoted[i-1].to >= from {
		i--
	}
	j := i
	for ; j < len(m.quoted) && m.quoted[j].from <= to; j++ {
		from, to = min(from, m.quoted[j].from), max(to, m.quoted[j].to)
	}
	m.quoted = slices.Replace(m.quoted, i, j, span{from, to})
}

// is reports whether the byte at is quoted.
func (m *marking) is(at int) bool {
	i := sort.Search(len(m.quoted), func(i int) bool { return m.quoted[i].to > at })
	return i < len(m.quoted) && m.quoted[i].from <= at
}

// rest is what is not quoted.
func (m *marking) rest() string {
	if len(m.quoted) == 0 {
		return m.text
	}
	var b strings.Builder
	at := 0
	for _, q := range append(m.quoted, span{len(m.text), len(m.text)}) {
		if part := m.text[at:q.from]; part != "" {
			if b.Len() > 0 && !unicode.IsSpace(rune(part[0])) && !strings.HasSuffix(b.String(), "\n") {
				b.WriteByte(' ') // two words do not become one
			}
			b.WriteString(part)
		}
		at = q.to
	}
	return b.String()
}

// toEOL is the end of the line that at stands in.
func (m *marking) toEOL(at int) int {
	if n := strings.IndexByte(m.text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(m.text)
}

// People begin a fence of backticks or quotes behind their own words, too.
var fenceMarks = []*lazyregexp.Regexp{lazyregexp.New("`{3,}"), lazyregexp.New(`"{3}`), lazyregexp.New(`(?m)^[ \t>]*~{3,}`)}

// opening is the fence of a language: it ends nothing.
var opening = lazyregexp.New("^[`~]+[A-Za-z]")

// fences quotes from the first fence to the last, or to the end where one is
// left open.
func (m *marking) fences() {
	for _, re := range fenceMarks {
		at := re.FindAllStringIndex(m.text, -1)
		if len(at) == 0 {
			continue
		}
		last := at[len(at)-1]
		end := last[1]
		if len(at)%2 == 1 || opening.MatchString(strings.TrimLeft(m.text[last[0]:], " \t>")) {
			end = len(m.text)
		}
		m.quote(at[0][0], end)
	}
}

// placeholder stands for what was pasted, "[Pasted text #1 +3 lines]".
var (
	placeholder = lazyregexp.New(`\[(?i:pasted|image|screenshot)\b[^\]\n]*\]`)
	moreLines   = lazyregexp.New(`\+\d+ lines`)
)

// placeholders quotes the placeholders of pastes. A program that expands one puts
// the text on the lines below.
func (m *marking) placeholders() {
	gap := -1 // the first empty line behind the last paste that was looked at
	for _, at := range placeholder.FindAllStringIndex(m.text, -1) {
		end := at[1]
		if eol := m.toEOL(end); eol < len(m.text) && strings.TrimSpace(m.text[end:eol]) == "" && moreLines.MatchString(m.text[at[0]:end]) {
			if gap < eol {
				if gap = strings.Index(m.text[eol:], "\n\n"); gap < 0 {
					gap = len(m.text)
				} else {
					gap += eol
				}
			}
			end = gap
		}
		m.quote(at[0], end)
	}
}

// machine are lines that programs print: prompts, boxes, JSON, log lines, errors
// and the frames of their stacks, results of tests, diffs.
var machine = lazyregexp.New(`^\s*(?:` + strings.Join([]string{
	`(?:\$|❯|➜|%|>>>|PS [A-Z]:\S*>) +\S`, `[│┃╭╮╰╯├└┌┐─━═⎿⏺●✻✓✔✗✘]`, `[{\[]\s*(?:"|\{|$)`,
	`\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d`, `[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d`, `\[?\d\d:\d\d:\d\d`,
	`\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL|PANIC)(?:\]|:|\s+\S)`,
	`npm (?:ERR!|error|warn) `, `(?:error|warning|fatal|panic)(?:\[\w+\]| TS\d+)?: `, `[\w.$]*(?:Error|Exception|Warning|Panic): `, `Caused by: `,
	`Traceback \(most recent call last\)`, `goroutine \d+ \[`, `thread '[^']*' panicked`, `make(?:\[\d+\])?: \*\*\*`, `exit (?:status|code) \d`,
	`File ".*", line \d+`, `at [\w.$<>/]+ ?\(.*\)\s*$`, `at (?:/|file:|node:)\S+:\d+`, `\S+\.\w{1,5}:\d+:\d+`,
	`(?:---|===) (?:FAIL|PASS|SKIP|RUN|PAUSE|CONT)\b`, `(?:FAIL|PASS|ok)(?:\s+\S+[./]\S+|:|\s*$)`, `not ok \d`,
	`diff --git `, `index [0-9a-f]{7,}\.\.`, `@@ -\d`, `\+\+\+ \S+/`, `--- \S+/`, `\d+ [+-](?: |$)`, `(?:\* )?commit [0-9a-f]{40}`,
}, "|") + `)`)

var (
	hunk = lazyregexp.New(`(?m)^@@ -\d|^diff --git `)
	// mail begins at its first header; nothing marks its end.
	mail = lazyregexp.New(`(?m)^(?:(?:From|To|Cc|Bcc|Subject|Date|Sent|Reply-To): .*\n){2}`)
	// citation names somebody else's words in a line that introduces them.
	citation = lazyregexp.New(`(?i)\bfrom \S*[./]\S*\s*$|\b(?:says?|said|writes?|wrote|reads|reviews?|comments?|feedback|outputs?|logs?|errors?|message|mail|email|trace|` +
		`prints?|printed|shows?|returns?|returned|reports?|reported|quote|according to)\b`)
	// program begins a message that a program wrote whole, but for its first words.
	program = lazyregexp.New(`^\s*(?:Implement the following plan:|This session is being continued from a previous conversation|` +
		`Base directory for this skill: |Operation stopped by hook: |Caveat: The messages below were generated)`)
	listItem = lazyregexp.New(`^\s*(?:[-*+•]|\d{1,3}[.)])\s`)
	// gap is what a terminal leaves of a line break in what was copied from it.
	gap = lazyregexp.New(`:  +\S|\S {3,}\S`)
	// untyped begins what nobody types behind their own words: what no keyboard
	// has, and long JSON.
	untyped = lazyregexp.New(`[❯⏺⎿✻│┃╭╰]|\{"\w+":.{200}`)
)

// Gemini CLI puts the files that a prompt names below it.
const (
	filesBegin = "--- Content from referenced files ---"
	filesEnd   = "--- End of content ---"
)

// paragraphs quotes what looks pasted line by line.
func (m *marking) paragraphs() {
	if at := mail.FindStringIndex(m.text); at != nil {
		m.quote(at[0], len(m.text))
	}
	if at := program.FindStringIndex(m.text); at != nil {
		m.quote(at[1], len(m.text))
	}
	if at := strings.Index(m.text, filesBegin); at >= 0 {
		end := len(m.text)
		if last := strings.LastIndex(m.text, filesEnd); last > at {
			end = last + len(filesEnd)
		}
		m.quote(at, end)
	}
	var (
		diff                      = hunk.MatchString(m.text)
		introduced, cited, parted bool // by the line above; by a word for it; with an empty line between
		list                      bool // the line above belongs to a list of the person's
		pasted, output            bool // this paragraph, to its end; because it is a program's output
		first, last               = -1, 0
	)
	for at, next := 0, 0; at < len(m.text); at = next {
		end := m.toEOL(at)
		next = min(end+1, len(m.text))
		line := m.text[at:end]
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "":
			pasted, output, parted = false, false, true
			continue
		case m.is(at) && m.is(end-1):
			introduced = false
			continue
		}
		item := listItem.MatchString(line)
		pasted = pasted || introduced && (cited || parted && !item)
		introduced, parted = strings.HasSuffix(trimmed, ":"), false
		cited = introduced && citation.MatchString(line)
		if machine.MatchString(line) || diff && strings.ContainsRune("+-@", rune(line[0])) {
			pasted, output = true, true
		}
		indented := line[0] == '\t' || strings.HasPrefix(line, "  ")
		from := at
		if pasted || trimmed[0] == '>' || indented && !list {
			m.quote(at, next)
		} else if loc := untyped.FindStringIndex(line); loc != nil {
			pasted, output, from = true, true, at+loc[0]
			m.quote(from, next)
		} else if list = indented || item; !list {
			if loc := gap.FindStringIndex(line); loc != nil {
				m.quote(at+loc[0]+1, next)
			}
		}
		if output {
			if last = next; first < 0 {
				first = from
			}
		}
	}
	if first >= 0 { // what stands between two pieces of output is not told apart from them
		m.quote(first, last)
	}
}
