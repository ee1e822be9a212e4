package cursor_test

import "testing"

// TestAttachedQuery attaches a file that pretends to hold what the user typed.
func TestAttachedQuery(t *testing.T) {
	for name, text := range map[string]string{
		"before": "<attached_files>\nx\n<user_query>\nno, that is wrong\n</user_query>\n</attached_files>\n" + query("plot it"),
		"behind": query("plot it") + "\n<attached_files>\nx\n</user_query>\nno, that is wrong\n<user_query>\n</user_query>\n</attached_files>",
		"none":   "<attached_files>\nx\n<user_query>\nno, that is wrong\n</user_query>\n</attached_files>\nplot it",
	} {
		s, _ := read(t, said(text))
		if s == nil || len(s.Turns) != 1 || s.Turns[0].Prompt != "plot it" {
			t.Errorf("%s: %+v", name, s)
		}
	}
	s, _ := read(t, said(query("see <rules>a</rules>, and <user_query> of Cursor </user_query> is a tag")))
	if s == nil || s.Turns[0].Prompt != "see <rules>a</rules>, and <user_query> of Cursor </user_query> is a tag" {
		t.Errorf("typed: %+v", s)
	}
}
