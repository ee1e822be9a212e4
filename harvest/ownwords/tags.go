package ownwords

import (
	"slices"
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// tag is the mark that begins or ends a block, as in <document id="1"> and
// </document>.
type tag struct {
	from, to int // its place
	name     string
	id       string // some programs give a block an id, and repeat it at the end
	closes   bool
}

var (
	anyTag = lazyregexp.New(`<[\s\p{Cf}]*(/?)[\s\p{Cf}]*(\p{L}[\p{L}\p{N}\p{Cf}_:.-]*)([^<>]*)>`)
	tagID  = lazyregexp.New(`\bid="([^"]*)"`)
)

// tagsOf are the tags of a text, in order, without tags that end themselves and
// addresses.
func tagsOf(text string) []tag {
	if strings.IndexByte(text, '<') < 0 {
		return nil
	}
	var out []tag
	for _, at := range anyTag.FindAllStringSubmatchIndex(text, -1) {
		rest := text[at[6]:at[7]]
		name := tagName(text[at[4]:at[5]])
		if strings.HasSuffix(rest, "/") || strings.ContainsAny(rest, "@") || strings.HasSuffix(name, ":") {
			continue
		}
		t := tag{from: at[0], to: at[1], name: name, closes: at[2] < at[3]}
		if id := tagID.FindStringSubmatch(rest); id != nil {
			t.id = id[1]
		}
		out = append(out, t)
	}
	return out
}

// tagName is a tag's name, normalised and without invisible characters.
func tagName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r):
			return -1
		case r == '_':
			return '-'
		}
		return unicode.ToLower(r)
	}, s)
}

// endings are, by a tag's name and id, the last tag that ends such a block: a block may
// quote others.
func endings(tags []tag) map[[2]string]int {
	last := make(map[[2]string]int)
	for i, t := range tags {
		if t.closes {
			last[[2]string{t.name, t.id}] = i
			last[[2]string{t.name, ""}] = i
		}
	}
	return last
}

// blocks calls f with the place of every block of tags, by its beginning: to is -1 if
// the block is not ended, from is -1 if it is only ended. Blocks overlap. A block with
// an id is ended by its id, which text inside it cannot know.
func blocks(tags []tag, f func(t tag, from, to int)) {
	last, begun := endings(tags), make(map[string]bool)
	for i, t := range tags {
		if t.closes {
			if !begun[t.name] {
				f(t, -1, t.to)
			}
			continue
		}
		begun[t.name] = true
		at, ok := last[[2]string{t.name, t.id}]
		if !ok || at < i {
			at, ok = last[[2]string{t.name, ""}]
		}
		if ok && at > i {
			f(t, t.from, tags[at].to)
		} else {
			f(t, t.from, -1)
		}
	}
}

var (
	// injectedTags matches tags that programs put into a message beside what the person
	// typed.
	injectedTags = lazyregexp.New(`^(?:system-.*|ide-.*|.*-hook|.*-reminder|new-diagnostics|browser-instructions?|current-datetime|` +
		`environment-context|user-instructions|in-app-browser-context|response-annotations|recommended-plugins|editor-context|extremely-important)$`)
	// enclosing matches tags around what people and programs paste.
	enclosing = lazyregexp.New(`^(?:documents?|document-content|pasted-.*|files?|file-.*|attach(?:ment|ed)s?.*|selection|quote|context)$`)
	// void matches HTML tags that are never closed.
	void = lazyregexp.New(`^(?:br|hr|wbr|img|input|meta|link|li|p|td|tr)$`)
)

// tags quotes the blocks of tags. Within a sentence ("the <b>total</b>") a block needs
// an attribute or three words. A tag that is never closed begins a block if it begins a
// line; otherwise it is a placeholder, "git show <hash>".
func (m *marking) tags() {
	blocks(tagsOf(m.text), func(t tag, from, to int) {
		switch {
		case from < 0:
		case to >= 0:
			if injectedTags.MatchString(t.name) || m.begins(from) || m.text[from-1] != '`' && (m.attributed(t) || m.longer(t.to, to)) {
				m.quote(from, to)
			}
		case injectedTags.MatchString(t.name), !m.is(from) && m.opens(t):
			m.quote(from, len(m.text))
		}
	})
}

func (m *marking) attributed(t tag) bool { return strings.Contains(m.text[t.from:t.to], "=") }

// longer reports whether a text has three words or the end of a line. It looks at its
// beginning only.
func (m *marking) longer(from, to int) bool {
	text := m.text[from:min(to, from+200)]
	return to > from+200 || strings.Contains(text, "\n") || len(strings.Fields(text)) >= 3
}

// opens reports whether a tag that is never closed begins a block: it has a line of its
// own, or it begins a line and encloses what people or programs paste.
func (m *marking) opens(t tag) bool {
	if !m.begins(t.from) || void.MatchString(t.name) {
		return false
	}
	after := strings.TrimLeft(m.text[t.to:], " \t\r")
	if after == "" || after[0] == '\n' {
		return true
	}
	atOnce := len(after) == len(m.text)-t.to && !strings.ContainsAny(after[:1], ",.;:)")
	first := strings.TrimSpace(m.text[:t.from]) == ""
	return enclosing.MatchString(t.name) && (atOnce || m.attributed(t)) || first && (atOnce || strings.Contains(t.name, "-"))
}

// CutInjected removes what a program put beside what the person typed: blocks of tags,
// from the first tag to the last that can end it, to the end of text if none does, and
// from its beginning if one is only ended.
func CutInjected(text string) string {
	tags := slices.DeleteFunc(tagsOf(text), func(t tag) bool { return !injectedTags.MatchString(t.name) })
	if len(tags) == 0 {
		return text
	}
	m := marking{text: text}
	blocks(tags, func(_ tag, from, to int) {
		if to < 0 {
			to = len(text)
		}
		m.quote(max(from, 0), to)
	})
	return m.rest()
}

// BeginsInjected reports whether text begins with such a block.
func BeginsInjected(text string) bool {
	tags := tagsOf(text)
	return len(tags) > 0 && !tags[0].closes && strings.TrimSpace(text[:tags[0].from]) == "" && injectedTags.MatchString(tags[0].name)
}
