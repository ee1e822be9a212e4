package check

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The library compiles the schemas of five drafts before main begins: 1.6 MiB, more than
// all other packages together. google/jsonschema-go makes 80 KiB, but cannot replace it: it
// takes invalid schemas, ignores formats, finds that 19.99 is no multiple of 0.01, and
// overflows the stack, which ends the process, at {"$ref": "#"}.
type jsonSchema struct{}

func (jsonSchema) Spec() Spec {
	return Spec{Name: JSONSchema, Fields: []string{"schema"}, Text: "JSON Schema"}
}

func (jsonSchema) Validate(k *Check) error {
	_, err := compile(k.Schema)
	return err
}

// Grade accepts JSON in a code fence, because that is how agents show it.
func (jsonSchema) Grade(_ context.Context, k *Check, s *Subject) (Result, error) {
	schema, err := compile(k.Schema)
	if err != nil {
		return Result{}, err
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(unfence(s.Answer)))
	if err == nil {
		err = schema.Validate(doc)
	}
	r := k.pass(err == nil)
	if err != nil {
		r.Evidence = strings.TrimPrefix(err.Error(), "jsonschema validation failed with 'case:schema#'\n")
	}
	return r, nil
}

func (jsonSchema) Explain(k *Check) string {
	return "The answer is not JSON that this schema accepts: " + string(k.Schema)
}

var schemas sync.Map // source → *jsonschema.Schema

// compile compiles a JSON Schema without external references: a reference to a file or
// an address is an error, because a case must not make evolve read either.
func compile(text json.RawMessage) (*jsonschema.Schema, error) {
	if s, ok := schemas.Load(string(text)); ok {
		return s.(*jsonschema.Schema), nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("parse schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // no scheme: nothing is loaded
	const name = "case:schema"
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("parse schema: %w", err)
	}
	s, err := c.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	schemas.Store(string(text), s)
	return s, nil
}

// unfence removes the code fence that encloses the whole text.
func unfence(text string) string {
	text = strings.TrimSpace(text)
	inner, open := strings.CutPrefix(text, "```")
	inner, closed := strings.CutSuffix(inner, "```")
	if !open || !closed {
		return text
	}
	_, inner, multiline := strings.Cut(inner, "\n") // the language
	if !multiline {
		return text
	}
	return strings.TrimSpace(inner)
}
