package page

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// TestHostileWordsInABrowser: what others wrote runs nowhere, and the page's own
// policy would not let it.
func TestHostileWordsInABrowser(t *testing.T) {
	b := newBrowser(t)
	if err := chromedp.Listen(b.ctx, func(ev any) {
		if d, ok := ev.(*cdppage.EventJavascriptDialogOpening); ok {
			t.Errorf("a dialog opened: %s", d.Message)
		}
	}); err != nil {
		t.Fatal(err)
	}
	b.shape(1280, 900, "light")
	all := pages(t)
	for _, name := range []string{"hostile", "compare", "night"} {
		if all[name] == "" {
			t.Fatalf("no page is called %s", name)
		}
		b.open(all[name])
		if n := ask[int](b, `document.querySelectorAll("script, img, iframe, object, embed, link, form, [onerror], [onload], [style], a[href^='javascript']").length`); n != 0 {
			t.Errorf("%s: %d elements that could do something", name, n)
		}
		if n := ask[int](b, `(document.body.textContent.match(/alert\(1\)/g) || []).length`); n < 5 {
			t.Errorf("%s: hostile words stand %d times as text: the test sees nothing", name, n)
		}
		if s := ask[string](b, `(() => { const s = document.createElement("script"); s.textContent = "window.ran = 1"; document.head.append(s);
			const i = document.createElement("div"); i.setAttribute("style", "position: fixed"); document.body.append(i);
			return (window.ran ? "a script ran;" : "") + (getComputedStyle(i).position === "fixed" ? "a style was taken" : ""); })()`); s != "" {
			t.Errorf("%s: the policy lets too much pass: %s", name, s)
		}
		if s := ask[string](b, `getComputedStyle(document.querySelector(".verdict")).borderLeftWidth`); s != "4px" {
			t.Errorf("%s: the page's own style is not applied: %q", name, s)
		}
	}
}

// TestKeyboardInABrowser: everything that folds, scrolls or leads somewhere can be
// reached, is seen to have the focus, and a link to a case opens it.
func TestKeyboardInABrowser(t *testing.T) {
	b := newBrowser(t)
	b.shape(1280, 900, "light")
	file := pages(t)["run"]
	b.open(file)
	if ask[int](b, `[...document.querySelectorAll(".chapter")].map(d => d.open = true).length`) < 5 {
		t.Fatal("not every chapter below the change is folded")
	}
	seen := map[string]bool{}
	for range 60 {
		if err := chromedp.Do(b.ctx, chromedp.KeyEvent("\t")); err != nil {
			t.Fatal(err)
		}
		who := ask[[]string](b, `(() => { const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();
			return [e.tagName + "." + e.className, s.outlineStyle !== "none" && r.width > 0 && r.height > 0 ? "seen" : "not seen"]; })()`)
		seen[who[0]] = true
		if who[1] != "seen" && who[0] != "BODY." {
			t.Errorf("%s has the focus and nobody sees it", who[0])
		}
	}
	for _, want := range []string{"A.skip", "A.", "DIV.wide", "SUMMARY."} {
		if !seen[want] {
			t.Errorf("no %s among what the keyboard reaches: %v", want, seen)
		}
	}
	if ask[bool](b, `document.querySelector("#case-3").closest("details").open`) {
		t.Fatal("the case is open already")
	}
	if n := ask[int](b, `(() => { document.querySelector('a[href="#case-3"]').click(); return 1; })()`); n != 1 {
		t.Fatal("no link to the case")
	}
	if !ask[bool](b, `new Promise(done => setTimeout(() => done(document.querySelector("#case-3").closest("details").open), 100))`) {
		t.Error("a link to a case leaves it folded")
	}
}

// TestPrintInABrowser: paper cannot be unfolded, and is white.
func TestPrintInABrowser(t *testing.T) {
	b := newBrowser(t)
	b.shape(1280, 900, "dark")
	b.open(pages(t)["run"])
	const shown, ground = `document.querySelector("#case-1").checkVisibility()`, `getComputedStyle(document.body).backgroundColor`
	if ask[bool](b, shown) {
		t.Fatal("a folded case is shown on the screen")
	}
	onPaper := func(scheme string) {
		if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print",
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
			t.Fatal(err)
		}
	}
	onPaper("dark")
	if !ask[bool](b, shown) {
		t.Error("a case is folded on paper")
	}
	if got := ask[string](b, ground); got != "rgb(255, 255, 255)" {
		t.Errorf("paper is %s", got)
	}
	for name, file := range pages(t) {
		b.shape(720, 1000, "light") // A4 within its margins
		b.open(file)
		onPaper("light")
		if w := ask[int](b, `document.documentElement.scrollWidth`); w > 720 {
			t.Errorf("%s is %d wide on paper of 720", name, w)
		}
	}
}
