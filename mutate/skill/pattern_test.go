package skill

import "testing"

// Patterns are compiled when they are first used: one that does not compile must
// not wait for that.
func TestPatternsCompile(t *testing.T) {
	n := 0
	for _, c := range capabilities {
		c.re()
		n++
	}
	for _, o := range orders {
		o.re()
		n++
	}
	undermining()
	if n < 15 {
		t.Errorf("%d patterns: the firewall had more", n)
	}
}
