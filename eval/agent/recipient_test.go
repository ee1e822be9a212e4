package agent

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestAt(t *testing.T) {
	for address, want := range map[string]string{
		"api.anthropic.com":                        "anthropic api.anthropic.com",
		"https://API.Anthropic.com./v1":            "anthropic api.anthropic.com",
		"https://api.openai.com/v1":                "openai api.openai.com",
		"https://chatgpt.com/backend-api":          "openai chatgpt.com",
		"api.githubcopilot.com:443":                "github api.githubcopilot.com",
		"https://openrouter.ai/api/v1":             "openrouter openrouter.ai",
		"generativelanguage.googleapis.com:443":    "google generativelanguage.googleapis.com",
		"https://storage.googleapis.com/x":         "storage.googleapis.com storage.googleapis.com",
		"https://api.anthropic.com.evil.example":   "api.anthropic.com.evil.example api.anthropic.com.evil.example",
		"https://notopenai.com":                    "notopenai.com notopenai.com",
		"http://models.acme.test:8443/v1":          "models.acme.test models.acme.test:8443",
		"http://models.acme.test/v1":               "models.acme.test models.acme.test:80",
		"http://192.168.1.20:11434/v1":             "192.168.1.20 192.168.1.20:11434",
		"http://user@api.openai.com@evil.example/": "evil.example evil.example:80",
		"http://127.0.0.1:11434/v1":                "",
		"http://127.8.8.8":                         "",
		"http://[::1]:8080/v1":                     "",
		"http://localhost:8080":                    "",
		"http://LOCALHOST.:8080":                   "",
		"models.localhost:1":                       "models.localhost models.localhost:1", // a proxy or the DNS may take it elsewhere
		"http://localhost.evil.example":            "localhost.evil.example localhost.evil.example:80",
		"http://0.0.0.0:1":                         "0.0.0.0 0.0.0.0:1",
	} {
		got := ""
		if to := At(address); len(to) > 0 {
			got = to[0].Vendor + " " + to[0].Address()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

// A backend that does not tell who gets its text is a vendor of its own name.
func TestRecipients(t *testing.T) {
	open := &Opening{Spec: new(Spec), BaseURL: "http://127.0.0.1:1/v1"}
	for _, c := range []struct {
		kind *Kind
		want []Recipient
	}{
		{&Kind{Name: "new"}, []Recipient{{Vendor: "new"}}},
		{&Kind{Name: "hand", ByHand: true}, nil},
		{&Kind{Name: "made-up", Simulated: true}, nil},
		{&Kind{Name: "own", Asks: Server("api.openai.com")}, nil},
	} {
		if got := c.kind.Recipients(open); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", c.kind.Name, got)
		}
	}
	open.BaseURL = ""
	if got := (&Kind{Asks: Server("api.openai.com")}).Recipients(open); len(got) != 1 || got[0].Vendor != "openai" {
		t.Errorf("the vendor's own server: %v", got)
	}
}

// A server cannot pass a request on by a redirect, and no proxy gets what is for a server
// of this machine.
func TestHTTP(t *testing.T) {
	reached := 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		srv := httptest.NewServer(http.RedirectHandler(elsewhere.URL, status))
		defer srv.Close()
		_, err := HTTP(srv.URL).Post(srv.URL, "application/json", strings.NewReader(`{"text":"private"}`))
		if err == nil || reached > 0 || !strings.Contains(err.Error(), "redirects to "+strings.TrimPrefix(elsewhere.URL, "http://")) {
			t.Errorf("%d: %d requests, %v", status, reached, err)
		}
	}
	for _, base := range []string{elsewhere.URL, "http://LOCALHOST:1/v1", "http://localhost.:1/v1"} {
		if HTTP(base).Transport.(*http.Transport).Proxy != nil {
			t.Errorf("%s: by a proxy", base)
		}
	}
	if HTTP("http://models.localhost/v1").Transport.(*http.Transport).Proxy == nil {
		t.Error("a host that is not known to be this machine: by no proxy")
	}
}
