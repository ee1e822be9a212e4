package fleet

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// The roles of an invitation.
const (
	RoleWorker      = "worker"      // takes jobs and returns results
	RoleCoordinator = "coordinator" // gives jobs and reads results
)

// maxInvitation is the size of the largest file that is read as an invitation, in bytes.
// Real ones have about 4 KiB.
const maxInvitation = 64 << 10

// An Invitation is all that a machine needs to join a fleet. Its Seed is a secret: whoever
// has it can do what the role may, until the invitation expires or is revoked.
type Invitation struct {
	URL     string    `json:"url"`          // of the servers, separated by commas
	CA      string    `json:"ca,omitempty"` // certificate authority of the server in PEM; "" for a connection without TLS
	Name    string    `json:"name"`         // what people call this member
	Role    string    `json:"role"`         // RoleWorker or RoleCoordinator
	JWT     string    `json:"jwt"`          // the rights, signed by the fleet
	Seed    string    `json:"seed"`         // private nkey of the member
	Expires time.Time `json:"expires,omitzero"`
}

// ReadInvitation reads an invitation from a file. It refuses a file that every user of the
// machine may read, because it holds a key. The file's group may read it: Kubernetes mounts
// secrets in that way. Whether the invitation is still valid is for the server to decide.
func ReadInvitation(path string) (*Invitation, error) {
	f, err := bounded.Open(path)
	if err != nil {
		return nil, &problem.Error{Kind: problem.NotFound, Err: fmt.Errorf("read the invitation: %w", err), Hint: "`evolve fleet invite NAME` on the fleet's machine writes one"}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the invitation: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o027 != 0 { // Windows has no such bits
		return nil, problem.Refusef("`chmod 600 "+plain.Arg(path)+"` makes it yours alone; if others had access, invite again", "%s holds a key, and other users may read or change it", path)
	}
	text, err := bounded.ReadAll(f, maxInvitation)
	if err != nil {
		return nil, fmt.Errorf("read the invitation %s: %w", path, err)
	}
	var i Invitation
	if err := json.Unmarshal(text, &i); err != nil {
		return nil, problem.Inputf("`evolve fleet invite NAME` writes an invitation", "%s is not an invitation to a fleet: %w", path, plain.JSON(err))
	}
	if _, err := i.ID(); err != nil || i.URL == "" || i.JWT == "" || i.Role != RoleWorker && i.Role != RoleCoordinator {
		return nil, problem.Inputf("`evolve fleet invite NAME` writes an invitation", "%s is not an invitation to a fleet: its url, role, jwt or seed is missing or wrong", path)
	}
	return &i, nil
}

// Write writes the invitation as ReadInvitation reads it. A file for it must be its owner's
// alone from the start (mode 0600).
func (i *Invitation) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(i); err != nil {
		return fmt.Errorf("write the invitation: %w", err)
	}
	return nil
}

// ID is the public key of the member, which names it on the wire: "U" and 55 letters and
// digits.
func (i *Invitation) ID() (string, error) {
	key, err := NewKey(i.Seed)
	if err != nil {
		return "", fmt.Errorf("the invitation of %s: %w", i.Name, err)
	}
	return key.ID, nil
}

// Options are what nats.Connect needs besides the URL to connect as this member. Replies
// go to subjects below "_INBOX_" and the member's ID, the only ones that it may read.
func (i *Invitation) Options() ([]nats.Option, error) {
	id, err := i.ID()
	if err != nil {
		return nil, err
	}
	opts := []nats.Option{nats.Name(i.Name), nats.CustomInboxPrefix(InboxPrefix(id))}
	if i.JWT != "" { // tests have servers without users
		opts = append(opts, nats.UserJWTAndSeed(i.JWT, i.Seed))
	}
	if i.CA == "" {
		return opts, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(i.CA)) {
		return nil, problem.Inputf("invite this machine again", "the invitation's certificate authority cannot be read")
	}
	// The server says nothing, not even its version, before the handshake.
	return append(opts, nats.Secure(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}), nats.TLSHandshakeFirst()), nil
}

// Explain says why the server refused this member, if err is such a refusal; it returns
// any other error as it is. A server names the reason only to members that are connected:
// in the other cases it is found in the invitation, by the time now.
func (i *Invitation) Explain(err error, now time.Time) error {
	again := fmt.Sprintf("`evolve fleet invite %s` on the fleet's machine writes a new invitation", plain.Arg(i.Name))
	refused := errors.Is(err, nats.ErrAuthorization)
	unknown, invalid := x509.UnknownAuthorityError{}, x509.HostnameError{}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrAuthExpired), refused && !i.Expires.IsZero() && !now.Before(i.Expires):
		return problem.Refusef(again, "the invitation of %s has expired on %s", i.Name, i.Expires.Format(time.DateOnly))
	case errors.Is(err, nats.ErrAuthRevoked):
		return problem.Refusef(again, "the invitation of %s was revoked", i.Name)
	case refused:
		return problem.Refusef(again, "the fleet refused the invitation of %s: it was revoked, or it is another fleet's", i.Name)
	case errors.As(err, &unknown):
		return problem.Refusef(again, "%s is not the server that this invitation is for: its certificate is another fleet's", i.URL)
	case errors.As(err, &invalid):
		return problem.Refusef("start `evolve fleet serve` with --host for this name, and invite again", "the certificate of %s is for other names", i.URL)
	}
	return err
}
