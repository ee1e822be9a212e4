package skill

import "strings"

// A codeSpan is a byte range of a text that is code.
type codeSpan struct{ start, end int }

// codeSpans finds the code of a message, in order: fenced blocks, console
// lines, and inline code. It follows CommonMark except for indented code:
// people indent what they type into a chat.
func codeSpans(text string) []codeSpan {
	var c codeFinder
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		c.line(text, at, end)
		at = end
	}
	c.endParagraph(text)
	return c.spans
}

// codeFinder is the state between two lines.
type codeFinder struct {
	spans []codeSpan
	fence string // the run that opened the fence which is open, "" for none
	quote int    // depth of block quotes of that fence or of the open paragraph
	ticks []tick // runs of backticks in the open paragraph
}

// A tick is a run of backticks. A backslash in front takes one away from a
// run that opens code, and none from one that closes it.
type tick struct {
	at, n   int
	escaped bool
}

func (c *codeFinder) line(text string, at, end int) {
	depth, from := quoteDepth(text[at:end], c.fence != "", c.quote)
	rest := strings.TrimRight(text[at+from:end], " \t\r\n")
	if c.fence != "" {
		if depth == c.quote {
			c.spans = append(c.spans, codeSpan{at, end})
			if closesFence(rest, c.fence) {
				c.fence = ""
			}
			return
		}
		c.fence = "" // the quote that it was in has ended
	}
	run := opensFence(rest)
	console := strings.HasPrefix(strings.TrimLeft(rest, " \t"), "$ ") || strings.HasPrefix(strings.TrimLeft(rest, " \t"), "$\t")
	if run != "" || console || rest == "" || depth != c.quote {
		c.endParagraph(text)
	}
	c.quote = depth
	switch {
	case run != "":
		c.fence = run
		c.spans = append(c.spans, codeSpan{at, end})
	case console:
		c.spans = append(c.spans, codeSpan{at, end})
	default:
		c.backticks(text, at+from, end)
	}
}

// quoteDepth counts the block quotes that a line is in and returns the start
// of its content. Within a fence only as many marks count as the fence has.
func quoteDepth(line string, fenced bool, limit int) (depth, from int) {
	for !fenced || depth < limit {
		i := from
		for i < len(line) && line[i] == ' ' && i-from < 4 {
			i++
		}
		if i-from > 3 || i == len(line) || line[i] != '>' {
			break
		}
		depth++
		from = i + 1
		if from < len(line) && line[from] == ' ' {
			from++
		}
	}
	return depth, from
}

// opensFence returns the run of backticks or tildes that opens a fenced block.
func opensFence(line string) string {
	s := strings.TrimLeft(line, " ")
	if len(line)-len(s) > 3 || len(s) < 3 || s[0] != '`' && s[0] != '~' {
		return ""
	}
	info := strings.TrimLeft(s, s[:1])
	n := len(s) - len(info)
	if n < 3 || s[0] == '`' && strings.IndexByte(info, '`') >= 0 {
		return ""
	}
	return s[:n]
}

func closesFence(line, fence string) bool {
	s := strings.TrimLeft(line, " ")
	return len(line)-len(s) <= 3 && len(s) >= len(fence) && strings.Trim(s, fence[:1]) == ""
}

func (c *codeFinder) backticks(text string, at, end int) {
	for {
		i := strings.IndexByte(text[at:end], '`')
		if i < 0 {
			return
		}
		start := at + i
		for at = start; at < end && text[at] == '`'; {
			at++
		}
		slashes := 0
		for start-slashes > 0 && text[start-slashes-1] == '\\' {
			slashes++
		}
		c.ticks = append(c.ticks, tick{start, at - start, slashes%2 == 1})
	}
}

// endParagraph pairs the runs of equal length of a paragraph: what lies between
// is inline code.
func (c *codeFinder) endParagraph(text string) {
	if len(c.ticks) == 0 {
		return
	}
	partner := make([]int, len(c.ticks)) // index of the run that closes this one, 0 for none
	next := map[int]int{}
	for i := len(c.ticks) - 1; i >= 0; i-- {
		t := c.ticks[i]
		n := t.n
		if t.escaped {
			n--
		}
		partner[i] = next[n]
		next[t.n] = i
	}
	for i := 0; i < len(c.ticks); i++ {
		j := partner[i]
		if j == 0 {
			continue
		}
		c.spans = append(c.spans, codeSpan{c.ticks[i].at, c.ticks[j].at + c.ticks[j].n})
		i = j
	}
	c.ticks = c.ticks[:0]
}
