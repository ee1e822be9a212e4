package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/check"
	"github.com/skill-evolve/evolve/eval/problem"
)

// A caseForm has the fields of a case that can be typed: the request, the
// accepted answer and the checks. The others are kept.
type caseForm struct {
	Prompt, Reference string
	Checks            []checkForm
	New               checkForm // one more, if it has a type
}

// A checkForm is one check in a form: Text is the field that its type needs.
type checkForm struct {
	Type, Text, Path, Weight, Feedback string
	Drop                               bool
}

// checkTypes are those that a form may add. Checks that run programs can only
// be imported, with `evolve cases import --trust-checks`.
var checkTypes = check.Names(func(s check.Spec) bool { return !s.Runs && s.Cases != check.TriggerCases })

// Types are the types of checks that can be added.
func (*caseForm) Types() []string { return checkTypes }

// What describes a check's text.
func (k checkForm) What() string { return (&eval.Check{Type: k.Type}).Spec().Text }

// HasPath reports whether a check of the type names a file.
func (k checkForm) HasPath() bool {
	return k.Path != "" || needs(&eval.Check{Type: k.Type}, "path") || slices.Contains((&eval.Check{Type: k.Type}).Spec().Optional, "path")
}

// needs reports whether the check's type needs a field.
func needs(k *eval.Check, field string) bool { return slices.Contains(k.Spec().Fields, field) }

func formOf(c *eval.Case) *caseForm {
	f := &caseForm{Prompt: c.Prompt, Reference: c.Reference}
	for i := range c.Checks {
		f.Checks = append(f.Checks, formOfCheck(&c.Checks[i]))
	}
	return f
}

func formOfCheck(k *eval.Check) checkForm {
	f := checkForm{Type: k.Type, Text: *textOf(k), Path: k.Path, Feedback: k.Feedback}
	switch {
	case needs(k, "max"):
		f.Text = strconv.Itoa(k.Max)
	case needs(k, "schema"):
		f.Text = string(k.Schema)
	}
	if k.Weight != 0 {
		f.Weight = strconv.FormatFloat(k.Weight, 'g', -1, 64)
	}
	return f
}

// textOf is the field that holds a check's text.
func textOf(k *eval.Check) *string {
	if needs(k, "rubric") {
		return &k.Rubric
	}
	return &k.Value
}

// readForm reads what a browser sends.
func readForm(v url.Values) *caseForm {
	f := &caseForm{Prompt: v.Get("prompt"), Reference: v.Get("reference")}
	check := func(i string) checkForm {
		return checkForm{Type: v.Get("type" + i), Text: v.Get("text" + i), Path: v.Get("path" + i),
			Weight: strings.TrimSpace(v.Get("weight" + i)), Feedback: v.Get("feedback" + i), Drop: v.Get("drop"+i) != ""}
	}
	for i := 0; v.Has("type" + strconv.Itoa(i)); i++ {
		f.Checks = append(f.Checks, check(strconv.Itoa(i)))
	}
	f.New = check("-new")
	return f
}

// unix is text as it was before a browser made its line ends CR LF.
func unix(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// typed is the typed text, or was if that is unchanged: a form turns every
// line end into CR LF.
func typed(is, was string) string {
	if is = unix(is); is == unix(was) {
		return was
	}
	return is
}

// apply is the case with the typed fields, as JSON.
func (f *caseForm) apply(c *eval.Case) (string, error) {
	next := *c
	next.Prompt, next.Reference = typed(f.Prompt, c.Prompt), typed(f.Reference, c.Reference)
	next.Checks = nil
	for i, k := range f.Checks {
		if k.Drop {
			continue
		}
		was := eval.Check{Type: k.Type}
		if i < len(c.Checks) && c.Checks[i].Type == k.Type {
			was = c.Checks[i]
		}
		is, err := k.apply(was)
		if err != nil {
			return "", &Error{Message: fmt.Sprintf("check %d: %v", i+1, err), Kind: problem.Input}
		}
		next.Checks = append(next.Checks, is)
	}
	if f.New.Type != "" {
		is, err := f.New.apply(eval.Check{Type: f.New.Type})
		if err != nil {
			return "", &Error{Message: fmt.Sprintf("the new check: %v", err), Kind: problem.Input}
		}
		next.Checks = append(next.Checks, is)
	}
	return caseJSON(&next)
}

// apply is a check with the typed fields.
func (k checkForm) apply(was eval.Check) (eval.Check, error) {
	old := formOfCheck(&was)
	if text := typed(k.Text, old.Text); text != old.Text {
		switch {
		case needs(&was, "max"):
			n, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				return was, fmt.Errorf("%q is no number of characters", text)
			}
			was.Max = n
		case needs(&was, "schema"):
			if !json.Valid([]byte(text)) {
				return was, fmt.Errorf("the schema is no JSON")
			}
			was.Schema = json.RawMessage(text)
		default:
			*textOf(&was) = text
		}
	}
	was.Path, was.Feedback = typed(k.Path, was.Path), typed(k.Feedback, was.Feedback)
	if k.Weight != old.Weight {
		was.Weight = 0
		if k.Weight != "" {
			x, err := strconv.ParseFloat(k.Weight, 64)
			if err != nil {
				return was, fmt.Errorf("%q is no weight", k.Weight)
			}
			was.Weight = x
		}
	}
	return was, nil
}

// caseJSON is a case as JSON for editing.
func caseJSON(c *eval.Case) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(c); err != nil {
		return "", fmt.Errorf("encode case: %w", err)
	}
	return b.String(), nil
}
