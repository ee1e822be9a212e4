package ownwords

import (
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// Shapes of pastes. Each expression reads a line and the line below it, from the first
// non-blank character of the line.
var (
	// entered matches prompts of shells and names above a chat's lines. A sentence can
	// have such a form: the line counts if it is no sentence, or if there are several.
	entered = shape(
		`(?:❯|➜) .*\n\s*\S`, `PS [A-Z]:\S*> ?\S`, `\[?[\w.-]+@[\w.-]+(?::\S*| \S+)?\]? ?[$#%] `,
		`[$%#] (?:sudo )?(?:git|go|make|npm|npx|yarn|pnpm|pip3?|python3?|node|cargo|docker|kubectl|terraform|cd|ls|cat|echo|curl|grep|ssh|bash|sh|\.{0,2}/\S+)(?:\s|$)`,
		`\S.{0,40}(?:  \[?\d\d?:\d\d(?: ?[AP]M)?| \[\d\d?:\d\d ?[AP]M)\]?\s*\n`, `\S.{0,40} — (?:Today|Yesterday) at \d\d?:\d\d(?: ?[AP]M)?\s*\n`,
		`Author: .+ <\S+@\S+>`)

	// certain matches lines that programs print and people do not type, unless the mark
	// is the subject of a sentence. The mark is the group, or all that matches.
	certain = shape(
		// What interpreters and terminals draw.
		`[│┃╭╮╰╯├└┌┐─━═⎿⏺●✻]`, `>>> `, `In \[\d+\]: `,
		// Logs.
		`(\[?(?:\d{4}-\d\d-\d\d[T ]|[A-Z][a-z]{2} +\d+ )\d\d:\d\d:\d\d[^\s\]]*\]?).*\n\s*\S`, `\[(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\]`,
		// Errors, and the frames of their stacks.
		`[\w.$]*[a-z](?:Error|Exception|Warning|Panic): `, `(?:error|warning)(?:\[\w+\]| TS\d+): `, `npm ERR!`, `make(?:\[\d+\])?: \*\*\*`,
		`Traceback \(most recent call last\)`, `goroutine \d+ \[`, `thread '[^'\n]*' panicked`, `File "[^"\n]*", line \d+`, `at .*\((?:\S+:\d+|native|<anonymous>|Unknown Source)\)\s*\n`,
		`at (?:/|file:|node:)\S+:\d+`, `\S+\.\w{1,5}:\d+:\d+(?::| - (?:error|warning)) `,
		// Results of tests.
		`(?:---|===) (?:FAIL|PASS|SKIP|RUN|PAUSE|CONT)\b`, `(?:FAIL|ok)\s+\S+/\S+\s+(?:[\d.]+s|\(cached\)|\[)`, `FAIL: \w+ \(`, `FAILED \S+::`, `not ok \d+ - `, `={3,} .* ?={3,}\s`,
		`E {3,}\S`, `[✓✔✕✗✘×] .*\(\d[\d.]* ?m?s\)\s`,
		// Changes.
		`diff --git \S+[./]`, `index [0-9a-f]{7,}\.\.`, `@@ -\d`, `\+\+\+ \S+/`, `--- \S+/`, `(?:\* )?commit [0-9a-f]{7,40}(?: \(.*\))?\s*\n`,
		// Tables, documents, files.
		`[|+]?\s*:?-{3,}:?\s*[|+](?:\s*:?-{2,}:?\s*[|+]?)*\s*\n`, `\(\d+ rows?\)`, `\\(?:begin|end|documentclass|usepackage)\{[^}\n]*\}?`, `-----(?:BEGIN|END) [A-Z]`,
		`\[{1,2}[a-z][\w.-]*\]{1,2}\s*\n`)

	// several matches lines that people type too, but not so many of one shape.
	several = []struct {
		re    form
		lines int
	}{
		{shape(`(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL|PANIC)(?::|\s+\S)`, `(?:error|warning|fatal|panic|[EW]rror|Warning|Exception|Caused by): `, `npm (?:error|warn) `), 3},
		{shape(`[{\[]\s*(?:"|\{|\n)`, `"[^"\n]*"\s*[:,}\]]`, `[}\]],?\s*\n`), 2}, // JSON
		{shape(`\|\s*\S`), 2},
		// Logs and chats, by their clocks.
		{shape(`\[?(?:\d{4}-\d\d-\d\d[T ]|[A-Z][a-z]{2} +\d+ )?\d\d:\d\d:\d\d[^\s\]]*\]?`, `\[\d\d?:\d\d(?: ?[AP]M)?\]`,
			`\[?\d\d?[./]\d\d?[./]\d{2,4},? \d\d?:\d\d[:\d]*(?: ?[AP]M)?\]?`), 2},
		{shape(`[^,\s][^,\n]*(?:,[^,\s][^,\n]*){2,}\n`), 3}, // CSV
		{shape(`(?:\* )?[0-9a-f]{7,40} \S`), 2},
		{shape(`\\(?:item|section|caption|textbf|cite|label)\b`), 2},
		{shape(`\d+ \+(?: |\n)`), 2},
		{shape(`[$%] \S`), 3},
	}
)

// A line may also be a sentence about a mark: "[10:30] is the format I want".
const verbs = `(?i:is|are|was|were|be|must|should|shall|would|can|could|needs?|has|have|had|does|did|belongs?|comes|goes|stays?|looks?|means|` +
	`(?:is|are|was|were|must|should|would|could|does|do|did|ca|wo|has|have)n['’]t|` +
	`ist|sind|wird|werden|war|waren|muss|müssen|soll|sollen|sollte|darf|dürfen|kann|hat|haben|gehört|gehören|fehlt|fehlen|steht|bleibt|` +
	`est|sont|doit|doivent|était|manque|manquent|es|son|debe|deben|está|están|falta|faltan|zijn|moet|moeten|hoort)`

var (
	// predicate matches what follows a mark that is the subject of a sentence.
	predicate = lazyregexp.New(`^[\s:]*` + verbs + `(?:[\s,.;:!?]|$)`)
	// talks matches a line that holds a sentence.
	talks = lazyregexp.New(`^(?:[^"']*\s)?(?:` + verbs + `|I|(?i:you|we|ich|wir|du|tu|nous|tú|please|bitte|not|never|nicht|kein|keine|pas))(?:[\s,.;:!?]|$)`)
)

// A form is what lines look like, each expression for itself: most lines begin like none
// of them, which is seen at once.
type form []*lazyregexp.Regexp

func shape(lines ...string) (f form) {
	for _, l := range lines {
		f = append(f, lazyregexp.New(`^(?:`+l+`)`))
	}
	return f
}

// find is where the first expression that matches a text ends, or the mark in it, if it
// says which part that is; -1 if none does.
func (f form) find(text string) (end, mark int) {
	for _, re := range f {
		if at := re.FindStringSubmatchIndex(text); at != nil {
			return at[1], at[len(at)-1]
		}
	}
	return -1, -1
}

const (
	address = `[*_>| ]{0,4}(?:From|To|Cc|Bcc|Reply-To|Von|An|De|À|Para|Van|Aan)\s?:.*\n`
	subject = `[*_>| ]{0,4}(?:Subject|Sent|Date|Betreff|Gesendet|Datum|Objet|Envoyé|Asunto|Enviado|Assunto|Onderwerp|Verzonden)\s?:.*\n`
)

var (
	// letter matches the beginning of a mail, which has no end mark.
	letter = lazyregexp.New(`(?m)^(?:` + strings.Join([]string{
		`(?:` + address + `)+` + subject, subject + `(?:` + address + `|` + subject + `)`,
		`-{3,} ?(?i:(?:forwarded|original) message|(?:forwarded|weitergeleitet) (?:by|von)|(?:weitergeleitete|ursprüngliche) (?:nachricht|e-?mail))\b.*-{3,}\s*$`,
		`Begin forwarded message:\s*$`,
	}, "|") + `)`)
	// credit matches the line that names the author of the mail below it, or of the
	// comment on a page; these have no end mark either. The line ends with the name or
	// the time.
	credit = lazyregexp.New(`(?m)^(?:` + strings.Join([]string{
		`(?:On|Le|El) .*(?:\d\d:\d\d|\d{4}).*(?:\n.*)?\s(?:wrote|a écrit|escribió)\s?:\s*$`,
		`(?:Am|Op) .*(?:\d\d:\d\d|\d{4}).*\s(?:schrieb|schreef)\s[^;:!?\n]{1,80}(?:\s*<\n?[^>\n]*>)?\s?:\s*$`,
		`\S+(?: \S+)? (?:opened this (?:issue|pull request)|opened|commented|reviewed|requested changes|approved these changes|(?:left|added) a comment) ` +
			`(?:on [A-Z][a-z]{2} \d\d?(?:, \d{4})?|(?:\d+|an?) \w+ ago|last \w+|yesterday|[-–·] ?\d{1,4}[/.-]\w+[/.-]\d.*|\([^()\n]*\))` +
			`(?: by \S+)?(?:\s*[•·].*)?\s*$`,
	}, "|") + `)`)
	// inPerson matches a line in the first or second person, or about a thing: no page
	// has it.
	inPerson = lazyregexp.New(`(?:^|\s)(?:I|(?i:you|we|ich|du|wir|ihr|er|sie|man|je|ik|jij|u|tu|nous|vous|yo|tú))\s|^(?i:he|she|it|they|this|that|these|the|an?|my|our|your|his|her|their)\s`)
	// frontMatter matches keys and values between two rules.
	frontMatter = lazyregexp.New(`(?m)^---[ \t]*\n[a-z][\w-]*: (?:.*\n)*?---[ \t]*$`)
	key         = lazyregexp.New(`^---\s*[\w-]+: `)
	// program matches the beginning of a message that a program wrote, except for its
	// first words.
	program = lazyregexp.New(`^\s*(?:Implement the following plan:\s*\n|This session is being continued from a previous conversation|` +
		`Base directory for this skill: |Operation stopped by hook: |Caveat: The messages below were generated)`)
	// inMarks matches whole lines in quotation marks.
	inMarks = lazyregexp.New(`(?m)^[ \t]*(?:"[^"]*"|“[^“”]*”|„[^„“”]*[“”]|»[^»«]*«|«[^»«]*»)[.,]?[ \t\r]*$`)
	// sentences matches what is longer than a title or a mentioned word.
	sentences = lazyregexp.New(`[.!?;:]\s+\S.*\S\s|\n|(?:\S+\s+){10}`)
)

// Gemini CLI appends the files that a prompt names.
const (
	filesBegin = "--- Content from referenced files ---"
	filesEnd   = "--- End of content ---"
)

// passages quotes what a delimiter or a heading marks as another author's.
func (m *marking) passages() {
	if at := letter.FindStringIndex(m.text); at != nil {
		m.quote(at[0], len(m.text))
	}
	for _, at := range credit.FindAllStringIndex(m.text, -1) {
		if !inPerson.MatchString(m.text[at[0]:at[1]]) {
			m.quote(at[0], len(m.text))
			break
		}
	}
	if at := frontMatter.FindStringIndex(m.text); at != nil {
		if matter := m.text[at[0]:at[1]]; !predicate.MatchString(matter[key.FindStringIndex(matter)[1]:]) {
			m.quote(at[0], at[1])
		}
	}
	if at := program.FindStringIndex(m.text); at != nil {
		m.quote(at[1], len(m.text))
	}
	if from := strings.Index(m.text, filesBegin); from >= 0 {
		if to := strings.LastIndex(m.text, filesEnd); to > from {
			m.quote(from, to+len(filesEnd))
		} else {
			m.quote(from, len(m.text))
		}
	}
	m.comments()
	for _, at := range inMarks.FindAllStringIndex(m.text, -1) {
		if s := strings.TrimSpace(m.text[at[0]:at[1]]); sentences.MatchString(s) && !m.onlyLine(s) {
			m.quote(at[0], at[1])
		}
	}
}

// onlyLine reports whether a line in quotation marks is the whole text: then the person
// typed it, marks included. Marks like »these« are on no keyboard.
func (m *marking) onlyLine(s string) bool {
	return len(s) == len(strings.TrimSpace(m.text)) && !strings.Contains(s, "\n") && !strings.HasPrefix(s, "»")
}

var (
	commentBegin = lazyregexp.New(`(?m)(?:^|:)[ \t]*<!--`)
	commentEnd   = lazyregexp.New(`(?m)-->[ \t\r]*$`)
)

// comments quotes HTML comments from the first that begins a line, or follows a colon,
// to the last that ends one. A shorter one is part of a sentence.
func (m *marking) comments() {
	begin, ends := commentBegin.FindStringIndex(m.text), commentEnd.FindAllStringIndex(m.text, -1)
	if begin == nil || len(ends) == 0 {
		return
	}
	if end := ends[len(ends)-1]; end[0] > begin[1] && m.longer(begin[1], end[0]) {
		m.quote(begin[1]-len("<!--"), end[1])
	}
}

var (
	hunk     = lazyregexp.New(`(?m)^@@ -\d|^diff --git \S+[./]`)
	listItem = lazyregexp.New(`^\s*(?:[-*+•]|\d{1,3}[.)])\s`)
	// gap matches what is left of a line break in text copied from a terminal.
	gap = lazyregexp.New(`\S {3,}\S`)
	// untyped matches the beginning of what people do not type after their own words:
	// characters that no keyboard has, and long JSON.
	untyped = lazyregexp.New(`[⏺⎿✻│┃╭╰]|\{"\w+":.{200}`)

	// spoken and printed match a line that introduces another person's words, or a
	// program's.
	spoken = lazyregexp.New(`(?i)^\W*from \S|\b(?:says?|said|writes|wrote|replie[sd]|commented|according to)\b|` +
		`\b(?:reviews?|comments?|feedback|e?-?mails?|messages?|notes?) (?:from|by|of)(?: \S+){1,3}:$|` +
		`\b(?:this|that|these|those|the|his|her|their|\w+['’]s) (?:\w+ )?(?:reviews?|comments?|feedback|e?-?mails?|message|quote)\s*:$|` +
		`\b(?:translate|summari[sz]e|explain|proofread|rephrase|reply to|respond to|think of|make of)(?: (?:this|that|these|the|it|his|her|their)\b.*)?:$|` +
		`\b(?:bot|linter|compiler|log|console|terminal|script|tool|CI) (?:reads|prints|printed|shows|reports|reported|returns)\b`)
	printed = lazyregexp.New(`(?i)(?:^\W*|\b(?:this|that|these|the|an?|same|following|get|got|see) (?:\w+ )?)(?:errors?|outputs?|logs?|trace|exception)(?: message)?\s*:\s*$`)
	// bySelf matches a line that introduces the person's own words, or what they want
	// to see.
	bySelf = lazyregexp.New(`(?i)\b(?:I|we)(?:['’]\w+)?(?: have| had)?(?: \w+ly| just| already| also| even| only| once)? ` +
		`(?:say|said|write|wrote|mean|meant|ask|asked|tell|told|report|mention|mentioned|want|wanted|need|expect|expected|repeat|pointed|described|listed|explained)\b|` +
		`\b(?:my|our) (?:\w+ )?(?:reviews?|comments?|feedback|e?-?mails?|messages?|notes?|quote|points?)\b|\bmyself\b|` +
		`\b(?:like this|to)\s*:|\b(?:should|must|shall|needs? to|has to|have to|ought to|supposed to)\b`)
)

// clause matches all clauses but the last.
var clause = lazyregexp.New(`^.*\p{L}{2}[.;!?] \p{L}`)

// cites reports whether a line introduces another author's words, and whether a list
// below it would be theirs, too. Programs print no lists, but people list what is wrong
// with an output.
func cites(line string) (cited, list bool) {
	if !strings.HasSuffix(line, ":") {
		return false, false
	}
	if at := clause.FindStringIndex(line); at != nil {
		line = line[strings.LastIndexByte(line[:at[1]], ' ')+1:]
	}
	if bySelf.MatchString(line) {
		return false, false
	}
	list = spoken.MatchString(line)
	return list || printed.MatchString(line), list
}

// A line of a text: its place, to the beginning of the next line.
type line struct {
	from, to int
	text     string // without the line feed
	shape    bool   // it looks like a line of a paste
	certain  bool
}

func (l line) blank() bool { return strings.TrimSpace(l.text) == "" }

func (l line) indented() bool {
	return strings.HasPrefix(l.text, "\t") || strings.HasPrefix(l.text, "  ")
}

// deep reports whether l is indented as code is.
func (l line) deep() bool {
	return strings.HasPrefix(l.text, "\t") || strings.HasPrefix(l.text, "    ")
}

// split returns the lines of the text with their shapes.
func (m *marking) split() []line {
	var out []line
	for at := 0; at < len(m.text); {
		end := m.toEOL(at)
		next := min(end+1, len(m.text))
		out = append(out, line{from: at, to: next, text: m.text[at:end]})
		at = next
	}
	m.shapes(out)
	return out
}

// shapes finds the lines that look like lines of a paste.
func (m *marking) shapes(lines []line) {
	var (
		seen, count  = make([][]bool, len(several)), make([]int, len(several))
		prompts      []int // lines that look entered
		typed        int   // how many of them are no sentences about a prompt
		firm         bool  // one of them is no sentence
		conversation roles
		diff         = hunk.MatchString(m.text)
	)
	for k := range several {
		seen[k] = make([]bool, len(lines))
	}
	for i := range lines {
		l := &lines[i]
		if l.blank() || m.is(l.from) {
			continue
		}
		one := strings.TrimLeft(l.text, " \t")
		two := one + "\n"
		if i+1 < len(lines) {
			two += lines[i+1].text
		}
		l.certain = diff && strings.ContainsRune("+-@", rune(l.text[0]))
		if _, mark := certain.find(two); mark >= 0 {
			l.certain = l.certain || !predicate.MatchString(two[mark:])
		}
		if end, _ := entered.find(two); end >= 0 {
			prompts = append(prompts, i)
			if !predicate.MatchString(one[min(end, len(one)):]) {
				typed++
				firm = firm || !talks.MatchString(one)
			}
		}
		for k, s := range several {
			if end, _ := s.re.find(two); end >= 0 {
				seen[k][i] = true
				if !predicate.MatchString(two[end:]) {
					count[k]++
				}
			}
		}
		if at := role.FindStringSubmatchIndex(two); at != nil {
			conversation.add(i, two[at[2]:at[3]], predicate.MatchString(two[at[1]:]), i > 0 && lines[i-1].blank())
		}
	}
	for k, s := range several {
		for i := range lines {
			lines[i].shape = lines[i].shape || seen[k][i]
			lines[i].certain = lines[i].certain || seen[k][i] && count[k] >= s.lines
		}
	}
	if firm || typed > 1 {
		for _, i := range prompts {
			lines[i].certain = true
		}
	}
	if conversation.real() {
		for _, i := range conversation.lines {
			lines[i].certain = true
		}
	}
}

var (
	role  = lazyregexp.New(`^(User|Human|Assistant|AI|System|Bot|Claude|ChatGPT|Customer|Client|Support|Agent)\s?:`)
	model = lazyregexp.New(`^(?:Assistant|AI|Bot|Claude|ChatGPT)$`)
)

// roles are lines that begin with the name of a role; people also specify roles.
type roles struct {
	lines   []int
	names   []string // each once, in order
	turns   int      // how many are no sentences about the role
	returns bool     // a name comes back after another
	parted  bool     // there is an empty line above one but the first
	model   bool     // one of the turns is a model's
}

func (r *roles) add(i int, name string, spokenOf, parted bool) {
	r.parted = r.parted || parted && len(r.names) > 0
	if at := slices.Index(r.names, name); at < 0 {
		r.names = append(r.names, name)
	} else if at < len(r.names)-1 {
		r.returns = true
	}
	r.lines = append(r.lines, i)
	if !spokenOf {
		r.turns++
		r.model = r.model || model.MatchString(name)
	}
}

// real reports whether the lines are a conversation.
func (r *roles) real() bool { return r.returns || r.turns >= 2 && (r.model || r.parted) }

// code reports whether the indented lines at the beginning of a paragraph are code.
// People indent lists, and text below a line that ends in ":"; the blanks at the
// beginning of a message have no meaning.
func code(p []line, introduced, output bool) bool {
	item := listItem.MatchString(p[0].text)
	more := len(p) > 1 && p[1].indented()
	switch {
	case p[0].from == 0:
		return more && !item
	case p[0].deep():
		return !(introduced && item)
	}
	return !introduced && (more || output)
}

// lines quotes what looks pasted line by line.
func (m *marking) lines() {
	lines := m.split()
	// A certain line of a paste makes the similar lines above it a paste, too.
	for i := len(lines) - 1; i > 0; i-- {
		if lines[i].certain && lines[i-1].shape {
			lines[i-1].certain = true
		}
	}
	var (
		parted          = true // there is an empty line above
		introduced      bool   // the line above ends in ":"
		cited, citeList bool   // and introduces another author's words; a list below it is theirs, too
		above           bool   // the line above is quoted
		list            bool   // the line above belongs to a list of the person's
		pasted, output  bool   // this paragraph, to its end; because it is a program's output
		first, last     = -1, 0
	)
	for i, l := range lines {
		trimmed := strings.TrimSpace(l.text)
		if trimmed == "" {
			pasted, output, parted, above = false, false, true, false
			continue
		}
		if m.is(l.from) && m.is(l.from+len(l.text)-1) {
			introduced, cited, parted, above = false, false, false, true
			continue
		}
		item := listItem.MatchString(l.text)
		inCode := l.indented() && !list && (above || parted && code(lines[i:], introduced, first >= 0))
		pasted = pasted || l.certain || cited && (citeList || !item)
		output = output || l.certain
		parted, introduced = false, strings.HasSuffix(trimmed, ":")
		cited, citeList = cites(trimmed)
		from := l.from
		above = pasted || trimmed[0] == '>' || inCode
		if !above {
			if list = item || list && l.indented(); !list {
				if at := gap.FindStringIndex(l.text); at != nil && (l.text[at[0]] == '?' || i+1 < len(lines) && lines[i+1].indented()) {
					from, above = l.from+at[0]+1, true
				}
			}
			if at := untyped.FindStringIndex(l.text); at != nil && !predicate.MatchString(l.text[at[1]:]) {
				from, above, pasted, output = l.from+at[0], true, true, true
			}
		}
		if above {
			m.quote(from, l.to)
		}
		if output {
			if last = l.to; first < 0 {
				first = from
			}
		}
	}
	if first >= 0 { // text between two pieces of output cannot be told apart from them
		m.quote(first, last)
	}
}
