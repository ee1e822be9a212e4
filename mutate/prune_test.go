package mutate

import "testing"

// Pruning takes lines, sentences and clauses; whatever else the model changes stays as
// it was.
func TestPrunesWithinLines(t *testing.T) {
	const parent = "# S\n\n- Use bars, because they are easy to read. Never use pies.\n- Label axes (always), with units.\n\nBackground here.\n"
	for _, c := range []struct{ name, child, want string }{
		{"a line", "# S\n\n- Use bars, because they are easy to read. Never use pies.\n- Label axes (always), with units.\n", "# S\n\n- Use bars, because they are easy to read. Never use pies.\n- Label axes (always), with units.\n\n"},
		{"a sentence", "# S\n\n- Use bars, because they are easy to read.\n- Label axes (always), with units.\n\nBackground here.\n", "# S\n\n- Use bars, because they are easy to read.\n- Label axes (always), with units.\n\nBackground here.\n"},
		{"clauses", "# S\n\n- Use bars. Never use pies.\n- Label axes, with units.\n\nBackground here.\n", "# S\n\n- Use bars. Never use pies.\n- Label axes, with units.\n\nBackground here.\n"},
		{"a word within a clause", "# S\n\n- Use bars, because they are easy to read. Use pies.\n- Label axes (always), with units.\n\nBackground here.\n", parent},
		{"another wording", "# S\n\n- Use bars, they are easy. Never use pies.\n- Label axes (always), with units.\n\nBackground here.\n", parent},
		{"another order", "# S\n\n- Never use pies. Use bars, because they are easy to read.\n- Label axes (always), with units.\n\nBackground here.\n", parent},
	} {
		if got := deletionsOnly(parent, c.child); got != c.want {
			t.Errorf("%s:\n%q\nwant\n%q", c.name, got, c.want)
		}
	}
}
