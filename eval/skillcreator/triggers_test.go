package skillcreator

import (
	"reflect"
	"strings"
	"testing"
)

func TestReadTriggers(t *testing.T) {
	bare := `[{"query":"which stone is this?","should_trigger":true,"note":"x"},{"id":7,"query":"where am I?","should_trigger":false,"neighbour":"maps"}]`
	cases, ignored, err := ReadTriggers([]byte(bare), "t.json", "stones")
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) != 2 || len(cases[0].ID) != len("trigger-0123456789") || cases[1].ID != "trigger-7" || !*cases[0].ShouldTrigger ||
		*cases[1].ShouldTrigger || cases[1].Neighbour != "maps" || cases[1].Skill != "stones" || !reflect.DeepEqual(ignored, []string{"note"}) {
		t.Errorf("read %+v, ignored %q", cases, ignored)
	}
	again, _, err := ReadTriggers([]byte(`{"skill_name":"stones","evals":`+bare+`}`), "t.json", "")
	if err != nil || !reflect.DeepEqual(again, cases) {
		t.Errorf("with its name: %+v (%v)", again, err)
	}
	for _, c := range []struct{ text, skill, want string }{
		{bare, "", "names no skill"},
		{`{"skill_name":"a","evals":` + bare + `}`, "b", "is of the skill a, not of b"},
		{`[{"query":"q"}]`, "s", "entry 0: no should_trigger"},
		{`[{"query":" ","should_trigger":true}]`, "s", "no query"},
		{`[{"query":"q","should_trigger":true},{"query":"q","should_trigger":false}]`, "s", `entry 1: "q" stands twice`},
		{`[{"query":"q","should_trigger":true,"neighbour":"m"}]`, "s", "neighbour"},
		{`[{"query":"q","should_trigger":"yes"}]`, "s", "decode"},
		{`[`, "s", "t.json"},
	} {
		if cases, _, err := ReadTriggers([]byte(c.text), "t.json", c.skill); err == nil || !strings.Contains(err.Error(), c.want) || cases != nil {
			t.Errorf("%s: %v, %v; want %q", c.text, cases, err, c.want)
		}
	}
}

func FuzzReadTriggers(f *testing.F) {
	f.Add([]byte(`[{"query":"q","should_trigger":true}]`))
	f.Add([]byte(`{"evals":[{"id":"x","query":"q","should_trigger":false,"neighbour":"m"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		cases, _, err := ReadTriggers(text, "f", "s")
		if err != nil && cases != nil {
			t.Errorf("cases with an error: %v", err)
		}
		for _, c := range cases {
			if c.Validate() != nil || !c.IsTrigger() {
				t.Errorf("an entry became %+v", c)
			}
		}
	})
}
