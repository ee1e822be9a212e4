package fleet

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// signature is the header that has it.
const signature = "Evolve-Signature"

// Seal is the message of a member: v as JSON, signed with its key together with the subject,
// so that it cannot be used elsewhere.
func Seal(key nkeys.KeyPair, subject string, v any) (*nats.Msg, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	sig, err := key.Sign(signed(subject, body))
	if err != nil {
		return nil, fmt.Errorf("sign message: %w", err)
	}
	m := nats.NewMsg(subject)
	m.Data = body
	m.Header.Set(signature, base64.RawURLEncoding.EncodeToString(sig))
	return m, nil
}

// Rights is the header of a result that has its worker's JWT. It needs no signature: it names
// the key that has signed the result, and is signed by the fleet.
const Rights = "Evolve-Rights"

// ErrSignature means that a message was not signed by the one that it names.
var ErrSignature = errors.New("the signature is not that of its sender")

// Open checks that the member signed the message, and decodes it.
func Open(member, subject string, header nats.Header, body []byte, v any) error {
	key, err := nkeys.FromPublicKey(member)
	if err != nil {
		return fmt.Errorf("%w: %q is no key", ErrSignature, member)
	}
	sig, err := base64.RawURLEncoding.DecodeString(header.Get(signature))
	if err != nil || key.Verify(signed(subject, body), sig) != nil {
		return ErrSignature
	}
	return Decode(body, v)
}

// Decode decodes a body.
func Decode(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("decode message: %w", err)
	}
	return nil
}

// large is the header of a message whose body is a blob: its name. It is signed in the
// place of the body.
const large = "Evolve-Blob"

// SealLarge is Seal of what may be too large for a message: then put stores it, and returns
// its name.
func SealLarge(key nkeys.KeyPair, subject string, v any, put func(body []byte) (name string, err error)) (*nats.Msg, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	if len(body) <= Inline {
		return Seal(key, subject, json.RawMessage(body))
	}
	name, err := put(body)
	if err != nil {
		return nil, err
	}
	m, err := Seal(key, subject, name)
	if err == nil {
		m.Header.Set(large, name)
	}
	return m, err
}

// OpenLarge is Open of what SealLarge made. If a blob has the body, it returns its name, and
// leaves v alone: see Decode.
func OpenLarge(member, subject string, header nats.Header, body []byte, v any) (blob string, err error) {
	if header.Get(large) == "" {
		return "", Open(member, subject, header, body, v)
	}
	return blob, Open(member, subject, header, body, &blob)
}

// Short is a member's id as people see it.
func Short(id string) string { return id[:min(len(id), 9)] }

func signed(subject string, body []byte) []byte {
	return append([]byte(subject+"\n"), body...)
}
