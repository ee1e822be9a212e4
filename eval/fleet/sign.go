package fleet

import (
	"crypto/ed25519"
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// The headers with the proof of who has written a message.
const (
	signature = "Evolve-Signature" // anybody can check it
	tag       = "Evolve-Mac"       // the one whom it is for can
)

// Seal is the message of a member to any other: v as JSON, signed together with the subject,
// so that it cannot be used elsewhere.
func Seal(key *Key, subject string, v any) (*nats.Msg, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	return message(subject, signature, body, ed25519.Sign(key.sign, signed(subject, body))), nil
}

func message(subject, header string, body, proof []byte) *nats.Msg {
	return &nats.Msg{Subject: subject, Data: body, Header: nats.Header{header: {base64.RawURLEncoding.EncodeToString(proof)}}}
}

// Rights is the header of a result that has its worker's JWT. It needs no proof: it names the
// key behind the result, and is signed by the fleet.
const Rights = "Evolve-Rights"

// ErrSignature means that a message is not by the one that it names.
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

// large is the header of a message whose body is a blob: its name. It is authenticated in the
// place of the body.
const large = "Evolve-Blob"

// SealFor is the message of a member to one other. A body that is too large for a message is
// stored by put, which returns its name.
func SealFor(key *Key, reader, subject string, v any, put func(body []byte) (name string, err error)) (*nats.Msg, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	name := ""
	if len(body) > Inline {
		if name, err = put(body); err != nil {
			return nil, err
		}
		body = []byte(strconv.Quote(name))
	}
	proof, err := key.mac(reader, subject, body)
	if err != nil {
		return nil, fmt.Errorf("seal message: %w", err)
	}
	m := message(subject, tag, body, proof)
	if name != "" {
		m.Header.Set(large, name)
	}
	return m, nil
}

// OpenFrom checks that the writer has sent this member what SealFor made, and decodes it. If a
// blob has the body, it returns its name, and leaves v alone: see Decode.
func OpenFrom(key *Key, writer, subject string, header nats.Header, body []byte, v any) (blob string, err error) {
	proof, err := key.mac(writer, subject, body)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrSignature, err)
	}
	given, err := base64.RawURLEncoding.DecodeString(header.Get(tag))
	if err != nil || !hmac.Equal(proof, given) {
		return "", ErrSignature
	}
	if header.Get(large) != "" {
		err = Decode(body, &blob)
		return blob, err
	}
	return "", Decode(body, v)
}

// Short is a member's id as people see it.
func Short(id string) string { return id[:min(len(id), 9)] }

func signed(subject string, body []byte) []byte {
	return append([]byte(subject+"\n"), body...)
}
