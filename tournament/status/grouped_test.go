package status

import (
	"reflect"
	"testing"
)

func TestGrouped(t *testing.T) {
	const judge = " unseen requests rest on a judge that is not shown to agree with you: they decide nothing; `evolve review "
	got := grouped([]string{
		"plot: alarm: corrections; `evolve rollback plot`",
		"a: new text 0123456789ab: 7" + judge + "a` adds labels",
		"x@0123456789ab: better, and waits for your word (policy stage); `evolve promote x`",
		"b: new text 1123456789ab: 12" + judge + "b` adds labels",
		"c: new text 2123456789ab: 3" + judge + "c` adds labels",
		"d: new text 2123456789ab: 3" + judge + "d` adds labels",
		"e: new text 2123456789ab: 3" + judge + "e` adds labels",
		"f: new text 2123456789ab: 3" + judge + "f` adds labels",
		"y@1123456789ab: better, and waits for your word (policy stage); `evolve promote y`",
		"z@2123456789ab: better, and waits for your word (policy stage); `evolve promote z`",
		"a whole sentence: is about nobody",
	})
	want := []string{
		"plot: alarm: corrections; `evolve rollback plot`",
		"a, b, c, d, 2 more: unseen requests rest on a judge that is not shown to agree with you: they decide nothing; `evolve review NAME` adds labels",
		"x@0123456789ab: better, and waits for your word (policy stage); `evolve promote x`",
		"y@1123456789ab: better, and waits for your word (policy stage); `evolve promote y`",
		"z@2123456789ab: better, and waits for your word (policy stage); `evolve promote z`",
		"a whole sentence: is about nobody",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q,\nwant %q", got, want)
	}
}
