package patch

import (
	"errors"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"pgregory.net/rapid"
)

const fix = `From 0123 Mon Sep 17 00:00:00 2001
Subject: [PATCH] charts: a log scale

---
 skills/charts/SKILL.md | 2 +-

diff --git a/skills/charts/SKILL.md b/skills/charts/SKILL.md
index 01..02 100644
--- a/skills/charts/SKILL.md
+++ b/skills/charts/SKILL.md
@@ -1,3 +1,3 @@ # Charts
 # Charts

-- Label the axes.
+- Label both axes.
--
2.39.5
`

func TestParse(t *testing.T) {
	files, err := Parse(fix)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || files[0].New != "skills/charts/SKILL.md" || len(files[0].Hunks) != 1 {
		t.Fatalf("%+v", files)
	}
	for text, want := range map[string]string{
		"# Charts\n\n- Label the axes.\nend\n":                       "# Charts\n\n- Label both axes.\nend\n",
		"new\n# Charts\n\n- Label the axes.\n":                       "new\n# Charts\n\n- Label both axes.\n",
		"# Charts\r\n\r\n- Label the axes.\r\n":                      "# Charts\r\n\r\n- Label both axes.\r\n",
		"# Charts\n\n- Label all axes.\n":                            `hunk 1 (line 11 of the patch) does not fit: "- Label the axes." is not there`,
		"x\n" + strings.Repeat("# Charts\n\n- Label the axes.\n", 2): `hunk 1 (line 11 of the patch) fits in several places`,
	} {
		got, err := files[0].Apply(text)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{
		fix: true,
		"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n":                            true,
		"# Patches\n\n```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```\n": false,
		"---\nname: x\n---\n\n# X\n":                                         false,
		"":                                                                   false,
	} {
		if Is(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

func TestBrokenPatch(t *testing.T) {
	for text, want := range map[string]string{
		"--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\n": "line 3: the head of the hunk announces 2 old and 1 new lines, and there are 1 and 1",
		"--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\nb\n":  `line 3: "b" begins with none of blank, + and -`,
		"--- a/x\n+++ b/x\n@@ -one +1 @@\n-a\n+b\n": `line 3: "@@ -one +1 @@" is no head of a hunk`,
		"words": "there is no hunk in it",
	} {
		if _, err := Parse(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// texts draws two texts of few different lines, the last one with or without a line break.
func texts(t *rapid.T) (old, new string) {
	line := rapid.StringMatching(`[a-c]?-?|--- a|\+\+\+ b|@@ -1 \+1 @@`)
	draw := func(name string) string {
		text := strings.Join(rapid.SliceOfN(line, 1, 30).Draw(t, name), "\n")
		if rapid.Bool().Draw(t, name+" ends") {
			text += "\n"
		}
		return text
	}
	return draw("old"), draw("new")
}

// What a diff was made of is what it leads to.
func TestDiffLeadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, new := texts(t)
		diff := udiff.Unified("a/x.md", "b/x.md", old, new)
		if old == new {
			t.Skip("no difference")
		}
		if !Is(diff) {
			t.Fatalf("no diff: %q", diff)
		}
		files, err := Parse(diff)
		if err != nil || len(files) != 1 {
			t.Fatalf("%d files, %v of %q", len(files), err, diff)
		}
		if got, err := files[0].Apply(old); err != nil || got != new {
			t.Fatalf("%q, %v, want %q by %q", got, err, new, diff)
		}
	})
}

func FuzzPatch(f *testing.F) {
	f.Add(fix, "# Charts\n\n- Label the axes.\n")
	f.Add("--- a/x\n+++ b/x\n@@ -0,0 +1,1 @@\n+a\n\\ No newline at end of file\n", "")
	f.Fuzz(func(t *testing.T, diff, text string) {
		files, err := Parse(diff)
		if err != nil {
			return
		}
		for _, of := range files {
			var no *MismatchError
			got, err := of.Apply(text)
			if err != nil && !errors.As(err, &no) {
				t.Fatal(err)
			}
			added := 0
			for _, h := range of.Hunks {
				added += 2 * len(strings.Join(h.New, ""))
			}
			if len(got) > 2*len(text)+added {
				t.Fatalf("%d bytes of %d", len(got), len(text))
			}
		}
	})
}
