package pi

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// scrub takes the key out of a text: servers repeat the one that they refuse,
// and a shell can print its variables.
func (a *Agent) scrub(text string) string {
	for _, kv := range a.conf.Credentials {
		if _, value, _ := strings.Cut(kv, "="); len(value) >= 8 {
			text = strings.ReplaceAll(text, value, "[api key]")
		}
	}
	return text
}

// scrubbed is err with the key taken out of its text. What it was made from may
// hold the key, so nothing of that is kept; ctx's error passes as it is.
func (a *Agent) scrubbed(err error) error {
	var e *eval.InfraError
	if errors.As(err, &e) {
		kept := *e
		kept.Err = errors.New(a.scrub(e.Err.Error()))
		return &kept
	}
	return err
}

// digest tells values apart without showing them.
func digest(value string) string {
	h := sha256.Sum256([]byte(value))
	return hex.EncodeToString(h[:4])
}
