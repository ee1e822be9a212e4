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
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("decode message: %w", err)
	}
	return nil
}

func signed(subject string, body []byte) []byte {
	return append([]byte(subject+"\n"), body...)
}
