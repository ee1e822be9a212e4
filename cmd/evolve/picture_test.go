package main

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPictureIsTheDemo: the sentences and the words beside them in README's picture are those
// that the demo's run shows.
func TestPictureIsTheDemo(t *testing.T) {
	svg, err := os.ReadFile(filepath.Join("..", "..", "docs", "taught.svg"))
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	dir := filepath.Join(home, "demo")
	if code, out, errs := runHere(t, home, "demo", "--keep", dir); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	code, why, errs := runHere(t, filepath.Join(dir, "evolve"), "show", "dataviz@v1", "--why")
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, why, errs)
	}
	why = strings.Join(strings.Fields(why), " ")
	var parts []string // a sentence begins with +, what was said with a quote
	for _, m := range regexp.MustCompile(`<text class="(?:add|said)"[^>]*>(.*?)</text>`).FindAllStringSubmatch(string(svg), -1) {
		line := html.UnescapeString(m[1])
		if strings.HasPrefix(line, "+ ") || strings.HasPrefix(line, "“") {
			parts = append(parts, line)
		} else {
			parts[len(parts)-1] += " " + line
		}
	}
	if len(parts) != 12 {
		t.Fatalf("%d parts: %q", len(parts), parts)
	}
	for _, p := range parts {
		if !strings.Contains(why, strings.TrimSuffix(p, "”")) {
			t.Errorf("the picture has %q, the demo has not", p)
		}
	}
}
