package skill

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDescriptionIsReplacedAlone(t *testing.T) {
	cases := map[string]struct{ front, value string }{
		"plain":           {"name: x\ndescription: Old text.\nlicense: MIT\n", "Old text."},
		"plain, comment":  {"name: x\ndescription: Old text.   # why\nlicense: MIT\n", "Old text."},
		"plain, lines":    {"name: x\ndescription: Old\n  text\n\n  more # why\nlicense: MIT\n", "Old\n  text\n\n  more"},
		"plain, next":     {"name: x\ndescription:\n  Old text.\nlicense: MIT\n", "Old text."},
		"plain, last":     {"name: x\ndescription: Old text.\n", "Old text."},
		"hash inside":     {"name: x\ndescription: C#code#\n", "C#code#"},
		"double":          {"name: x\ndescription: \"Old \\\" --- # text\" # why\nlicense: MIT\n", `"Old \" --- # text"`},
		"double, lines":   {"description: \"Old\n  text\"\nname: x\n", "\"Old\n  text\""},
		"single":          {"name: x\ndescription: 'It''s: old'\nlicense: MIT\n", "'It''s: old'"},
		"literal":         {"name: x\ndescription: |\n  Old\n\n  text: a # no comment\n\n# why\nlicense: MIT\n", "|\n  Old\n\n  text: a # no comment"},
		"folded":          {"name: x\ndescription: >-\n  Old\n  text\nlicense: MIT\n", ">-\n  Old\n  text"},
		"wide characters": {"name: x\n\"description\": \"naïve 🙂 text\"\nlicense: MIT\n", `"naïve 🙂 text"`},
		"indented":        {"  name: x\n  description: >\n    Old\n    text\n  license: MIT\n", ">\n    Old\n    text"},
		"carriage return": {"name: x\r\ndescription: Old text.\r\nlicense: MIT\r\n", "Old text."},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			raw := "---\n" + c.front + "---\n# Body\n"
			d, err := Parse([]byte(raw), Options{EvolveDescription: true})
			if err != nil {
				t.Fatal(err)
			}
			start, end, ok := d.DescriptionSpan()
			if !ok || raw[start:end] != c.value {
				t.Fatalf("span %q %v, want %q", raw[start:end], ok, c.value)
			}
			if n := len(d.Kernel()); n != 2 {
				t.Errorf("%d kernel spans, want 2 around the value", n)
			}
			for _, text := range []string{"New text.", "true", "a: b # c", "say \"no\"\n\ttwice\\", "---", "- x", "日本\u2028語\u0085\ufeff"} {
				child, err := d.WithDescription(text)
				if err != nil {
					t.Errorf("WithDescription(%q): %v", text, err)
					continue
				}
				got := string(child.Render())
				if child.Description() != text || !strings.HasPrefix(got, raw[:start]) || !strings.HasSuffix(got, raw[end:]) {
					t.Errorf("WithDescription(%q) renders %q", text, got)
				}
				if child.KernelHash() != d.KernelHash() {
					t.Errorf("WithDescription(%q) changes the kernel", text)
				}
			}
		})
	}
}

func TestDescriptionStaysKernel(t *testing.T) {
	for name, front := range map[string]string{
		"flow":    "{name: x, description: Old}\n",
		"alias":   "name: &n x\ndescription: *n\n",
		"anchor":  "name: x\ndescription: &d Old\nlicense: *d\n",
		"tag":     "name: x\ndescription: !!str Old\n",
		"absent":  "name: x\n",
		"mapping": "name: x\ndescription:\n  a: b\n",
	} {
		d, err := Parse([]byte("---\n"+front+"---\n"), Options{EvolveDescription: true})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, _, ok := d.DescriptionSpan(); ok {
			t.Errorf("%s: the description is offered for evolution", name)
		}
		if _, err := d.WithDescription("New"); err == nil {
			t.Errorf("%s: the description was replaced", name)
		}
	}
	d, _ := Parse([]byte(tagger), Options{})
	if _, err := d.WithDescription("New"); err == nil || !strings.Contains(err.Error(), "kernel") {
		t.Errorf("without the option: %v", err)
	}
	d, _ = Parse([]byte(tagger), Options{EvolveDescription: true})
	for _, text := range []string{"", " \n", "\xff"} {
		if _, err := d.WithDescription(text); err == nil {
			t.Errorf("WithDescription(%q) succeeded", text)
		}
	}
}

func TestDescriptionRoundTripsAnyText(t *testing.T) {
	d, err := Parse([]byte(tagger), Options{EvolveDescription: true})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		child, err := d.WithDescription(text)
		if strings.TrimSpace(text) == "" {
			if err == nil {
				t.Fatal("a blank description was written")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if child.Description() != text || child.KernelHash() != d.KernelHash() || !bytes.Equal(child.Body(), d.Body()) {
			t.Fatalf("renders %q", child.Render())
		}
	})
}
