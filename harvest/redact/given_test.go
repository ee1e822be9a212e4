package redact

import (
	"strings"
	"testing"
)

// A name or a noun says of what is near it, in whatever form, that it is a secret.
func TestGiven(t *testing.T) {
	for _, example := range []string{
		"run --join-token {alnum:24} node1",
		"define('DB_PASSWORD', '{alnum:18}');",
		`page.fill("#password", "{alnum:14}")`,
		`var signingKey = []byte("{alnum:32}")`,
		"email,first_name,initial_password\nkim@acme.test,Kim,{alnum:12}\n",
		"$ terraform output -raw db_admin_password\n{alnum:28}",
		"cypher-shell -u neo4j -p {base64url:43} q",
		"lftp -u kim,{alnum:8}X9 sftp://h",
		"A temporary password is generated for root@localhost: {alnum:12}!x9",
		"the root token that the operator printed is {alnum:32}",
		"routing_key: {hex:32}",
		`--master-key="{base64url:43}"`,
	} {
		text, values := fill(example)
		clean, _ := Detector{}.Redact(text)
		for _, v := range values {
			if strings.Contains(clean, v) {
				t.Errorf("%q becomes %q", text, clean)
			}
		}
	}
	for _, text := range []string{
		"--key-file ./certs/prod2.pem --token-type bearer2", `fields: ["password", "username2"]`, "cache_key: 7f3c1e7b8a1c9d7f3c1e7b8a1c9d0011",
		`{"token_type":"x","id":"gen-AbC123xYz789QwE456rTy"}`, "mkdir -p build/x86_64 && ssh -p 2222 h", "name,size,key\na,12,b2\n",
	} {
		if clean, n := (Detector{}).Redact(text); n != 0 {
			t.Errorf("%q becomes %q", text, clean)
		}
	}
}

// In what people type, a noun binds a word with a number; what nothing speaks of has to
// look like a token.
func TestBound(t *testing.T) {
	for _, text := range []string{
		"nein, das pw ist Winter%58 und nicht das alte", "le mot de passe c'est Soleil%06", "\u5bc6\u7801\u662fwoaini%29,\u518d\u8bd5",
		"use Summer%06! for now", "log in as demo with demo%61", "restic repo pw kettle-yellow-candle-saddle%", "pasword=admin%46 usr=admin",
	} {
		text = strings.ReplaceAll(text, "%", "93")
		if clean, n := Typed(nil, text); n != 1 {
			t.Errorf("%q becomes %q", text, clean)
		}
	}
	for _, text := range []string{
		"the password field of Windows2019 is too short", "press Ctrl+Shift+Alt+F12", "GHSA-jfh8-c2jp-5v3q in the audit", "what is in vpc-0a1b2c3d4e5f67890",
		"look at 0d1d7fc32e5a947fbd92ee598033d85bfc445a50", "class QmFzZTY0RW5jb2RlclZpZXc is obfuscated", "passwords use sha256 or bcrypt12",
	} {
		if clean, n := Typed(nil, text); n != 0 {
			t.Errorf("%q becomes %q", text, clean)
		}
	}
}

// Every prefix of the table is found with a body of its least length.
func TestPrefixes(t *testing.T) {
	for _, k := range tokens() {
		body := ""
		for i := 0; len(body) < k.min; i++ {
			if c := (mix + "_-.")[i*7%len(mix)]; k.body[c] {
				body += string(c)
			}
		}
		v := k.prefix + body
		if clean, n := (Detector{}).Redact("x " + v + " y"); n == 0 || strings.Contains(clean, body) {
			t.Errorf("%s: %q becomes %q", k.kind, v, clean)
		}
	}
}
