package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

func TestUnits(t *testing.T) {
	const text = `---
name: tagger
description: Tags release notes. Use it for changelogs.
---

# Tagger

Read the notes first, e.g. Markdown. Then sort them
by date. *Never* guess.

- Use one tag. Make it short.
  - Nested items
    go on.
1. Number them? Yes.

<!-- kernel -->
Print one line of JSON.
<!-- /kernel -->

` + "```sh\ntag --all\n\ntag --one\n```\n" + `
Last words
`
	const want = `3 Tags release notes.
3 Use it for changelogs.
6 # Tagger
8 Read the notes first, e.g. Markdown.
8 Then sort them by date.
9 *Never* guess.
11 Use one tag.
11 Make it short.
12 Nested items go on.
14 Number them?
14 Yes.
20 ` + "```sh\ntag --all\n\ntag --one\n```" + `
26 Last words
`
	for _, raw := range []string{text, strings.ReplaceAll(text, "\n", "\r\n")} {
		doc, err := skill.Parse([]byte(raw), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, u := range unitsOf(doc) {
			fmt.Fprintf(&got, "%d %s\n", u.Line, u.Text)
		}
		if got.String() != want {
			t.Errorf("got\n%s\nwant\n%s", got.String(), want)
		}
	}
}
