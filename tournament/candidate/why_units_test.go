package candidate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/record"
)

// TestWhyMergeWording: a sentence that a model worded as it settled a merge cites
// the cases that taught the two texts, and of them those whose words it has.
func TestWhyMergeWording(t *testing.T) {
	h := &History{nodes: map[string]*node{}, cases: map[string]Case{}, outcomes: map[string]Measured{}}
	for id, words := range map[string]string{"sort": "sort the tags by name", "lower": "write them in lower case", "u": "use green", "v": "cite the source", "w": "wider margins"} {
		h.cases[id] = Case{Case: id, Words: words}
		h.corpus = append(h.corpus, words)
	}
	add := func(rules, op string, taught []string, from ...string) string {
		text := []byte("---\nname: s\ndescription: d\n---\n\n" + rules)
		doc, err := skill.Parse(text, skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := &node{Candidate: record.Candidate{SHA: doc.Hash(), Operator: op, Taught: taught, Parents: from, Text: text},
			units: unitsOf(doc), root: len(from) == 0, has: map[string]bool{}}
		for _, u := range n.units {
			n.has[u.key()] = true
		}
		h.nodes[n.SHA] = n
		return n.SHA
	}
	h.base = add("- One.\n- Be kind.\n", "found", nil)
	first := add("- One.\n- Be kind.\n- Order tags alphabetically.\n", "reflect", []string{"sort", "u"}, h.base)
	second := add("- One.\n- Be kind.\n- Small letters only.\n", "reflect", []string{"lower"}, h.base)
	merged := add("- One.\n- Everything in lower case, always.\n- Sing.\n", "merge", nil, first, second)
	got := h.Changes(merged)
	if len(got) != 3 {
		t.Fatalf("%d changes: %+v", len(got), got)
	}
	want := []struct {
		cases   int
		first   string
		because string
	}{
		{1, "lower", "it answers what was said on these cases"},
		{3, "sort", "the merge worded it; these cases taught what was merged"},
		{3, "sort", "lost as what these cases taught was merged (tried on validation)"},
	}
	for i, w := range want {
		s := got[i].Steps[0]
		if s.Operator != "merge" || len(s.Cases) != w.cases || got[i].Because != w.because || s.Cases[0].Case != w.first {
			t.Errorf("%s %q: %+v, want %+v", got[i].Kind, got[i].Text, got[i], w)
		}
	}
}

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
