package fleet

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// The roles of a fleet's members.
const (
	RoleWorker      = "worker"
	RoleCoordinator = "coordinator"
)

// An Invitation lets a member into a fleet. It holds a key: who has it is the member.
type Invitation struct {
	URL     string    `json:"url"` // tls://host:port; nats:// on this machine alone
	CA      string    `json:"ca,omitempty"`
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	JWT     string    `json:"jwt,omitempty"`
	Seed    string    `json:"seed"`
	Expires time.Time `json:"expires,omitzero"`
}

// maxInvitation is the largest file of an invitation, in bytes.
const maxInvitation = 256 << 10

// ReadInvitation reads the file of an invitation, which nobody else may be able to read.
func ReadInvitation(path string) (*Invitation, error) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		return nil, problem.Inputf("chmod 600 "+path, "%s holds a key, and others can read it", path)
	}
	text, err := bounded.ReadFile(path, maxInvitation)
	if err != nil {
		return nil, fmt.Errorf("read the invitation: %w", err)
	}
	in := new(Invitation)
	if err := json.Unmarshal(text, in); err != nil || in.URL == "" || in.Seed == "" {
		return nil, problem.Inputf("`evolve fleet invite NAME` makes one", "%s is no invitation", path)
	}
	return in, nil
}
