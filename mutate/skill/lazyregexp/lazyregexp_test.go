package lazyregexp

import (
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// Every method is the one of regexp.Regexp with its name, and answers as it does.
func TestMethods(t *testing.T) {
	const expr = `(?P<letter>[a-z])(\d)?`
	lazy, eager := reflect.ValueOf(New(expr)), reflect.ValueOf(regexp.MustCompile(expr))
	args := map[reflect.Type]reflect.Value{
		reflect.TypeFor[string](): reflect.ValueOf("a1 b letter"), reflect.TypeFor[[]byte](): reflect.ValueOf([]byte("a1 b")), reflect.TypeFor[int](): reflect.ValueOf(-1),
		reflect.TypeFor[func(string) string](): reflect.ValueOf(func(s string) string { return s + s }),
		reflect.TypeFor[func([]byte) []byte](): reflect.ValueOf(func(b []byte) []byte { return append(b[:1:1], '!') }),
	}
	if lazy.NumMethod() == 0 {
		t.Fatal("no methods")
	}
	for i := range lazy.NumMethod() {
		name := lazy.Type().Method(i).Name
		want := eager.MethodByName(name)
		if !want.IsValid() || want.Type() != lazy.Method(i).Type() {
			t.Fatalf("%s is no method of a regexp, or another", name)
		}
		var in []reflect.Value
		for k := range want.Type().NumIn() {
			in = append(in, args[want.Type().In(k)])
		}
		got, expected := lazy.Method(i).Call(in)[0].Interface(), want.Call(in)[0].Interface()
		if !reflect.DeepEqual(got, expected) {
			t.Errorf("%s: %v, want %v", name, got, expected)
		}
	}
}

// What is no pattern shows in a test at once, and else at the first use; it may
// come from many sides.
func TestNew(t *testing.T) {
	panics := func(f func()) (yes bool) {
		defer func() { yes = recover() != nil }()
		f()
		return false
	}
	if !panics(func() { New("(") }) {
		t.Error("a test does not see a pattern that is none")
	}
	inTest = false
	defer func() { inTest = true }()
	bad := New("(")
	if !panics(func() { bad.MatchString("") }) {
		t.Error("what is no pattern matches")
	}
	good := New("^a+$")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if !good.MatchString("aaa") || good.MatchString("b") {
				t.Error("it does not match")
			}
		})
	}
	all.Wait()
}

// What is looked for first changes no answer.
func TestRequired(t *testing.T) {
	for expr, want := range map[string][][]string{
		`\b(?:ask|asks) (?:him|her)\b`: {{"ask"}, {"im", "er"}, {" "}, {"h"}},
		`a+bc|(?:de){2,}`:              {{"bc", "dede"}},
		`[a-c]\d|\S {3,}\S`:            {{"a", "b", "c", "   "}},
		`[a-z]|[^a]`:                   nil,
		`(?i)ask`:                      {{"ask"}}, // in lower case
		`(?i:ask)b`:                    {{"b"}},
		`ask|`:                         nil,
		`(?:ask)?x*`:                   nil,
		`(?:ask){0,3}`:                 nil,
		`[ab]c.d`:                      {{"c"}, {"d"}, {"a", "b"}},
		`x\x{FFFD}`:                    nil,
		`^ab$`:                         {{"ab"}},
	} {
		if got := hintsOf(expr).required; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
	exprs := []string{`^(?:ask|(?i:de)+|[^a-f]x|\S+c)`, `^a?bc|^(e|\d*x)`, `^(?:\b|a)d`, `^\s*x|b`, `^(?i:ask|k)`, `^.x?`, `\b(?:ask|asks) (?:him|her)\b`, `a+bc|(?:de){2,}`, `(?i)ask`, `ask|`, `(?:ask)?x*`, `[ab]c.d`, `^ab$|c`, `(?:a|b)(?:cd|e)?f`, `x\x{FFFD}`, `(?i:ask)b|a(?i)sk`, `(?i)ask(?:s|k)\W{0,2}$`, `(?i)(?:him|[^a-c])x`, `(?i)a[A-C]|\bd+`, `(?i)(?:as|k)\S|f$`}
	rapid.Check(t, func(t *rapid.T) {
		expr := rapid.SampledFrom(exprs).Draw(t, "expr")
		lazy, eager := New(expr), regexp.MustCompile(expr)
		lazy.asked.Store(often)
		s := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"ask", "asks", "a", "bc", "de", "c", "d", "f", "cd", "e", "x", "ab", " ", "him", "her", "\xff", "A", "\n", "K", "\u212a"})).Draw(t, "text"), "")
		if lazy.MatchString(s) != eager.MatchString(s) || !reflect.DeepEqual(lazy.FindStringIndex(s), eager.FindStringIndex(s)) || !reflect.DeepEqual(lazy.FindAllStringSubmatchIndex(s, -1), eager.FindAllStringSubmatchIndex(s, -1)) ||
			!reflect.DeepEqual(lazy.FindStringSubmatchIndex(s), eager.FindStringSubmatchIndex(s)) || lazy.FindString(s) != eager.FindString(s) {
			t.Fatalf("%s finds something else in %q", expr, s)
		}
	})
}
