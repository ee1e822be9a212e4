package copilot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	sdk "github.com/github/copilot-sdk/go"
)

// A peer is the SDK's side of a bridge, by hand.
type peer struct {
	*testing.T
	net.Conn
	in *bufio.Reader
}

func dial(t *testing.T, b *bridge, token string) *peer {
	t.Helper()
	c, err := net.Dial("tcp", b.addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(10 * time.Second))
	p := &peer{t, c, bufio.NewReader(c)}
	p.say(`{"jsonrpc":"2.0","id":"hello","method":"connect","params":{"token":"` + token + `"}}`)
	return p
}

func (p *peer) say(text string) {
	p.Helper()
	if err := writeFrame(p.Conn, []byte(text)); err != nil {
		p.Fatal(err)
	}
}

func (p *peer) hear() string {
	p.Helper()
	frame, err := readFrame(p.in, 1<<20)
	if err != nil {
		p.Fatal(err)
	}
	return string(frame)
}

// A stdio is the program's side.
type stdio struct {
	*testing.T
	out *io.PipeWriter // what it prints
	in  *bufio.Reader  // what it is told
}

func bridged(t *testing.T, most int64) (*bridge, *stdio) {
	t.Helper()
	b, err := newBridge(most)
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	served := make(chan struct{})
	go func() { b.serve(inW, outR); close(served) }()
	t.Cleanup(func() {
		outW.Close()
		inR.Close()
		b.close()
		<-served
	})
	return b, &stdio{t, outW, bufio.NewReader(inR)}
}

func (s *stdio) hear() string {
	s.Helper()
	frame, err := readFrame(s.in, 1<<20)
	if err != nil {
		s.Fatal(err)
	}
	return string(frame)
}

func (s *stdio) say(text string) {
	s.Helper()
	if err := writeFrame(s.out, []byte(text)); err != nil {
		s.Fatal(err)
	}
}

func TestBridgePassesFramesOn(t *testing.T) {
	b, prog := bridged(t, 1<<20)
	us := dial(t, b, b.token)
	if got := prog.hear(); strings.Contains(got, b.token) || !strings.Contains(got, `"connect"`) {
		t.Errorf("the program is greeted by %s, want connect without the token", got)
	}
	prog.say(`{"jsonrpc":"2.0","id":"hello","result":{"ok":true}}`)
	if got := us.hear(); got != `{"jsonrpc":"2.0","id":"hello","result":{"ok":true}}` {
		t.Errorf("answer = %s", got)
	}
	prog.say(`{"jsonrpc":"2.0","method":"session.event","params":{}}`)
	if got := us.hear(); !strings.Contains(got, "session.event") {
		t.Errorf("event = %s", got)
	}
	for _, kind := range []string{"tool.shell_output", "model.messages_snapshot", "model.call_failure"} {
		prog.say(`{"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"s","event":{"type":"` + kind + `"}}}`)
	}
	if got := us.hear(); !strings.Contains(got, "model.call_failure") {
		t.Errorf("event = %s, want the one that is read", got)
	}
	prog.say(`{"jsonrpc":"2.0","id":"never asked","result":{}}`)
	us.say(`{"jsonrpc":"2.0","id":"1","method":"ping","params":{}}`)
	if got := prog.hear(); !strings.Contains(got, "ping") {
		t.Errorf("request = %s", got)
	}
	prog.say(`{"jsonrpc":"2.0","id":"1","result":{}}`)
	if got := us.hear(); !strings.Contains(got, `"id":"1"`) {
		t.Errorf("%s, want the answer to what was asked and no other", got)
	}
}

func TestBridgeKnowsItsSDK(t *testing.T) {
	b, prog := bridged(t, 1<<20)
	for _, token := range []string{"", "guessed"} {
		stranger := dial(t, b, token)
		if frame, err := readFrame(stranger.in, 1<<20); err == nil {
			t.Errorf("a stranger with token %q was answered: %s", token, frame)
		}
	}
	dial(t, b, b.token)
	if got := prog.hear(); !strings.Contains(got, "connect") {
		t.Errorf("after the strangers the program heard %s", got)
	}
}

func TestBridgeAnswersForTheDead(t *testing.T) {
	for name, end := range map[string]func(s *stdio){
		"plain end": func(s *stdio) { s.out.Close() },
		"cut frame": func(s *stdio) { io.WriteString(s.out, "Content-Length: 100\r\n\r\n{"); s.out.Close() },
		"no frame":  func(s *stdio) { io.WriteString(s.out, "something is odd\n") },
		"no JSON":   func(s *stdio) { io.WriteString(s.out, "Content-Length: 3\r\n\r\n{{{") },
	} {
		t.Run(name, func(t *testing.T) {
			b, prog := bridged(t, 1<<20)
			us := dial(t, b, b.token)
			prog.hear()
			us.say(`{"jsonrpc":"2.0","id":"1","method":"session.create","params":{"sessionId":"s"}}`)
			prog.hear()
			end(prog)
			<-b.ended
			var left []string
			for range 2 { // connect and session.create, in any order
				left = append(left, us.hear())
			}
			all := strings.Join(left, "\n")
			if !strings.Contains(all, `{"sessionId":"s"}`) || !strings.Contains(all, `"protocolVersion"`) {
				t.Errorf("answers = %s, want a session and a greeting", all)
			}
			us.say(`{"jsonrpc":"2.0","id":"2","method":"session.send","params":{}}`)
			if got := us.hear(); !strings.Contains(got, `"error"`) {
				t.Errorf("session.send of a dead program: %s", got)
			}
			us.say(`{"jsonrpc":"2.0","id":"3","method":"session.destroy","params":{}}`)
			if got := us.hear(); !strings.Contains(got, `"result":{}`) {
				t.Errorf("session.destroy of a dead program: %s", got)
			}
			if _, why := b.outcome(); (why == nil) != (name == "plain end") {
				t.Errorf("why = %v", why)
			}
		})
	}
}

func TestBridgeKeepsARefusal(t *testing.T) {
	b, prog := bridged(t, 1<<20)
	us := dial(t, b, b.token)
	prog.hear()
	us.say(`{"jsonrpc":"2.0","id":"1","method":"session.create","params":{"sessionId":"s"}}`)
	prog.hear()
	prog.say(`{"jsonrpc":"2.0","id":"1","error":{"code":-32603,"message":"no such model"}}`)
	if got := us.hear(); !strings.Contains(got, `{"sessionId":"s"}`) {
		t.Errorf("the SDK hears %s, want a session that it can let go", got)
	}
	if refusal, _ := b.outcome(); refusal == nil || refusal.Message != "no such model" {
		t.Errorf("refusal = %+v", refusal)
	}
}

func TestBridgeBoundsTheProgram(t *testing.T) {
	b, prog := bridged(t, 1000)
	dial(t, b, b.token)
	prog.hear()
	go func() {
		event := []byte(`{"jsonrpc":"2.0","method":"x","params":"` + strings.Repeat("x", 300) + `"}`)
		for writeFrame(prog.out, event) == nil { // until nobody reads
		}
	}()
	select {
	case <-b.ended:
	case <-time.After(10 * time.Second):
		t.Fatal("a program that prints for ever is read for ever")
	}
	if _, why := b.outcome(); !errors.Is(why, errOverflow) {
		t.Errorf("why = %v, want %v", why, errOverflow)
	}
	prog.out.Close()
}

func TestLeaveEndsTheSDK(t *testing.T) {
	b, prog := bridged(t, 1<<20)
	go func() {
		for {
			frame, err := readFrame(prog.in, 1<<20)
			if err != nil {
				return
			}
			var m message
			if json.Unmarshal(frame, &m) == nil && m.Method == "connect" {
				prog.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"ok":true,"protocolVersion":3}}`)
			}
		}
	}()
	client := sdk.NewClient(&sdk.ClientOptions{Mode: sdk.ModeEmpty, Env: []string{},
		Connection: sdk.URIConnection{URL: b.addr(), ConnectionToken: b.token}})
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	leave(client, b)
	if _, err := client.Ping(t.Context(), ""); err == nil {
		t.Error("the client still answers")
	}
}

func TestReadFrame(t *testing.T) {
	for in, want := range map[string]string{
		"Content-Length: 2\r\n\r\n{}":          "{}",
		"content-length:2\nX-Other: a\n\n{}":   "{}",
		"Content-Length: 0\r\n\r\n":            "",
		"Content-Length: -1\r\n\r\n":           "not a JSON-RPC frame",
		"Content-Length: 9999999999\r\n\r\n{}": "at most 64 are taken",
		"Content-Length: 3\r\n\r\n{}":          "unexpected EOF",
		"Content-Length: 2":                    "unexpected EOF",
		"hello\n":                              "not a JSON-RPC frame",
		"\r\n":                                 "no length",
		"":                                     "EOF",
		"X: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n": "its header is too long",
	} {
		got, err := readFrame(bufio.NewReader(strings.NewReader(in)), 64)
		if err != nil {
			if !strings.Contains(err.Error(), want) || want == "" {
				t.Errorf("readFrame(%.40q): %v, want %q", in, err, want)
			}
			continue
		}
		if string(got) != want {
			t.Errorf("readFrame(%.40q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzReadFrame(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	f.Add([]byte("Content-Length: 3\nX: y\n\n{}"))
	f.Add([]byte("\n\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		const most = 1 << 10
		body, err := readFrame(bufio.NewReader(bytes.NewReader(in)), most)
		if err != nil {
			return
		}
		if len(body) > most || !bytes.Contains(in, body) {
			t.Fatalf("%d bytes that did not come", len(body))
		}
		var out bytes.Buffer
		if err := writeFrame(&out, body); err != nil {
			t.Fatal(err)
		}
		again, err := readFrame(bufio.NewReader(&out), most)
		if err != nil || !bytes.Equal(again, body) {
			t.Fatalf("written again it reads %q (%v), want %q", again, err, body)
		}
	})
}
