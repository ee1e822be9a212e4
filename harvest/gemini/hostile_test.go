package gemini_test

import (
	"context"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/gemini"
)

// TestDeepDocument nests values so deeply that whoever follows them has no stack left.
func TestDeepDocument(t *testing.T) {
	doc := "{\n" + `"sessionId":"s","x":` + strings.Repeat("[", 60<<20)
	s, problems, err := gemini.Kind.Read(context.Background(), strings.NewReader(doc), "x/session-1.json", harvest.Options{})
	if s != nil || len(problems) != 1 || err != nil {
		t.Errorf("%+v, %v, %v", s, problems, err)
	}
}
