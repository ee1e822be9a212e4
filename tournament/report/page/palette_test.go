package page

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/tournament/report/charts"
)

// palettes reads the colours of each scheme from the style sheet.
func palettes(t *testing.T) map[string]map[string]string {
	t.Helper()
	blocks := regexp.MustCompile(`:root \{([^}]*)\}`).FindAllStringSubmatch(style(), -1)
	if len(blocks) != 3 {
		t.Fatalf("%d palettes, want light, dark and print", len(blocks))
	}
	out := map[string]map[string]string{}
	for i, name := range []string{"light", "dark", "print"} {
		out[name] = map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(blocks[i][1], -1) {
			out[name][m[1]] = m[2]
		}
	}
	return out
}

// luminance is WCAG 2's relative luminance of #rrggbb.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i, w := range []float64{0.2126, 0.7152, 0.0722} {
		c := float64(n>>(16-8*i)&255) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += w * c
	}
	return sum
}

func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrast: text has 4.5 to 1 on all that it is drawn on, marks have 3 to 1
// (WCAG 2.2, 1.4.3 and 1.4.11, level AA).
func TestContrast(t *testing.T) {
	if got := contrast(t, "#ffffff", "#767676"); math.Abs(got-4.54) > 0.01 { // a known pair
		t.Fatalf("contrast of #767676 on white is %.3f", got)
	}
	text := [][2]string{{"ink", "page"}, {"ink", "card"}, {"dim", "page"}, {"dim", "card"}, {"dim", "phase"}, {"accent", "page"}, {"accent", "card"},
		{"good", "page"}, {"bad", "page"}, {"warn-ink", "warn"}, {"ink", "added"}, {"ink", "removed"}}
	marks := [][2]string{{"axis", "page"}, {"accent", "phase"}, {"good", "phase"}, {"bad", "phase"}, {"ink", "phase"}, {"axis", "phase"},
		{"h3", "page"}, {"h4", "page"}, {"h4", "h0"}}
	all := palettes(t)
	for scheme, colours := range all {
		for name := range all["light"] {
			if colours[name] == "" {
				t.Errorf("%s has no --%s", scheme, name)
			}
		}
		for _, k := range []struct {
			pairs [][2]string
			least float64
		}{{text, 4.5}, {marks, 3}} {
			for _, p := range k.pairs {
				if got := contrast(t, colours[p[0]], colours[p[1]]); got < k.least {
					t.Errorf("%s: %s on %s has a contrast of %.2f, want %.1f", scheme, p[0], p[1], got, k.least)
				}
			}
		}
		// Neighbouring shades of the map differ, always in one direction.
		for i := range charts.HeatLevels - 1 {
			a, b := luminance(t, colours["h"+strconv.Itoa(i)]), luminance(t, colours["h"+strconv.Itoa(i+1)])
			if (a > b) != (scheme != "dark") || contrast(t, colours["h"+strconv.Itoa(i)], colours["h"+strconv.Itoa(i+1)]) < 1.3 {
				t.Errorf("%s: shades %d and %d", scheme, i, i+1)
			}
		}
	}
}
