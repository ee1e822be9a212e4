package jsonl

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

var jsonSeeds = []string{`{}`, `{"a":[1,2.5e-3,-0,true,false,null,"x\u00e9\n"],"b":{}}`, `[]`, `[[[]],{"":{}}]`, `"`, `{"a":1,}`, `[1,]`, `{,}`, `[,1]`, `{"a"}`,
	`{"a":}`, `{1:2}`, `{"a" : 1 }  `, `01`, `1.`, `.5`, `-`, `1e`, `1e+`, `tru`, `nullx`, `"\x"`, `"\u12g4"`, `"\u12`, "\"a\tb\"", "\"12345678\x1f\"", `"1234567\"8\\"`,
	`{"a":[}`, `[{]}`, `}`, ``, ` `, `[1 2]`, `{"a":1 "b":2}`, `{"a":1}{`, "\"\x7f\xff12345\"", `"!#[]!#[]!#"`}

func TestValid(t *testing.T) {
	for _, s := range append(jsonSeeds, strings.Repeat("[", 9999)+strings.Repeat("]", 9999), strings.Repeat("[", 9999)+strings.Repeat("]", 9998)) {
		if got, want := Valid([]byte(s)), json.Valid([]byte(s)); got != want {
			t.Errorf("%.60q: %v, want %v", s, got, want)
		}
	}
}

func FuzzValid(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := Valid(b), json.Valid(b); got != want {
			t.Errorf("%q: %v, want %v", b, got, want)
		}
	})
}

// A line of brackets is one bad line and not the end of the program.
func TestScanOfDeeplyNestedLine(t *testing.T) {
	open := strings.Repeat("[", 7<<20)
	if !Valid([]byte(open + strings.Repeat("]", 7<<20))) {
		t.Error("a deep value is one all the same")
	}
	in := `{"type":"user","a":` + open + "}\n" + `{"type":"user"}` + "\n"
	taken := 0
	problems, err := Scan(context.Background(), strings.NewReader(in), "f", func([]byte) bool { return true }, func(int, []byte) bool { taken++; return true })
	if err != nil || taken != 1 || len(problems) != 1 || problems[0].Line != 1 || problems[0].Reason != "not JSON" {
		t.Errorf("%d lines taken, %v, %v", taken, problems, err)
	}
}

func BenchmarkValid(b *testing.B) {
	line := []byte(`{"type":"assistant","message":{"content":[{"type":"text","text":"` + strings.Repeat(`func plot(weeks []week) error { return draw(\"weeks\") }\n`, 200) + `"}]}}`)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if !Valid(line) {
			b.Fatal("not valid")
		}
	}
}
