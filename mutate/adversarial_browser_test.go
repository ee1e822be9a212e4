package mutate

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"golang.org/x/net/html"
)

// Elements that a browser does not show, that strike out, or that show another
// thing in place of what is in them.
var unseen = map[string]bool{}

func init() {
	for name := range strings.FieldsSeq("audio canvas datalist del details dialog head iframe noembed noframes noscript object s script select strike style svg template textarea title video") {
		unseen[name] = true
	}
}

// visible reports where words are shown on the rendered page, and how often:
// under which headings, of Markdown or HTML. A page that a style sheet or a
// script changes counts as showing nothing.
func visible(md goldmark.Markdown, body []byte, words []string) map[string]int {
	var b bytes.Buffer
	if err := md.Convert(body, &b); err != nil {
		return nil
	}
	root, err := html.Parse(&b)
	if err != nil {
		return nil
	}
	var levels, path []string
	shown := map[string]int{}
	sure := true
	var walk func(n *html.Node, seen bool)
	walk = func(n *html.Node, seen bool) {
		if n.Type == html.ElementNode {
			sure = sure && n.Data != "style" && n.Data != "script" && n.Data != "meta" && n.Data != "link"
			seen = seen && !unseen[n.Data] && !disguised(n)
			if len(n.Data) == 2 && n.Data[0] == 'h' && '1' <= n.Data[1] && n.Data[1] <= '6' {
				for len(levels) > 0 && levels[len(levels)-1] >= n.Data {
					levels, path = levels[:len(levels)-1], path[:len(path)-1]
				}
				levels, path = append(levels, n.Data), append(path, textOf(n))
			}
		}
		if n.Type == html.TextNode && seen {
			for _, w := range words {
				if c := strings.Count(n.Data, w); c > 0 {
					shown[fmt.Sprintf("%s under %q", w, path)] += c
				}
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, seen)
		}
	}
	walk(root, true)
	if !sure {
		return nil
	}
	return shown
}

// disguised reports whether attributes may hide an element. What Markdown writes
// itself does not.
func disguised(n *html.Node) bool {
	for _, a := range n.Attr {
		switch {
		case a.Key == "hidden", a.Key == "popover", a.Key == "inert",
			a.Key == "style" && !strings.HasPrefix(a.Val, "text-align:"),
			a.Key == "class" && !strings.HasPrefix(a.Val, "language-") && !strings.HasPrefix(a.Val, "footnote"):
			return true
		}
	}
	return false
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
