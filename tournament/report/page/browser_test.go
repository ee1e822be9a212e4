package page

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/tournament/report/browsertest"
)

// A browser shows pages from disk.
type browser struct {
	*browsertest.Browser
	ctx context.Context
}

func newBrowser(t testing.TB) *browser {
	t.Helper()
	b := browsertest.New(t)
	return &browser{b, b.Context()}
}

func (b *browser) shape(width, height int64, scheme string) { b.Shape(width, height, scheme) }
func (b *browser) open(file string)                         { b.Open("file://" + file) }
func (b *browser) shoot(name string)                        { b.Shoot(name) }

func ask[T any](b *browser, expression string) T { return browsertest.Ask[T](b.Browser, expression) }

// overlaps lists pairs of texts of one drawing whose boxes overlap by more than a
// pixel, and texts that reach out of their drawing.
const overlaps = `(() => {
  const out = [];
  for (const svg of document.querySelectorAll("svg")) {
    const all = [...svg.querySelectorAll("text")].map(e => [e.textContent, e.getBoundingClientRect()]);
    const f = svg.getBoundingClientRect();
    if (!f.width) continue;
    all.forEach(([s, a], i) => {
      if (a.left < f.left - 1 || a.right > f.right + 1 || a.top < f.top - 1 || a.bottom > f.bottom + 1) out.push(svg.id + ": " + s + " reaches out of it");
      for (const [o, b] of all.slice(i + 1)) {
        const w = Math.min(a.right, b.right) - Math.max(a.left, b.left), h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (w > 1 && h > 2) out.push(svg.id + ": " + s + " / " + o);
      }
    });
  }
  return out;
})()`

const sticking = browsertest.Sticking

// pages are the pages that are looked at, by name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	dir, out := t.TempDir(), map[string]string{}
	for name, write := range pageWriters(t) {
		file := filepath.Join(dir, name+".html")
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := write(f); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		out[name] = file
	}
	if file := os.Getenv("EVOLVE_PAGE"); file != "" { // one more, to be looked at by hand
		out["given"] = file
	}
	return out
}

func TestPagesInABrowser(t *testing.T) {
	b := newBrowser(t)
	for name, file := range pages(t) {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{1280, 390} {
				what := fmt.Sprintf("%s-%d-%s", name, width, scheme)
				b.shape(width, 900, scheme)
				b.open(file)
				if got := ask[bool](b, `matchMedia("(prefers-color-scheme: dark)").matches`); got != (scheme == "dark") {
					t.Fatalf("%s: the emulation does not work", what)
				}
				if n := ask[int](b, `document.querySelectorAll("svg text").length`); n == 0 && name != "quiet" && name != "night" { // a night has no drawing
					t.Errorf("%s: no text in any drawing: the test sees nothing", what)
				}
				b.shoot(what)
				for _, how := range []string{"folded", ".chapter", "details"} { // with the chapters, and with everything open
					if how != "folded" {
						ask[int](b, `[...document.querySelectorAll("`+how+`")].slice(0, 60).map(d => d.open = true).length`)
					}
					for _, s := range append(ask[[]string](b, overlaps), ask[[]string](b, sticking)...) {
						t.Errorf("%s, %s: %s", what, how, s)
					}
					if how == ".chapter" {
						b.shoot(what + "-open")
					}
				}
			}
		}
	}
}
