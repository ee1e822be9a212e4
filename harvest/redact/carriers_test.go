package redact

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var filled = regexp.MustCompile(`\{([a-z0-9]+):(\d+)\}`)

// fill puts made-up values into an example; it also returns them.
func fill(example string) (text string, values []string) {
	text = filled.ReplaceAllStringFunc(example, func(m string) string {
		parts := filled.FindStringSubmatch(m)
		n, _ := strconv.Atoi(parts[2])
		v := ""
		switch parts[1] {
		case "bip":
			v = strings.Join(strings.Fields("ripple scout tissue velvet hollow margin orbit canvas pledge fabric thunder walnut")[:n], " ")
		case "words":
			v = strings.Join(strings.Fields("ripple scout tissue velvet hollow margin")[:n], "-")
		case "uuid":
			v = "0a1b2c3d-0a1b-4c2d-8e3f-" + fake(hexa, 12)
		case "password":
			v = fake(mix, n-4) + "!x9#"
		default:
			v = fake(map[string]string{"hex": hexa, "alnum": mix, "base64": mix + "+/", "base64url": mix + "_-", "base32": caps + "234567", "lower": lower, "digits": "0123456789"}[parts[1]], n)
		}
		values = append(values, v)
		return v
	})
	return text, values
}

// Every carrier finds the secret of its example, and none in an example whose value is
// a reference.
func TestCarriers(t *testing.T) {
	for _, c := range carriersOf(carrierTable) {
		text, values := fill(c.example)
		clean, n := Detector{}.Redact(text)
		for _, v := range values {
			if strings.Contains(clean, v) || n == 0 {
				t.Errorf("%s: %q becomes %q", c.kind, text, clean)
			}
		}
		text = filled.ReplaceAllString(c.example, "$${VALUE}")
		if clean, n := (Detector{}).Redact(text); n != 0 {
			t.Errorf("%s: a reference in %q becomes %q", c.kind, text, clean)
		}
	}
}
