package report

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// A browser is a headless Chromium for the tests of one function.
type browser struct {
	t   *testing.T
	ctx context.Context
}

// newBrowser starts Chromium, and skips the test where there is none.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser is no short test")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium is installed; .ci/run installs it from Debian's packages")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // t.Context ends before the browser is closed
	t.Cleanup(cancel)
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-component-update", true), chromedp.WSURLReadTimeout(time.Minute))
	ctx, cancel = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Logf("close the browser: %v", err)
		}
		cancel()
	})
	return &browser{t, ctx}
}

// shape sets what the page is shown on.
func (b *browser) shape(width, height int64, scheme string) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(width, height)); err != nil {
		b.t.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
		b.t.Fatal(err)
	}
}

// open shows a page from disk.
func (b *browser) open(file string) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.Navigate("file://"+file)); err != nil {
		b.t.Fatal(err)
	}
}

// ask evaluates an expression in the page; the page's own policy does not bind
// the debugger.
func ask[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// shoot keeps a picture of the whole page where EVOLVE_SHOTS names a folder.
func (b *browser) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("EVOLVE_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

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

// sticking lists what sticks out of the page to the right.
const sticking = `(() => {
  const out = [], w = innerWidth;
  if (document.documentElement.scrollWidth > w) out.push("the page is " + document.documentElement.scrollWidth + " wide");
  for (const e of document.querySelectorAll("body *")) {
    if (e.closest(".wide") || e.closest(".skip")) continue;
    const r = e.getBoundingClientRect();
    if (r.width && r.right > w + 1) out.push(e.tagName + "." + e.className + " ends at " + Math.round(r.right));
  }
  return out.slice(0, 20);
})()`

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
				if n := ask[int](b, `document.querySelectorAll("svg text").length`); n == 0 && name != "quiet" {
					t.Errorf("%s: no text in any drawing: the test sees nothing", what)
				}
				for _, s := range ask[[]string](b, overlaps) {
					t.Errorf("%s: overlap: %s", what, s)
				}
				for _, s := range ask[[]string](b, sticking) {
					t.Errorf("%s: %s", what, s)
				}
				if scheme == "light" { // with everything open, too
					ask[int](b, `[...document.querySelectorAll("details")].slice(0, 60).map(d => d.open = true).length`)
					for _, s := range ask[[]string](b, sticking) {
						t.Errorf("%s, opened: %s", what, s)
					}
					b.shoot(what + "-open")
					b.open(file)
				}
				b.shoot(what)
			}
		}
	}
}
