package skill

import (
	"strings"
	"testing"
)

const house = `---
name: dataviz
description: Plots data. Use when a chart is asked for.
allowed-tools: Read
---
# Dataviz

Plot the table that the user names with $ARGUMENTS. See https://docs.example.com/guide for colours.

## Output contract

Always save one SVG below ` + "`out/`" + `.

## Steps

1. Read the table.
2. Choose a scale.

> Quote: ask when unsure.

<!-- reviewed -->

Current branch: !` + "`git branch`" + `

` + "```python\nplot(df)\n```" + `

## Notes

Prefer few colours.
`

func parse(t *testing.T, text string) *Document {
	t.Helper()
	d, err := Parse([]byte(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func BenchmarkParse(b *testing.B) {
	text := []byte(house + strings.Repeat("- Prefer a few well chosen colours, and label every axis with its unit so that readers can tell.\n", 200))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Parse(text, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// edit replaces once, and fails if there is nothing to replace.
func edit(t *testing.T, text, old, new string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q stands %d times", old, strings.Count(text, old))
	}
	return strings.Replace(text, old, new, 1)
}
