package redact

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/redact/personal"
)

func TestPersonal(t *testing.T) {
	k := new(Keys)
	text := "ask ada.lovelace+work@mail.example.co.uk or müller@firma-nord.de, +49 (0)30 901820-45, (415) 555-0132, 030 1234 5678, 415-555-0132, " +
		"card 4111 1111 1111 1111, 378282246310005, account DE89 3704 0044 0532 0130 00 and GB82WEST12345698765432"
	if clean, n := k.Redact(text); n != 0 || clean != text {
		t.Errorf("without a choice %d are redacted: %s", n, clean)
	}
	k.Personal(personal.Kinds...)
	clean, n := k.Redact(text)
	want := "ask [redacted:mail] or [redacted:mail], [redacted:phone], [redacted:phone], [redacted:phone], [redacted:phone], " +
		"card [redacted:card], [redacted:card], account [redacted:iban] and [redacted:iban]"
	if clean != want || n != 10 {
		t.Errorf("%d: %s", n, clean)
	}
	if again, more := k.Redact(clean); again != clean || more != 0 {
		t.Errorf("not idempotent: %s", again)
	}
	for _, s := range []string{
		"git clone git@github.com:acme/shop.git", "@charset, user@host", "2026-11-23 03:40:34", "1763869234123", "version 10.2.14.1 and 0.12.0-rc.4",
		"4111 1111 1111 1112", "GB82 WEST ABCD EFGH IJKL 33", "lines 100-200 300-400", "commit 5f04a1e2b3c4d5e6f708192a3b4c5d6e7f809102", "192.168.100.200:8080",
		"0x7ffee4c3d2a0 +0000 +0100", "1,000,000 rows in 120.5 ms", "port 5432, pid 12345678", "550e8400-e29b-41d4-a716-446655440000", "a+12-34=5",
	} {
		if clean, n := k.Redact(s); n != 0 {
			t.Errorf("%q became %q", s, clean)
		}
	}
	k.Personal("mail")
	if clean, _ := k.Redact(text); !strings.Contains(clean, "4111 1111 1111 1111") || strings.Contains(clean, "ada") {
		t.Errorf("mail alone: %s", clean)
	}
}
