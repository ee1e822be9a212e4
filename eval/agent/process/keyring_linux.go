package process

import (
	"encoding/binary"
	"os"
	"sync"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// The kernel keeps keys for a session and for a user: tickets of Kerberos, tokens of
// file systems, whatever pam_keyinit links. No namespace separates them. A child with
// an empty session keyring of its own could still read by their numbers all keys that
// the user's processes may read. So it may make no system call for keys: these fail as
// on a kernel without keys, which programs are prepared for.

// keyCalls are the system calls of keyrings: the numbers of add_key, request_key
// and keyctl follow one another on every architecture.
const keyCalls = 3

// x32 is set in the numbers of amd64's calls with 32-bit pointers.
const x32 = 0x40000000

// noKeys is a seccomp filter. It reads a seccomp_data: the call's number at 0, the
// architecture at 4. A kernel runs programs of several architectures, and the call has
// another number in each.
func noKeys() []bpf.Instruction {
	arches := []struct{ arch, addKey uint32 }{
		{unix.AUDIT_ARCH_X86_64, 248},
		{unix.AUDIT_ARCH_I386, 286},
		{unix.AUDIT_ARCH_AARCH64, 217},
		{unix.AUDIT_ARCH_ARM, 309},
	}
	program := []bpf.Instruction{bpf.LoadAbsolute{Off: 4, Size: 4}}
	for i, a := range arches {
		program = append(program,
			bpf.LoadConstant{Dst: bpf.RegX, Val: a.addKey},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: a.arch, SkipTrue: uint8(2*(len(arches)-i) - 1)})
	}
	return append(program,
		bpf.LoadConstant{Dst: bpf.RegX, Val: unix.SYS_ADD_KEY}, // another, which is our own
		bpf.LoadAbsolute{Off: 0, Size: 4},
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: ^uint32(x32)},
		bpf.ALUOpX{Op: bpf.ALUOpSub}, // below X it wraps around
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: keyCalls, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)})
}

// noKeysFile is the filter in bwrap's format.
func noKeysFile() (*os.File, error) {
	raw, err := bpf.Assemble(noKeys())
	if err != nil {
		return nil, err
	}
	var program []byte
	for _, i := range raw { // struct sock_filter
		program = binary.NativeEndian.AppendUint16(program, i.Op)
		program = append(program, i.Jt, i.Jf)
		program = binary.NativeEndian.AppendUint32(program, i.K)
	}
	return contents(string(program))
}

// hiddenKeys covers the lists of keys, whose descriptions show their purpose.
var hiddenKeys = sync.OnceValue(func() (args []string) {
	for _, list := range []string{"/proc/keys", "/proc/key-users"} {
		if _, err := os.Stat(list); err == nil {
			args = append(args, "--ro-bind", "/dev/null", list)
		}
	}
	return args
})
