package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/redact"
	"pgregory.net/rapid"
)

// wrapped breaks s into lines of n bytes.
func wrapped(s string, n int, sep string) string {
	var b strings.Builder
	for len(s) > n {
		b.WriteString(s[:n] + sep)
		s = s[n:]
	}
	return b.String() + s
}

// A value is found however a server or a program repeats it, and nothing of it
// is left.
func TestKnownSpelled(t *testing.T) {
	const mark = "[redacted:known-secret]"
	for _, key := range []string{"Zq7&pL/x+9=vB2<m4Wt>8Kd1Hs6Yc3Rf", "plainkeyofours0123456789abcdefghijklmnopqrstuvwxyz", "qu\"ote\\and/slash&é", "c/d+e&f/", "plain-key-9"} {
		r := redact.Known(key)
		quoted, err := json.Marshal(map[string]string{"error": "bad key " + key + ", says the server"})
		if err != nil {
			t.Fatal(err)
		}
		var nested []byte
		if nested, err = json.Marshal(string(quoted)); err != nil {
			t.Fatal(err)
		}
		half := len(key) / 2
		if key[half]&0xc0 == 0x80 {
			half++
		}
		texts := map[string]string{
			"plain": key, "query": url.QueryEscape(key), "path": url.PathEscape(key), "html": html.EscapeString(key),
			"lower":     strings.NewReplacer("%2F", "%2f", "%2B", "%2b", "%3D", "%3d", "%3C", "%3c", "%3E", "%3e", "%5C", "%5c", "%C3%A9", "%c3%a9").Replace(url.QueryEscape(key)),
			"component": strings.ReplaceAll(url.QueryEscape(key), "+", "%20"), "twice": url.QueryEscape(url.QueryEscape(key)),
			"json": string(quoted), "json in json": string(nested), "json slashes": strings.ReplaceAll(string(quoted), "/", `\/`),
			"broken": key[:half] + "\n" + key[half:], "broken, indented": key[:half] + "\r\n    " + key[half:], "broken, quoted": key[:half] + "\\\n> " + key[half:],
			"broken early": key[:4] + "\n" + key[4:], "broken late": key[:len(key)-3] + "\n" + key[len(key)-3:],
			"broken, escaped": key[:half] + `\n` + key[half:], "concatenated": key[:half] + "\" +\n\t\t\"" + key[half:], "wrapped": wrapped(key, 16, "\n"),
		}
		for name, text := range texts {
			clean, n := r.Redact("it said: " + text + " (401)")
			if n != 1 || strings.Count(clean, mark) != 1 || !strings.HasPrefix(clean, "it said: ") || !strings.HasSuffix(clean, " (401)") {
				t.Errorf("%s of %q: %d found, %q becomes %q", name, key, n, text, clean)
			}
			if again, n := r.Redact(clean); n != 0 || again != clean {
				t.Errorf("%s: %d found in what is clean, %q", name, n, again)
			}
		}
	}
}

// In base64 the value's neighbours decide how it is spelled: all three ways, in
// both alphabets, in lines too.
func TestKnownBase64(t *testing.T) {
	const key = "Zq7?pL/x+9~vB2>m4Wt>8Kd1Hs6Yc3Rf??>>~~"
	r := redact.Known(key)
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
		for _, before := range []string{"", "u", "us", "user:", "user:x", "{\"key\":\"a"} {
			for _, after := range []string{"", "!", "\"}", " and more of it"} {
				code := e.EncodeToString([]byte(before + key + after))
				for _, text := range []string{code, wrapped(code, 20, "\n"), wrapped(code, 16, "\r\n  ")} {
					clean, n := r.Redact("Authorization: " + text)
					if n < 1 || !strings.Contains(clean, "[redacted:") {
						t.Errorf("%q, %q: %d found in %q", before, after, n, text)
					}
					if left := strings.NewReplacer("\n", "", "\r", "", " ", "").Replace(clean); revealing(left, key) {
						t.Errorf("%q, %q: %q shows part of the value", before, after, clean)
					}
				}
			}
		}
	}
}

// revealing reports whether some run of base64 in s still decodes to part of key.
func revealing(s, key string) bool {
	for _, run := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("[]:. ", r) }) {
		run = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(run), "=")
		for from := range 4 {
			if from >= len(run) {
				break
			}
			part := run[from:]
			text, err := base64.RawStdEncoding.DecodeString(part[:len(part)/4*4])
			if err != nil {
				continue
			}
			for i := 0; i+4 <= len(key); i++ {
				if strings.Contains(string(text), key[i:i+4]) {
					return true
				}
			}
		}
	}
	return false
}

// What is nearly the value is not.
func TestKnownLookalikes(t *testing.T) {
	r := redact.Known("plain-key-of-ours-0123", "known-secretive", "secret-placeholder")
	for _, s := range []string{"plain-key-of-ours-012", "plain-key-of-theirs-0123", "plain-key-\nof yours-0123", "plain key of ours 0123",
		"plain-key-of-ours-\n\n\n" + strings.Repeat(" ", 60) + "0123", "[redacted:secret-placeholder]", "[redacted:known-secret]",
		base64.StdEncoding.EncodeToString([]byte("plain-key-of-theirs-0123")), "cGxhaW4ta2V5"} {
		if got, n := r.Redact(s); got != s || n != 0 {
			t.Errorf("Redact(%q) = %q, %d", s, got, n)
		}
	}
}

// Whatever the value, and wherever it stands, it is gone, and the second time
// nothing is found.
func TestKnownAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[A-Za-z0-9+/=&<_-]{12,60}`).Draw(t, "key")
		before, after := rapid.StringN(0, 20, -1).Draw(t, "before"), rapid.StringN(0, 20, -1).Draw(t, "after")
		r := redact.Known(key)
		clean, n := r.Redact(before + " " + key + " " + after)
		if n < 1 || strings.Contains(clean, key) && !strings.Contains("[redacted:known-secret]", key) {
			t.Fatalf("%q is left in %q", key, clean)
		}
		if again, n := r.Redact(clean); again != clean || n != 0 {
			t.Fatalf("%d found in %q, %q", n, clean, again)
		}
	})
}

func BenchmarkKnown(b *testing.B) {
	var keys []string
	for _, tail := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		keys = append(keys, "Zq7pLx9vB2m4Wt8Kd1Hs6Yc3Rf5Jg0Tn"+tail+tail)
	}
	r := redact.Known(keys...)
	s := strings.Repeat("The chart is saved to data/revenue.svg with labelled axes (week, USD), and the handler returns rows.\n", 10_000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		if _, n := r.Redact(s); n != 0 {
			b.Fatal("secrets in clean text")
		}
	}
}
