package mutate

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/tournament/report/browsertest"
)

// soupTags are what a browser nests, moves or ends in ways of its own.
var soupTags = strings.Fields("a b i s p div span table tbody tr td th caption colgroup col select option optgroup datalist details summary dialog template svg math foreignObject desc mi mtext annotation-xml title textarea button form fieldset ul li dl dd h2 h1 font nobr center body html head frameset frame noscript noframes noembed iframe video audio canvas object applet marquee ruby rt rp xmp plaintext listing pre style script br hr img image input x-y name li hidden")

var soupAttributes = []string{"", "", "", " hidden", " open", " type=hidden", " encoding=text/html", " x='", " x=\"", " /", " x=>", " popover", " style=display:none"}

// soup is HTML of a kind that no author writes.
func soup(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(5) {
		switch r.IntN(8) {
		case 0, 1, 2, 3:
			b.WriteString("<" + pick(r, soupTags) + pick(r, soupAttributes) + ">")
		case 4, 5:
			b.WriteString("</" + pick(r, soupTags) + ">")
		case 6:
			b.WriteString(pick(r, []string{"<![CDATA[ x ]]>", "<!X>", "<?x>", "<!--x-->", "</ x>", "<a", "'>", "\">", "\\", "`", "text", "&lt;", "- ", "> ", "| a |\n|---|\n| b ", "[a]: b '", "![", "](x)"}))
		}
		b.WriteString(pick(r, []string{"", "\n", "\n\n", "\n\n", " a "}))
	}
	return b.String()
}

// TestChromiumShowsTheKernel holds the check against a real browser: of what is not
// rejected, the kernel's words are in the page's visible text as often as before.
func TestChromiumShowsTheKernel(t *testing.T) {
	browser := browsertest.New(t)
	browser.Open("about:blank")
	want := 60
	if long() {
		want = 1500
	}
	r := rand.New(rand.NewPCG(1, 7))
	type shownPage struct {
		HTML  string         `json:"html"`
		Words map[string]int `json:"words"`
		child string
	}
	before := map[string]map[string]int{}
	var batch []shownPage
	flush := func() {
		if len(batch) == 0 {
			return
		}
		pages, err := json.Marshal(batch)
		if err != nil {
			t.Fatal(err)
		}
		texts := browsertest.Ask[[]string](browser, `Promise.all(`+string(pages)+`.map(p => new Promise(done => {
			const f = document.createElement("iframe");
			f.onload = () => { const d = f.contentDocument; const s = d && d.body ? d.body.innerText : ""; f.remove(); done(s); };
			f.srcdoc = "<!DOCTYPE html><html><head></head><body>" + p.html;
			document.body.append(f);
		})))`)
		for i, text := range texts {
			for w, n := range batch[i].Words {
				if got := strings.Count(text, w); got < n {
					t.Errorf("%q is shown %d times and was %d times in\n%s", w, got, n, batch[i].child)
				}
			}
		}
		batch = nil
	}
	render := func(dialect string, body []byte) string {
		var b bytes.Buffer
		if err := dialects[dialect].Convert(body, &b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	passed, tried := 0, 0
	for passed < want {
		s := shapes[r.IntN(len(shapes)-1)] // the last has no kernel
		parent, err := skill.Parse([]byte(s.text), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		tried++
		lines := strings.SplitAfter(parent.View(), "\n")
		for range 1 + r.IntN(2) {
			i := r.IntN(len(lines) + 1)
			lines = append(lines[:i:i], append([]string{pick(r, []string{"", "\n"}) + soup(r) + pick(r, []string{"", "\n", "\n\n"})}, lines[i:]...)...)
		}
		child, err := parent.WithView(strings.Join(lines, ""))
		if err != nil || check.Worst(check.Check(parent, child, check.ClaudeCode)) == check.Reject {
			continue
		}
		passed++
		for dialect := range dialects {
			if before[s.name+dialect] == nil {
				shown := visible(dialects[dialect], parent.Body(), s.words)
				counts := map[string]int{}
				for place, n := range shown {
					w, _, _ := strings.Cut(place, " ")
					counts[w] += n
				}
				before[s.name+dialect] = counts
			}
			batch = append(batch, shownPage{render(dialect, child.Body()), before[s.name+dialect], string(child.Render())})
		}
		if len(batch) >= 50 {
			flush()
		}
	}
	flush()
	t.Logf("%d of %d passed the check", passed, tried)
}
