// Package browsertest shows pages in a real browser, for tests: the Chromium that
// is installed, without a window.
package browsertest

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A Browser is a headless Chromium with one page. Whatever goes wrong ends the
// test.
type Browser struct {
	t   testing.TB
	ctx context.Context
}

// limit is how long a browser may be open; what it waits for ends the test then.
const limit = 2 * time.Minute

// New starts Chromium, and skips the test if there is none.
func New(t testing.TB) *Browser {
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
	ctx, cancel := context.WithTimeout(context.Background(), limit) // t.Context ends before the browser is closed
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
	return &Browser{t, ctx}
}

// Stranger is a page of the same browser that has none of the other's cookies.
func (b *Browser) Stranger() *Browser {
	b.t.Helper()
	b.do(chromedp.Navigate("about:blank")) // it is started with the first page
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	b.t.Cleanup(cancel)
	return &Browser{b.t, ctx}
}

// Context is the page's, for what is not here.
func (b *Browser) Context() context.Context { return b.ctx }

func (b *Browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// Shape sets what the page is shown on: its size in pixels, and "light" or "dark".
func (b *Browser) Shape(width, height int64, scheme string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height))
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
		b.t.Fatal(err)
	}
}

// Scripts lets the page run scripts, or not.
func (b *Browser) Scripts(on bool) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on}); err != nil {
		b.t.Fatal(err)
	}
}

// Open goes to an address.
func (b *Browser) Open(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
}

// Cookies are those of the page, with those that no script may read.
func (b *Browser) Cookies() (out []*http.Cookie) {
	b.t.Helper()
	got, err := chromedp.Call(b.ctx, network.GetCookies, network.GetCookiesParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range got.Cookies {
		out = append(out, &http.Cookie{Name: c.Name, Value: c.Value, Path: c.Path})
	}
	return out
}

// Click clicks on the first element that a CSS selector finds, once it is
// there, and waits for the next page.
func (b *Browser) Click(selector string) {
	b.t.Helper()
	b.leaving(func() { b.do(chromedp.Click(chromedp.CSS(selector))) })
}

// Press presses keys, one after the other, on what has the focus.
func (b *Browser) Press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// Enter presses the enter key, which must lead to another page.
func (b *Browser) Enter() {
	b.t.Helper()
	b.leaving(func() { b.Press(kb.Enter) })
}

// leaving does an action that leads to another page, and waits for that.
func (b *Browser) leaving(f func()) {
	b.t.Helper()
	Ask[bool](b, `window.old = true`)
	f()
	b.Wait(`!window.old && document.readyState === "complete"`)
}

// Wait waits until an expression is true, even across a change of the page.
func (b *Browser) Wait(expression string) {
	b.t.Helper()
	for b.ctx.Err() == nil {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression))
		if err == nil && ok {
			return
		}
		time.Sleep(10 * time.Millisecond) // a browser is another process
	}
	b.t.Fatalf("in vain: %s", expression)
}

// Text is the page's visible text.
func (b *Browser) Text() string {
	b.t.Helper()
	return Ask[string](b, `document.body.innerText`)
}

// Ask evaluates an expression in the page; the page's own policy does not bind the
// debugger.
func Ask[T any](b *Browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Shoot keeps a picture of the whole page if EVOLVE_SHOTS names a folder.
func (b *Browser) Shoot(name string) {
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

// Sticking lists the elements that extend beyond the page's right edge.
const Sticking = `(() => {
  const out = [], w = innerWidth;
  if (document.documentElement.scrollWidth > w) out.push("the page is " + document.documentElement.scrollWidth + " wide");
  for (const e of document.querySelectorAll("body *")) {
    if (e.closest(".wide") || e.closest(".skip")) continue;
    const r = e.getBoundingClientRect();
    if (r.width && r.right > w + 1) out.push(e.tagName + "." + e.className + " ends at " + Math.round(r.right));
  }
  return out.slice(0, 20);
})()`
