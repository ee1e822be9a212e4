package sleep

import "testing"

// TestMinedMark: uses of which a night has made cases are marked for that
// skill alone, and not by a dry run.
func TestMinedMark(t *testing.T) {
	a, b := failing("a", 3), failing("b", 3)
	a.Mined, b.Mined = "uses-of-a", "uses-of-b"
	h := &house{outlooks: map[string]Outlook{"a": a, "b": b}}
	j := Stored(openStore(t))
	for _, c := range []struct {
		plan Plan
		a, b string
	}{{Plan{Dry: true}, "", ""}, {Plan{Skills: []string{"a"}}, "uses-of-a", ""}, {Plan{}, "uses-of-a", "uses-of-b"}} {
		if _, err := h.cycle(j).Run(t.Context(), c.plan); err != nil {
			t.Fatal(err)
		}
		for skill, want := range map[string]string{"a": c.a, "b": c.b} {
			if st, err := j.State(t.Context(), skill); err != nil || st.Mined != want {
				t.Errorf("after %+v %s is marked %q, %v; want %q", c.plan, skill, st.Mined, err, want)
			}
		}
	}
}
