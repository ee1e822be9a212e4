package replay

import (
	"strings"
	"testing"
)

func TestServer(t *testing.T) {
	for base, want := range map[string]string{
		"https://gateway.example.com": "gateway.example.com:443",
		"http://127.0.0.1:8787/s":     "127.0.0.1:8787", "http://[::1]": "[::1]:80",
	} {
		if _, got, err := Server("claude", base); err != nil || got != want {
			t.Errorf("Server(%q) = %q, %v; want %q", base, got, err, want)
		}
	}
	for _, base := range []string{"", "x", "ftp://x", "http://u:p@x", "https://x?key=1", "http://"} {
		if _, _, err := Server("claude", base); err == nil || strings.Contains(err.Error(), "key=1") {
			t.Errorf("%q: %v", base, err)
		}
	}
}
