package handoff

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Any file is an answer with content, none yet, or refused with a reason for its
// author.
func FuzzAnswer(f *testing.F) {
	f.Add("The diamond.\n", "")
	f.Add("", `{"id":"0123456789ab","answer":"x","skills":[],"usage":{"input":1,"output":1}}`)
	f.Add(" ", `{"failure":"no"}`)
	f.Add("\xff", `{"answr":"x"}`)
	f.Fuzz(func(t *testing.T, md, data string) {
		dir := t.TempDir()
		for name, text := range map[string]string{answerText: md, answerData: data} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, at, err := read(dir, "0123456789ab")
		switch {
		case err != nil && (got != nil || !errors.As(err, new(unusable)) || complaint(err) == ""):
			t.Errorf("%+v (%v)", got, err)
		case err == nil && got == nil && (strings.TrimSpace(strings.TrimPrefix(md, "\ufeff")) != "" ||
			strings.TrimSpace(strings.TrimPrefix(data, "\ufeff")) != ""):
			t.Errorf("%q and %q are taken for nothing", md, data)
		case got != nil && strings.TrimSpace(got.Answer) == "" && got.Failure == "":
			t.Errorf("an answer that says nothing: %+v", got)
		case at.sizes != [2]int64{int64(len(md)), int64(len(data))} && err == nil:
			t.Errorf("sizes %v", at.sizes)
		}
	})
}
