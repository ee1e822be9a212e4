package problem

import (
	"errors"
	"fmt"
	"testing"
)

func TestOf(t *testing.T) {
	cause := errors.New("full")
	input := Inputf("type less", "too much: %w", cause)
	for _, c := range []struct {
		name string
		err  error
		kind Kind
		hint string
	}{
		{"nil", nil, Failed, ""},
		{"plain", cause, Failed, ""},
		{"input", input, Input, "type less"},
		{"wrapped", fmt.Errorf("save: %w", input), Input, "type less"},
		{"a hint above another", Hinted(input, "free some space"), Input, "free some space"},
		{"a kind above another", &Error{Kind: Refused, Err: input}, Refused, "type less"},
		{"refused", Refusef("", "no"), Refused, ""},
	} {
		kind, hint := Of(c.err)
		if kind != c.kind || hint != c.hint {
			t.Errorf("%s: %d, %q; want %d, %q", c.name, kind, hint, c.kind, c.hint)
		}
	}
	if Hinted(nil, "x") != nil {
		t.Error("Hinted made an error of nil")
	}
	if !errors.Is(input, cause) || input.Error() != "too much: full" {
		t.Errorf("%v does not unwrap to its cause", input)
	}
}
