package replay

import (
	"strconv"
	"strings"
)

// This file cuts a command line of a POSIX shell (and what bash adds that
// agents use) into words and operators. It is an auditor's reading, not a
// shell's: what it does not know it keeps as text, and nothing is run.

// A partKind says where a piece of a word comes from.
type partKind int

const (
	literal  partKind = iota
	variable          // text is its name; "" where the shell computes it from several
	number            // $((…)), $?, $#, $$: never a path
	command           // $(…), `…`: text is the command
	piped             // <(…), >(…): the same, and the word is the path of a pipe
)

// A part is a piece of a word.
type part struct {
	kind   partKind
	text   string
	quoted bool
}

// A word is what the shell makes one argument (or, by a glob, several) of.
type word []part

// plain is the word's text where it is known without running anything.
func (w word) plain() (string, bool) {
	var b strings.Builder
	for _, p := range w {
		if p.kind != literal {
			return "", false
		}
		b.WriteString(p.text)
	}
	return b.String(), true
}

// A token is a word, or an operator: ; & && || | |& ( ) newline and the
// redirections.
type token struct {
	op   string // "" for a word
	word word
	body string // of a here-document
}

// A lexer reads one command line.
type lexer struct {
	src    string
	at     int
	tokens []token
	open   []int // here-documents whose bodies begin after this line
	broken bool  // a quote or a parenthesis is not closed
}

// operators, the longest first.
var operators = []string{"&>>", "<<-", "<<<", "&&", "||", ";;", "|&", "&>", ">>", ">&", "<&", ">|", "<>", "<<", ";", "&", "|", "(", ")", "<", ">", "\n"}

// lex cuts src into tokens. broken says that it is not complete.
func lex(src string) (tokens []token, broken bool) {
	l := &lexer{src: src}
	for l.next() {
	}
	return l.tokens, l.broken
}

func (l *lexer) next() bool {
	for l.at < len(l.src) {
		if c := l.src[l.at]; c == ' ' || c == '\t' || c == '\r' {
			l.at++
		} else if strings.HasPrefix(l.src[l.at:], "\\\n") {
			l.at += 2
		} else {
			break
		}
	}
	if l.at >= len(l.src) {
		return false
	}
	rest := l.src[l.at:]
	if rest[0] == '#' {
		end := strings.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		l.at += end
		return true
	}
	if strings.HasPrefix(rest, "<(") || strings.HasPrefix(rest, ">(") {
		l.add(l.word())
		return true
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			l.at += len(op)
			l.operator(op)
			return true
		}
	}
	l.add(l.word())
	return true
}

// add appends a word. Digits right before a redirection are the number of a
// file and no word; the word behind << names the end of a body.
func (l *lexer) add(w word) {
	if l.at < len(l.src) && (l.src[l.at] == '<' || l.src[l.at] == '>') && len(w) == 1 && w[0].kind == literal && !w[0].quoted {
		if _, err := strconv.Atoi(w[0].text); err == nil {
			return
		}
	}
	if n := len(l.tokens); n > 0 && strings.HasPrefix(l.tokens[n-1].op, "<<") && l.tokens[n-1].op != "<<<" {
		l.open = append(l.open, n)
	}
	l.tokens = append(l.tokens, token{word: w})
}

func (l *lexer) operator(op string) {
	l.tokens = append(l.tokens, token{op: op})
	if op != "\n" {
		return
	}
	for _, i := range l.open {
		end, _ := l.tokens[i].word.plain()
		l.tokens[i].body = l.heredoc(end)
	}
	l.open = nil
}

// heredoc reads lines up to the one that is end.
func (l *lexer) heredoc(end string) string {
	from := l.at
	for l.at < len(l.src) {
		line, _, more := strings.Cut(l.src[l.at:], "\n")
		begin := l.at
		l.at += len(line)
		if more {
			l.at++
		}
		if strings.TrimLeft(strings.TrimSuffix(line, "\r"), "\t") == end {
			return l.src[from:begin]
		}
	}
	l.broken = true
	return l.src[from:]
}

// word reads one word; the reader stands on its first byte.
func (l *lexer) word() word {
	var w word
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			w = append(w, part{kind: literal, text: text.String()})
			text.Reset()
		}
	}
	put := func(ps ...part) {
		flush()
		w = append(w, ps...)
	}
	for l.at < len(l.src) {
		rest := l.src[l.at:]
		switch c := rest[0]; {
		case c == '\\':
			if len(rest) > 1 {
				if rest[1] != '\n' {
					put(part{kind: literal, text: rest[1:2], quoted: true})
				}
				l.at += 2
				continue
			}
			l.at++
		case c == '\'':
			end := strings.IndexByte(rest[1:], '\'')
			if end < 0 {
				l.broken, end = true, len(rest)-1
				l.at--
			}
			put(part{kind: literal, text: rest[1 : 1+end], quoted: true})
			l.at += end + 2
		case c == '"':
			l.at++
			put(l.quoted()...)
		case c == '$' && strings.HasPrefix(rest, "$'"):
			put(part{kind: literal, text: l.ansi(), quoted: true})
		case c == '$' || c == '`', strings.HasPrefix(rest, "<("), strings.HasPrefix(rest, ">("):
			if len(w) == 0 && text.Len() == 0 || c == '$' || c == '`' {
				put(l.expansion(false))
				continue
			}
			flush()
			return w
		case strings.IndexByte(" \t\r\n;&|()<>", c) >= 0:
			flush()
			return w
		default:
			text.WriteByte(c)
			l.at++
		}
	}
	flush()
	return w
}

// quoted reads up to the closing double quote.
func (l *lexer) quoted() []part {
	var ps []part
	var text strings.Builder
	flush := func() {
		ps = append(ps, part{kind: literal, text: text.String(), quoted: true})
		text.Reset()
	}
	for l.at < len(l.src) {
		rest := l.src[l.at:]
		switch c := rest[0]; {
		case c == '"':
			l.at++
			flush()
			return ps
		case c == '\\' && len(rest) > 1:
			if strings.IndexByte("$`\"\\\n", rest[1]) < 0 {
				text.WriteByte(c)
			}
			if rest[1] != '\n' {
				text.WriteByte(rest[1])
			}
			l.at += 2
		case c == '$' || c == '`':
			flush()
			ps = append(ps, l.expansion(true))
		default:
			text.WriteByte(c)
			l.at++
		}
	}
	l.broken = true
	flush()
	return ps
}

// expansion reads what begins with $, ` or <(.
func (l *lexer) expansion(quoted bool) part {
	rest := l.src[l.at:]
	inside := func(skip int, open, shut byte) string {
		l.at += skip
		text, ok := matching(l.src[l.at:], open, shut)
		l.at += len(text)
		if ok {
			l.at++
		} else {
			l.broken = true
		}
		return text
	}
	switch {
	case rest[0] == '`':
		l.at++
		text := l.src[l.at:]
		for i := 0; i < len(text); i++ {
			if text[i] == '\\' {
				i++
			} else if text[i] == '`' {
				l.at += i + 1
				return part{command, strings.NewReplacer("\\`", "`", "\\\\", "\\", "\\$", "$").Replace(text[:i]), quoted}
			}
		}
		l.at, l.broken = len(l.src), true
		return part{command, text, quoted}
	case strings.HasPrefix(rest, "$(("):
		if text := inside(2, '(', ')'); strings.HasSuffix(text, ")") {
			return part{number, "", quoted}
		} else {
			return part{command, text, quoted} // $( (…) )
		}
	case rest[0] == '<', rest[0] == '>':
		return part{piped, inside(2, '(', ')'), quoted}
	case strings.HasPrefix(rest, "$("):
		return part{command, inside(2, '(', ')'), quoted}
	case strings.HasPrefix(rest, "${"):
		text := inside(2, '{', '}')
		if strings.HasPrefix(text, "#") {
			return part{number, "", quoted}
		}
		name := identifier(text)
		if name != text { // ${x:-y}, ${x%.*}: computed
			return part{variable, name + "?", quoted}
		}
		return part{variable, name, quoted}
	}
	l.at++
	if name := identifier(rest[1:]); name != "" {
		l.at += len(name)
		return part{variable, name, quoted}
	}
	if len(rest) > 1 && strings.IndexByte("?#$!-", rest[1]) >= 0 {
		l.at++
		return part{number, "", quoted}
	}
	if len(rest) > 1 && (rest[1] == '@' || rest[1] == '*' || rest[1] >= '0' && rest[1] <= '9') {
		l.at++
		return part{variable, rest[1:2], quoted}
	}
	return part{literal, "$", true}
}

// identifier is the name of a variable at the beginning of s.
func identifier(s string) string {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return s[:i]
		}
	}
	return s
}

// matching is the text up to the bracket that closes one opened before s.
// Brackets in quotes do not count.
func matching(s string, open, shut byte) (text string, ok bool) {
	depth := 1
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			i++
		case '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return s, false
			}
			i += end + 1
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return s[:i], true
			}
		}
	}
	return s, false
}

// ansi reads $'…' with its escapes.
func (l *lexer) ansi() string {
	var b strings.Builder
	s := l.src[l.at+2:]
	i := 0
	for ; i < len(s) && s[i] != '\''; i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; {
		case c == 'x':
			n, digits := number16(s[i+1:], 2, 16)
			b.WriteByte(byte(n))
			i += digits
		case c >= '0' && c <= '7':
			n, digits := number16(s[i:], 3, 8)
			b.WriteByte(byte(n))
			i += digits - 1
		case c == 'u':
			n, digits := number16(s[i+1:], 4, 16)
			b.WriteRune(rune(n))
			i += digits
		case c == 'n', c == 't', c == 'r':
			b.WriteByte(map[byte]byte{'n': '\n', 't': '\t', 'r': '\r'}[c])
		default:
			b.WriteByte(c)
		}
	}
	if i == len(s) {
		l.broken = true
		l.at = len(l.src)
		return b.String()
	}
	l.at += 2 + i + 1
	return b.String()
}

// number16 reads up to most digits of a number.
func number16(s string, most, base int) (n uint64, digits int) {
	for digits < min(most, len(s)) {
		v, err := strconv.ParseUint(s[:digits+1], base, 32)
		if err != nil {
			break
		}
		n, digits = v, digits+1
	}
	return n, digits
}
