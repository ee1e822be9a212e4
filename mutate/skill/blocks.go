package skill

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// A Block is one piece of a view that can be deleted, kept or moved whole.
type Block struct {
	Start, End int    // byte range in the view; blank lines after a block belong to it
	Kind       string // "heading", "paragraph", "item" (one list item), "code", "kernel", "other"
	Section    string // path of headings it is under, "Tagger > Axes"; a heading's own path
}

var (
	kernelLine   = lazyregexp.New(`^<<KERNEL(~\d+)? \d+(: [^>]*)?>>$`)
	atxLine      = lazyregexp.New(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$`)
	setextLine   = lazyregexp.New(`^ {0,3}(=+|-+)[ \t]*$`)
	itemLine     = lazyregexp.New(`^( *)([-*+]|\d{1,9}[.)])([ \t]+|$)`)
	fenceLine    = lazyregexp.New("^( *)(`{3,}[^`]*|~{3,}.*)$")
	thematicLine = lazyregexp.New(`^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$`)
	markupLine   = lazyregexp.New(`^ {0,3}(?:<|>|\||\[[^\]]+\]:)`)
)

// Blocks cuts a view into blocks whose concatenation is the view. It goes by
// lines: in exotic nestings its blocks may differ from a strict reading of
// CommonMark, which at worst makes a mutator's edit clumsy and never loses a
// byte. A list item holds everything that is indented under it; a kernel
// placeholder inside a code fence or an item is part of that. Headings inside
// kernel are not seen.
func Blocks(view string) []Block {
	var c blockCutter
	for at := 0; at < len(view); {
		next := len(view)
		if i := strings.IndexByte(view[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		c.line(at, strings.TrimRight(view[at:next], "\r\n"))
		at = next
	}
	c.end(len(view))
	return c.blocks
}

// blockCutter is the state between two lines.
type blockCutter struct {
	blocks []Block
	stack  []Heading
	blank  bool   // the line before was blank
	fence  string // the opening run of the fence that is open, "" for none
	indent int    // of the content of the open list item
	text   string // of the open paragraph so far, for setext headings
}

func (c *blockCutter) open(at int, kind string) {
	c.end(at)
	c.blocks = append(c.blocks, Block{Start: at, Kind: kind, Section: joinPath(c.stack)})
}

func (c *blockCutter) end(at int) {
	if n := len(c.blocks); n > 0 {
		c.blocks[n-1].End = at
	}
}

// kind is the kind of the open block, "" before the first.
func (c *blockCutter) kind() string {
	if n := len(c.blocks); n > 0 {
		return c.blocks[n-1].Kind
	}
	return ""
}

func (c *blockCutter) line(at int, s string) {
	blank := strings.TrimSpace(s) == ""
	wasBlank := c.blank
	c.blank = blank
	trimmed := strings.TrimLeft(s, " ")
	if c.fence != "" {
		c.blank = false
		end := strings.TrimRight(trimmed, " \t")
		if len(end) >= len(c.fence) && strings.Trim(end, c.fence[:1]) == "" {
			c.fence = ""
		}
		return
	}
	if blank {
		if c.kind() == "" {
			c.open(at, "other")
		}
		return
	}
	indent := len(s) - len(trimmed)
	inItem := c.kind() == "item" && indent >= c.indent
	switch {
	case kernelLine.MatchString(s):
		c.open(at, "kernel")
	case fenceLine.MatchString(s) && (indent < 4 || inItem):
		if !inItem {
			c.open(at, "code")
		}
		c.fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))]
	case inItem:
	case atxLine.MatchString(s):
		m := atxLine.FindStringSubmatch(s)
		c.heading(at, len(m[1]), m[2])
	case c.kind() == "paragraph" && !wasBlank && setextLine.MatchString(s):
		c.setext(s)
	case thematicLine.MatchString(s):
		c.open(at, "other")
		c.blank = true // nothing joins a rule
	case itemLine.MatchString(s):
		c.open(at, "item")
		m := itemLine.FindStringSubmatch(s)
		c.indent = len(m[1]) + len(m[2]) + 1
	case c.kind() == "item" && !wasBlank && !capital(trimmed): // lazy continuation
	case c.kind() == "paragraph" && !wasBlank && !(capital(trimmed) && endsSentence(c.text)):
		c.text += " " + trimmed
	case c.kind() == "other" && !wasBlank:
	case indent >= 4 || s[0] == '\t':
		if c.kind() != "code" {
			c.open(at, "code")
		}
	case markupLine.MatchString(s):
		c.open(at, "other")
	default:
		c.open(at, "paragraph")
		c.text = trimmed
	}
}

// capital reports whether a line begins like a sentence of its own.
// CommonMark makes a sentence that follows a list without a marker part of
// the last item (a lazy continuation); to a reader it is a paragraph, and it
// must be deletable alone.
func capital(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

// endsSentence reports whether the line after s may begin a new sentence.
func endsSentence(s string) bool {
	s = strings.TrimRight(s, " \t")
	return s != "" && strings.ContainsRune(".!?:;", rune(s[len(s)-1]))
}

func (c *blockCutter) heading(at, level int, text string) {
	c.stack = push(c.stack, Heading{Level: level, Text: plainHeading(text)})
	c.open(at, "heading")
}

// setext turns the open paragraph into a heading.
func (c *blockCutter) setext(underline string) {
	level := 2
	if strings.Contains(underline, "=") {
		level = 1
	}
	c.stack = push(c.stack, Heading{Level: level, Text: plainHeading(c.text)})
	last := &c.blocks[len(c.blocks)-1]
	last.Kind, last.Section = "heading", joinPath(c.stack)
}

// plainHeading strips the markup that headings usually carry.
func plainHeading(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("**", "", "`", "").Replace(s)), " ")
}
