package mutate

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// A statement is one sentence of a paragraph or list item of a view: the unit
// that a merge takes, keeps or leaves out. Everything else of a view
// (headings, code, tables, kernel) is one fixed statement a block.
type statement struct {
	block      int    // in blocksOf(view)
	start, end int    // in the block, without the blanks around it
	mark       string // of its list item, "" in a paragraph
	text       string
	norm       string
	fixed      bool
	tokens     []token
	sorted     []token // the same, by word
	words      map[string]bool
}

// A token is a content word of a statement, or a literal. bound is the word
// before it that turns its meaning ("not", "before"), "" for none; condition
// means that a condition begins with it.
type token struct {
	word, bound        string
	condition, literal bool
}

var (
	itemMark    = lazyregexp.New(`^\s*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?`)
	sentenceEnd = lazyregexp.New(`[.!?]["'’”»)*_` + "`" + `]*(?:[ \t]+|[ \t]*\n\s*)`)
	literals    = lazyregexp.New("`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”|«[^»\n]+»|(?:^|[\\s(:,])'[^'\n]+'")
)

// binders turn the meaning of the word that follows, conditions narrow a
// whole statement.
var (
	binders = map[string]string{"not": "not", "no": "not", "never": "not", "without": "not", "nor": "not", "cannot": "not", "avoid": "not",
		"before": "before", "after": "after", "above": "above", "below": "below", "under": "below", "over": "over", "than": "than",
		"instead": "instead", "rather": "instead", "from": "from", "to": "to", "into": "to", "or": "or",
		"most": "most", "least": "least", "more": "more", "less": "less", "fewer": "less", "first": "first", "last": "last", "between": "between", "but": "but"}
	conditions = map[string]bool{"if": true, "when": true, "whenever": true, "unless": true, "only": true, "except": true,
		"where": true, "until": true, "while": true, "once": true}
	opening       = map[string]bool{"for": true, "in": true, "on": true, "with": true, "at": true, "as": true} // conditions at the beginning
	abbreviations = []string{"e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "no.", "fig.", "resp."}
)

// statementsOf cuts a view into statements, in order.
func statementsOf(view string) (out []statement) {
	view = withNewline(view)
	n := -1
	for _, b := range skill.Blocks(view) {
		text := view[b.Start:b.End]
		if text == "" {
			continue
		}
		n++
		if strings.TrimSpace(text) == "" {
			continue
		}
		if !prose(b.Kind, text) {
			out = append(out, statement{block: n, end: len(text), text: strings.TrimSpace(text), norm: strings.TrimSpace(text), fixed: true})
			continue
		}
		for _, s := range cutStatements(text) {
			s.block = n
			out = append(out, s)
		}
	}
	return out
}

// prose reports whether a block consists of sentences only: no code, no
// kernel, no list within the item.
func prose(kind, text string) bool {
	if kind != "paragraph" && kind != "item" {
		return false
	}
	for i, line := range strings.Split(text, "\n") {
		bare := strings.TrimSpace(line)
		if strings.Contains(line, "<<KERNEL") || strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~") || i > 0 && itemMark.MatchString(line) {
			return false
		}
	}
	return true
}

// cutStatements cuts a paragraph or list item into its sentences.
func cutStatements(block string) (out []statement) {
	mark := itemMark.FindString(block)
	at := len(mark)
	add := func(end int) {
		part := block[at:end]
		text := strings.TrimSpace(part)
		if text != "" {
			start := at + strings.Index(part, text)
			said := meaning(text)
			out = append(out, statement{start: start, end: start + len(text), mark: mark, text: text, norm: norm(text),
				tokens: said, sorted: sortedTokens(said), words: words(text)})
		}
		at = end
	}
	for _, m := range sentenceEnd.FindAllStringIndex(block, -1) {
		if m[0] >= at && m[1] < len(block) && ends(block[at:m[0]+1], block[m[1]:]) {
			add(m[1])
		}
	}
	add(len(block))
	return out
}

// ends reports whether a sentence ends with before, which ends in
// punctuation: rest must begin like another one.
func ends(before, rest string) bool {
	low := strings.ToLower(before)
	for _, a := range abbreviations {
		if head, ok := strings.CutSuffix(low, a); ok && (head == "" || strings.ContainsAny(head[len(head)-1:], " (\n")) {
			return false
		}
	}
	if strings.HasSuffix(before, ".") && numbered(before[:len(before)-1]) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return !unicode.IsLower(r)
}

// meaning lists the tokens of a statement, in order.
func meaning(text string) (out []token) {
	bound, condition := "", false
	add := func(word string, literal bool) {
		out = append(out, token{word, bound, condition, literal})
		bound, condition = "", false
	}
	first := true
	plain := func(text string) {
		for _, f := range strings.Fields(text) {
			low := strings.ToLower(strings.Trim(f, `.,;:!?()[]{}"'*_…’‘“”«»`))
			if strings.HasSuffix(low, "n't") || strings.HasSuffix(low, "n’t") {
				low = "not"
			}
			switch {
			case low == "" && strings.Trim(f, `.,;:!?()[]{}"'*_…–—-’‘“”«»`) == "":
				continue
			case low == "":
				add(f, true)
			case conditions[low] || first && opening[low]:
				condition = true
			case binders[low] != "":
				bound += binders[low] + " "
			case !stop()[low]:
				add(stem(low), false)
			}
			first = false
		}
	}
	at := 0
	for _, m := range literals.FindAllStringIndex(text, -1) {
		plain(text[at:m[0]])
		add(strings.TrimLeft(text[m[0]:m[1]], " \t\n(:,"), true)
		first, at = false, m[1]
	}
	plain(text[at:])
	return out
}

// says reports whether s implies t by rule: t's words are in s in the same
// order, or both have the same words in another order. What turns a word's
// meaning is a part of it, and a condition that t does not have makes s
// another rule. Two texts of no words are the same if they are equal.
func (s *statement) says(t *statement) bool {
	switch {
	case s.fixed || t.fixed:
		return s.fixed && t.fixed && s.text == t.text
	case s.norm == t.norm:
		return true
	case len(t.tokens) < 2:
		return false
	}
	if len(s.tokens) == len(t.tokens) {
		return slices.Equal(s.sorted, t.sorted)
	}
	at := 0
	for _, x := range s.tokens {
		switch {
		case at < len(t.tokens) && x == t.tokens[at]:
			at++
		case x.condition:
			return false
		}
	}
	return at == len(t.tokens)
}

func sortedTokens(list []token) []token {
	out := slices.Clone(list)
	slices.SortFunc(out, func(a, b token) int {
		if c := strings.Compare(a.word, b.word); c != 0 {
			return c
		}
		return strings.Compare(a.bound, b.bound)
	})
	return out
}

// norm is a text without differences in blanks, case, bold print and final
// punctuation.
func norm(text string) string {
	text = strings.NewReplacer("**", "", "__", "").Replace(text)
	return strings.ToLower(strings.TrimRight(strings.Join(strings.Fields(text), " "), ".!;"))
}

// alikeFrom is the share of the shorter statement's words that two statements
// must have in common to be compared by a reader.
const alikeFrom = 0.5

// like reports whether two statements may mean the same: they share at least
// two content words, and half of the shorter one's.
func (s *statement) like(t *statement) bool {
	both := shared(s.words, t.words)
	return both >= 2 && float64(both) >= alikeFrom*float64(min(len(s.words), len(t.words)))
}
