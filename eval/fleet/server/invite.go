package server

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
	"github.com/skill-evolve/evolve/eval/fleet"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// InvitationLasts is how long an invitation is valid if nothing else was asked for.
const InvitationLasts = 90 * 24 * time.Hour

const longest = 3650 * 24 * time.Hour // before the authority in the invitation expires

// Invited is what the fleet remembers of an invitation: not its key.
type Invited struct {
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	ID      string    `json:"id"` // public key
	Issued  time.Time `json:"issued"`
	Expires time.Time `json:"expires"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// State is valid, expired or revoked.
func (i *Invited) State(now time.Time) string {
	switch {
	case !i.Revoked.IsZero():
		return "revoked"
	case !now.Before(i.Expires):
		return "expired"
	}
	return "valid"
}

// Invitations lists who was invited to the fleet of a folder, by name and time. It changes
// nothing; a folder that does not exist has none.
func Invitations(dir string) (list []Invited, err error) {
	if err = read(dir, invitationsFile, &list); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	slices.SortStableFunc(list, func(a, b Invited) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return a.Issued.Compare(b.Issued)
	})
	return list, err
}

var plainName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]{0,62}$`)

// CheckName refuses what is not the name of a member.
func CheckName(name string) error {
	if !plainName.MatchString(name) {
		return problem.Inputf("for example `evolve fleet invite build-2`", "%q is not a name: use up to 63 letters, digits and hyphens", name)
	}
	return nil
}

// Invite makes a key for a new member and signs its rights. It revokes a valid invitation
// of the same name, and reports that. The invitation leads to where the server listens, or
// did last. lasts is how long it is valid, 0 for InvitationLasts.
func (f *Folder) Invite(name, role string, lasts time.Duration) (i *fleet.Invitation, replaced bool, err error) {
	if err := CheckName(name); err != nil {
		return nil, false, err
	}
	switch {
	case lasts != 0 && lasts < time.Second || lasts > longest:
		return nil, false, problem.Inputf("for example --expires 90d", "an invitation is valid for at least a second and at most 3650 days")
	case lasts == 0:
		lasts = InvitationLasts
	}
	at, err := f.served()
	if err != nil {
		return nil, false, err
	}
	err = f.locked(func() error {
		i, replaced, err = f.invite(name, role, lasts, at)
		return err
	})
	return i, replaced, err
}

func (f *Folder) invite(name, role string, lasts time.Duration, at *Served) (*fleet.Invitation, bool, error) {
	now := f.now().UTC().Truncate(time.Second)
	list, err := Invitations(f.dir)
	if err != nil {
		return nil, false, err
	}
	i := &fleet.Invitation{URL: at.URL, CA: at.CA, Name: name, Role: role, Expires: now.Add(lasts)}
	id, err := f.sign(i)
	if err != nil {
		return nil, false, fmt.Errorf("sign the invitation: %w", err)
	}
	replaced := revoke(list, name, now)
	// An expired key needs no revocation: the server refuses it by its own date.
	list = slices.DeleteFunc(list, func(old Invited) bool { return old.State(now) != "valid" && !now.Before(old.Expires) })
	return i, replaced, f.write(invitationsFile, append(list, Invited{Name: name, Role: role, ID: id, Issued: now, Expires: i.Expires}))
}

// Visit is an invitation for a program on the fleet's own machine, as a coordinator and for a
// short time. It is in no list, so nothing revokes it.
func (f *Folder) Visit() (*fleet.Invitation, error) {
	at, err := f.served()
	if err != nil {
		return nil, err
	}
	i := &fleet.Invitation{URL: at.URL, CA: at.CA, Name: fleet.Visitor, Role: fleet.RoleCoordinator, Expires: f.now().Add(visits)}
	if _, err := f.sign(i); err != nil {
		return nil, fmt.Errorf("sign the invitation: %w", err)
	}
	return i, nil
}

// visits is how long a visit may take.
const visits = 5 * time.Minute

// sign makes a new key for an invitation and signs the rights of its role.
func (f *Folder) sign(i *fleet.Invitation) (id string, err error) {
	kp, err := nkeys.CreateUser()
	if err != nil {
		return "", err
	}
	defer kp.Wipe()
	if id, err = kp.PublicKey(); err != nil {
		return "", err
	}
	seed, err := kp.Seed()
	if err != nil {
		return "", err
	}
	c := jwt.NewUserClaims(id)
	c.Name, c.Expires, c.Permissions = i.Name, i.Expires.Unix(), rights(i.Role, id)
	c.Tags.Add(fleet.RoleTag + i.Role)
	i.Seed = string(seed)
	i.JWT, err = c.Encode(f.account)
	return id, err
}

// Revoke revokes the invitation of a name. A running server cuts its member off within two
// seconds.
func (f *Folder) Revoke(name string) error {
	return f.locked(func() error {
		list, err := Invitations(f.dir)
		if err != nil {
			return err
		}
		if revoke(list, name, f.now().UTC().Truncate(time.Second)) {
			return f.write(invitationsFile, list)
		}
		var names []string
		for _, i := range list {
			if i.Name == name {
				return problem.Inputf("`evolve fleet invitations` lists all", "the invitation of %s is %s already", name, i.State(f.now()))
			}
			names = append(names, i.Name)
		}
		hint := "`evolve fleet invitations` lists all"
		if near := skill.Nearest(name, names); near != "" {
			hint = "did you mean " + near + "?"
		}
		return &problem.Error{Kind: problem.NotFound, Err: fmt.Errorf("no invitation has the name %q", name), Hint: hint}
	})
}

// revoke marks the valid invitations of a name, and reports whether there was one.
func revoke(list []Invited, name string, now time.Time) (found bool) {
	for k := range list {
		if list[k].Name == name && list[k].State(now) == "valid" {
			list[k].Revoked, found = now, true
		}
	}
	return found
}
