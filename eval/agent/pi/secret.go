package pi

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// secrets are the values of the credentials.
func secrets(credentials []string) replay.Secrets {
	s := replay.Secrets{Mark: "[api key]"}
	for _, kv := range credentials {
		if _, value, _ := strings.Cut(kv, "="); len(value) >= 8 {
			s.Values = append(s.Values, value)
		}
	}
	return s
}

// digest distinguishes values without showing them.
func digest(value string) string {
	h := sha256.Sum256([]byte(value))
	return hex.EncodeToString(h[:4])
}
