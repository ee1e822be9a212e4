package check

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// A simple type is one that passes or does not, by Value.
type simple struct {
	spec  Spec
	valid func(k *Check) error // nil: any value is
	holds func(k *Check, s *Subject) bool
	fails string // Explain, with %v or %q for Value
}

func (t simple) Spec() Spec { return t.spec }

func (t simple) Validate(k *Check) error {
	if t.valid == nil {
		return nil
	}
	return t.valid(k)
}

func (t simple) Grade(_ context.Context, k *Check, s *Subject) (Result, error) {
	return k.pass(t.holds(k, s)), nil
}

func (t simple) Explain(k *Check) string { return fmt.Sprintf(t.fails, k.Value) }

var (
	value = []string{"value"}

	contains = simple{fails: "The answer does not contain %q.",
		spec:  Spec{Name: Contains, Fields: value, Text: "text", Example: `"value":"text"`, Means: "the answer contains the text, letter case included"},
		holds: func(k *Check, s *Subject) bool { return strings.Contains(s.Answer, k.Value) }}
	notContains = simple{fails: "The answer must not contain %q.",
		spec:  Spec{Name: NotContains, Fields: value, Text: "text", Example: `"value":"text"`, Means: "it does not"},
		holds: func(k *Check, s *Subject) bool { return !strings.Contains(s.Answer, k.Value) }}
	regex = simple{fails: "The answer does not match the pattern %s.", valid: validPattern,
		spec: Spec{Name: Regex, Fields: value, Text: "pattern (RE2)", Example: `"value":"pattern"`,
			Means: "the RE2 pattern matches somewhere in the answer"},
		holds: func(k *Check, s *Subject) bool { return matches(k, s.Answer) }}
	notRegex = simple{fails: "The answer must not match the pattern %s.", valid: validPattern,
		spec:  Spec{Name: NotRegex, Fields: value, Text: "pattern (RE2)", Example: `"value":"pattern"`, Means: "it matches nowhere"},
		holds: func(k *Check, s *Subject) bool { return !matches(k, s.Answer) }}
	equals = simple{fails: "The answer is not exactly %q.",
		spec:  Spec{Name: Equals, Fields: value, Text: "text"},
		holds: func(k *Check, s *Subject) bool { return strings.TrimSpace(s.Answer) == strings.TrimSpace(k.Value) }}
	toolCalled = simple{fails: "The tool %q was not called.",
		spec: Spec{Name: ToolCalled, Fields: value, Text: "tool"},
		holds: func(k *Check, s *Subject) bool {
			return slices.ContainsFunc(s.Trace, func(t ToolCall) bool { return t.Name == k.Value })
		}}
)

var patterns sync.Map // source → *regexp.Regexp

func pattern(source string) (*regexp.Regexp, error) {
	if re, ok := patterns.Load(source); ok {
		return re.(*regexp.Regexp), nil
	}
	re, err := regexp.Compile(source)
	if err == nil {
		patterns.Store(source, re)
	}
	return re, err
}

func validPattern(k *Check) error {
	_, err := pattern(k.Value)
	return err
}

func matches(k *Check, text string) bool {
	re, err := pattern(k.Value)
	return err == nil && re.MatchString(text)
}

type maxChars struct{}

func (maxChars) Spec() Spec {
	return Spec{Name: MaxChars, Fields: []string{"max"}, Text: "characters at most", Example: `"max":400`,
		Means: "the answer has at most so many characters"}
}

func (maxChars) Validate(k *Check) error {
	if k.Max < 0 {
		return fmt.Errorf("max %d, want a number above 0", k.Max)
	}
	return nil
}

func (maxChars) Grade(_ context.Context, k *Check, s *Subject) (Result, error) {
	n := utf8.RuneCountInString(s.Answer)
	r := k.pass(n <= k.Max)
	if r.Score == 0 {
		r.Evidence = fmt.Sprintf("%d characters", n)
	}
	return r, nil
}

func (maxChars) Explain(k *Check) string {
	return fmt.Sprintf("The answer is longer than %d characters.", k.Max)
}
