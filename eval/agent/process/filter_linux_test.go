package process

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// The filter knows its calls whatever architecture a program is of.
func TestFilter(t *testing.T) {
	vm, err := bpf.NewVM(filter())
	if err != nil {
		t.Fatal(err)
	}
	const (
		another = unix.AUDIT_ARCH_RISCV64 // it has the numbers of unix where that is this program's own
		amd64   = unix.AUDIT_ARCH_X86_64
		i386    = unix.AUDIT_ARCH_I386
		arm64   = unix.AUDIT_ARCH_AARCH64
		arm     = unix.AUDIT_ARCH_ARM
		allowed = unix.Errno(0)
		thread  = 0x3d0f00 // flags of pthread_create
	)
	for _, c := range []struct {
		arch, call uint32
		arg        uint32
		want       unix.Errno
	}{
		{another, unix.SYS_ADD_KEY, 0, unix.ENOSYS},
		{another, unix.SYS_REQUEST_KEY, 0, unix.ENOSYS},
		{another, unix.SYS_KEYCTL, 0, unix.ENOSYS},
		{another, unix.SYS_ADD_KEY - 1, 0, allowed},
		{another, unix.SYS_KEYCTL + 1, 0, allowed},
		{another, unix.SYS_UNSHARE, unix.CLONE_NEWUSER, unix.EPERM},
		{another, unix.SYS_SOCKET, unix.AF_VSOCK, unix.EPERM},
		{amd64, 248, 0, unix.ENOSYS}, // add_key, request_key, keyctl of syscall_64.tbl
		{amd64, 249, 0, unix.ENOSYS},
		{amd64, 250, 0, unix.ENOSYS},
		{amd64, 250 | x32, 0, unix.ENOSYS},
		{amd64, 247, 0, allowed},
		{amd64, 251, 0, allowed},
		{amd64, 0, 0, allowed},
		{amd64, 0xffffffff, 0, allowed},
		{amd64, 41, unix.AF_VSOCK, unix.EPERM}, // socket
		{amd64, 41 | x32, unix.AF_VSOCK, unix.EPERM},
		{amd64, 41, unix.AF_INET, allowed},
		{amd64, 41, unix.AF_UNIX, allowed},
		{amd64, 56, thread, allowed}, // clone
		{amd64, 56, thread | unix.CLONE_NEWUSER, unix.EPERM},
		{amd64, 56, unix.CLONE_NEWUSER | unix.CLONE_NEWNS | uint32(unix.SIGCHLD), unix.EPERM},
		{amd64, 272, unix.CLONE_NEWUSER | unix.CLONE_NEWPID, unix.EPERM}, // unshare
		{amd64, 272, unix.CLONE_FS, allowed},
		{amd64, 425, 0, unix.ENOSYS}, // io_uring_setup, clone3
		{amd64, 435, 0, unix.ENOSYS},
		{amd64, 434, 0, allowed},
		{amd64, 102, 1, allowed},    // getuid there
		{i386, 286, 0, unix.ENOSYS}, // of syscall_32.tbl
		{i386, 287, 0, unix.ENOSYS},
		{i386, 288, 0, unix.ENOSYS},
		{i386, 285, 0, allowed},
		{i386, 289, 0, allowed},
		{i386, 102, 1, unix.ENOSYS}, // socketcall: socket, and connect
		{i386, 102, 3, allowed},
		{i386, 359, unix.AF_VSOCK, unix.EPERM},
		{i386, 120, unix.CLONE_NEWUSER, unix.EPERM},
		{i386, 310, unix.CLONE_NEWUSER, unix.EPERM},
		{arm64, 217, 0, unix.ENOSYS},
		{arm64, 219, 0, unix.ENOSYS},
		{arm64, 216, 0, allowed},
		{arm64, 220, 0, allowed},
		{arm64, 220, thread | unix.CLONE_NEWUSER, unix.EPERM},
		{arm64, 97, unix.CLONE_NEWUSER, unix.EPERM},
		{arm64, 198, unix.AF_VSOCK, unix.EPERM},
		{arm64, 198, unix.AF_INET6, allowed},
		{arm, 309, 0, unix.ENOSYS},
		{arm, 311, 0, unix.ENOSYS},
		{arm, 308, 0, allowed},
		{arm, 312, 0, allowed},
		{arm, 281, unix.AF_VSOCK, unix.EPERM},
		{arm, 120, unix.CLONE_NEWUSER, unix.EPERM},
		{arm, 337, unix.CLONE_NEWUSER, unix.EPERM},
	} {
		data := make([]byte, 64)
		binary.BigEndian.PutUint32(data[callAt:], c.call) // as package bpf reads
		binary.BigEndian.PutUint32(data[archAt:], c.arch)
		for arg := range 6 {
			binary.BigEndian.PutUint32(data[argsAt+8*arg:], c.arg)
			binary.BigEndian.PutUint32(data[argsAt+8*arg+4:], c.arg)
		}
		got, err := vm.Run(data)
		want := unix.SECCOMP_RET_ALLOW
		if c.want != allowed {
			want = unix.SECCOMP_RET_ERRNO | int(c.want)
		}
		if err != nil || got != want {
			t.Errorf("call %d of %#x with %#x: %#x %v, want %#x", c.call, c.arch, c.arg, got, err, want)
		}
	}
}
