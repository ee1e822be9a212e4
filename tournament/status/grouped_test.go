package status

import (
	"reflect"
	"testing"
)

func TestGrouped(t *testing.T) {
	const judge = " held-out cases rest on a judge that is not shown to agree with you: they prove nothing; `evolve review "
	got := grouped([]string{
		"plot: alarm: corrections; `evolve rollback plot`",
		"a: challenger 0123456789ab: 7" + judge + "a` adds labels",
		"x@0123456789ab: proven, and waits for your word (policy stage); `evolve promote x`",
		"b: challenger 1123456789ab: 12" + judge + "b` adds labels",
		"c: challenger 2123456789ab: 3" + judge + "c` adds labels",
		"d: challenger 2123456789ab: 3" + judge + "d` adds labels",
		"e: challenger 2123456789ab: 3" + judge + "e` adds labels",
		"f: challenger 2123456789ab: 3" + judge + "f` adds labels",
		"y@1123456789ab: proven, and waits for your word (policy stage); `evolve promote y`",
		"z@2123456789ab: proven, and waits for your word (policy stage); `evolve promote z`",
		"a whole sentence: is about nobody",
	})
	want := []string{
		"plot: alarm: corrections; `evolve rollback plot`",
		"a, b, c, d, 2 more: held-out cases rest on a judge that is not shown to agree with you: they prove nothing; `evolve review NAME` adds labels",
		"x@0123456789ab: proven, and waits for your word (policy stage); `evolve promote x`",
		"y@1123456789ab: proven, and waits for your word (policy stage); `evolve promote y`",
		"z@2123456789ab: proven, and waits for your word (policy stage); `evolve promote z`",
		"a whole sentence: is about nobody",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q,\nwant %q", got, want)
	}
}
