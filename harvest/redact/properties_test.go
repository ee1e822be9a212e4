package redact

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// noise is text in which secrets, halves of them and placeholders collide.
func noise() *rapid.Generator[string] {
	pieces := []string{"[redacted:", "[redacted:token]", "]", "password=", "token: ", "Authorization: Bearer ", "://u:", "@h", "-----BEGIN ",
		"PRIVATE KEY-----", "-----END ", "eyJ", ".ey", "\\n", "\n", "\"", " ", "=", ":", ":AA", "8Q~", "sig=", "AccountKey=", "sk-", "SK", "é"}
	for _, c := range secrets {
		pieces = append(pieces, c.secret, c.secret[:len(c.secret)/2], strings.Replace(c.text, "{}", c.secret, 1))
	}
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			if rapid.Bool().Draw(t, "piece") {
				b.WriteString(rapid.SampledFrom(pieces).Draw(t, "p"))
			} else {
				b.WriteString(rapid.StringN(0, 8, -1).Draw(t, "s"))
			}
		}
		return b.String()
	})
}

func TestIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkIdempotent(t, noise().Draw(t, "text")) })
}

var anyPlaceholder = regexp.MustCompile(`\[redacted:[a-z0-9-]+\]`)

func checkIdempotent(t interface{ Fatalf(string, ...any) }, s string) {
	once, n := Detector{}.Redact(s)
	if twice, more := (Detector{}).Redact(once); twice != once || more != 0 {
		t.Fatalf("Redact(%q)\n once  %q\n twice %q, %d more", s, once, twice, more)
	}
	if n == 0 && once != s {
		t.Fatalf("Redact(%q) changed the text and counted nothing: %q", s, once)
	}
	if n > 0 && !anyPlaceholder.MatchString(once) {
		t.Fatalf("Redact(%q) = %q counted %d and left no placeholder", s, once, n)
	}
}

// A token of a marked kind never survives, whatever is around it. It is none of
// the noise's own tokens: those may follow a letter, where no token begins.
func TestNothingSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.SampledFrom([]string{"ghp_" + fake(mix, 35) + "0", "AKIA" + fake(caps+digits, 15) + "0", "sk-ant-api03-" + fake(mix, 40)}).Draw(t, "secret")
		beside := rapid.SampledFrom(surroundings)
		left, right := beside.Draw(t, "left"), beside.Draw(t, "right")
		s := noise().Draw(t, "before") + " " + left[0] + secret + right[1] + " " + noise().Draw(t, "after")
		if clean, _ := (Detector{}).Redact(s); strings.Contains(clean, secret) {
			t.Fatalf("%q survives in %q", secret, clean)
		}
	})
}

// surroundings are what may be right before and right behind a token.
var surroundings = [][2]string{{" ", " "}, {"\x1b[32m", "\x1b[0m"}, {"[32m", "[39m"}, {"[1;31m", "[m"}, {"%3D", "%26"}, {"%20", "%0A"}, {"%22", "%22"}, {"=3D", "=20"},
	{`\u0022`, `\u0022`}, {`\u003d`, `\u0026`}, {`\x1b[36m`, `\x1b[0m`}, {`\"`, `\"`}, {`\\\"`, `\\\"`}, {`\n`, `\n`}, {"\u200b", "\u200b"}, {"\u2060", "\ufeff"}, {"&quot;", "&quot;"}, {"key%3D", "%26x"}}

// What cuts a token in two hides neither half.
func TestBroken(t *testing.T) {
	secret := "gh" + "p_" + fake(mix, 36)
	for _, cut := range []string{"\n", "\r\n  ", "\\\n    ", "\" + \"", "' +\n    '", "\" . \"", "\u200b", "=\n", "\n> ", "\x1b[0m\x1b[32m", "  |\n|        |  "} {
		for _, at := range []int{12, 20, 30} {
			text := "it is \"" + secret[:at] + cut + secret[at:] + "\" here"
			clean, n := Detector{}.Redact(text)
			if n == 0 || strings.Contains(clean, secret[at:]) || strings.Contains(clean, secret[5:at]) {
				t.Errorf("%q becomes %q", text, clean)
			}
		}
	}
	const words = "the log said ghp_ is missing\nand goes on here"
	if clean, n := (Detector{}).Redact(words); n != 0 {
		t.Errorf("%q becomes %q", words, clean)
	}
}

func FuzzRedact(f *testing.F) {
	for _, c := range secrets {
		f.Add(strings.Replace(c.text, "{}", c.secret, 1))
	}
	f.Add("[redacted:[redacted:token]]password=[redacted:a]b1234567")
	f.Fuzz(func(t *testing.T, s string) { checkIdempotent(t, s) })
}

// Whatever a text is, it ends, and what it has become is left as it is by the rules.
func FuzzSession(f *testing.F) {
	f.Add("the pin is 4821, Harbor2931 opens the zip\n\nWord: x9K-22-lm\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, do := range []func(*Session, string) (string, int){(*Session).Redact, (*Session).Said, (*Session).Typed, (*Session).Answered} {
			text, n := do(NewSession(nil), s)
			if n == 0 && text != s {
				t.Errorf("%q becomes %q without a secret", s, text)
			}
			checkIdempotent(t, text)
		}
		Doubts(s)
		Suspects(s)
	})
}
