package charts

import "fmt"

// A Sign is a mark with its meaning.
type Sign struct{ Class, D, Name string }

// Signs are the key of a run's charts.
func Signs() []Sign {
	var out []Sign
	for _, s := range []struct {
		class string
		shape shape
		name  string
	}{{"incumbent", square, "your text"}, {"challenger", diamond, "new text"}, {"no-skill", cross, "no skill"},
		{"on-front", disc, "no other text is better in everything"}, {"point-open", ring, "another text is better in everything"}} {
		out = append(out, Sign{s.class, glyph(s.shape, 10, 7, 4.5), s.name})
	}
	return out
}

// Shades are the map's, from 0 to 1.
func Shades() (out []Sign) {
	for i := range HeatLevels {
		out = append(out, Sign{Class: fmt.Sprintf("shade heat h%d", i), D: "M0 7h20"})
	}
	return out
}
