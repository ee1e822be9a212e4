package check

import (
	"fmt"
	"strings"
	"testing"
)

// TestRememberedIsFoundOnce: what was asked for lately is not found again, what was
// long ago is, and the answer is always that of the sentence.
func TestRememberedIsFoundOnce(t *testing.T) {
	var r remembered[string]
	found := map[string]int{}
	find := func(s string) string {
		found[s]++
		return "about " + s
	}
	ask := func(s string) {
		if got := r.of(s, find); got != "about "+s {
			t.Fatalf("%q of %q", got, s)
		}
	}
	for i := range 10 * rememberedSentences {
		ask("often")
		ask(fmt.Sprint("sentence ", i))
	}
	ask("sentence 0")
	long := strings.Repeat("long ", rememberedLength)
	ask(long)
	ask(long)
	if found["often"] != 1 || found["sentence 0"] != 2 || found[long] != 2 {
		t.Errorf("found %d, %d and %d times", found["often"], found["sentence 0"], found[long])
	}
	if n := len(r.young) + len(r.old); n > 2*rememberedSentences {
		t.Errorf("%d sentences are kept", n)
	}
}
