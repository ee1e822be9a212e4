package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/skill-evolve/evolve/eval/plain"
)

// secret is 256 random bits, encoded for an address or a cookie.
func secret() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// same compares in constant time: it reveals neither where they differ nor
// how long the right one is.
func same(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// A guard lets in only the browser that was given the address with the token:
// not another site (the browser sends its cookies for this host with every
// request), not a name that was made to point here (DNS rebinding), and not
// another user of this machine.
type guard struct {
	port   string      // that the server listens on
	token  string      // in the address that is printed
	used   atomic.Bool // the token has let a browser in
	cookie string      // what it is exchanged for
	form   string      // in every form
	name   string      // of the cookie: browsers share cookies between the ports of a host
	cross  *http.CrossOriginProtection
}

func newGuard(port string) *guard {
	return &guard{port: port, token: secret(), cookie: secret(), form: secret(), name: "evolve-" + port, cross: http.NewCrossOriginProtection()}
}

// bodyLimit is how long the body of a request may be: a case with its files.
const bodyLimit = 4 << 20

// policy is what a page may do: use the server's own style sheet and script,
// send requests to the server, and send forms to it. No other page may embed
// it.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// headers are the same on every answer.
func headers(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
}

// here reports whether a Host header is a name of this server that only this
// machine resolves.
func (g *guard) here(host string) bool {
	name, port, err := net.SplitHostPort(host)
	return err == nil && port == g.port && (name == "127.0.0.1" || name == "localhost")
}

// foreign returns why a request comes from elsewhere, "" if it does not.
func (g *guard) foreign(r *http.Request) string {
	if !g.here(r.Host) {
		return "the request names another host than this server"
	}
	// A page of another origin may link here; what it loads or sends is refused.
	site, mode := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Mode")
	if (site == "cross-site" || site == "same-site") && (mode != "navigate" || !reads(r.Method)) {
		return "the request comes from another site"
	}
	// A form under "no-referrer" sends null: then Sec-Fetch-Site or the
	// form's own token decides.
	if o := r.Header.Get("Origin"); o != "" && o != "null" {
		u, err := url.Parse(o)
		if err != nil || u.Scheme != "http" || u.Host != r.Host {
			return "the request comes from another origin"
		}
	}
	if g.cross.Check(r) != nil {
		return "the request comes from another origin"
	}
	return ""
}

func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// known reports whether the request carries the cookie.
func (g *guard) known(r *http.Request) bool {
	for _, c := range r.CookiesNamed(g.name) {
		if same(c.Value, g.cookie) {
			return true
		}
	}
	return false
}

// enter exchanges the token for the cookie, once: who reads the address later, in a history or
// a log, is not let in. The browser that has the cookie goes on. It answers with a page that
// forwards itself: after a redirect, a browser that came by a link from
// another site would not send the cookie.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	if !same(r.URL.Query().Get("token"), s.guard.token) {
		s.stranger(w, r)
		return
	}
	switch known := s.guard.known(r); {
	case !known && s.guard.used.Swap(true):
		s.fail(w, r, http.StatusForbidden, &Error{Message: "this address was used: it lets one browser in, once",
			Hint: "if that was not yours, end `evolve serve`; it prints another address each time"})
		return
	case !known:
		http.SetCookie(w, &http.Cookie{Name: s.guard.name, Value: s.guard.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	}
	s.page(w, r, http.StatusOK, "enter.html", nil)
}

// stranger answers a request with neither token nor cookie.
func (s *Server) stranger(w http.ResponseWriter, r *http.Request) {
	s.fail(w, r, http.StatusForbidden, &Error{Message: "this page is for its owner alone", Hint: "open the address that `evolve serve` has printed; it is another one each time"})
}

// guarded is the server behind its guard.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers(w.Header())
		if why := s.guard.foreign(r); why != "" {
			s.fail(w, r, http.StatusForbidden, &Error{Message: why})
			return
		}
		// Public: these reveal nothing.
		switch {
		case reads(r.Method) && (r.URL.Path == "/style.css" || r.URL.Path == "/live.js"):
			next.ServeHTTP(w, r)
			return
		case r.Method == http.MethodGet && r.URL.Path == "/" && r.URL.Query().Has("token"):
			s.enter(w, r)
			return
		case !s.guard.known(r):
			s.stranger(w, r)
			return
		case reads(r.Method):
			next.ServeHTTP(w, r)
			return
		case r.Method != http.MethodPost:
			w.Header().Set("Allow", "GET, HEAD, POST")
			s.fail(w, r, http.StatusMethodNotAllowed, &Error{Message: "nothing here answers to " + plain.Excerpt(r.Method, 20)})
			return
		}
		if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
			s.fail(w, r, http.StatusUnsupportedMediaType, &Error{Message: "only forms are taken"})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, bodyLimit)
		if err := r.ParseForm(); err != nil {
			code, e := http.StatusBadRequest, &Error{Message: "the form cannot be read: nothing was changed"}
			if tooLong(err) {
				code, e = http.StatusRequestEntityTooLarge, &Error{Message: "the form is too long: nothing was changed", Hint: "`evolve cases edit` takes texts of any length"}
			}
			s.fail(w, r, code, e)
			return
		}
		if !same(r.PostForm.Get("csrf"), s.guard.form) {
			s.fail(w, r, http.StatusForbidden, &Error{Message: "the form is none of this server's pages: nothing was changed", Hint: "go back, load the page again and repeat it"})
			return
		}
		next.ServeHTTP(w, r)
	})
}
