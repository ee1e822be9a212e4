package eval

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// keyVersion changes whenever the composition of a key does.
const keyVersion = "rollout/1"

// A Setting is the part of a rollout key that is the same for all jobs of one
// Evaluator.
type Setting struct {
	Agent      Identity
	Grader     string // Grader.Identity
	MaxRetries int
	// Others are the skills that are installed beside the variant, by name and SHA-256; ""
	// for none.
	Others string `json:",omitempty"`
	// WallClock is part of the key because it decides which answers are cut short.
	WallClock time.Duration
}

// Key identifies the measurement of j: the SHA-256 in hex over everything that can
// change an answer or its grade. That is the candidate, the rest of the skill's folder,
// the case (without split, cluster and source, which no agent sees), agent, grader,
// work retries, wall clock, trial and arm. The case must be valid.
func (j Job) Key(s Setting) string { return j.key(s, caseHash(j.Case)) }

func (j Job) key(s Setting, c hash) string {
	k := jobKey(variantHash(s.hash(), j.Variant), c, j.Trial, j.Arm)
	return hex.EncodeToString(k[:])
}

// Keys are made in three steps, so that an Evaluator hashes a setting once, a text once
// per Run and each case once, and a job costs one short hash.
type hash = [sha256.Size]byte

func (s Setting) hash() hash {
	return hashJSON(keyVersion, s)
}

// variantHash adds the candidate to a setting.
func variantHash(setting hash, v Variant) hash {
	parts := []string{v.Name, v.SHA(), v.Rest}
	if v.Path != "" {
		parts = append(parts, v.Path)
	}
	return hashJSON(hex.EncodeToString(setting[:]), parts)
}

// caseHash covers everything of a case that an agent or a grader can see.
func caseHash(c *Case) hash {
	seen := *c
	seen.Split, seen.Cluster, seen.Source = "", "", nil
	seen.Checks = c.checks()
	version := "case/1"
	if w := seen.Workspace; w != nil { // a repository since version 2; how its commit was found changes no answer
		seen.Workspace, version = &Workspace{Repo: w.Repo, Commit: w.Commit}, "case/2"
	}
	return hashJSON(version, seen)
}

// jobKey adds case, trial and arm to a variant.
func jobKey(variant, c hash, trial int, arm string) hash {
	var space [160]byte
	b := append(space[:0], variant[:]...)
	b = append(b, c[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(trial))
	b = append(b, arm...) // last, so that no length is needed
	return sha256.Sum256(b)
}

// hashJSON hashes v's canonical JSON: struct fields in their order, map keys
// sorted, raw JSON compacted.
func hashJSON(domain string, v any) hash {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("eval: key of a case that Validate would refuse: %v", err))
	}
	return sha256.Sum256(append([]byte(domain+"\n"), text...))
}

// drawn is the setting that seeds are made from.
func (s Setting) drawn() Setting {
	if s.Agent.Draw != "" {
		s.Agent.Params = s.Agent.Draw
	}
	return s
}

// seedOf derives a model's seed from a key of the drawn setting. It has 31 bits: some APIs and clients
// accept no more.
func seedOf(k hash) int64 {
	return int64(binary.BigEndian.Uint32(k[:]) >> 1)
}
