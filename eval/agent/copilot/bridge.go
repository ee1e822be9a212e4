package copilot

import (
	"bufio"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	sdk "github.com/github/copilot-sdk/go"
	"github.com/skill-evolve/evolve/eval"
	"github.com/tidwall/gjson"
)

// A bridge connects the SDK and the program: the SDK dials it as a runtime that is
// already running, and it passes frames on to the program's stdin and from its stdout.
//
// The SDK could start the program itself. But then the program would run in our own
// process group, of which the SDK kills only the first process; a frame that is cut off
// by that is reported on our stdout; and the SDK never releases a session whose program
// is gone, with a goroutine and its events. With the bridge the SDK sees only whole
// frames of valid JSON, and every request is answered: by the bridge, if the program no
// longer can.
type bridge struct {
	ln    net.Listener
	token string // the SDK's token: other users reach the address too
	most  int64  // bytes that the program may print

	ended chan struct{} // closed when the program answers no more

	writing sync.Mutex // one frame at a time to the SDK

	mu      sync.Mutex
	conn    net.Conn
	pending map[string]message // requests of the SDK that the program has not answered
	dead    bool
	why     error // what ended the stream; nil for a plain end
	refusal *rpcError
}

func newBridge(most int64) (*bridge, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the SDK: %w", err)
	}
	return &bridge{ln: ln, token: rand.Text(), most: most, ended: make(chan struct{}),
		pending: make(map[string]message)}, nil
}

// addr is where the SDK finds it.
func (b *bridge) addr() string { return b.ln.Addr().String() }

// serve passes frames between the SDK and the program until close. The program counts
// as ended if its stdout is closed, or is not JSON-RPC.
func (b *bridge) serve(stdin io.Writer, stdout io.Reader) {
	in, hello, err := b.accept()
	if err != nil {
		b.end(err)
		return
	}
	var up sync.WaitGroup
	up.Go(func() {
		if bug := eval.Shielded(func() error { b.fromSDK(in, hello, stdin); return nil }); bug != nil {
			b.end(bug)
		}
	})
	b.end(eval.Shielded(func() error { return b.fromProgram(stdout) }))
	up.Wait()
}

// accept waits for the SDK and its first frame. A caller without the token is
// disconnected.
func (b *bridge) accept() (in *bufio.Reader, hello []byte, err error) {
	for {
		conn, err := b.ln.Accept()
		if err != nil {
			return nil, nil, err
		}
		in := bufio.NewReader(conn)
		conn.SetReadDeadline(time.Now().Add(greeting))
		if frame, err := readFrame(in, maxHeader); err == nil {
			if hello = b.admit(frame); hello != nil {
				conn.SetReadDeadline(time.Time{})
				b.mu.Lock()
				b.conn = conn
				b.mu.Unlock()
				return in, hello, nil
			}
		}
		conn.Close()
	}
}

// greeting is how long a caller may take to present the token.
const greeting = 5 * time.Second

// admit returns the first frame for the program, which expects no token on its stdin;
// nil if the caller's token is wrong.
func (b *bridge) admit(frame []byte) []byte {
	var m message
	var params map[string]any
	if json.Unmarshal(frame, &m) != nil || m.Method != "connect" || json.Unmarshal(m.Params, &params) != nil {
		return nil
	}
	token, _ := params["token"].(string)
	if subtle.ConstantTimeCompare([]byte(token), []byte(b.token)) != 1 {
		return nil
	}
	delete(params, "token")
	frame, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "method": m.Method, "params": params})
	if err != nil {
		return nil
	}
	return frame
}

// fromSDK passes requests, answers and notifications on to the program; after
// its end the bridge answers in its place.
func (b *bridge) fromSDK(in *bufio.Reader, frame []byte, stdin io.Writer) {
	for {
		var m message
		if json.Unmarshal(frame, &m) == nil && !b.ask(m) {
			b.answer(m)
		} else if err := writeFrame(stdin, frame); err != nil {
			b.end(nil) // it reads no more, so it answers no more
		}
		var err error
		if frame, err = readFrame(in, b.most); err != nil {
			return
		}
	}
}

// ask records that m was sent to the program; false if there is none.
func (b *bridge) ask(m message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.dead && m.Method != "" && len(m.ID) > 0 {
		b.pending[string(m.ID)] = m
	}
	return !b.dead
}

// fromProgram passes whole frames on to the SDK. The error is nil if the
// program closed its stdout between two of them.
func (b *bridge) fromProgram(stdout io.Reader) error {
	counted := &io.LimitedReader{R: stdout, N: b.most}
	in := bufio.NewReaderSize(counted, 64<<10)
	for {
		frame, err := readFrame(in, b.most)
		if counted.N <= 0 {
			return errOverflow
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, os.ErrClosed):
			return nil
		case err != nil:
			return err
		}
		var m message
		if err := json.Unmarshal(frame, &m); err != nil {
			return fmt.Errorf("%w: %v", errFrame, err)
		}
		if m.Method != "" || len(m.ID) == 0 {
			if !chatter(&m) {
				b.send(frame)
			}
			continue
		}
		b.mu.Lock()
		asked, known := b.pending[string(m.ID)]
		delete(b.pending, string(m.ID))
		if m.Error != nil && asked.Method == "session.create" {
			b.refusal = m.Error
		}
		b.mu.Unlock()
		switch {
		case !known:
		case m.Error != nil && asked.Method == "session.create":
			b.answer(asked)
		default:
			b.send(frame)
		}
	}
}

// chatter reports whether m is an event that is not used here. These are most of the
// program's output: a command's output again while it runs, the conversation again at
// the end of a turn; and the SDK decodes each three times.
func chatter(m *message) bool {
	if m.Method != "session.event" {
		return false
	}
	kind := gjson.GetBytes(m.Params, "event.type").Str
	switch kind {
	case "model.call_failure":
		return false
	case "tool.shell_output", "tool.execution_partial_result", "session.background_tasks_changed", "system.message":
		return true
	}
	return strings.HasPrefix(kind, "model.")
}

// errOverflow means that the program printed more than its limit.
var errOverflow = errors.New("the program printed more than is taken")

// end treats the program as ended for a reason and answers its open requests.
func (b *bridge) end(why error) {
	b.mu.Lock()
	if b.dead {
		b.mu.Unlock()
		return
	}
	b.dead, b.why = true, why
	left := b.pending
	b.pending = nil
	b.mu.Unlock()
	close(b.ended)
	for _, m := range left {
		b.answer(m)
	}
}

// answer is the bridge's own answer. The SDK releases a session only if its creation
// and its end both succeed, and a connection only after a greeting, so these succeed;
// everything else is an error.
func (b *bridge) answer(m message) {
	if m.Method == "" || len(m.ID) == 0 {
		return
	}
	reply := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	switch m.Method {
	case "session.create":
		var p struct {
			SessionID string `json:"sessionId"`
		}
		// Our own SDK wrote it; with a wrong id the SDK would report a mismatch.
		_ = json.Unmarshal(m.Params, &p)
		reply["result"] = p
	case "connect":
		reply["result"] = map[string]any{"ok": true, "protocolVersion": sdk.GetSDKProtocolVersion(), "version": ""}
	case "session.destroy":
		reply["result"] = struct{}{}
	default:
		reply["error"] = rpcError{Code: -32000, Message: "the program has ended"}
	}
	frame, err := json.Marshal(reply)
	if err != nil {
		panic("copilot: answer: " + err.Error()) // strings, and JSON that was read
	}
	b.send(frame)
}

// send writes to the SDK. If that fails the SDK has left.
func (b *bridge) send(frame []byte) {
	b.mu.Lock()
	conn := b.conn
	b.mu.Unlock()
	b.writing.Lock()
	defer b.writing.Unlock()
	if conn != nil {
		_ = writeFrame(conn, frame)
	}
}

// outcome is the program's refusal of session.create, and what ended its stream; nil if
// nothing did, or if it ended between two frames.
func (b *bridge) outcome() (refusal *rpcError, why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refusal, b.why
}

// close ends the SDK's connection. The SDK sees a regular end of the stream.
func (b *bridge) close() {
	b.ln.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.conn != nil {
		b.conn.Close()
	}
}
