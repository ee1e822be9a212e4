package process

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// A filter of system calls forbids what no namespace separates: keys, and sockets to the
// host of a virtual machine. And it forbids namespaces of users, in which a program has
// parts of the kernel at its command that are made for root, and that had most of its
// holes. bwrap could forbid these, but not where the child gets one itself, see inside.

// callNumbers are system calls of one architecture. A kernel runs programs of several.
type callNumbers struct {
	arch                           uint32
	addKey, socket, clone, unshare uint32 // request_key and keyctl follow add_key everywhere
	socketcall                     uint32 // of i386: socket and others through a pointer; 0 for none
}

var architectures = []callNumbers{
	{unix.AUDIT_ARCH_X86_64, 248, 41, 56, 272, 0},
	{unix.AUDIT_ARCH_I386, 286, 359, 120, 310, 102},
	{unix.AUDIT_ARCH_AARCH64, 217, 198, 220, 97, 0},
	{unix.AUDIT_ARCH_ARM, 309, 281, 120, 337, 0},
}

const (
	x32 = 0x40000000 // set in the numbers of amd64's calls with 32-bit pointers

	// What a filter reads is a seccomp_data.
	callAt, archAt, argsAt = 0, 4, 16

	socketOfCall = 1 // of socketcall
)

// filter is the program. Calls that pass what matters by a pointer cannot be read: they
// fail as on a kernel without them, and programs then make the older call. So does every
// call for keys.
func filter() []bpf.Instruction {
	program := []bpf.Instruction{bpf.LoadAbsolute{Off: archAt, Size: 4}}
	for _, a := range architectures {
		calls := a.filter(0)
		program = append(append(program, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: a.arch, SkipTrue: uint8(len(calls))}), calls...)
	}
	own := callNumbers{0, unix.SYS_ADD_KEY, unix.SYS_SOCKET, unix.SYS_CLONE, unix.SYS_UNSHARE, 0}
	flags := 0
	if runtime.GOARCH == "s390x" {
		flags = 1
	}
	return append(program, own.filter(flags)...)
}

// filter is the part for one architecture; flags is the argument of clone that has them.
func (c callNumbers) filter(flags int) []bpf.Instruction {
	program := []bpf.Instruction{bpf.LoadAbsolute{Off: callAt, Size: 4}, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: ^uint32(x32)}}
	on := func(call uint32, then ...bpf.Instruction) {
		program = append(append(program, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: uint8(len(then))}), then...)
	}
	deny := func(e unix.Errno) bpf.Instruction {
		return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(e)}
	}
	allow := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	when := func(call uint32, arg int, cond bpf.JumpTest, val uint32, e unix.Errno) {
		on(call, lowWord(arg), bpf.JumpIf{Cond: cond, Val: val, SkipFalse: 1}, deny(e), allow)
	}
	for i := range uint32(3) {
		on(c.addKey+i, deny(unix.ENOSYS))
	}
	on(unix.SYS_IO_URING_SETUP, deny(unix.ENOSYS)) // its sockets are no calls
	on(unix.SYS_CLONE3, deny(unix.ENOSYS))
	when(c.socket, 0, bpf.JumpEqual, unix.AF_VSOCK, unix.EPERM)
	when(c.clone, flags, bpf.JumpBitsSet, unix.CLONE_NEWUSER, unix.EPERM)
	when(c.unshare, 0, bpf.JumpBitsSet, unix.CLONE_NEWUSER, unix.EPERM)
	if c.socketcall != 0 {
		when(c.socketcall, 0, bpf.JumpEqual, socketOfCall, unix.ENOSYS)
	}
	return append(program, allow)
}

// lowWord loads the lower half of an argument, which has 64 bits.
func lowWord(arg int) bpf.Instruction {
	off := uint32(argsAt + 8*arg)
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		off += 4
	}
	return bpf.LoadAbsolute{Off: off, Size: 4}
}

// filterFile is the filter in bwrap's format.
func filterFile() (*os.File, error) {
	raw, err := bpf.Assemble(filter())
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

// restrict sets the filter for this thread and the program that it becomes.
func restrict() error {
	raw, err := bpf.Assemble(filter())
	if err != nil {
		return err
	}
	program := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		program[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	runtime.LockOSThread()
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0); err != nil {
		return fmt.Errorf("filter system calls: %w", err)
	}
	return nil
}
