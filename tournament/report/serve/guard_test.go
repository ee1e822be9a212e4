package serve

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// pages are all addresses that show something, writes those that take a form.
var (
	pages = []string{"/", "/queue", "/runs", "/runs/r", "/runs/r/report", "/nights", "/nights/n", "/fleet", "/skills/s", "/skills/s/diff", "/skills/s/corrections", "/skills/s/run", "/favicon.svg", "/skills/s/diff?from=a&to=b",
		"/skills/s/cases", "/skills/s/cases?text=plot&split=test&origin=imported", "/skills/s/case?id=c", "/skills/s/case/edit?id=c", "/skills/s/case/edit?id=c&json", "/skills/s/case/drop?id=c",
		"/skills/s/review", "/skills/s/approve?at=x", "/skills/s/reject?at=x", "/skills/s/promote", "/skills/s/rollback", "/skills/s/promote?at=refused"}
	writes = []string{"/skills/s/case/edit", "/skills/s/case/drop", "/skills/s/review", "/skills/s/approve", "/skills/s/reject", "/skills/s/promote", "/skills/s/rollback"}
)

// form is what every write takes.
func form(s *Server) url.Values {
	return url.Values{"csrf": {s.guard.form}, "id": {"c"}, "seen": {"now"}, "json": {"{}"}, "case": {"c"}, "first": {"1"}, "second": {"2"}, "better": {"1"}, "at": {"x"}}
}

func request(s *Server, method, path string, body io.Reader) *http.Request {
	r := httptest.NewRequest(method, "http://127.0.0.1:3700"+path, body)
	r.AddCookie(&http.Cookie{Name: s.guard.name, Value: s.guard.cookie})
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r
}

func post(s *Server, path string, v url.Values) *http.Request {
	return request(s, "POST", path, strings.NewReader(v.Encode()))
}

func send(s *Server, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// TestEveryPage: each is there for its owner, under the strictest policy, and
// nothing that others wrote becomes markup.
func TestEveryPage(t *testing.T) {
	s := New(&stub{}, 3700)
	for _, path := range pages {
		w := send(s, request(s, "GET", path, nil))
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d\n%s", path, w.Code, w.Body)
			continue
		}
		unharmed(t, path, w.Body.String())
		for k, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Content-Security-Policy": policy} {
			if got := w.Header().Get(k); got != want {
				t.Errorf("%s: %s is %q", path, k, got)
			}
		}
		for k := range w.Header() {
			if strings.HasPrefix(k, "Access-Control-") {
				t.Errorf("%s allows other origins: %s", path, k)
			}
		}
	}
	for _, path := range []string{"/skills/s/approve?at=broken", "/skills/s/case?id=gone"} {
		w := send(s, request(s, "GET", path, nil))
		if w.Code < 400 {
			t.Errorf("%s: %d", path, w.Code)
		}
		unharmed(t, path, w.Body.String())
	}
	for _, path := range writes {
		w := send(s, post(s, path, form(s)))
		if w.Code != http.StatusOK && w.Code != http.StatusSeeOther {
			t.Errorf("POST %s: %d\n%s", path, w.Code, w.Body)
		}
		unharmed(t, path, w.Body.String())
	}
	// What was typed and not taken is shown again.
	f := form(s)
	f.Set("seen", "then")
	f.Set("json", hostile)
	w := send(s, post(s, "/skills/s/case/edit", f))
	if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "window.pwned") {
		t.Errorf("an edit of what has changed: %d", w.Code)
	}
	unharmed(t, "a refused edit", w.Body.String())
	f.Set("id", "gone")
	w = send(s, post(s, "/skills/s/case/edit", f))
	if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "window.pwned") {
		t.Errorf("an edit of what is gone: %d", w.Code)
	}
	unharmed(t, "an edit of what is gone", w.Body.String())
}

// unharmed reads a page as a browser does: no element or attribute came of the
// hostile text, and no address leads elsewhere.
func unharmed(t *testing.T, what, page string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "textarea" && strings.ContainsAny(n.Data, "\u202e\x1b") { // what is edited keeps its bytes
			t.Errorf("%s has marks that reorder text in <%s>", what, n.Parent.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		if slices.Contains([]string{"img", "iframe", "object", "embed", "base", "video"}, n.Data) {
			t.Errorf("%s has <%s>", what, n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "autofocus":
				t.Errorf("%s: <%s %s>", what, n.Data, a.Key)
			case (a.Key == "href" || a.Key == "src" || a.Key == "action") && !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#"):
				t.Errorf("%s: %s leads to %q", what, a.Key, a.Val)
			case (a.Key == "href" || a.Key == "action") && strings.HasPrefix(a.Val, "//"):
				t.Errorf("%s: %s leads elsewhere: %q", what, a.Key, a.Val)
			}
		}
		if n.Data == "script" && n.FirstChild != nil {
			t.Errorf("%s has a script in it", what)
		}
	}
}

// TestTokenIsExchanged: the address with the token gives a cookie, and no page has
// the token in it.
func TestTokenIsExchanged(t *testing.T) {
	s := New(&stub{}, 3700)
	address, err := url.Parse(s.Address())
	if err != nil || address.Host != "127.0.0.1:3700" {
		t.Fatalf("%v: %s", err, s.Address())
	}
	token := address.Query().Get("token")
	if len(token) != 43 { // 256 bits
		t.Fatalf("the token has %d characters", len(token))
	}
	r := httptest.NewRequest("GET", s.Address(), nil)
	w := send(s, r)
	cookies := w.Result().Cookies()
	if w.Code != http.StatusOK || len(cookies) != 1 {
		t.Fatalf("%d, %d cookies", w.Code, len(cookies))
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Value == token || len(c.Value) != 43 || c.Domain != "" || c.MaxAge != 0 {
		t.Errorf("cookie %v", c)
	}
	if strings.Contains(w.Body.String(), token) || !strings.Contains(w.Body.String(), `content="0; url=/"`) {
		t.Errorf("the page keeps the token, or does not go on: %s", w.Body)
	}
	r = httptest.NewRequest("GET", "http://127.0.0.1:3700/", nil)
	r.AddCookie(c)
	w = send(s, r)
	if w.Code != http.StatusOK || strings.Contains(w.Body.String(), token) {
		t.Errorf("with the cookie: %d", w.Code)
	}
	for what, c := range map[string]struct {
		cookie *http.Cookie
		code   int
		want   string
	}{
		"its browser":     {c, http.StatusOK, `content="0; url=/"`},
		"another browser": {nil, http.StatusForbidden, "this address was used"},
		"a wrong cookie":  {&http.Cookie{Name: c.Name, Value: token}, http.StatusForbidden, "this address was used"},
	} {
		r := httptest.NewRequest("GET", s.Address(), nil)
		if c.cookie != nil {
			r.AddCookie(c.cookie)
		}
		if w := send(s, r); w.Code != c.code || !strings.Contains(w.Body.String(), c.want) || len(w.Result().Cookies()) > 0 {
			t.Errorf("the address again, %s: %d, %s", what, w.Code, w.Body)
		}
	}
	look := New(&stub{}, 3700)
	if w := send(look, httptest.NewRequest("HEAD", look.Address(), nil)); w.Code != http.StatusForbidden || look.guard.used.Load() {
		t.Errorf("a look at the address uses it: %d", w.Code)
	}
	if other := New(&stub{}, 3700); other.Address() == s.Address() || other.guard.cookie == s.guard.cookie || other.guard.form == s.guard.form {
		t.Error("two servers have one secret")
	}
}

// TestStrangers: without the cookie there is nothing to see and nothing to do.
func TestStrangers(t *testing.T) {
	p := &stub{}
	s := New(p, 3700)
	for what, change := range map[string]func(*http.Request){
		"no cookie":           func(r *http.Request) { r.Header.Del("Cookie") },
		"a wrong cookie":      func(r *http.Request) { r.Header.Set("Cookie", s.guard.name+"="+secret()) },
		"an empty cookie":     func(r *http.Request) { r.Header.Set("Cookie", s.guard.name+"=") },
		"another name":        func(r *http.Request) { r.Header.Set("Cookie", "evolve="+s.guard.cookie) },
		"the token as cookie": func(r *http.Request) { r.Header.Set("Cookie", s.guard.name+"="+s.guard.token) },
		"a wrong token": func(r *http.Request) {
			r.Header.Del("Cookie")
			r.URL.RawQuery = "token=" + secret()
		},
		"an empty token": func(r *http.Request) {
			r.Header.Del("Cookie")
			r.URL.RawQuery = "token="
		},
		"the token elsewhere": func(r *http.Request) {
			r.Header.Del("Cookie")
			if r.URL.Path != "/" {
				r.URL.RawQuery = "token=" + s.guard.token
			}
		},
	} {
		for _, path := range append(slices.Clone(pages), "/runs/r/events", "/nothing") {
			r := request(s, "GET", path, nil)
			change(r)
			w := send(s, r)
			if w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "pwned") || len(w.Result().Cookies()) > 0 {
				t.Errorf("%s, GET %s: %d", what, path, w.Code)
			}
		}
		for _, path := range writes {
			r := post(s, path, form(s))
			change(r)
			if w := send(s, r); w.Code != http.StatusForbidden {
				t.Errorf("%s, POST %s: %d", what, path, w.Code)
			}
		}
	}
	if d := p.done(); len(d) > 0 {
		t.Errorf("something was done: %q", d)
	}
}

// TestForeignRequests: what a page of another origin makes a browser send, and
// what a name sends that was made to point here, is refused with the right cookie
// and the right form.
func TestForeignRequests(t *testing.T) {
	p := &stub{}
	s := New(p, 3700)
	header := func(k, v string) func(*http.Request) { return func(r *http.Request) { r.Header.Set(k, v) } }
	host := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	for what, change := range map[string]func(*http.Request){
		"another host":           host("evil.example"),
		"a rebound name":         host("evil.example:3700"),
		"another port":           host("127.0.0.1:3701"),
		"no port":                host("127.0.0.1"),
		"all interfaces":         host("0.0.0.0:3700"),
		"a name that ends so":    host("evil.localhost:3700"),
		"no host":                host(""),
		"a foreign origin":       header("Origin", "https://evil.example"),
		"an origin of that port": header("Origin", "http://127.0.0.1:3701"),
		"https":                  header("Origin", "https://127.0.0.1:3700"),
		"a broken origin":        header("Origin", "http://%"),
		"cross-site":             header("Sec-Fetch-Site", "cross-site"),
		"another port's page":    header("Sec-Fetch-Site", "same-site"),
		"cross-site, navigating": func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
		},
	} {
		for _, path := range writes {
			r := post(s, path, form(s))
			change(r)
			if w := send(s, r); w.Code != http.StatusForbidden {
				t.Errorf("%s, POST %s: %d", what, path, w.Code)
			}
		}
		r := request(s, "GET", "/", nil)
		change(r)
		want := http.StatusForbidden
		if strings.Contains(what, "navigating") { // a link that somebody follows
			want = http.StatusOK
		}
		if w := send(s, r); w.Code != want {
			t.Errorf("%s, GET: %d", what, w.Code)
		}
	}
	if d := p.done(); len(d) > 0 {
		t.Errorf("something was done: %q", d)
	}
	for what, change := range map[string]func(*http.Request){
		"localhost":  host("localhost:3700"),
		"own origin": header("Origin", "http://127.0.0.1:3700"),
		"own page": func(r *http.Request) { // under no-referrer a browser says null
			r.Header.Set("Origin", "null")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		},
	} {
		r := post(s, "/skills/s/rollback", form(s))
		change(r)
		if w := send(s, r); w.Code != http.StatusOK {
			t.Errorf("%s is refused: %d", what, w.Code)
		}
	}
	r := post(s, "/skills/s/rollback", form(s))
	r.Header.Set("Origin", "null") // a sandboxed frame, of a browser that tells no more
	if w := send(s, r); w.Code != http.StatusForbidden {
		t.Errorf("a null origin: %d", w.Code)
	}
}

// TestWritesAreForms: nothing is changed but by a form of this server's own pages.
func TestWritesAreForms(t *testing.T) {
	p := &stub{}
	s := New(p, 3700)
	for _, path := range writes {
		for _, method := range []string{"GET", "HEAD"} {
			if w := send(s, request(s, method, path+"?"+form(s).Encode(), nil)); w.Code != http.StatusOK {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
		}
		if w := send(s, request(s, "HEAD", "/runs/r/events", nil)); w.Code != http.StatusOK || w.Body.Len() > 0 {
			t.Errorf("HEAD of a stream: %d", w.Code)
		}
		for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "QUERY"} {
			r := request(s, method, path, strings.NewReader(form(s).Encode()))
			if w := send(s, r); w.Code != http.StatusMethodNotAllowed && w.Code != http.StatusForbidden {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
		}
		for what, c := range map[string]struct {
			change func(*http.Request)
			code   int
			csrf   []string
		}{
			"without a token":      {code: http.StatusForbidden},
			"with an empty token":  {code: http.StatusForbidden, csrf: []string{""}},
			"with another token":   {code: http.StatusForbidden, csrf: []string{secret()}},
			"the cookie as token":  {code: http.StatusForbidden, csrf: []string{s.guard.cookie}},
			"the token second":     {code: http.StatusForbidden, csrf: []string{"x", s.guard.form}},
			"as JSON":              {func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }, http.StatusUnsupportedMediaType, []string{s.guard.form}},
			"as plain text":        {func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, http.StatusUnsupportedMediaType, []string{s.guard.form}},
			"without a type":       {func(r *http.Request) { r.Header.Del("Content-Type") }, http.StatusUnsupportedMediaType, []string{s.guard.form}},
			"token in the address": {func(r *http.Request) { r.URL.RawQuery = "csrf=" + s.guard.form }, http.StatusForbidden, nil},
			"a broken form":        {func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("csrf=%zz&")) }, http.StatusBadRequest, nil},
		} {
			f := form(s)
			f["csrf"] = c.csrf
			r := post(s, path, f)
			if c.change != nil {
				c.change(r)
			}
			if w := send(s, r); w.Code != c.code {
				t.Errorf("%s, POST %s: %d, want %d", what, path, w.Code, c.code)
			}
		}
		f := form(s)
		f.Set("prompt", strings.Repeat("x", bodyLimit))
		w := send(s, post(s, path, f))
		if w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "too long") {
			t.Errorf("a long form, POST %s: %d", path, w.Code)
		}
	}
	for _, path := range pages {
		if path = strings.Split(path, "?")[0]; slices.Contains(writes, path) {
			continue
		}
		if w := send(s, post(s, path, form(s))); w.Code != http.StatusNotFound && w.Code != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", path, w.Code)
		}
	}
	if d := p.done(); len(d) > 0 {
		t.Errorf("something was done: %q", d)
	}
}

// TestPaths: a path is no way out.
func TestPaths(t *testing.T) {
	s := New(&stub{}, 3700)
	for _, path := range []string{"/../../etc/passwd", "/page/live.js", "/runs/../style.css/x", "/..%2f..%2fetc/passwd", "/style.css/../..", "//evil.example/", "/skills/../../x/y", "/skills//cases"} {
		r := request(s, "GET", "/", nil)
		r.URL.Path, r.URL.RawPath = "", ""
		u, err := url.ParseRequestURI(path)
		if err != nil {
			t.Fatal(err)
		}
		r.URL.Path, r.URL.RawPath = u.Path, u.RawPath
		if strings.HasPrefix(path, "//") {
			r.URL.Path = path
		}
		w := send(s, r)
		if w.Code == http.StatusOK {
			t.Errorf("%s: %s", path, w.Body)
		}
		if l := w.Header().Get("Location"); l != "" && (!strings.HasPrefix(l, "/") || strings.HasPrefix(l, "//")) {
			t.Errorf("%s leads to %q", path, l)
		}
	}
}

// TestNightLeadsToItsRuns: a night's page links to the files of its runs beside it.
func TestNightLeadsToItsRuns(t *testing.T) {
	s := New(&stub{}, 3700)
	w := send(s, request(s, "GET", "/nights/20260101-000000-0000aa.html", nil))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/runs/20260101-000000-0000aa" {
		t.Errorf("%d to %q", w.Code, w.Header().Get("Location"))
	}
}

// TestPanic: the page reports that there is a bug, and nothing of the panic's
// value.
func TestPanic(t *testing.T) {
	s := New(&stub{panics: true}, 3700)
	var bugs []any
	s.Bug = func(v any, stack []byte) {
		if len(stack) > 0 {
			bugs = append(bugs, v)
		}
	}
	w := send(s, request(s, "GET", "/", nil))
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "a secret") || len(bugs) != 1 {
		t.Errorf("%d, %d bugs: %s", w.Code, len(bugs), w.Body)
	}
	if w := send(s, request(s, "GET", "/skills/s/run", nil)); w.Code != http.StatusOK {
		t.Errorf("and then: %d", w.Code)
	}
}
