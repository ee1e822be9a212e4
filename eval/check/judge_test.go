package check

import "testing"

func FuzzReadVerdict(f *testing.F) {
	f.Add("```json\n{\"score\": 1, \"reason\": \"both\"}\n```")
	f.Add(`{"score": 1e-400}`)
	f.Add("``````")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := readVerdict(Reply{Text: text})
		if err == nil && !(v.Score >= 0 && v.Score <= 1) || err != nil && v != (verdict{}) {
			t.Fatalf("%q is read as %+v (%v)", text, v, err)
		}
	})
}
