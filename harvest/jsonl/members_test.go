package jsonl

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

func TestMembers(t *testing.T) {
	for line, want := range map[string]string{
		`{}`:            "",
		`{"a":1}`:       "a=1",
		`{"a":1,"b":2}`: "a=1 b=2",
		` {"a":1}`:      "",
		`{ "a" : "x\"y" , "b" : [1,{"c":"]}"}] ,"d":null}`: `a="x\"y" b=[1,{"c":"]}"}] d=null`,
		`{"a\\":"\\","b":"\\\""}`:                          `a\\="\\" b="\\\""`,
		`{"type":"x","out":"\",\"type\":\"y"}`:             `type="x" out="\",\"type\":\"y"`,
		`{"a":"unended`:                                    "a=",
		`{"a":{"b":1}`:                                     `a={"b":1}`,
		`{"a":[1`:                                          "a=",
		`{"a":1 "b":2}`:                                    "a=1",
		`{"a"}`:                                            "",
		`{"a":`:                                            "",
		`[1]`:                                              "",
		``:                                                 "",
	} {
		var got []string
		for m := Object([]byte(line)); m.Next(); {
			got = append(got, fmt.Sprintf("%s=%s", m.Key(), m.Value()))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", line, s, want)
		}
	}
}

func TestMembersText(t *testing.T) {
	m := Object([]byte(`{"a":"plain","b":"esc\n","c":7,"d":"é"}`))
	var got []string
	for m.Next() {
		s, ok := m.Text()
		got = append(got, fmt.Sprint(string(s), ok))
	}
	if s := strings.Join(got, "|"); s != "plaintrue|false|false|étrue" {
		t.Error(s)
	}
}

// On what is valid JSON, Members sees what a decoder sees; on all else it ends.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":"x\\\"","c":{"d":[1,"]"]}}`, `{"":""}`, `{"a"`, "{\"a\":\t-1e5\n}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n := 0
		var got []string
		for m := Object(data); m.Next(); n++ {
			m.Rest()
			got = append(got, string(m.Key())+":"+strings.TrimSpace(string(m.Value())))
		}
		if n > len(data) {
			t.Fatal("does not end")
		}
		if !json.Valid(data) || data[0] != '{' {
			return
		}
		var want []string
		gjson.ParseBytes(data).ForEach(func(k, v gjson.Result) bool {
			want = append(want, k.Raw[1:len(k.Raw)-1]+":"+strings.TrimSpace(v.Raw))
			return true
		})
		if strings.Join(got, "\x00") != strings.Join(want, "\x00") {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	})
}
