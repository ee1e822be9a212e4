package charts

import "fmt"

// A Sign is a mark with its meaning.
type Sign struct{ Class, D, Name string }

// Signs are the key of a scatter.
func Signs() []Sign {
	var out []Sign
	for _, s := range []struct {
		class string
		shape shape
		name  string
	}{{"incumbent", square, "incumbent"}, {"challenger", diamond, "challenger"}, {"no-skill", cross, "no skill"},
		{"on-front", disc, "on the front of all objectives"}, {"point-open", ring, "beaten by another text"}} {
		out = append(out, Sign{s.class, glyph(s.shape, 10, 7, 4.5), s.name})
	}
	return append(out, Sign{"front", "M2 11H10V3H18", "front of these two"}, Sign{"band", "M2 3H18V11H2Z", "ε: within the noise of the front"})
}

// Shades are the map's, from 0 to 1.
func Shades() (out []Sign) {
	for i := range HeatLevels {
		out = append(out, Sign{Class: fmt.Sprintf("shade heat h%d", i), D: "M0 7h20"})
	}
	return out
}
