package fleet

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
)

// RoleTag begins the tag of a member's rights that names its role.
const RoleTag = "role:"

// Visitor is the name of a program on the fleet's own machine that looks at it.
const Visitor = "visitor"

// A Member is somebody whom a fleet has invited.
type Member struct {
	ID, Name, Role string
	Expires        time.Time
}

// Verify reads the rights of somebody, a JWT, and checks that the fleet of this invitation
// signed them and that they have not expired by now. The subject of a message does not tell
// who sent it: members cannot publish on others' subjects, but whoever asks JetStream for a
// message chooses where the answer is sent, and so can have it put on any subject. So a
// worker checks the rights and the signature of a job's coordinator, and a coordinator those
// of whoever says hello.
func (i *Invitation) Verify(rights string, now time.Time) (*Member, error) {
	own, err := jwt.DecodeUserClaims(i.JWT)
	if err != nil {
		return nil, fmt.Errorf("read the rights in the invitation: %w", err)
	}
	c, err := jwt.DecodeUserClaims(rights) // checks the signature of the issuer that it names
	if err != nil {
		return nil, fmt.Errorf("read the rights of a member: %w", err)
	}
	m := &Member{ID: c.Subject, Name: c.Name, Expires: time.Unix(c.Expires, 0)}
	for _, tag := range c.Tags {
		if role, ok := strings.CutPrefix(tag, RoleTag); ok {
			m.Role = role
		}
	}
	switch {
	case c.Issuer != own.Issuer:
		return nil, errors.New("the rights are of another fleet")
	case m.Role != RoleWorker && m.Role != RoleCoordinator:
		return nil, errors.New("the rights name no role")
	case c.Expires == 0 || !now.Before(m.Expires):
		return nil, fmt.Errorf("the rights of %s have expired on %s", m.Name, m.Expires.Format(time.DateOnly))
	}
	return m, nil
}
