package candidate

import "testing"

// Two copies of a script may get the same text: each of them is called by its own name.
func TestNamedAmongTwoSubjects(t *testing.T) {
	w := newWorld(t, head+"Draw.\n")
	c := w.suggest(t, "charts", head+"Draw.\n", head+"Draw well.\n")
	w.suggest(t, "copy", head+"Draw.\n", head+"Draw well.\n")
	for _, of := range []string{"charts", "copy"} {
		got, _, err := (&Texts{Skill: of, Store: w.Store}).Named(t.Context(), c.SHA[:12])
		if err != nil || got == nil {
			t.Fatalf("%s: %v", of, err)
		}
		if run, err := w.Run(t.Context(), got.Run); err != nil || run.Skill != of {
			t.Errorf("%s's is that of %+v, %v", of, run, err)
		}
	}
	if _, _, err := (&Texts{Skill: "third", Store: w.Store}).Named(t.Context(), c.SHA[:12]); err == nil {
		t.Error("a text that was made for others is named")
	}
}
