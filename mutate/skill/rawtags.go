package skill

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"golang.org/x/net/html"
)

// A rawTag is a piece of raw HTML in a body.
type rawTag struct {
	key  string // what it is, however it is spelt: "details open", "/details"
	name string // of the element, "" for what is no tag
	at   int    // offset in the file of the node that it is in
}

// rawTags lists the HTML that stands in Markdown as HTML, outside of code. What
// stands for a word to be filled in, <name>, and plain line breaks and shifted
// letters are none; comments have a rule of their own.
func (d *Document) rawTags(doc ast.Node) []rawTag {
	src := d.raw[d.body:]
	var out []rawTag
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.RawHTML:
			if n.Segments.Len() > 0 {
				out = append(out, tagsIn(n.Segments.Value(src), d.body+n.Segments.At(0).Start)...)
			}
		case *ast.HTMLBlock:
			if n.Lines().Len() > 0 {
				raw := n.Lines().Value(src)
				if n.HasClosure() {
					raw = append(bytes.Clone(raw), n.ClosureLine.Value(src)...)
				}
				out = append(out, tagsIn(raw, d.body+n.Lines().At(0).Start)...)
			}
		}
		return ast.WalkContinue, nil
	})
	return out
}

func tagsIn(raw []byte, at int) []rawTag {
	var out []rawTag
	z := html.NewTokenizer(bytes.NewReader(raw))
	for {
		t := z.Next()
		if t == html.ErrorToken {
			// The rest of the node begins a tag that ends in another one.
			if rest := bytes.TrimSpace(z.Raw()); len(rest) > 0 {
				out = append(out, rawTag{key: string(rest), at: at})
			}
			return out
		}
		text := string(z.Raw()) // before Token, which takes it
		switch tok := z.Token(); t {
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			if !plainTag(t, tok) {
				key := tagKey(tok)
				if t == html.EndTagToken {
					key = "/" + tok.Data
				}
				out = append(out, rawTag{key: key, name: tok.Data, at: at})
			}
		case html.DoctypeToken:
			out = append(out, rawTag{key: text, at: at})
		case html.CommentToken:
			if !strings.HasPrefix(text, "<!--") {
				out = append(out, rawTag{key: text, at: at})
			}
		}
	}
}

// tagKey is a start tag in one spelling.
func tagKey(tok html.Token) string {
	var attrs []string
	for _, a := range tok.Attr {
		attrs = append(attrs, fmt.Sprintf(" %s=%q", a.Key, a.Val))
	}
	slices.Sort(attrs)
	return tok.Data + strings.Join(attrs, "")
}

// plainTag reports whether a tag shows what is in it as it would be shown without,
// or is no HTML at all.
func plainTag(t html.TokenType, tok html.Token) bool {
	if htmlElements[tok.Data] {
		return harmlessElements[tok.Data] && len(tok.Attr) == 0
	}
	for _, a := range tok.Attr {
		if a.Val != "" || a.Key == "hidden" || a.Key == "inert" || a.Key == "popover" || strings.HasPrefix(a.Key, "on") {
			return false
		}
	}
	return t == html.StartTagToken
}

var harmlessElements = words("br wbr sub sup kbd")

// The elements that a browser knows, of today and of once, but for those of SVG
// and MathML, which do nothing outside of <svg> and <math>.
var htmlElements = words(`a abbr acronym address applet area article aside audio b base basefont bdi bdo
	bgsound big blink blockquote body br button canvas caption center cite code col colgroup data datalist
	dd del details dfn dialog dir div dl dt em embed fencedframe fieldset figcaption figure font footer
	form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe image img input ins isindex
	kbd keygen label legend li link listing main map mark marquee math menu menuitem meta meter multicol
	nav nextid nobr noembed noframes noscript object ol optgroup option output p param permission picture
	plaintext portal pre progress q rb rp rt rtc ruby s samp script search section select selectedcontent
	slot small source spacer span strike strong style sub summary sup svg table tbody td template textarea
	tfoot th thead time title tr track tt u ul var video wbr xmp`)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		m[w] = true
	}
	return m
}
